//! What becomes of OpenGL's objects.
// How tests fail.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)]

use super::Gl;
use crate::{WgpuDisplay, WgpuOptions};
use interop_core::devices::borrows::Holder;
use interop_core::{
    BufferView, Display as _, Error, HandleType, HostBlock, ImageDesc, MemoryHandle, PixelFormat, SharedHandle,
    Staging, StagingKind, Surface, SurfaceDesc, View,
};
use pixelferry_testing::{Need, need};
use std::rc::Rc;

const BYTES: usize = 10_000;

/// A display on OpenGL and its end of it; `None` after saying SKIPPED.
fn open() -> Option<(Rc<WgpuDisplay>, Rc<Gl>)> {
    let options = WgpuOptions::default().with_backends(wgpu::Backends::GL);
    let display = need(Need::Egl, WgpuDisplay::headless(options))?;
    let gl = Rc::clone(display.tools.shared.gl.as_ref().expect("wgpu's own context is one of desktop OpenGL"));
    Some((display, gl))
}

fn buffers(gl: &Gl) -> usize {
    gl.display.as_ref().unwrap().object_counts().buffers
}

fn in_place(display: &WgpuDisplay, staging: &dyn Staging) -> Box<dyn Surface> {
    let mut surface = display.create_in_place_surface(&SurfaceDesc::buffer(BYTES as u64)).unwrap();
    surface.read_in_place(staging, &View::Buffer(BufferView { offset: 0, len: BYTES })).unwrap();
    surface
}

#[test]
fn memory_is_deleted_when_nothing_reads_it() {
    let Some((display, gl)) = open() else { return };
    let before = buffers(&gl);
    for kind in [StagingKind::Persistent, StagingKind::Imported(HostBlock::allocate(BYTES).unwrap())] {
        let staging = display.create_staging(kind, BYTES).unwrap();
        assert_eq!(buffers(&gl), before + 1);
        let surface = in_place(&display, staging.as_ref());
        let kept = display.surface_buffer(surface.as_ref()).unwrap().buffer;
        drop((staging, surface));
        display.finish().unwrap();
        assert_eq!(buffers(&gl), before + 1, "the engine holds the buffer");
        drop(kept);
        display.finish().unwrap();
        assert_eq!(buffers(&gl), before, "nobody does");
    }
    // One that is refused leaves nothing.
    let image = ImageDesc::new(64, 8, PixelFormat::Rgba8);
    let null = std::fs::File::open("/dev/null").unwrap();
    // SAFETY: it is no memory, which the driver finds out.
    let handle = SharedHandle::Memory(unsafe { MemoryHandle::new(null.into(), 4096, false) });
    display.create_staging(StagingKind::ExternalImage(handle, image), 2048).map(drop).unwrap_err();
    display.finish().unwrap();
    assert_eq!(gl.display.as_ref().unwrap().object_counts().textures, 0);
    assert!(gl.read.borrow().is_empty());
}

#[test]
fn the_host_keeps_memory_beyond_the_display() {
    let Some((display, gl)) = open() else { return };
    let staging = display.create_staging(StagingKind::Persistent, BYTES).unwrap();
    let host = staging.host_block().unwrap();
    let gl_display = Rc::clone(gl.display.as_ref().unwrap());
    drop((staging, display, gl));
    let mut bytes = host.write(0..host.len(), Holder::Guard, "a test").unwrap();
    bytes.fill(9);
    assert!(bytes.iter().all(|b| *b == 9));
    drop(bytes);
    assert_eq!(gl_display.object_counts().buffers, 1);
    drop(host);
    assert_eq!(gl_display.object_counts().buffers, 0);
}

