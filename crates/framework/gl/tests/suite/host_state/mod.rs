//! Every row of state that a host may have set: set before opening, between frames, and while an intake and an outlet are open. The
//! pixels are right or the call is refused by the row's name, and the host's state and target are as before.
//!
//! In contexts of every profile that the driver has, of the newest version; on an NVIDIA GPU with `PIXELFERRY_GPU=1`.

pub mod rows;

use crate::suite::engine::Engine;
use crate::suite::state::{shallow_snapshot, unchanged_by};
use cpu_fallback::{CpuBackend, CpuKernelExt as _};
use glow::{HasContext as _, PixelPackData};
use glutin::context::GlProfile;
use interop_core::conformance::stored;
use interop_core::display::Surface;
use interop_core::{
    AlphaMode, Arg, ComputeBackend, Display as _, DrawOptions, Extent, ImageDesc, Intake, Kernel, KernelSource, Link,
    LinkOptions, Manner, Outlet, OutletOptions, PathId, PixelFormat, Policy, Result, SurfaceDesc, SurfacePart,
};
use pixelferry_gl::{EngineTexture, GlDisplay, Viewport};
use pixelferry_testing::{has, pass_in_child};
use rows::{HostRow, Setting, prepare, rows};
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::sync::Arc;
use std::time::Duration;

/// Size of the picture, its place in the targets, and their size.
const SIZE: (u32, u32) = (5, 3);
const AT: (i32, i32) = (2, 1);
const TARGET: (i32, i32) = (9, 6);
/// What targets hold beside the picture.
const AROUND: [f32; 4] = [0.25, 0.5, 0.75, 1.0];
const BESIDE: [f32; 4] = [1.0, 0.0, 0.5, 0.25];

/// A host's context and its objects.
pub struct Host {
    pub gl: Arc<glow::Context>,
    pub compatibility: bool,
    /// A buffer for results of queries and of transform feedback.
    pub buffer: glow::Buffer,
    pub pipeline: u32,
    program: glow::Program,
    engine: Engine,
}

impl Host {
    fn new(engine: Engine) -> Self {
        let gl = engine.glow();
        let version = gl.version().clone();
        // SAFETY: the context is current, and the objects are of it.
        unsafe {
            let compatibility = !version.is_embedded
                && gl.get_parameter_i32(glow::CONTEXT_PROFILE_MASK) as u32 & glow::CONTEXT_CORE_PROFILE_BIT == 0;
            let program = gl.create_program().unwrap();
            let head =
                if version.is_embedded { "#version 300 es\nprecision highp float;\n" } else { "#version 330 core\n" };
            for (stage, text) in [
                (
                    glow::VERTEX_SHADER,
                    "out vec4 recorded; void main() { recorded = vec4(1.0); gl_Position = vec4(0.0); }",
                ),
                (glow::FRAGMENT_SHADER, "in vec4 recorded; out vec4 color; void main() { color = recorded; }"),
            ] {
                let shader = gl.create_shader(stage).unwrap();
                gl.shader_source(shader, &format!("{head}{text}"));
                gl.compile_shader(shader);
                gl.attach_shader(program, shader);
            }
            gl.transform_feedback_varyings(program, &["recorded"], glow::INTERLEAVED_ATTRIBS);
            gl.link_program(program);
            assert!(gl.get_program_link_status(program), "{}", gl.get_program_info_log(program));
            let vertices = gl.create_vertex_array().unwrap();
            gl.bind_vertex_array(Some(vertices));
            let buffer = gl.create_buffer().unwrap();
            gl.bind_buffer(glow::TRANSFORM_FEEDBACK_BUFFER, Some(buffer));
            gl.buffer_data_size(glow::TRANSFORM_FEEDBACK_BUFFER, 4096, glow::DYNAMIC_COPY);
            gl.bind_buffer(glow::TRANSFORM_FEEDBACK_BUFFER, None);
            let mut host = Self { gl, compatibility, buffer, pipeline: 0, program, engine };
            if (version.major, version.minor) >= if version.is_embedded { (3, 1) } else { (4, 1) } {
                let mut name = 0;
                host.call::<unsafe extern "system" fn(i32, *mut u32)>(c"glGenProgramPipelines", |f| {
                    f(1, &raw mut name)
                });
                host.pipeline = name;
            }
            prepare(&host);
            assert_eq!(host.gl.get_error(), glow::NO_ERROR, "a row's parameters");
            host
        }
    }

