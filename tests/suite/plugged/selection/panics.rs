//! Panics of code from outside count as its failure and go no further.

use super::trouble::{Does, Trouble};
use super::{at_once, board, desc, open, paths, show, state};
use cpu_fallback::{CpuBackend, MemoryDisplay};
use interop_core::compute::Target;
use interop_core::describe::pattern::Pattern;
use interop_core::{
    Arg, ComputeBackend, ComputeCaps, ComputeMemory, DeviceIdentity, HostBlock, Kernel, KernelSource, Link,
    LinkOptions, PathState, Paths, Result,
};
use pixelferry::driver::{BackendDriver, CheckToken};
use std::ops::Range;
use std::sync::Arc;

#[test]
fn while_it_is_tried() {
    let (not_offered, open_failed, rejected) = ("unavailable", "failed to open", "rejected");
    for (does, becomes) in [
        (Does::PanicsInOffer, not_offered),
        (Does::PanicsInOpen, open_failed),
        (Does::PanicsInBegin, rejected),
        (Does::PanicsInTarget, rejected),
        (Does::PanicsInFinish, rejected),
        (Does::PanicsInSurface, rejected),
        (Does::PanicsWhereItCannotFail, rejected),
    ] {
        let trouble = Trouble::default();
        trouble.set(does);
        let mut link = open(at_once(paths().with(trouble.path("troubled")).unwrap())).unwrap();
        let state = state(link.report(), "troubled");
        assert_eq!(state.word(), becomes, "{}", link.report());
        assert!(state.detail().contains("panicked: on purpose"), "{}", state.detail());
        assert_eq!(link.path().name(), "host-round-trip");
        show(&mut link, 4).unwrap();
    }
}

#[test]
fn when_it_is_dropped_or_cannot_say_so() {
    let trouble = Trouble::default();
    let policy = at_once(Paths::default().with(trouble.path("troubled")).unwrap());
    let mut link = open(policy.clone()).unwrap();
    show(&mut link, 1).unwrap();
    // A frame that is given up calls what returns nothing: the panic comes up with the next frame, which another path shows.
    trouble.set(Does::PanicsWhereItCannotFail);
    drop(link.acquire().unwrap());
    show(&mut link, 2).unwrap();
    assert_eq!(link.path().name(), "host-round-trip");
    trouble.set(Does::PanicsInDrop);
    drop(link);
    let mut link = open(policy).unwrap();
    show(&mut link, 3).unwrap();
    // A surface that it cannot show any more is an error, not an end.
    trouble.set(Does::PanicsInSurface);
    let error = link.read_back().unwrap_err().to_string();
    assert!(error.contains("troubled panicked"), "{error}");
    assert!(link.shown().unwrap().surface().desc() == &desc());
}

/// A backend that panics where it is asked for what it lacks.
struct Fragile {
    inner: Arc<dyn ComputeBackend>,
}

// SAFETY: all calls are handed on unchanged, or panic.
unsafe impl BackendDriver for Fragile {
    pixelferry_tests::forward! {
        & device() -> &DeviceIdentity;
        & caps() -> &ComputeCaps;
        & build(source: &KernelSource) -> Result<Arc<dyn Kernel>>;
        & allocate(bytes: usize) -> Result<Box<dyn ComputeMemory>>;
        & launch(kernel: &dyn Kernel, target: Target<'_>, args: &[Arg<'_>]) -> Result<()>;
        & write_pattern(target: Target<'_>, pattern: &Pattern) -> Result<()>;
        & finish() -> Result<()>;
    }

    fn copy(
        &self,
        _: CheckToken,
        from: &dyn ComputeMemory,
        to: &mut dyn ComputeMemory,
        range: Range<usize>,
    ) -> Result<()> {
        self.inner.copy(from, to, range)
    }

    fn import_host(&self, _: &HostBlock) -> Result<Box<dyn ComputeMemory>> {
        panic!("on purpose")
    }
}

#[test]
fn of_a_backend_while_a_path_is_tried() {
    let backend = Arc::new(Fragile { inner: Arc::new(CpuBackend::new().unwrap()) });
    let options = LinkOptions::new(at_once(Paths::default()));
    let mut link = Link::open(backend, MemoryDisplay::new(), desc(), options).unwrap();
    let PathState::OpenFailed { reason } = state(link.report(), "pinned-upload") else { panic!("{}", link.report()) };
    assert!(reason.contains("the backend or the display panicked: on purpose"), "{reason}");
    assert_eq!(link.path().name(), "host-round-trip");
    link.frame(|frame| frame.write(&[6; 24 * 10 * 4])).unwrap();
    assert_eq!(link.read_back().unwrap(), [6; 24 * 10 * 4]);
}

#[test]
fn of_a_kernel_is_the_callers_and_no_path_is_left_for_it() {
    use pixelferry_tests::plugged::{PIXEL_FUNCTION, PixelFunction, Worker};
    let backend: Arc<dyn ComputeBackend> = Arc::new(Worker::new().unwrap());
    let mut link = Link::open(Arc::clone(&backend), board(), desc(), LinkOptions::new(at_once(paths()))).unwrap();
    let function = PixelFunction(Arc::new(|_, _, _, _: &mut [u8]| panic!("on purpose")));
    let source = KernelSource::new("bomb").with_native(PIXEL_FUNCTION, Arc::new(function));
    let kernel = backend.build(&source).unwrap();
    let error = link.frame(|frame| frame.launch(kernel.as_ref(), &[])).unwrap_err();
    assert!(matches!(&error, interop_core::Error::KernelFailed { kernel, .. } if kernel == "bomb"), "{error}");
    assert!(link.demoted().is_empty());
    show(&mut link, 8).unwrap();
}