#[test]
fn what_outlives_the_display_takes_its_memory_along() {
    for surface_last in [false, true] {
        let Some((display, gl)) = open() else { return };
        let staging = display.create_staging(StagingKind::Persistent, BYTES).unwrap();
        let surface = in_place(&display, staging.as_ref());
        let gl_display = Rc::clone(gl.display.as_ref().unwrap());
        drop((display, gl));
        assert_eq!(gl_display.object_counts().buffers, 1);
        if surface_last {
            drop((staging, surface))
        } else {
            drop((surface, staging))
        }
        assert_eq!(gl_display.object_counts(), gl_display::ObjectCounts::default());
    }
}

#[test]
fn without_wgpus_context_nothing_is_called() {
    let Some((display, gl)) = open() else { return };
    let own = gl.display.as_ref().unwrap();
    let outside = own.create_staging(StagingKind::Persistent, BYTES).map(drop).unwrap_err();
    assert!(matches!(outside, Error::WrongContext { .. }), "{outside}");
    // A call that fails, or panics, leaves wgpu its context.
    let failed: interop_core::Result<()> = gl.within("test", |_| Err(Error::NothingShown));
    assert!(matches!(failed, Err(Error::NothingShown)));
    let panicked = interop_core::describe::panics::catch(|| {
        gl.within("test", |_| -> interop_core::Result<()> { panic!("on purpose") })
    });
    assert!(panicked.is_err() && !gl.inside.get());
    let mut surface = display.create_surface(&SurfaceDesc::image(4, 4, PixelFormat::R8)).unwrap();
    assert_eq!(
        surface.read_back(&interop_core::Part::full(&SurfaceDesc::image(4, 4, PixelFormat::R8))).unwrap(),
        [0; 16]
    );
    let staging = display.create_staging(StagingKind::Persistent, BYTES).unwrap();
    let named = staging.export(HandleType::GlObject).unwrap_err();
    assert!(matches!(named, Error::Unsupported { .. }), "{named}");
}

/// Makes wgpu's context current on the calling thread, or none.
fn make_current(device: &wgpu::Device, current: bool) {
    use std::ffi::c_void;
    type MakeCurrent = unsafe extern "system" fn(*mut c_void, *mut c_void, *mut c_void, *mut c_void) -> u32;
    // SAFETY: nothing of the guard's is destroyed.
    let hal = unsafe { device.as_hal::<super::Api>() }.unwrap();
    let egl = hal.context().egl_instance().unwrap();
    let function = egl.get_proc_address("eglMakeCurrent").unwrap();
    // SAFETY: the function of that name has this type (EGL 1.4, 3.7.3).
    let function = unsafe { std::mem::transmute::<extern "system" fn(), MakeCurrent>(function) };
    let context = if current { hal.context().raw_context() } else { std::ptr::null_mut() };
    let (screen, none) = (hal.context().raw_display().unwrap().as_ptr(), std::ptr::null_mut());
    // SAFETY: display and context are wgpu's and alive.
    assert_eq!(unsafe { function(screen, none, none, context) }, 1);
}

#[test]
fn a_context_that_is_taken_is_an_error() {
    let Some((display, _)) = open() else { return };
    let desc = SurfaceDesc::image(4, 4, PixelFormat::R8);
    let mut surface = display.create_surface(&desc).unwrap();
    let taken = std::sync::Barrier::new(2);
    std::thread::scope(|scope| {
        let device = display.wgpu_device().clone();
        let taken = &taken;
        scope.spawn(move || {
            make_current(&device, true);
            taken.wait();
            taken.wait();
            make_current(&device, false);
        });
        taken.wait();
        let made = display.create_surface(&desc).map(drop);
        let staged = display.create_staging(StagingKind::Persistent, BYTES).map(drop);
        taken.wait();
        for result in [made, staged] {
            assert!(matches!(result, Err(Error::Driver(_))), "{result:?}");
        }
    });
    assert_eq!(surface.read_back(&interop_core::Part::full(&desc)).unwrap(), [0; 16]);
    drop(display.create_staging(StagingKind::Persistent, BYTES).unwrap());
}