    /// Calls a function that glow does not wrap, and that the context has.
    pub fn call<F: Copy>(&self, name: &CStr, f: impl FnOnce(F)) {
        use glutin::prelude::GlDisplay as _;
        let found = self.engine.display.get_proc_address(name);
        assert!(!found.is_null() && size_of::<F>() == size_of_val(&found), "{name:?}");
        // SAFETY: the rows name functions by their types.
        f(unsafe { std::mem::transmute_copy(&found) });
    }

    pub fn transfer(&self, name: u32, value: f32) {
        // SAFETY: the context is current and of the compatibility profile.
        self.call::<unsafe extern "system" fn(u32, f32)>(c"glPixelTransferf", |f| unsafe { f(name, value) });
    }

    pub fn clamp(&self, target: u32, on: bool) {
        let value = if on { 1 } else { glow::FIXED_ONLY };
        // SAFETY: the context is current and has the target.
        self.call::<unsafe extern "system" fn(u32, u32)>(c"glClampColor", |f| unsafe { f(target, value) });
    }

    /// Begins transform feedback, or ends it.
    pub fn feed_back(&self, on: bool) {
        let gl = &self.gl;
        // SAFETY: the context is current, and the objects are of it.
        unsafe {
            if on {
                gl.use_program(Some(self.program));
                gl.bind_buffer_base(glow::TRANSFORM_FEEDBACK_BUFFER, 0, Some(self.buffer));
                gl.begin_transform_feedback(glow::TRIANGLES);
            } else {
                gl.end_transform_feedback();
                gl.bind_buffer_base(glow::TRANSFORM_FEEDBACK_BUFFER, 0, None);
                gl.use_program(None);
            }
        }
    }
}

/// Framebuffers of the host's: floats with a second colour buffer, depth and stencil; and bytes of four samples.
struct Targets {
    floats: glow::Framebuffer,
    samples: glow::Framebuffer,
    resolved: glow::Framebuffer,
}

impl Targets {
    fn new(host: &Host) -> Self {
        let gl = &host.gl;
        let (target, kind, buffer) = (glow::FRAMEBUFFER, glow::TEXTURE_2D, glow::RENDERBUFFER);
        // SAFETY: the context is current; names are made and used here.
        unsafe {
            let attach = |format, at| {
                let texture = gl.create_texture().unwrap();
                gl.bind_texture(kind, Some(texture));
                gl.tex_storage_2d(kind, 1, format, TARGET.0, TARGET.1);
                gl.framebuffer_texture_2d(target, at, kind, Some(texture), 0);
                gl.bind_texture(kind, None);
            };
            let make = |attach: &dyn Fn()| {
                let framebuffer = gl.create_framebuffer().unwrap();
                gl.bind_framebuffer(target, Some(framebuffer));
                attach();
                assert_eq!(gl.check_framebuffer_status(target), glow::FRAMEBUFFER_COMPLETE);
                framebuffer
            };
            let floats = make(&|| {
                attach(glow::RGBA32F, glow::COLOR_ATTACHMENT0);
                attach(glow::RGBA32F, glow::COLOR_ATTACHMENT1);
                attach(glow::DEPTH24_STENCIL8, glow::DEPTH_STENCIL_ATTACHMENT);
                gl.draw_buffers(&[glow::COLOR_ATTACHMENT0, glow::COLOR_ATTACHMENT1]);
                // The host's mask leaves bits out, which are unknown in new memory.
                let mask = gl.get_parameter_i32(glow::STENCIL_WRITEMASK) as u32;
                gl.stencil_mask(!0);
                gl.clear_buffer_depth_stencil(glow::DEPTH_STENCIL, 0, 0.0, 0);
                gl.stencil_mask(mask);
            });
            let samples = make(&|| {
                let name = gl.create_renderbuffer().unwrap();
                gl.bind_renderbuffer(buffer, Some(name));
                gl.renderbuffer_storage_multisample(buffer, 4, glow::RGBA8, TARGET.0, TARGET.1);
                gl.framebuffer_renderbuffer(target, glow::COLOR_ATTACHMENT0, buffer, Some(name));
            });
            let resolved = make(&|| attach(glow::RGBA8, glow::COLOR_ATTACHMENT0));
            Self { floats, samples, resolved }
        }
    }

