//! Wrong threads and contexts, contexts that go, and texts that reach for what is not theirs.

use super::common;
use super::common::{Both, both};
use crate::suite::images::queue;
use crate::suite::kernels::{FILL, PAINT};
use interop_core::{
    Arg, ComputeBackend, ComputeMemory, Display as _, DrawOptions, Error, Extent, ImageAccess, ImageDesc, ImageView,
    KernelSource, Link, LinkOptions, Manner, PathId, PixelFormat, Policy, StagingKind, SurfaceDesc, Target, View,
};
use pixelferry_gl::GlBackend;
use pixelferry_gl::Viewport;
use std::sync::Arc;

fn source(name: &'static str, text: &'static str) -> KernelSource {
    KernelSource::new(name).wgsl(text)
}

fn is_wrong<T>(result: Result<T, Error>) -> bool {
    matches!(result, Err(Error::WrongContext { .. }))
}

fn image() -> View {
    View::Image(ImageView::packed(Extent::new(8, 8), PixelFormat::Rgba8, 1, 0, false).unwrap())
}

/// Every call of a backend, its kernel and its memory, refused.
fn refused(
    backend: &dyn ComputeBackend,
    kernel: &dyn interop_core::Kernel,
    memory: &mut dyn ComputeMemory,
    as_is: impl Fn(Error) -> bool,
) {
    let is = |result: Result<(), Error>| assert!(as_is(result.unwrap_err()));
    is(backend.build(&source("paint", PAINT)).map(drop));
    is(backend.allocate(16).map(drop));
    is(backend.finish());
    is(memory.read(0, &mut [0; 4]));
    is(memory.write(0, &[0; 4]));
    is(memory.map_read(0..4, &mut |_| Ok(())));
    is(memory.map_write(0..4, &mut |_| Ok(())));
    is(memory.release());
    is(backend.launch(kernel, Target::new(memory, image()).unwrap(), &[Arg::F32(0.0)]));
    let pattern = interop_core::describe::pattern::Pattern::for_view(&image(), 1);
    is(backend.write_pattern(Target::new(memory, image()).unwrap(), &pattern));
}

#[test]
fn another_thread_is_refused_and_what_it_drops_goes_later() {
    let Some(Both { display, backend }) = both() else { return };
    let before = display.object_counts();
    let kernel = backend.build(&source("paint", PAINT)).unwrap();
    let mut memory = backend.allocate(256).unwrap();
    memory.write(0, &[7; 256]).unwrap();
    std::thread::scope(|scope| {
        let there = scope.spawn(|| {
            assert!(is_wrong(backend.allocate(16)) && is_wrong(backend.finish()));
            assert!(is_wrong(backend.build(&source("paint", PAINT))));
            let mut own = backend.clone();
            assert!(Arc::get_mut(&mut own).is_none());
            drop(kernel);
        });
        there.join().unwrap();
    });
    assert_eq!(display.object_counts().awaiting_context, 1);
    let mut found = [0; 256];
    memory.read(0, &mut found).unwrap();
    assert_eq!(found, [7; 256]);
    drop(memory);
    assert_eq!(display.object_counts(), before);
}

#[test]
fn another_context_is_refused_and_nothing_is_lost() {
    let (Some(first), Some(second)) = (both(), both()) else { return };
    first.display.make_current().unwrap();
    let kernel = first.backend.build(&source("paint", PAINT)).unwrap();
    let mut memory = first.backend.allocate(256).unwrap();
    memory.write(0, &[7; 256]).unwrap();
    let (lent, handle) =
        first.backend.allocate_shared(256, queue(first.backend.as_ref()), first.display.device()).unwrap();
    second.display.make_current().unwrap();
    refused(first.backend.as_ref(), kernel.as_ref(), memory.as_mut(), |error| {
        matches!(error, Error::WrongContext { .. })
    });
    assert!(is_wrong(GlBackend::on(&first.display)));
    let error = second.display.create_staging(StagingKind::External(handle), 256).err().unwrap();
    assert!(error.to_string().contains("another queue"), "{error}");
    let stranger = second.backend.copy(memory.as_ref(), second.backend.allocate(256).unwrap().as_mut(), 0..4);
    assert!(matches!(stranger, Err(Error::Foreign { .. })));
    let target = second.backend.launch(kernel.as_ref(), Target::new(memory.as_mut(), image()).unwrap(), &[]);
    assert!(matches!(target, Err(Error::Foreign { .. })));
    // Deleted when its own context is current, not by the name in this one.
    let counts = first.display.object_counts();
    drop(lent);
    assert_eq!(first.display.object_counts().awaiting_context, counts.awaiting_context + 1);
    first.display.make_current().unwrap();
    let mut found = [0; 256];
    memory.read(0, &mut found).unwrap();
    assert_eq!(found, [7; 256]);
    assert_eq!(first.display.object_counts().awaiting_context, 0);
    // Another backend in the same context is another maker.
    let other = GlBackend::on(&first.display).unwrap();
    let stranger = other.copy(memory.as_ref(), other.allocate(256).unwrap().as_mut(), 0..4);
    assert!(matches!(stranger, Err(Error::Foreign { .. })));
}

