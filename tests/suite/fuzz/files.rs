//! Files that programs before left behind: damaged, of others, with any numbers in them. They cost a measurement, no more.

use crate::fuzz::{Checked, Failure, Log, Rng, drivers::Drivers, hold};
use pixelferry::{
    ComputeBackend, CpuBackend, Display, Link, LinkOptions, MemoryDisplay, Mode, PathId, PixelFormat, Policy, Profiles,
    SurfaceDesc,
};
use std::fs;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// A folder of profiles.
pub struct World {
    folder: PathBuf,
    backend: Arc<CpuBackend>,
    display: Rc<MemoryDisplay>,
}

impl Drop for World {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}

/// Changes bytes as files change: cut, torn, with other numbers, twice over.
pub fn damage(rng: &mut Rng, bytes: &mut Vec<u8>) {
    for _ in 0..1 + rng.below(4) {
        let at = rng.below(bytes.len());
        match rng.below(8) {
            0 => bytes.truncate(at),
            1 if !bytes.is_empty() => bytes[at] ^= 1 << rng.below(8),
            2 if !bytes.is_empty() => bytes[at] = rng.word() as u8,
            3 => {
                let more = rng.bytes(8);
                bytes.splice(at..at, more);
            }
            4 => {
                // Another number instead of one.
                let Some(start) = bytes.iter().skip(at).position(u8::is_ascii_digit).map(|i| i + at) else { continue };
                let len = bytes[start..].iter().take_while(|b| b.is_ascii_digit()).count();
                let number = rng.pick(&["0", "-1", "18446744073709551615", "1e308", "9007199254740993", "17", "null"]);
                bytes.splice(start..start + len, number.bytes());
            }
            5 => bytes.extend_from_within(at..),
            6 => {
                let end = at + rng.below(bytes.len() - at.min(bytes.len()) + 1);
                bytes.drain(at.min(bytes.len())..end.min(bytes.len()));
            }
            _ => {}
        }
    }
}

impl super::World for World {
    fn step(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        match rng.below(12) {
            0..2 => self.open(rng, log),
            2..10 => self.change(rng, log),
            _ => Self::parse(rng, log),
        }
    }
}

impl World {
    /// With no profile yet.
    pub fn new(drivers: &Drivers) -> Checked<Self> {
        let folder = std::env::temp_dir().join(format!("pixelferry-fuzz-{}", std::process::id()));
        fs::create_dir_all(&folder).map_err(|e| Failure(format!("{}: {e}", folder.display())))?;
        Ok(Self { folder, backend: Arc::clone(&drivers.cpu[0]), display: MemoryDisplay::new() })
    }

    fn open(&self, rng: &mut Rng, log: &mut Log) -> Checked {
        let desc = rng.pick(&[
            SurfaceDesc::image(8, 8, PixelFormat::Rgba8),
            SurfaceDesc::image(31, 7, PixelFormat::R32F),
            SurfaceDesc::buffer(512),
        ]);
        let mode = rng.pick(&[Mode::Latency, Mode::FramesBehind(1), Mode::Throughput { most: 2 }]);
        let profiles = Profiles::Folder(self.folder.clone());
        let policy = Policy::default().with_mode(mode).with_profiles(profiles).with_budget(Duration::from_millis(4));
        log.op("files: open a link", format_args!("{desc} {mode:?}"));
        let (backend, display) = (Arc::clone(&self.backend), Rc::clone(&self.display));
        let opened =
            Link::open(backend as Arc<dyn ComputeBackend>, display as Rc<dyn Display>, desc, LinkOptions::new(policy));
        let mut link = log.end_with(opened)?;
        hold!(link.frames_behind() <= mode.most_behind(), "{} frames behind, {mode:?}", link.frames_behind());
        let bytes = vec![1; desc.byte_len()?];
        link.frame(|frame| frame.write(&bytes))?;
        link.flush()?;
        hold!(link.read_back()? == bytes, "{desc} shows something else");
        Ok(())
    }

    fn change(&self, rng: &mut Rng, log: &mut Log) -> Checked {
        let list = || fs::read_dir(&self.folder).map(|all| all.flatten().map(|entry| entry.path()).collect::<Vec<_>>());
        let mut files = list().unwrap_or_default();
        files.sort();
        if files.is_empty() {
            return self.open(rng, log);
        }
        let file = &files[rng.below(files.len())];
        let mut bytes = fs::read(file).unwrap_or_default();
        damage(rng, &mut bytes);
        log.did("files: damage a profile", format_args!("{}", file.display()));
        let _ = fs::write(file, bytes);
        if rng.one_in(3) { self.open(rng, log) } else { Ok(()) }
    }

    fn parse(rng: &mut Rng, log: &mut Log) -> Checked {
        let mut text = rng.pick(&PathId::ALL).to_string().into_bytes();
        damage(rng, &mut text);
        let text = String::from_utf8_lossy(&text).into_owned();
        log.op("files: parse the name of a path", format_args!("{text:?}"));
        if let Some(id) = log.end(text.parse::<PathId>()) {
            hold!(id.to_string() == text.trim(), "{text:?} was taken for {id}");
        }
        Ok(())
    }
}
