//! What this machine has to be driven.

use crate::fuzz::log::Checked;
use pixelferry::opencl_backend::OpenClBackend;
use pixelferry::{ComputeBackend, CpuBackend, Display, DisplayChoice, Headless, open_headless};
use pixelferry_plugged::Worker;
use pixelferry_tests::{Need, given, need};
use std::rc::Rc;
use std::sync::Arc;

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
    /// Opens what there is, and says what there is not.
    pub fn open() -> Checked<Self> {
        let opencl = need(given(), OpenClBackend::open_best()).map(Arc::new);
        let gl = || need(Need::Egl, open_headless(DisplayChoice::Gl));
        let gl = gl().zip(gl()).map(|(one, other)| [one, other]);
        Ok(Self { cpu: [cpu(2)?, cpu(3)?], plugged: Arc::new(Worker::new()?), opencl, gl })
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
