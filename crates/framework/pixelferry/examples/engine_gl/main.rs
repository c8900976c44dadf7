//! A small render engine in OpenGL that shows what pixelferry computes: clouds on a planet, a sea as vertices, a radar.
//!
//! Every window has its own thread, context and links; all windows share the compute device and its kernels. The engine
//! sets most of its OpenGL state only once, because pixelferry restores the state that it finds.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic where the reader has gone

#[path = "../engine/mod.rs"]
mod engine;
mod platform;

use crate::engine::output::{self, say};
use crate::engine::{
    EngineOptions, Failure, Kernels, SEA_INDICES, View, planet_desc, radar_desc, sea_desc, sea_indices, sources,
};
use clap::Parser as _;
use glow::HasContext as _;
use pixelferry::api::gl::{EngineOptions as ContextOptions, GlDisplay, GlFunctions, OffscreenTarget};
use pixelferry::{ComputeBackend, Display, Link, LinkBuilder, open_backend, save_rgba8};
use platform::{Canvas, ProgramStep, set_up};
use std::process::ExitCode;
use std::sync::Arc;

fn main() -> ExitCode {
    output::end(run(EngineOptions::parse()))
}

/// State that lasts as long as the program.
struct Engine {
    options: EngineOptions,
    backend: Arc<dyn ComputeBackend>,
    kernels: Kernels,
}

fn run(options: EngineOptions) -> Result<(), Failure> {
    options.check_out()?;
    let backend = open_backend(options.backend, &sources())?;
    let kernels = Kernels::build(backend.as_ref())?;
    let engine = Engine { options: options.clone(), backend, kernels };
    platform::run(options, move |canvas| engine.render(canvas))
}

impl Engine {
    /// Draws in a context that is current on this thread, until there is nothing more to draw.
    fn render(&self, canvas: &mut Canvas<'_>) -> Result<(), Failure> {
        // SAFETY: the context is current; where it goes before the display, the display is told.
        let display = unsafe { GlDisplay::from_loader(|name| canvas.load(name), ContextOptions::default()) }?;
        // If the device shares with OpenGL, each context has its own backend and kernels, which are dropped before it.
        let shown_by: Arc<dyn Display> = display.clone();
        let sides = LinkBuilder::new(planet_desc()).computed_by(&self.backend).shown_by(&shown_by);
        let (backend, _) = sides.open_sides()?;
        let inside = (!Arc::ptr_eq(&backend, &self.backend)).then(|| Kernels::build(backend.as_ref())).transpose()?;
        let kernels = inside.as_ref().unwrap_or(&self.kernels);
        let mut scene = Scene::new((self, &backend), &display, canvas)?;
        let mut step = canvas.step();
        while let ProgramStep::Frame(frame) = step {
            scene.resize(canvas.size())?;
            scene.compute(kernels, self.options.seconds(frame))?;
            scene.draw(self.options.seconds(frame))?;
            step = canvas.present()?;
        }
        if step == ProgramStep::Lose {
            // Kernels may be writing memory of the context; after this call, links and display cannot access it any
            // more.
            backend.finish()?;
            let _links = inside.is_none().then_some(scene);
            drop((inside, backend));
            canvas.destroy()?;
            // SAFETY: the context was destroyed, nothing is computed any more, and only the links held its memory.
            unsafe { display.context_lost() };
            return Ok(());
        }
        if let (Some(out), Some(picture)) = (&self.options.out, &scene.picture) {
            let pixels = image::ImageBuffer::from_raw(scene.size.0, scene.size.1, picture.read_pixels()?);
            save_rgba8(pixels.ok_or("the picture is short")?, out)?;
        }
        drop(scene);
        say!("{} GL objects left: {:?}", display.device(), display.object_counts())?;
        Ok(())
    }
}

/// Objects that are created again for each context. The engine's own objects are destroyed with it.
struct Scene {
    gl: GlFunctions,
    display: Arc<GlDisplay>,
    planet: Link,
    sea: Link,
    radar: Link,
    size: (u32, u32),
    part: Option<glow::UniformLocation>,
    /// The vertex array of the sea, and an empty one.
    arrays: [glow::VertexArray; 2],
    /// The framebuffer that the engine draws into: colours with four samples, and depth.
    framebuffer: glow::Framebuffer,
    renderbuffers: [(glow::Renderbuffer, u32); 2],
    headless: bool,
    /// The target of the picture without a window.
    picture: Option<OffscreenTarget>,
}

