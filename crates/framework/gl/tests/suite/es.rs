//! Displays in an engine's context of OpenGL ES, of each version: what they show, what they refuse and why, and that the engine
//! goes on drawing by programs of its own.

use crate::suite::canvas::Canvas;
use crate::suite::common;
use crate::suite::common::{assert_same, expected, read_all, tight};
use crate::suite::engine::Engine;
use crate::suite::manner_rules::Board as _;
use cpu_fallback::{CpuBackend, CpuKernelExt as _};
use glow::HasContext as _;
use glutin::prelude::GlDisplay as _;
use interop_core::conformance::{Surfaces, stored};
use interop_core::describe::format::ChannelKind;
use interop_core::describe::pattern::rows;
use interop_core::display::{Display, StagingKind};
use interop_core::{
    Arg, ComputeBackend, Error, Extent, ImageDesc, Intake, KernelSource, Link, LinkOptions, Outlet, OutletFrame,
    PixelFormat, RowOrder, Support, SurfaceDesc,
};
use pixelferry_gl::{DrawOptions, EngineOptions, EngineTexture, GlDisplay, TargetEncoding};
use pixelferry_testing::{Child, by_level, has};
use std::sync::Arc;

/// Tests that run with each version.
const TESTS: [&str; 7] = [
    "suite::es::every_format_and_way_up",
    "suite::es::what_a_version_lacks_is_said",
    "suite::es::all_ways_in_are_one",
    "suite::es::an_engine_draws_frames_by_a_program_of_its_own",
    "suite::es::formats_that_encode",
    "suite::es::levels_of_an_engines_texture",
    "suite::es::the_way_back_and_into_an_engines_texture",
];

/// Mesa gives its newest for any that is asked for, and this one where the variable says so.
fn in_version(tests: &[&str], version: &str) {
    if Engine::es().is_none() {
        return;
    }
    let child = Child::of_each(tests).unwrap().env("MESA_GLES_VERSION_OVERRIDE", version);
    let output = child.run().unwrap().passed();
    println!("{output}");
    let ran = output.matches("RAN ON").count();
    assert!(ran >= tests.len(), "{ran} tests ran on OpenGL ES {version}");
}

#[test]
fn in_each_version() {
    // State in 3.0 is looked at at every level, by `engine_state`.
    let versions = ["3.2", "3.0", "3.1"];
    versions.iter().take(by_level(1, 3, 3)).for_each(|version| in_version(&TESTS, version));
}

/// That of the driver, which Mesa takes from the variable.
fn given() -> Option<(u32, u32)> {
    let version = std::env::var("MESA_GLES_VERSION_OVERRIDE").unwrap();
    let (major, minor) = version.split_once('.').unwrap();
    Some((major.parse().unwrap(), minor.parse().unwrap()))
}

/// A context and its display; the context must be of the version that was asked for where Mesa draws.
fn open() -> Option<(Engine, Arc<GlDisplay>)> {
    let engine = Engine::es()?;
    let display = engine.pixelferry(None);
    assert!(display.is_es());
    // SAFETY: the context is current.
    assert_eq!(unsafe { display.gl().get_error() }, glow::NO_ERROR);
    if display.device().driver.contains("Mesa") {
        assert_eq!(Some(display.version()), given());
    }
    println!("RAN ON {} ({})", display.device(), display.device().driver);
    Some((engine, display))
}

