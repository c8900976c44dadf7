//! Many frames on wgpu's OpenGL, with resizes, by every path: memory and descriptors stay flat.

use crate::common::{self, wgpu};
use cpu_fallback::CpuBackend;
use interop_core::devices::borrows::Holder;
use interop_core::{
    BufferView, ComputeBackend, Display, Error, ImageAccess, ImageDesc, Link, LinkOptions, PathId, PixelFormat, Policy,
    StagingKind, SurfaceDesc, SurfacePart, View,
};
use pixelferry_testing::{Usage, by_level};
use std::sync::Arc;

const FRAMES_PER_SIZE: u32 = 50;
const BYTES: usize = 10_000;
/// Pages that the allocator keeps here and there.
const SLACK: u64 = 4 << 20;

fn desc(frame: u32) -> SurfaceDesc {
    let width = 64 + 16 * (frame / FRAMES_PER_SIZE % 4);
    SurfaceDesc::Image(ImageDesc::new(width, 48, PixelFormat::Rgba8).with_access(ImageAccess::Any))
}

fn run(backend: &Arc<dyn ComputeBackend>, display: &Arc<dyn Display>, path: PathId) {
    let options = LinkOptions::new(Policy::default().with_force(path));
    let mut link = Link::open(Arc::clone(backend), Arc::clone(display), desc(0), options).unwrap();
    let frames = by_level(400, 1000, 1000);
    let mut before = None;
    for frame in 0..=frames {
        if frame % FRAMES_PER_SIZE == 0 {
            link.resize(desc(frame)).unwrap();
        }
        let bytes = desc(frame).byte_len().unwrap();
        let mut next = link.acquire().unwrap();
        next.write(&vec![frame as u8; bytes]).unwrap();
        next.finish().unwrap();
        if frame % 100 == 99 {
            assert_eq!(link.read_back().unwrap()[bytes - 1], frame as u8, "{path}: a stale frame");
        }
        // Drivers fill caches in the beginning.
        if frame == frames / 2 {
            display.finish().unwrap();
            before = Some(Usage::here().unwrap());
        }
    }
    display.finish().unwrap();
    // Usage at the same size as then.
    let (after, before) = (Usage::here().unwrap(), before.unwrap());
    println!("{path}: {before:?} -> {after:?}");
    assert!(after.rss <= before.rss + SLACK, "{path}: memory grew from {} to {}", before.rss, after.rss);
    assert_eq!(after.descriptors, before.descriptors, "{path}: descriptors");
}

#[test]
#[ignore = "run by another test, in a process of its own"]
fn frames_by_every_path_leave_nothing() {
    let Some(display) = common::display() else { return };
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
    let display: Arc<dyn Display> = display;
    for path in common::host_paths() {
        run(&backend, &display, path);
    }
    drop(display);
    // Contexts come and go as well.
    let before = Usage::here().unwrap();
    for n in 0..10 {
        let display = common::display().unwrap();
        let staging = display.create_staging(StagingKind::Persistent, BYTES).unwrap();
        let mut surface = display.create_in_place_surface(&SurfaceDesc::buffer(BYTES as u64)).unwrap();
        surface.read_in_place(&staging, &View::Buffer(BufferView { offset: 0, len: BYTES })).unwrap();
        let host = staging.host_block().unwrap();
        // Objects that outlive the display take its memory along, in any order.
        drop(display);
        if n % 2 == 0 {
            drop((staging, surface))
        } else {
            drop((surface, staging))
        }
        host.write(0..host.len(), Holder::Guard).unwrap().fill(9);
    }
    let after = Usage::here().unwrap();
    println!("ten displays: {before:?} -> {after:?}");
    assert_eq!(after.descriptors, before.descriptors, "descriptors after ten displays");
}

/// Makes wgpu's context current on the calling thread, or none.
fn make_current(device: &wgpu::Device, current: bool) {
    use std::ffi::c_void;
    type MakeCurrent = unsafe extern "system" fn(*mut c_void, *mut c_void, *mut c_void, *mut c_void) -> u32;
    // SAFETY: nothing of the guard's is destroyed.
    let hal = unsafe { device.as_hal::<wgpu::hal::api::Gles>() }.unwrap();
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
#[ignore = "run by `opengl`"]
fn a_context_that_is_taken_is_an_error() {
    let Some(display) = common::display() else { return };
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
    assert_eq!(surface.read_back(&SurfacePart::full(&desc)).unwrap(), [0; 16]);
    drop(display.create_staging(StagingKind::Persistent, BYTES).unwrap());
}