impl Scene {
    fn new(
        (engine, backend): (&Engine, &Arc<dyn ComputeBackend>),
        display: &Arc<GlDisplay>,
        canvas: &Canvas<'_>,
    ) -> Result<Self, Failure> {
        let (gl, display) = (display.gl().clone(), Arc::clone(display));
        let link = |desc| Link::open(backend.clone(), display.clone(), desc, engine.options.link_options());
        let (planet, sea, radar) = (link(planet_desc())?, link(sea_desc())?, link(radar_desc(canvas.size()).1)?);
        say!("{}: planet by {}, sea by {}, radar by {}", display.device(), planet.path(), sea.path(), radar.path())?;
        let program = set_up(&gl)?;
        // SAFETY: the context is current, here and below, and all objects are of it.
        unsafe {
            let (arrays, framebuffer) =
                ([gl.create_vertex_array()?, gl.create_vertex_array()?], gl.create_framebuffer()?);
            gl.bind_buffer_base(glow::UNIFORM_BUFFER, 0, Some(gl.create_buffer()?));
            gl.buffer_data_size(glow::UNIFORM_BUFFER, size_of::<View>() as i32, glow::DYNAMIC_DRAW);
            gl.bind_vertex_array(Some(arrays[0]));
            gl.enable_vertex_attrib_array(0);
            gl.bind_buffer(glow::ELEMENT_ARRAY_BUFFER, Some(gl.create_buffer()?));
            let indices = bytemuck::cast_slice(&sea_indices()).to_vec();
            gl.buffer_data_u8_slice(glow::ELEMENT_ARRAY_BUFFER, &indices, glow::STATIC_DRAW);
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
            let renderbuffers =
                [(gl.create_renderbuffer()?, glow::RGBA8), (gl.create_renderbuffer()?, glow::DEPTH_COMPONENT24)];
            let (part, size) = (gl.get_uniform_location(program, "part"), (0, 0));
            let (headless, picture) = (engine.options.headless, None);
            #[rustfmt::skip]
            let scene = Self { gl, display, planet, sea, radar, size, part, arrays, framebuffer, renderbuffers, headless, picture };
            Ok(scene)
        }
    }

    /// Follows the window's size. Frames in flight stay; the old radar is shown until the first one of the new size.
    fn resize(&mut self, (width, height): (u32, u32)) -> Result<(), Failure> {
        if (width, height) == self.size {
            return Ok(());
        }
        self.size = (width, height);
        self.radar.resize(radar_desc(self.size).1)?;
        let points = [glow::COLOR_ATTACHMENT0, glow::DEPTH_ATTACHMENT];
        // SAFETY: as above.
        unsafe {
            self.gl.bind_framebuffer(glow::FRAMEBUFFER, Some(self.framebuffer));
            for ((buffer, format), point) in self.renderbuffers.into_iter().zip(points) {
                self.gl.bind_renderbuffer(glow::RENDERBUFFER, Some(buffer));
                let (width, height) = (width as i32, height as i32);
                self.gl.renderbuffer_storage_multisample(glow::RENDERBUFFER, 4, format, width, height);
                self.gl.framebuffer_renderbuffer(glow::FRAMEBUFFER, point, glow::RENDERBUFFER, Some(buffer));
            }
        }
        self.picture = self.headless.then(|| self.display.create_offscreen_target(width, height)).transpose()?;
        Ok(())
    }

    /// Computes the next frames.
    fn compute(&mut self, kernels: &Kernels, seconds: f32) -> Result<(), Failure> {
        self.planet.frame(|frame| kernels.planet(frame, seconds))?;
        self.sea.frame(|frame| kernels.sea(frame, seconds))?;
        Ok(self.radar.frame(|frame| kernels.radar(frame, seconds))?)
    }

    /// Draws the frames that are shown now.
    fn draw(&self, seconds: f32) -> Result<(), Failure> {
        let (gl, [w, h]) = (&self.gl, [self.size.0 as i32, self.size.1 as i32]);
        let view = View::new(self.size, radar_desc(self.size).0, seconds, -1.0);
        // While these are alive, their links start no other frame.
        let (planet, sea, radar) = (self.planet.shown()?, self.sea.shown()?, self.radar.shown()?);
        let [planet, radar] = [&planet, &radar].map(|shown| self.display.surface_texture(shown.surface()));
        let (planet, sea, radar) = (planet?.name, self.display.surface_buffer(sea.surface())?, radar?.name);
        // SAFETY: as above; the sea's buffer holds all vertices that the indices name.
        unsafe {
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(self.framebuffer));
            gl.viewport(0, 0, w, h);
            gl.clear(glow::DEPTH_BUFFER_BIT);
            gl.buffer_sub_data_u8_slice(glow::UNIFORM_BUFFER, 0, bytemuck::bytes_of(&view));
            gl.bind_texture(glow::TEXTURE_2D, Some(planet));
            self.part(0, 1).draw_arrays(glow::TRIANGLE_STRIP, 0, 4);
            self.part(2, 1).draw_arrays(glow::TRIANGLES, 0, 64 * 32 * 6);
            self.part(1, 0).bind_buffer(glow::ARRAY_BUFFER, Some(sea.name));
            gl.vertex_attrib_pointer_f32(0, 4, glow::FLOAT, false, 0, sea.offset as i32);
            gl.draw_elements(glow::TRIANGLES, SEA_INDICES, glow::UNSIGNED_INT, 0);
            gl.bind_texture(glow::TEXTURE_2D, Some(radar));
            self.part(3, 1).draw_arrays(glow::TRIANGLE_STRIP, 0, 4);
            match &self.picture {
                Some(picture) => picture.bind()?,
                None => gl.bind_framebuffer(glow::FRAMEBUFFER, None),
            }
            gl.bind_framebuffer(glow::READ_FRAMEBUFFER, Some(self.framebuffer));
            gl.blit_framebuffer(0, 0, w, h, 0, 0, w, h, glow::COLOR_BUFFER_BIT, glow::NEAREST);
        }
        Ok(())
    }

    /// # Safety
    /// The context is current.
    unsafe fn part(&self, part: i32, array: usize) -> &glow::Context {
        // SAFETY: the caller's promise; both are of the context, whose program is in use.
        unsafe {
            self.gl.uniform_1_i32(self.part.as_ref(), part);
            self.gl.bind_vertex_array(Some(self.arrays[array]));
        }
        &self.gl
    }
}