#[test]
#[ignore = "run by `in_each_version`, in a process of its own"]
fn every_format_and_way_up() {
    let Some((_engine, display)) = open() else { return };
    println!("{:#?}", display.caps());
    for format in PixelFormat::ALL.into_iter().filter(|format| !display.caps().image_formats.contains(format)) {
        let desc = SurfaceDesc::image(33, 17, format);
        for refused in [
            display.create_surface(&desc).map(drop),
            display.create_in_place_surface(&desc).map(drop),
            display.create_offscreen_target_of(33, 17, format).map(drop),
        ] {
            let Err(Error::Unsupported { reason, .. }) = refused else { panic!("{format}: {refused:?}") };
            let version = format!("OpenGL ES {}.{}", display.version().0, display.version().1);
            assert!(reason.contains(&version) && reason.contains(&format.to_string()), "{reason}");
        }
    }
    let open = || Ok(Engine::es().unwrap().pixelferry(None) as Arc<dyn Display>);
    Surfaces { open: &open, sizes: &[(33, 17)], any_rows: true }.check().unwrap();
    // Formats that every OpenGL ES 3 draws into.
    let always = |format: &PixelFormat| format.channel_kind() == ChannelKind::Unorm8 || *format == PixelFormat::Rgb10A2;
    assert!(PixelFormat::ALL.iter().filter(|format| always(format)).all(|f| display.caps().image_formats.contains(f)));
}

#[test]
#[ignore = "run by `in_each_version`, in a process of its own"]
fn what_a_version_lacks_is_said() {
    let Some((engine, display)) = open() else { return };
    let version = display.version();
    let Support::No(reason) = display.set_timeline(true).unwrap() else { panic!("a timeline") };
    assert!(reason.contains("OpenGL ES"), "{reason}");
    match display.shared_device() {
        Ok(device) => assert!(device.is_es() && version >= (3, 1)),
        Err(Error::Unsupported { reason, .. }) => {
            assert!(reason.contains("the context has OpenGL ES 3.0") && version < (3, 1), "{reason}");
        }
        Err(error) => panic!("{error}"),
    }
    if version < (3, 2) {
        assert!(display.device().software, "a GPU may have an extension for it");
        println!("{:?}", display.caps().in_place_images);
    }
    // Nothing but core.
    let plain = engine.pixelferry(Some((3, 0)));
    let formats = &plain.caps().image_formats;
    assert_eq!(
        formats[..],
        [PixelFormat::R8, PixelFormat::Rg8, PixelFormat::Rgba8, PixelFormat::Bgra8, PixelFormat::Rgb10A2]
    );
    let Err(Error::Unsupported { reason, .. }) = plain.create_staging(StagingKind::Persistent, 64) else { panic!() };
    assert!(reason.contains("GL_EXT_buffer_storage"), "{reason}");
    let refused = plain.create_surface(&SurfaceDesc::image(4, 4, PixelFormat::Rgba16F)).map(drop).unwrap_err();
    assert!(refused.to_string().contains("GL_EXT_color_buffer_float"), "{refused}");
    // A link says the same.
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
    let link = Link::open(backend, plain, SurfaceDesc::image(4, 4, PixelFormat::Rgba32F), LinkOptions::default());
    let refused = link.map(drop).unwrap_err().to_string();
    println!("{refused}");
    assert!(refused.contains("RGBA32F") && refused.contains("OpenGL ES 3.0"), "{refused}");
}

