//! Calls that must give an error, and leave everything as it was.

use super::rig::open;
use pixelferry::api::gl::glow::{self, HasContext as _};
use pixelferry::api::gl::{GlDisplay, HeadlessOptions};
use pixelferry::api::opencl::{GlAccess, GlObject, OpenClBackend, cl, devices, devices_sharing_gl};
use pixelferry::driver::{HandleType, SharedHandle};
use pixelferry::{
    Arg, BufferView, ComputeBackend, Display, DisplayChoice, Error, ImageDesc, KernelSource, PixelFormat, SurfaceDesc,
    SyncKind, Target, View, open_headless,
};
use pixelferry_tests::{Need, given, need};

fn is_wrong_context<T>(result: pixelferry::Result<T>, what: &str) {
    assert!(matches!(result, Err(Error::WrongContext { .. })), "{what}: {:?}", result.err());
}

#[test]
#[ignore = "run by the tests of the module above, in a process of its own"]
fn child_out_of_order() {
    let Some((backend, display)) = open() else { return };
    let desc = SurfaceDesc::buffer(64);
    let surface = display.create_surface(&desc).unwrap();
    let handle = surface.export(HandleType::GlObject).unwrap();
    let mut memory = backend.import_surface(&handle, &desc).unwrap();
    let whole = View::Buffer(BufferView { offset: 0, len: 64 });
    let pattern = interop_core::describe::pattern::Pattern::for_view(&whole, 5);
    let launch = |memory: &mut dyn pixelferry::ComputeMemory| {
        backend.write_pattern(Target::new(memory, whole).unwrap(), &pattern)
    };

    // Before the first turn, and after each.
    for _ in 0..2 {
        let refused = [
            launch(memory.as_mut()),
            memory.read(0, &mut [0; 4]),
            memory.write(0, &[0; 4]),
            memory.map_read(0..4, &mut |_| Ok(())),
        ];
        for refused in refused {
            assert!(
                matches!(&refused, Err(Error::InvalidInput { problem, .. }) if problem.contains("acquire")),
                "{refused:?}"
            );
        }
        memory.release().unwrap();
        memory.acquire().unwrap();
        memory.acquire().unwrap();
        launch(memory.as_mut()).unwrap();
        memory.release().unwrap();
        memory.release().unwrap();
    }

    // Another context, or none.
    memory.acquire().unwrap();
    let other = GlDisplay::headless(HeadlessOptions::default()).unwrap();
    is_wrong_context(memory.release(), "release in another context");
    is_wrong_context(backend.import_surface(&handle, &desc).map(drop), "import in another context");
    display.make_current().unwrap();
    memory.release().unwrap();
    other.make_current().unwrap();
    is_wrong_context(memory.acquire(), "acquire in another context");
    display.make_current().unwrap();
    memory.acquire().unwrap();
    let held = display.hold_gl().unwrap();
    let moved = std::thread::scope(|scope| scope.spawn(|| devices_sharing_gl(held.as_ref()).map(drop)).join().unwrap());
    is_wrong_context(moved, "a thread without a context");
    // Given back on the way out.
    drop(memory);
    let mut memory = backend.import_surface(&handle, &desc).unwrap();
    memory.acquire().unwrap();
    memory.release().unwrap();

    // An object whose name is gone stays; one with other storage is refused.
    // SAFETY: the display's context is current.
    unsafe {
        let gl = display.gl();
        let name = gl.create_buffer().unwrap();
        gl.bind_buffer(glow::ARRAY_BUFFER, Some(name));
        gl.buffer_data_size(glow::ARRAY_BUFFER, 16, glow::STATIC_DRAW);
        let mut shared = backend.share_gl(GlObject::Buffer { name: name.0.get() }, GlAccess::Write).unwrap();
        shared.acquire().unwrap();
        assert!(shared.is_acquired());
        shared.release().unwrap();
        gl.buffer_data_size(glow::ARRAY_BUFFER, 32, glow::STATIC_DRAW);
        let other = shared.acquire();
        assert!(matches!(&other, Err(Error::Driver(e)) if e.code == -60), "{other:?}");
        assert!(!shared.is_acquired());
        let mut shared = backend.share_gl(GlObject::Buffer { name: name.0.get() }, GlAccess::Write).unwrap();
        gl.delete_buffer(name);
        shared.acquire().unwrap();
        shared.release().unwrap();
    }
    // The context still works.
    memory.acquire().unwrap();
    launch(memory.as_mut()).unwrap();
    memory.release().unwrap();
    println!("ALL DONE");
}