#[test]
fn a_display_may_go_before_the_backend() {
    let Some(Both { display, backend }) = both() else { return };
    let kernel = backend.build(&source("paint", PAINT)).unwrap();
    let (mut memory, handle) = backend.allocate_shared(256, queue(backend.as_ref()), display.device()).unwrap();
    let staging = display.create_staging(StagingKind::External(handle), 256).unwrap();
    drop((staging, display));
    refused(backend.as_ref(), kernel.as_ref(), memory.as_mut(), |error| matches!(error, Error::WrongContext { .. }));
    drop((kernel, memory));
    // The last that holds the context, on a thread where it never was.
    std::thread::spawn(move || drop(backend)).join().unwrap();
    // Others work.
    both().unwrap().backend.allocate(16).unwrap();
}

#[test]
fn a_lost_context_is_told_and_nothing_is_called_in_it() {
    let Some(Both { display, backend }) = both() else { return };
    let kernel = backend.build(&source("paint", PAINT)).unwrap();
    let mut memory = backend.allocate(256).unwrap();
    backend.finish().unwrap();
    // SAFETY: the context is used no more, as if it were gone, and nothing of it is mapped.
    unsafe { display.context_lost() };
    refused(
        backend.as_ref(),
        kernel.as_ref(),
        memory.as_mut(),
        |error| matches!(error, Error::Driver(error) if error.code_name.contains("gone")),
    );
    drop((kernel, memory, backend));
    assert_eq!(display.object_counts(), pixelferry_gl::ObjectCounts::default());
}

#[test]
fn a_backend_alone_is_called_on_any_thread_and_opened_in_a_display() {
    let Some(alone) = common::alone() else { return };
    let kernel = alone.build(&source("paint", PAINT)).unwrap();
    std::thread::scope(|scope| {
        for blue in 0..4_u8 {
            let (alone, kernel) = (alone.clone(), kernel.clone());
            scope.spawn(move || {
                let mut memory = alone.allocate(256).unwrap();
                let target = Target::new(memory.as_mut(), image()).unwrap();
                alone.launch(kernel.as_ref(), target, &[Arg::F32(f32::from(blue) / 255.0)]).unwrap();
                let mut found = [0; 256];
                memory.read(0, &mut found).unwrap();
                assert_eq!(found[4 * 9..4 * 10], [1, 1, blue, 255]);
            });
        }
    });
    // It shares no queue with anybody.
    assert!(alone.caps().display_queue().is_none());
    let Some(Both { display, backend }) = both() else { return };
    let inside = alone.open_in(display.as_ref()).unwrap().expect("the same device");
    assert!(inside.allocate_shared(256, queue(backend.as_ref()), display.device()).is_ok());
    let handle = alone.allocate_shared(256, queue(backend.as_ref()), alone.device());
    assert!(matches!(handle, Err(Error::Unsupported { .. })));
    assert!(backend.open_in(display.as_ref()).unwrap().is_none());
    // Dropped while a thread of others' has a memory of it.
    let memory = alone.allocate(16).unwrap();
    drop(alone);
    drop((kernel, memory));
}

#[test]
fn an_older_opengl_is_told() {
    let options = pixelferry_gl::HeadlessOptions::default().with_version_limit((4, 2));
    let refused = |result: Result<(), Error>| match result {
        Err(Error::Unsupported { reason, .. }) => assert!(reason.contains("4.3") && reason.contains("4.2"), "{reason}"),
        other => panic!("{other:?}"),
    };
    let Some(display) =
        pixelferry_testing::need(pixelferry_testing::Need::Egl, pixelferry_gl::GlDisplay::headless(options.clone()))
    else {
        return;
    };
    refused(GlBackend::on(&display).map(drop));
    refused(GlBackend::open(&options).map(drop));
}

#[test]
fn nothing_is_left_behind() {
    let Some(Both { display, backend }) = both() else { return };
    let kernel = backend.build(&source("paint", PAINT)).unwrap();
    let target = display.create_offscreen_target(32, 32).unwrap();
    let once = |path| {
        let image = ImageDesc::new(32, 32, PixelFormat::Rgba8).with_access(ImageAccess::Any);
        let surface = SurfaceDesc::Image(image);
        let options = LinkOptions::new(Policy::default().with_force(path));
        let mut link = Link::open(backend.clone(), display.clone(), surface, options).unwrap();
        for number in 0..8 {
            link.frame(|next| next.launch(kernel.as_ref(), &[Arg::F32(number as f32 / 255.0)])).unwrap();
            target.bind().unwrap();
            // Not timed, which takes queries.
            let options = DrawOptions::default().with_manner(Manner::Compute);
            display.draw(link.shown().unwrap().surface(), Viewport::full(32, 32), options).unwrap();
            // Pixel (3, 0), whichever row is the first.
            assert_eq!(target.read_pixels().unwrap()[12], 3);
            assert_eq!(target.read_pixels().unwrap()[14], number);
        }
        let fill = backend.build(&source("fill", FILL)).unwrap();
        drop(fill);
    };
    for path in [PathId::IN_QUEUE_TEXTURE, PathId::IN_QUEUE_IN_PLACE, PathId::IN_QUEUE_UPLOAD] {
        once(path);
        let counts = display.object_counts();
        for _ in 0..5 {
            once(path);
            assert_eq!(display.object_counts(), counts);
        }
    }
}