#[test]
fn what_is_older_is_refused() {
    let Some(engine) = Engine::es() else { return };
    let version = engine.glow().version().vendor_info.clone();
    let is_mesa =
        if version.contains("Mesa") { Ok(()) } else { Err("only Mesa makes a context older than its newest") };
    drop(engine);
    if has("OpenGL ES 2.0", version, is_mesa).is_some() {
        in_version(&["suite::es::child_older"], "2.0");
    }
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_older() {
    let Some(engine) = Engine::es() else { return };
    let load = |name: &std::ffi::CStr| engine.display.get_proc_address(name);
    // SAFETY: the context is current, and nothing is made.
    let refused = unsafe {
        [
            GlDisplay::from_loader(load, EngineOptions::default()),
            GlDisplay::from_current(EngineOptions::default()),
            GlDisplay::from_engine(engine.glow(), EngineOptions::default()),
        ]
    };
    for refused in refused {
        let Err(Error::Unsupported { device, reason, .. }) = refused else { panic!("{refused:?}") };
        println!("RAN ON {device}");
        assert!(device.starts_with("OpenGL ES 2.0") && reason.contains("OpenGL ES 3.0"), "{device}: {reason}");
    }
}

#[test]
#[ignore = "run by `in_each_version`, in a process of its own"]
fn all_ways_in_are_one() {
    let Some((engine, by_loader)) = open() else { return };
    // SAFETY: the context is current and outlives the displays.
    let (by_current, by_glow) = unsafe {
        let by_current = GlDisplay::from_current(EngineOptions::default()).unwrap();
        (by_current, GlDisplay::from_engine(engine.glow(), EngineOptions::default()).unwrap())
    };
    for display in [by_current, by_glow] {
        assert_eq!((display.version(), display.is_es()), (by_loader.version(), true));
        assert_eq!(display.caps().image_formats, by_loader.caps().image_formats);
        assert_eq!(display.caps().persistent_staging, by_loader.caps().persistent_staging);
        let mut surface = common::plain(&display);
        let view = tight(&SurfaceDesc::image(5, 3, PixelFormat::Rgba8));
        assert_same("shown", &expected(&view, 1), &read_all(&mut surface));
    }
}

/// A program of the engine's that draws a texture over all of its framebuffer, each pixel a texel.
const VERTEX: &str = "#version 300 es
void main() { gl_Position = vec4(vec2(gl_VertexID & 1, gl_VertexID >> 1) * 4.0 - 1.0, 0.0, 1.0); }";
const FRAGMENT: &str = "#version 300 es
precision highp float;
uniform highp sampler2D picture;
out vec4 color;
void main() { color = texelFetch(picture, ivec2(gl_FragCoord.xy), 0); }";

/// Sets the engine's state once, as engines do that count on finding it again: the program, and what it draws into.
fn painter(display: &GlDisplay, size: (u32, u32)) -> Canvas<'_> {
    let (gl, canvas) = (display.gl(), Canvas::new(display, size, glow::RGBA8));
    // SAFETY: the context is current, all names are of it, and those that are left go with it.
    unsafe {
        let program = gl.create_program().unwrap();
        for (stage, text) in [(glow::VERTEX_SHADER, VERTEX), (glow::FRAGMENT_SHADER, FRAGMENT)] {
            let shader = gl.create_shader(stage).unwrap();
            gl.shader_source(shader, text);
            gl.compile_shader(shader);
            assert!(gl.get_shader_compile_status(shader), "{}", gl.get_shader_info_log(shader));
            gl.attach_shader(program, shader);
        }
        gl.link_program(program);
        assert!(gl.get_program_link_status(program));
        gl.use_program(Some(program));
        gl.bind_vertex_array(Some(gl.create_vertex_array().unwrap()));
        gl.viewport(0, 0, size.0 as i32, size.1 as i32);
        gl.enable(glow::CULL_FACE);
        gl.front_face(glow::CCW);
    }
    canvas
}

/// Draws `texture` with nothing but the texture bound anew, and reads what came of it.
fn painted(gl: &glow::Context, canvas: &Canvas<'_>, texture: glow::Texture) -> Vec<u8> {
    // SAFETY: the context is current.
    unsafe {
        gl.bind_texture(glow::TEXTURE_2D, Some(texture));
        gl.draw_arrays(glow::TRIANGLES, 0, 3);
    }
    let pixels = canvas.read();
    // SAFETY: as above.
    assert_eq!(unsafe { gl.get_error() }, glow::NO_ERROR);
    pixels
}