    /// Binds one, and gives it what it holds beside the picture.
    fn fill(&self, host: &Host, target: glow::Framebuffer) {
        let gl = &host.gl;
        // SAFETY: the context is current, and no row is set away from its default.
        unsafe {
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(target));
            gl.clear_buffer_f32_slice(glow::COLOR, 0, &AROUND);
            if target == self.floats {
                gl.clear_buffer_f32_slice(glow::COLOR, 1, &BESIDE);
                gl.clear_buffer_depth_stencil(glow::DEPTH_STENCIL, 0, 0.25, 5);
            }
        }
    }

    /// Compares one with a picture of this pixel and all that lies around it.
    fn compare(&self, host: &Host, target: glow::Framebuffer, pixel: [f32; 4], what: &str) {
        let gl = &host.gl;
        let bytes = target == self.samples;
        // SAFETY: the context is current, and no row is set away from its default.
        unsafe {
            if bytes {
                gl.bind_framebuffer(glow::DRAW_FRAMEBUFFER, Some(self.resolved));
                let (w, h) = TARGET;
                gl.blit_framebuffer(0, 0, w, h, 0, 0, w, h, glow::COLOR_BUFFER_BIT, glow::NEAREST);
                gl.bind_framebuffer(glow::FRAMEBUFFER, Some(self.resolved));
            }
            let found = read(gl, glow::COLOR_ATTACHMENT0, bytes);
            for (at, found) in found.chunks_exact(4).enumerate() {
                let (x, y) = (at as i32 % TARGET.0 - AT.0, at as i32 / TARGET.0 - AT.1);
                let inside = (0..SIZE.0 as i32).contains(&x) && (0..SIZE.1 as i32).contains(&y);
                let expected = if inside { pixel } else { AROUND };
                let close = |(found, expected): (&f32, f32)| match bytes {
                    true => (found - expected.clamp(0.0, 1.0)).abs() < 0.006,
                    false => (found - expected).abs() < 1e-6,
                };
                let right = found.iter().zip(expected).all(close);
                assert!(right, "{what}: pixel {x}, {y} of the picture is {found:?}, not {expected:?}");
            }
            if !bytes {
                let beside = read(gl, glow::COLOR_ATTACHMENT1, false);
                assert!(beside.chunks_exact(4).all(|found| found == BESIDE), "{what}: another draw buffer: {beside:?}");
                self.compare_depth(gl, what);
            }
        }
    }

    /// # Safety
    /// The context is current with the floats bound.
    unsafe fn compare_depth(&self, gl: &glow::Context, what: &str) {
        if gl.version().is_embedded {
            return;
        }
        let mut found = vec![0_u32; (TARGET.0 * TARGET.1) as usize];
        let data = PixelPackData::Slice(Some(bytemuck_of(&mut found)));
        // SAFETY: the caller's promise; depth and stencil of a pixel are four bytes.
        unsafe {
            gl.read_pixels(0, 0, TARGET.0, TARGET.1, glow::DEPTH_STENCIL, glow::UNSIGNED_INT_24_8, data);
        }
        let right = found.iter().all(|word| word & 0xff == 5 && (word >> 8).abs_diff(1 << 22) < 2);
        assert!(right, "{what}: depth and stencil: {found:x?}");
    }
}

