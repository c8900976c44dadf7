//! Framebuffers that take no colours are refused by every call that would draw, clear or read there, and nothing is left in
//! `glGetError`. What a framebuffer holds beside the picture stays.

use crate::suite::common::plain;
use crate::suite::engine::Engine;
use crate::suite::state::{engine_framebuffers, unchanged};
use cpu_fallback::{CpuBackend, CpuKernelExt as _};
use glow::HasContext as _;
use glutin::context::GlProfile;
use glutin::prelude::GlDisplay as _;
use interop_core::{
    ComputeBackend, DrawOptions, Error, Kernel, KernelSource, Link, LinkOptions, Manner, PathId, PixelFormat, Policy,
    Result, SurfaceDesc,
};
use pixelferry_gl::{EngineOptions, GlDisplay, Viewport};
use std::ffi::{CStr, c_void};
use std::sync::Arc;
use std::time::Duration;

const SIDE: i32 = 8;

/// A texture of this format at an attachment of the framebuffer that is bound.
///
/// # Safety
/// The context is current.
unsafe fn attach(gl: &glow::Context, at: u32, format: u32, samples: i32) {
    // SAFETY: the caller's promise; the names are made here.
    unsafe {
        let renderbuffer = gl.create_renderbuffer().unwrap();
        gl.bind_renderbuffer(glow::RENDERBUFFER, Some(renderbuffer));
        gl.renderbuffer_storage_multisample(glow::RENDERBUFFER, samples, format, SIDE, SIDE);
        gl.framebuffer_renderbuffer(glow::FRAMEBUFFER, at, glow::RENDERBUFFER, Some(renderbuffer));
    }
}

/// A framebuffer, and words of the refusal.
type TargetRefusal = (&'static str, fn(&glow::Context), &'static str);

const BAD: [TargetRefusal; 6] = [
    ("no attachment", |_| (), "GL_FRAMEBUFFER_INCOMPLETE_MISSING_ATTACHMENT, 0x8cd7"),
    (
        "mixed samples",
        // SAFETY: the context is current.
        |gl| unsafe {
            attach(gl, glow::COLOR_ATTACHMENT0, glow::RGBA8, 0);
            attach(gl, glow::COLOR_ATTACHMENT1, glow::RGBA8, 4);
        },
        "GL_FRAMEBUFFER_INCOMPLETE_MULTISAMPLE, 0x8d56",
    ),
    (
        "no draw buffer",
        // SAFETY: the context is current.
        |gl| unsafe {
            attach(gl, glow::COLOR_ATTACHMENT0, glow::RGBA8, 0);
            gl.draw_buffers(&[glow::NONE]);
        },
        "its first draw buffer is GL_NONE",
    ),
    (
        "only depth",
        // SAFETY: the context is current.
        |gl| unsafe { attach(gl, glow::DEPTH_ATTACHMENT, glow::DEPTH_COMPONENT24, 0) },
        "nothing is attached to its first draw buffer",
    ),
    (
        "integers",
        // SAFETY: the context is current.
        |gl| unsafe { attach(gl, glow::COLOR_ATTACHMENT0, glow::RGBA8UI, 0) },
        "it holds integers",
    ),
    (
        "a draw buffer of no attachment",
        // SAFETY: the context is current.
        |gl| unsafe {
            attach(gl, glow::COLOR_ATTACHMENT0, glow::RGBA8, 0);
            gl.draw_buffers(&[glow::COLOR_ATTACHMENT1, glow::COLOR_ATTACHMENT0]);
        },
        "nothing is attached to its first draw buffer",
    ),
];

/// A link, and a kernel that writes one byte all over.
fn link(display: &Arc<GlDisplay>) -> Result<(Link, Arc<dyn Kernel>)> {
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new()?);
    let grey = KernelSource::new("grey").cpu_image(|out, _| out.par_pixels(|_, _| [99_u8; 4]));
    let kernel = backend.build(&grey)?;
    let policy = Policy::default().with_budget(Duration::ZERO).with_force(PathId::HOST_ROUND_TRIP);
    let desc = SurfaceDesc::image(SIDE as u32, SIDE as u32, PixelFormat::Rgba8);
    Ok((Link::open(backend, display.clone(), desc, LinkOptions::new(policy))?, kernel))
}