#[test]
#[ignore = "run by `in_each_version`, in a process of its own"]
fn an_engine_draws_frames_by_a_program_of_its_own() {
    let Some((engine, display)) = open() else { return };
    let gl = engine.glow();
    let (width, height) = (37, 21);
    let canvas = painter(&display, (width as u32, height as u32));
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
    let kernel = KernelSource::new("steps").cpu_image(|out, args| {
        let frame = args.u32(0)?;
        out.par_pixels(|x, y| [x as u8, y as u8, frame as u8, 255])
    });
    let kernel = backend.build(&kernel).unwrap();
    let image = ImageDesc::new(width as u32, height as u32, PixelFormat::Rgba8).with_row_order(RowOrder::BottomUp);
    let desc = SurfaceDesc::Image(image);
    let mut link = Link::open(backend, display.clone(), desc, LinkOptions::default()).unwrap();
    println!("{}", link.report());
    // An engine's own texture, of bytes without a sized format, as many make them.
    // SAFETY: the context is current.
    let own = unsafe {
        let own = gl.create_texture().unwrap();
        gl.bind_texture(glow::TEXTURE_2D, Some(own));
        let (format, ty, none) = (glow::RGBA, glow::UNSIGNED_BYTE, glow::PixelUnpackData::Slice(None));
        gl.tex_image_2d(glow::TEXTURE_2D, 0, format as i32, width, height, 0, format, ty, none);
        gl.tex_parameter_i32(glow::TEXTURE_2D, glow::TEXTURE_MIN_FILTER, glow::NEAREST as i32);
        own
    };
    let target = EngineTexture::new(own.0.get(), Extent::new(width as u32, height as u32));
    for frame in 0..5 {
        link.frame(|next| next.launch(kernel.as_ref(), &[Arg::U32(frame)])).unwrap();
        let pixel = |i: i32| [(i % width) as u8, (i / width) as u8, frame as u8, 255];
        let pixels: Vec<u8> = (0..width * height).flat_map(pixel).collect();
        let shown = link.shown().unwrap();
        let texture = display.surface_texture(shown.surface()).unwrap();
        if texture.target == glow::TEXTURE_2D {
            assert_same("the shown texture", &pixels, &painted(&gl, &canvas, texture.name));
        }
        // SAFETY: the texture was made above, and nobody else has it.
        unsafe { display.draw_to_texture(shown.surface(), target, target.viewport(), DrawOptions::default()) }.unwrap();
        assert_same("the engine's texture", &pixels, &painted(&gl, &canvas, own));
        // SAFETY: the texture outlives the surface.
        let mut taken = unsafe { display.engine_image(target, PixelFormat::Rgba8) }.unwrap();
        assert_same("taken", &pixels, &read_all(&mut taken));
    }
}

/// Formats that encode: the numbers go there as they are where encoding can be switched off, and are refused where not.
#[test]
#[ignore = "run by `in_each_version`, in a process of its own"]
fn formats_that_encode() {
    let Some((engine, display)) = open() else { return };
    let gl = engine.glow();
    // SAFETY: the context is current.
    let texture = unsafe {
        let texture = gl.create_texture().unwrap();
        gl.bind_texture(glow::TEXTURE_2D, Some(texture));
        gl.tex_storage_2d(glow::TEXTURE_2D, 1, glow::SRGB8_ALPHA8, 5, 3);
        texture
    };
    let target = EngineTexture::new(texture.0.get(), Extent::new(5, 3));
    let view = tight(&SurfaceDesc::image(5, 3, PixelFormat::Rgba8));
    let extension = gl.supported_extensions().contains("GL_EXT_sRGB_write_control");
    // Core has nothing that switches it.
    for (display, switches) in [(&display, extension), (&engine.pixelferry(Some((3, 0))), false)] {
        let surface = common::plain(display);
        let draw = |options| {
            // SAFETY: the texture was made above, and nobody else has it.
            unsafe { display.draw_to_texture(&surface, target, target.viewport(), options) }
        };
        match draw(DrawOptions::default()) {
            Ok(()) => {
                assert!(switches);
                // SAFETY: the texture outlives the surface.
                let mut taken = unsafe { display.engine_image(target, PixelFormat::Rgba8) }.unwrap();
                assert_same("as they are", &expected(&view, 1), &read_all(&mut taken));
            }
            Err(Error::Unsupported { reason, .. }) => assert!(!switches && reason.contains("sRGB_write"), "{reason}"),
            Err(error) => panic!("{error}"),
        }
        draw(DrawOptions::default().with_target(TargetEncoding::SrgbFormat)).unwrap();
    }
}