#[test]
#[ignore = "run by the tests of the module above, in a process of its own"]
fn child_wrong() {
    let Some((backend, display)) = open() else { return };
    let desc = SurfaceDesc::Image(ImageDesc::new(8, 8, PixelFormat::Rgba8));
    let surface = display.create_surface(&desc).unwrap();
    let handle = surface.export(HandleType::GlObject).unwrap();
    let SharedHandle::GlTexture { name, target } = handle else { panic!("a texture has a name") };
    for (width, format) in [(9, PixelFormat::Rgba8), (8, PixelFormat::R8), (8, PixelFormat::Rgba32F)] {
        let wrong = SurfaceDesc::Image(ImageDesc::new(width, 8, format));
        let refused = backend.import_surface(&handle, &wrong).map(drop);
        assert!(matches!(refused, Err(Error::InvalidInput { .. })), "{wrong}: {refused:?}");
    }
    let refused = backend.import_surface(&handle, &SurfaceDesc::buffer(64)).map(drop);
    assert!(matches!(refused, Err(Error::InvalidInput { .. })), "{refused:?}");
    let objects = [
        GlObject::Buffer { name: 4711 },
        GlObject::Buffer { name },
        GlObject::Texture { target, level: 0, name: 4711 },
        GlObject::Texture { target, level: 5, name },
        GlObject::Renderbuffer { name: 4711 },
    ];
    for object in objects {
        let refused = backend.share_gl(object, GlAccess::Read).map(drop);
        assert!(matches!(&refused, Err(Error::Driver(e)) if !e.code_name.is_empty()), "{object:?}: {refused:?}");
    }
    let multisampled = GlObject::Texture { target: 0x9100, level: 0, name };
    let refused = backend.share_gl(multisampled, GlAccess::Read).map(drop);
    assert!(matches!(&refused, Err(Error::Unsupported { reason, .. }) if reason.contains("msaa")), "{refused:?}");

    let mut shared = backend.share_gl(GlObject::Texture { target, level: 0, name }, GlAccess::ReadWrite).unwrap();
    let refused = shared.set_sync(SyncKind::SharedEvent);
    assert!(matches!(refused, Err(Error::Unsupported { .. })), "without cl_khr_gl_event: {refused:?}");
    shared.acquire().unwrap();
    let boxes =
        [([0, 0, 0], [9, 1, 1], 36), ([0; 3], [0, 1, 1], 0), ([usize::MAX, 0, 0], [1; 3], 4), ([0; 3], [1; 3], 5)];
    for (origin, size, bytes) in boxes {
        let refused = shared.read(origin, size, &mut vec![0; bytes]);
        assert!(matches!(refused, Err(Error::InvalidInput { .. })), "{origin:?} {size:?}: {refused:?}");
    }
    shared.release().unwrap();

    // A texture is no pointer, and is not another device's because of that.
    let mut texture = backend.import_surface(&handle, &desc).unwrap();
    texture.acquire().unwrap();
    let mut linear = backend.allocate(256).unwrap();
    // SAFETY: one work item writes one number of its target.
    let source = unsafe {
        KernelSource::new("take").opencl_c(
            "kernel void take(PF_BUFFER(uint, out), global const uint *from) {
               if (get_global_id(0) == 0) PF_ITEM(out, 0) = from[0];
             }",
        )
    };
    let kernel = backend.build(&source).unwrap();
    let given = [Arg::Memory(texture.as_ref())];
    let refused = backend.launch(kernel.as_ref(), Target::buffer(linear.as_mut()), &given);
    assert!(
        matches!(&refused, Err(Error::InvalidInput { problem, .. }) if problem.contains("copy it to linear memory")),
        "{refused:?}"
    );
    backend.copy(texture.as_ref(), linear.as_mut(), 0..256).unwrap();
    texture.release().unwrap();
    drop(texture);

    // A backend that was opened without OpenGL.
    let plain = OpenClBackend::open(backend.opened_device()).unwrap();
    let refused = [
        plain.import_surface(&handle, &desc).map(drop),
        plain.share_gl(GlObject::Texture { target, level: 0, name }, GlAccess::Read).map(drop),
    ];
    for refused in refused {
        let says = matches!(&refused, Err(Error::Unsupported { reason, .. }) if reason.contains("open_in"));
        assert!(says, "{refused:?}");
    }
    println!("ALL DONE");
}

#[test]
#[ignore = "run by the tests of the module above, in a process of its own"]
fn child_not_listed() {
    let Some(display) = need(Need::Egl, open_headless(DisplayChoice::Gl)) else { return };
    let Some(all) = need(given(), devices()) else { return };
    let gl = display.display().hold_gl().unwrap();
    assert!(devices_sharing_gl(gl.as_ref()).unwrap().is_empty());
    for device in all {
        let refused = OpenClBackend::open_sharing_gl(&device, gl.clone()).map(drop);
        let says = matches!(&refused, Err(Error::Unsupported { reason, .. }) if reason.contains("cl_khr_gl_sharing"));
        assert!(says, "{refused:?}");
        let options = cl::ContextOptions::new().share_gl(gl.clone());
        let refused = cl::Context::with_options(&[cl::Device::try_from(&device).unwrap()], options).map(drop);
        let says = matches!(&refused, Err(Error::Unsupported { reason, .. }) if reason.contains("cl_khr_gl_sharing"));
        assert!(says, "{refused:?}");
    }
    drop(display);
    println!("ALL DONE");
}