fn bytemuck_of<T>(values: &mut [T]) -> &mut [u8] {
    // SAFETY: numbers have no padding, and every byte of them is valid.
    unsafe { std::slice::from_raw_parts_mut(values.as_mut_ptr().cast(), size_of_val(values)) }
}

/// # Safety
/// The context is current, and no row is set away from its default.
unsafe fn read(gl: &glow::Context, buffer: u32, bytes: bool) -> Vec<f32> {
    let count = (TARGET.0 * TARGET.1 * 4) as usize;
    let (mut floats, mut small) = (vec![0.0_f32; count], vec![0_u8; count]);
    let (ty, into) = match bytes {
        true => (glow::UNSIGNED_BYTE, &mut small[..]),
        false => (glow::FLOAT, bytemuck_of(&mut floats)),
    };
    // SAFETY: the caller's promise; there is room for every pixel.
    unsafe {
        gl.read_buffer(buffer);
        gl.read_pixels(0, 0, TARGET.0, TARGET.1, glow::RGBA, ty, PixelPackData::Slice(Some(into)));
        gl.read_buffer(glow::COLOR_ATTACHMENT0);
    }
    if bytes { small.into_iter().map(|byte| f32::from(byte) / 255.0).collect() } else { floats }
}

/// All that a program opens: a link, an intake and an outlet, by paths that read and upload.
struct Scene {
    display: Arc<GlDisplay>,
    link: Link,
    intake: Intake,
    outlet: Outlet,
    kernel: Arc<dyn Kernel>,
    /// A picture that is blended.
    translucent: Surface,
}

const PATHS: [PathId; 2] = [PathId::HOST_ROUND_TRIP, PathId::PBO_ORPHAN];

/// Pixel of frame `number`: outside of 0 to 1, and with an alpha that tests drop.
fn pixel(number: u32) -> [f32; 4] {
    [-2.0, 0.5 + number as f32 / 64.0, 3.0, 0.25]
}

impl Scene {
    fn open(
        host: &Host,
        backend: &Arc<dyn ComputeBackend>,
        textures: [glow::Texture; 2],
        path: PathId,
    ) -> Result<Self> {
        use glutin::prelude::GlDisplay as _;
        let (format, extent) = (PixelFormat::Rgba32F, Extent::new(SIZE.0, SIZE.1));
        // SAFETY: context and textures outlive the scene.
        unsafe {
            let load = |name: &CStr| host.engine.display.get_proc_address(name);
            let display = GlDisplay::from_loader(load, host.engine.options(None))?;
            let source = KernelSource::new("paint").cpu_image(|out, args| {
                let number = args.u32(0)?;
                out.par_pixels(move |_, _| pixel(number))
            });
            let kernel = backend.build(&source)?;
            let policy = Policy::default().with_budget(Duration::ZERO).with_force(path);
            let desc = SurfaceDesc::image(SIZE.0, SIZE.1, format);
            let link = Link::open(backend.clone(), display.clone(), desc, LinkOptions::new(policy))?;
            let [from, to] = textures.map(|texture| EngineTexture::new(texture.0.get(), extent));
            let (from, to) = (display.engine_image(from, format)?, display.engine_image(to, format)?);
            let intake = Intake::open_by(backend.clone(), display.clone(), from, PathId::HOST_ROUND_TRIP)?;
            let options = OutletOptions::default().with_path(PathId::HOST_ROUND_TRIP);
            let outlet = Outlet::open_with(backend.clone(), display.clone(), to, options)?;
            let image = ImageDesc::new(SIZE.0, SIZE.1, PixelFormat::Rgba8).with_alpha(AlphaMode::Straight);
            let bytes = [200, 100, 50, 64].repeat((SIZE.0 * SIZE.1) as usize);
            let translucent = stored(&*display, &SurfaceDesc::Image(image), &bytes)?;
            Ok(Self { display, link, intake, outlet, kernel, translucent })
        }
    }
}