#[test]
#[ignore = "run by `in_each_version`, in a process of its own"]
fn levels_of_an_engines_texture() {
    let Some((engine, display)) = open() else { return };
    let gl = engine.glow();
    // SAFETY: the context is current.
    let make = |format| unsafe {
        let texture = gl.create_texture().unwrap();
        gl.bind_texture(glow::TEXTURE_2D, Some(texture));
        gl.tex_storage_2d(glow::TEXTURE_2D, 2, format, 8, 8);
        assert_eq!(gl.get_error(), glow::NO_ERROR);
        texture.0.get()
    };
    let surface = common::plain(&display);
    let draw = |target: EngineTexture| {
        // SAFETY: the textures were made above, and nobody else has them.
        unsafe { display.draw_to_texture(&surface, target, target.viewport(), DrawOptions::default()) }
    };
    let (color, integers, shared) = (make(glow::RGBA8), make(glow::RGBA8UI), make(glow::RGB9_E5));
    let (eight, four) = (Extent::new(8, 8), Extent::new(4, 4));
    draw(EngineTexture::new(color, eight)).unwrap();
    draw(EngineTexture::new(color, eight).with_level(1, four)).unwrap();
    for (what, target) in [
        ("integers", EngineTexture::new(integers, eight)),
        ("a format that is not drawn into", EngineTexture::new(shared, eight)),
        ("a level that is not there", EngineTexture::new(color, eight).with_level(2, Extent::new(2, 2))),
        ("a level that nothing has", EngineTexture::new(color, eight).with_level(30, Extent::new(2, 2))),
        ("no texture", EngineTexture::new(4711, eight)),
    ] {
        let refused = draw(target);
        assert!(matches!(refused, Err(Error::InvalidInput { .. })), "{what}: {refused:?}");
    }
    // OpenGL ES 3.0 does not tell it.
    let other_size = draw(EngineTexture::new(color, four));
    assert_eq!(other_size.is_err(), display.version() >= (3, 1), "{other_size:?}");
    let as_image = |format| {
        // SAFETY: the texture outlives the surface.
        unsafe { display.engine_image(EngineTexture::new(color, eight), format) }.map(drop)
    };
    as_image(PixelFormat::Rgba8).unwrap();
    for other in [PixelFormat::R8, PixelFormat::Bgra8, PixelFormat::Rgb10A2] {
        assert!(matches!(as_image(other), Err(Error::InvalidInput { .. })), "{other}");
    }
    // SAFETY: the context is current.
    assert_eq!(unsafe { gl.get_error() }, glow::NO_ERROR);
}

/// Textures of each format become memory of a backend and back, whatever the driver lets be read into buffers.
#[test]
#[ignore = "run by `in_each_version`, in a process of its own"]
fn the_way_back_and_into_an_engines_texture() {
    let Some((_engine, display)) = open() else { return };
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
    // No texture stores blue first.
    for format in display.caps().image_formats.iter().copied().filter(|format| *format != PixelFormat::Bgra8) {
        let desc = SurfaceDesc::image(13, 7, format);
        let view = tight(&desc);
        // A texture that somebody else made.
        let mut made = stored(&*display, &desc, &expected(&view, 3)).unwrap();
        let texture = EngineTexture::new(display.surface_texture(&made).unwrap().id(), Extent::new(13, 7));
        // SAFETY: the texture outlives what is opened over it.
        let image = || unsafe { display.engine_image(texture, format) }.unwrap();
        let mut intake = Intake::open(backend.clone(), display.clone(), image()).unwrap();
        let taken = intake.take().unwrap().read().unwrap();
        assert_same(&format!("{format} taken"), &expected(&view, 3), &taken);
        drop(intake);
        let mut outlet = Outlet::open(backend.clone(), display.clone(), image()).unwrap();
        let pixels = expected(&view, 4);
        let write = |frame: &mut OutletFrame<'_>| {
            let (memory, at) = frame.target()?.into_parts();
            let tight = pixels.chunks(pixels.len() / 7);
            rows(&at).zip(tight).try_for_each(|((_, at), row)| memory.write(at.start, row))
        };
        outlet.frame(write).unwrap();
        drop(outlet);
        assert_same(&format!("{format} given"), &pixels, &read_all(&mut made));
    }
}
