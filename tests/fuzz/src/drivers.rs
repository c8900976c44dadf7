//! What this machine has to be driven.

#![forbid(unsafe_code)]

use crate::log::{Checked, Failure};
use pixelferry::opencl_backend::OpenClBackend;
use pixelferry::{ComputeBackend, CpuBackend, Display, DisplayChoice, Headless, open_headless};
use pixelferry_plugged::Worker;
use std::rc::Rc;
use std::sync::Arc;

/// Something to be driven beside threads and plain memory, which are there always.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Driver {
    /// The first device of OpenCL.
    Opencl,
    /// OpenGL without a window.
    Gl,
}

/// What was opened.
pub struct Drivers {
    /// Threads, twice: objects of one are foreign to the other.
    pub cpu: [Arc<CpuBackend>; 2],
    /// One that a program from outside made.
    pub plugged: Arc<Worker>,
    /// OpenCL, where it is there and wanted.
    pub opencl: Option<Arc<OpenClBackend>>,
    /// OpenGL, twice, where it is there and wanted.
    pub gl: Option<[Headless; 2]>,
}

fn cpu(threads: usize) -> Checked<Arc<CpuBackend>> {
    let options = cpu_fallback::CpuOptions::default().with_threads(threads).with_serial_items(512);
    Ok(Arc::new(CpuBackend::with_options(&options)?))
}

impl Drivers {
    /// Opens what there is of `wanted`, and says what there is not.
    ///
    /// # Errors
    /// Something of `needed` is not there.
    pub fn open(wanted: &[Driver], needed: &[Driver]) -> Checked<Self> {
        let skip = |driver, reason: &dyn std::fmt::Display| {
            println!("SKIPPED: no {driver:?}: {reason}");
            if needed.contains(&driver) { Err(Failure(format!("{driver:?} is needed: {reason}"))) } else { Ok(()) }
        };
        let mut drivers = Self { cpu: [cpu(2)?, cpu(3)?], plugged: Arc::new(Worker::new()?), opencl: None, gl: None };
        if wanted.contains(&Driver::Opencl) {
            match OpenClBackend::open_best() {
                Ok(backend) => drivers.opencl = Some(Arc::new(backend)),
                Err(error) => skip(Driver::Opencl, &error)?,
            }
        }
        if wanted.contains(&Driver::Gl) {
            match (open_headless(DisplayChoice::Gl), open_headless(DisplayChoice::Gl)) {
                (Ok(one), Ok(other)) => drivers.gl = Some([one, other]),
                (Err(error), _) | (_, Err(error)) => skip(Driver::Gl, &error)?,
            }
        }
        for (name, device) in drivers.names() {
            println!("{name}: {device}");
        }
        Ok(drivers)
    }

    fn names(&self) -> Vec<(&'static str, String)> {
        let mut names = vec![("threads", self.cpu[0].device().to_string())];
        names.extend(self.opencl.iter().map(|b| ("OpenCL", format!("{}, {}", b.device(), b.device().driver))));
        names.extend(self.gl.iter().map(|g| ("OpenGL", g[0].display().device().to_string())));
        names
    }

    /// Every backend; the first two are threads.
    pub fn backends(&self) -> Vec<Arc<dyn ComputeBackend>> {
        let mut all: Vec<Arc<dyn ComputeBackend>> = Vec::new();
        all.extend(self.cpu.iter().map(|b| Arc::clone(b) as Arc<dyn ComputeBackend>));
        all.extend(self.opencl.iter().map(|b| Arc::clone(b) as Arc<dyn ComputeBackend>));
        all
    }

    /// Every display; plain memory, twice, is first.
    pub fn displays(&self) -> Vec<Rc<dyn Display>> {
        let mut all: Vec<Rc<dyn Display>> = vec![pixelferry::MemoryDisplay::new(), pixelferry::MemoryDisplay::new()];
        all.extend(self.gl.iter().flatten().map(Headless::display));
        all
    }
}