/// Rows under test in one context, and what came of them.
struct Trial<'a> {
    host: &'a Host,
    targets: Targets,
    backend: Arc<dyn ComputeBackend>,
    textures: [glow::Texture; 2],
    number: u32,
    refused: BTreeMap<&'static str, u32>,
}

impl Trial<'_> {
    /// Runs `f` with a row set away from its default, and compares the state; `None` where it was refused by the row's name.
    fn under<T>(&mut self, row: &HostRow, what: &str, f: impl FnOnce() -> Result<T>) -> Option<T> {
        let what = format!("{} set, {what}", row.name);
        let host = self.host;
        row.set(host, true);
        // SAFETY: the context is current.
        assert_eq!(unsafe { host.gl.get_error() }, glow::NO_ERROR, "{what}: setting it");
        let before = row.get(host);
        let snapshot = shallow_snapshot;
        let result = unchanged_by(&host.gl, &what, snapshot, f);
        assert_eq!(before, row.get(host), "{what}: the row changed");
        row.set(host, false);
        // SAFETY: the context is current.
        assert_eq!(unsafe { host.gl.get_error() }, glow::NO_ERROR, "{what}: setting it back");
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                assert!(error.to_string().contains(row.name), "{what}: {error}");
                *self.refused.entry(row.name).or_default() += 1;
                None
            }
        }
    }

    /// A frame, what is read and taken of it, and draws in both manners, each with the row set.
    fn check(&mut self, row: &HostRow, scene: &mut Scene) {
        self.number = (self.number + 1) % 32;
        let number = self.number;
        let expected: Vec<u8> = (0..SIZE.0 * SIZE.1).flat_map(|_| pixel(number)).flat_map(f32::to_ne_bytes).collect();
        let Scene { display, link, intake, outlet, kernel, translucent } = scene;
        let (kernel, args) = (kernel.clone(), [Arg::U32(number)]);
        let full = SurfacePart::full(link.desc());
        let framed = self.under(row, "a frame", || link.frame(|next| next.launch(kernel.as_ref(), &args)));
        if framed.is_none() {
            link.frame(|next| next.launch(kernel.as_ref(), &args)).unwrap();
        }
        if let Some(back) = self.under(row, "read back", || link.read_back()) {
            assert_eq!(back, expected, "{}: read back", row.name);
        }
        let given = self.under(row, "an outlet", || outlet.frame(|next| next.launch(kernel.as_ref(), &args)));
        if given.is_some() {
            assert_eq!(outlet.surface().read_back(&full).unwrap(), expected, "{}: an outlet", row.name);
        }
        intake
            .source()
            .upload(
                &full,
                &expected,
                &crate::suite::common::tight(&SurfaceDesc::image(SIZE.0, SIZE.1, PixelFormat::Rgba32F)),
            )
            .unwrap();
        if let Some(taken) = self.under(row, "an intake", || intake.take()?.read()) {
            assert_eq!(taken, expected, "{}: an intake", row.name);
        }
        for (target, name) in [(self.targets.floats, "floats"), (self.targets.samples, "samples")] {
            for manner in Manner::ALL {
                let what = format!("a draw into {name} by {}", manner.name());
                self.targets.fill(self.host, target);
                let at = Viewport { x: AT.0, y: AT.1, width: SIZE.0, height: SIZE.1 };
                let shown = link.shown().unwrap();
                let options = DrawOptions::default().with_manner(manner);
                let drawn = self.under(row, &what, || display.draw(shown.surface(), at, options));
                if drawn.is_some() {
                    self.targets.compare(self.host, target, pixel(number), &format!("{}: {what}", row.name));
                }
            }
        }
        for manner in Manner::ALL {
            let (host, target) = (self.host, self.targets.floats);
            self.targets.fill(host, target);
            let at = Viewport { x: AT.0, y: AT.1, width: SIZE.0, height: SIZE.1 };
            let options = DrawOptions::default().with_manner(manner);
            if self.under(row, "a blended draw", || display.draw(translucent, at, options)).is_some() {
                let over = |[byte, around]: [f32; 2]| byte / 255.0 * (64.0 / 255.0) + around * (1.0 - 64.0 / 255.0);
                let blended = [[200.0, AROUND[0]], [100.0, AROUND[1]], [50.0, AROUND[2]], [255.0, AROUND[3]]].map(over);
                self.targets.compare(host, target, blended, &format!("{}: blended by {}", row.name, manner.name()));
            }
        }
        if matches!(row.setting, Setting::Calls(Some(glow::QUERY_BUFFER_BINDING), _)) {
            self.under(row, "a timeline", || display.set_timeline(true));
            display.set_timeline(false).unwrap();
        }
    }
}