#[test]
fn a_framebuffer_that_takes_no_colours_is_refused_with_the_reason() {
    let Some(engine) = Engine::new() else { return };
    let (gl, display) = (engine.glow(), engine.pixelferry(None));
    let (picture, view) = (plain(&display), Viewport::full(SIDE as u32, SIDE as u32));
    let (mut link, kernel) = link(&display).unwrap();
    let mut reads = display.frame_reads(1);
    let mut refused = |name: &str, words: &str| {
        let check = |what: &str, f: &mut dyn FnMut() -> Result<()>| {
            let what = format!("{name}, {what}");
            let error = unchanged(&gl, &what, f).unwrap_err();
            assert!(
                matches!(error, Error::InvalidInput { .. }) && error.to_string().contains(words),
                "{what}: {error}"
            );
        };
        for manner in Manner::ALL {
            let options = DrawOptions::default().with_manner(manner);
            check(manner.name(), &mut || display.draw(&picture, view, options));
        }
        check("clear", &mut || display.clear([0.5; 4]));
        check("read", &mut || reads.start(view).map(drop));
        check("show", &mut || {
            let mut place = display.bound_target(view);
            link.show(&mut place, DrawOptions::default(), |next| next.launch(kernel.as_ref(), &[])).map(drop)
        });
    };
    refused("no surface", "GL_FRAMEBUFFER_UNDEFINED, 0x8219");
    for (name, make, words) in BAD {
        // SAFETY: the context is current.
        unsafe {
            let framebuffer = gl.create_framebuffer().unwrap();
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
            make(&gl);
            assert_eq!(gl.get_error(), glow::NO_ERROR, "{name}");
        }
        refused(name, words);
    }
    engine_framebuffers(&gl);
    display.draw(&picture, view, DrawOptions::default()).unwrap();
}

unsafe extern "system" fn draws_nothing(_: u32, _: i32, _: i32) {}

/// A driver that draws nothing, under state that is set and put back around each draw.
#[test]
fn a_proof_that_fails_names_the_state_that_is_unusual() {
    let Some(engine) = Engine::of(GlProfile::Compatibility) else { return };
    let gl = engine.glow();
    let load = |name: &CStr| match name {
        name if name == c"glDrawArrays" => draws_nothing as *const c_void,
        name => engine.display.get_proc_address(name),
    };
    // SAFETY: the context is current and outlives the display.
    let display = unsafe { GlDisplay::from_loader(load, EngineOptions::default()) }.unwrap();
    let error = link(&display).err().unwrap().to_string();
    assert!(error.contains("wrong pixels") && !error.contains("of the context were changed"), "{error}");
    // SAFETY: the context is current.
    unsafe {
        gl.enable(0x0BC0);
        gl.pixel_store_i32(glow::UNPACK_ROW_LENGTH, 7);
        gl.color_mask(true, true, false, true);
    }
    let error = link(&display).err().unwrap().to_string();
    println!("{error}");
    let expected = "(these settings of the context were changed and may be the cause: GL_COLOR_WRITEMASK 0xb, GL_ALPHA_TEST on, GL_UNPACK_ROW_LENGTH 7)";
    assert!(error.contains("wrong pixels") && error.contains(expected), "{error}");
}

/// An engine's own loader may lack a function that sets state: then the state is refused by its name, not passed over.
#[test]
fn state_that_cannot_be_set_is_refused_by_its_name() {
    let Some(engine) = Engine::of(GlProfile::Compatibility) else { return };
    let gl = engine.glow();
    let load = |name: &CStr| match name {
        name if name == c"glClampColor" => std::ptr::null(),
        name => engine.display.get_proc_address(name),
    };
    // SAFETY: the context is current and outlives the display.
    let display = unsafe { GlDisplay::from_loader(load, EngineOptions::default()) }.unwrap();
    let (mut link, kernel) = link(&display).unwrap();
    let clamp = |value: u32| {
        let found = engine.display.get_proc_address(c"glClampColor");
        // SAFETY: it is the function of that name, of the context that is current.
        unsafe {
            std::mem::transmute::<*const c_void, unsafe extern "system" fn(u32, u32)>(found)(
                glow::CLAMP_READ_COLOR,
                value,
            );
        }
    };
    link.frame(|next| next.launch(kernel.as_ref(), &[])).unwrap();
    clamp(1);
    let error = unchanged(&gl, "read_back", || link.read_back()).unwrap_err();
    assert!(
        matches!(error, Error::InvalidInput { .. }) && error.to_string().contains("GL_CLAMP_READ_COLOR"),
        "{error}"
    );
    clamp(glow::FIXED_ONLY);
    assert!(link.read_back().unwrap().iter().all(|byte| *byte == 99));
}
