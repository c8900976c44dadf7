//! Drivers that this machine has.

use crate::fuzz::Choices;
use crate::fuzz::turn::TurnResult;
use pixelferry::api::gl::GlDisplay;
use pixelferry::api::opencl::OpenClBackend;
use pixelferry::{ComputeBackend, CpuBackend, Display, DisplayChoice, HeadlessDisplay, MemoryDisplay, open_headless};
use pixelferry_tests::plugged::Worker;
use pixelferry_tests::{Need, given, need};
use std::sync::Arc;

/// The context of a display, and another.
pub type Contexts = [Arc<GlDisplay>; 2];

/// The opened backends and displays.
pub struct Drivers {
    /// Threads, twice: objects of one are foreign to the other.
    pub cpu: [Arc<CpuBackend>; 2],
    /// One that a program from outside made.
    pub plugged: Arc<Worker>,
    /// OpenCL, where it is there and wanted.
    pub opencl: Option<Arc<OpenClBackend>>,
    /// OpenGL, twice, where it is there and wanted.
    pub gl: Option<[HeadlessDisplay; 2]>,
}

fn cpu(threads: usize) -> TurnResult<Arc<CpuBackend>> {
    let options = cpu_fallback::CpuOptions::default().with_threads(threads).with_serial_items(512);
    Ok(Arc::new(CpuBackend::with_options(&options)?))
}

impl Drivers {
    /// Opens what there is, and says what there is not.
    pub fn open() -> TurnResult<Self> {
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

    /// Any display, plain memory as often as OpenGL, or any of `more`. Of OpenGL, which is current, its context and the other.
    pub fn display(
        &self,
        t: &mut Choices,
        more: Vec<Arc<dyn Display>>,
    ) -> TurnResult<(Arc<dyn Display>, Option<Contexts>)> {
        let memory = || MemoryDisplay::new() as Arc<dyn Display>;
        let mut all = vec![(memory(), None), (memory(), None)];
        if let Some(both) = &self.gl {
            let [a, b] = both.each_ref().map(|headless| headless.gl().cloned());
            let contexts = a.zip(b).map(|(a, b)| [[a.clone(), b.clone()], [b, a]]);
            let contexts = contexts.map_or([None, None], |pairs| pairs.map(Some));
            all.extend(both.iter().map(HeadlessDisplay::display).zip(contexts));
        }
        all.extend(more.into_iter().map(|display| (display, None)));
        let (display, contexts) = t.take(&mut all);
        if let Some([own, _]) = &contexts {
            own.make_current()?;
        }
        Ok((display, contexts))
    }
}