/// All rows that the context has.
fn trial(engine: Engine, name: &str) {
    let host = Host::new(engine);
    let version = host.gl.version().clone();
    // SAFETY: the context is current; names are made here.
    let textures = [(); 2].map(|()| unsafe {
        let texture = host.gl.create_texture().unwrap();
        host.gl.bind_texture(glow::TEXTURE_2D, Some(texture));
        host.gl.tex_storage_2d(glow::TEXTURE_2D, 1, glow::RGBA32F, SIZE.0 as i32, SIZE.1 as i32);
        host.gl.bind_texture(glow::TEXTURE_2D, None);
        texture
    });
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
    let targets = Targets::new(&host);
    let mut trial = Trial { host: &host, targets, backend, textures, number: 0, refused: BTreeMap::new() };
    let open = |trial: &Trial<'_>, path| Scene::open(trial.host, &trial.backend, trial.textures, path);
    let mut between = PATHS.map(|path| open(&trial, path).unwrap());
    let known: Vec<HostRow> = rows().into_iter().filter(|row| row.when.has(&host.gl, host.compatibility)).collect();
    for (at, row) in known.iter().enumerate() {
        let path = PATHS[at % 2];
        let (backend, textures) = (trial.backend.clone(), trial.textures);
        trial.check(row, &mut between[at % 2]);
        if let Some(mut scene) = trial.under(row, "opening", || Scene::open(&host, &backend, textures, path)) {
            trial.check(row, &mut scene);
        }
    }
    println!("RAN ON {name}: {version:?}; {} rows, refused: {:?}", known.len(), trial.refused);
}

#[test]
fn no_state_of_a_core_context_changes_pixels() {
    let Some(engine) = Engine::newest(Some(GlProfile::Core)) else { return };
    trial(engine, "core");
}

#[test]
fn no_state_of_a_compatibility_context_changes_pixels() {
    let Some(engine) = Engine::newest(Some(GlProfile::Compatibility)) else { return };
    trial(engine, "compatibility");
}

#[test]
fn no_state_of_an_opengl_es_context_changes_pixels() {
    let Some(engine) = Engine::newest(None) else { return };
    let found = engine.glow().version().clone();
    let enough = if (found.major, found.minor) >= (3, 2) { Ok(()) } else { Err("no OpenGL ES 3.2") };
    if has("OpenGL ES 3.2", format!("{found:?}"), enough).is_some() {
        trial(engine, "OpenGL ES");
    }
}

/// Mesa gives its newest for whatever is asked for, unless it is told not to.
#[test]
fn no_state_of_an_old_context_changes_pixels() {
    pass_in_child("suite::host_state::child_of_3_3", None, &[("MESA_GL_VERSION_OVERRIDE", "3.3")], &["RAN ON"]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_of_3_3() {
    let Some(engine) = Engine::version(GlProfile::Core, (3, 3)) else { return };
    trial(engine, "core 3.3");
}
