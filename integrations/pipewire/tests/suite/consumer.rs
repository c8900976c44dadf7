//! GStreamer as a consumer: each picture in a file of its own.

use crate::daemon::{Graph, RunningProgram};
use crate::publisher::number;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

pub struct Consumer {
    pub process: RunningProgram,
    folder: PathBuf,
}

impl Consumer {
    /// Takes pictures of this format, linked to the source.
    pub fn start(graph: &Graph, source: &str, format: &str) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("taker-{}", NEXT.fetch_add(1, Ordering::Relaxed));
        let folder = graph.path(&name);
        fs::create_dir(&folder).unwrap();
        let mut command = graph.command("gst-launch-1.0");
        command.arg("-q").args(["pipewiresrc", &format!("client-name={name}")]);
        command.arg("!").arg(format!("video/x-raw,format={format}"));
        command.args(["!", "multifilesink", "sync=false"]).arg(format!("location={}/%05d.raw", folder.display()));
        let process = RunningProgram(command.spawn().unwrap());
        graph.link(source, &name);
        Self { process, folder }
    }

    /// True once there is a picture, or a part of one.
    pub fn has_any(&self) -> bool {
        fs::read_dir(&self.folder).unwrap().next().is_some()
    }

    /// Numbers of the pictures of this size that were taken, in their order.
    ///
    /// # Panics
    /// For one that is not as it was published.
    pub fn taken(&self, width: u32, height: u32) -> Vec<u16> {
        let mut files: Vec<PathBuf> = fs::read_dir(&self.folder).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        // The newest may be half written.
        files.pop();
        let bytes = (width * height * 4) as usize;
        let pictures = files.iter().map(|file| (file, fs::read(file).unwrap()));
        let pictures = pictures.filter(|(_, pixels)| pixels.len() == bytes);
        let numbers = pictures.map(|(file, pixels)| {
            number(width, height, &pixels).unwrap_or_else(|| panic!("{}: another picture", file.display()))
        });
        numbers.collect()
    }
}
