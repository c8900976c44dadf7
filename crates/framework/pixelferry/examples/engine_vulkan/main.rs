//! A small render engine on raw Vulkan (ash) that shows what pixelferry computes: clouds on a planet, a sea as
//! vertices, a radar.
//!
//! The engine creates its instance, device and queue itself. It draws the frames in its own submissions, which wait for
//! them with a timeline semaphore. It has no windows, so it needs `--headless`.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic where the reader has gone

#[path = "../engine/mod.rs"]
mod engine;
mod gpu;
mod renderer;

use crate::engine::output::{self, say};
use crate::engine::{EngineOptions, Failure, Kernels, View, planet_desc, radar_desc, sea_desc, sources};
use clap::Parser as _;
use gpu::Gpu;
use pixelferry::api::vulkan::{VulkanDisplay, VulkanEngine, VulkanFrame, VulkanObject, device_extensions};
use pixelferry::{ComputeBackend, Display as _, Link, ShownFrame, open_backend, save_rgba8};
use renderer::{Inputs, Renderer};
use std::process::ExitCode;
use std::sync::{Arc, Mutex};

fn main() -> ExitCode {
    output::end(run(&EngineOptions::parse()))
}

fn run(options: &EngineOptions) -> Result<(), Failure> {
    if !options.headless || options.lose_at.is_some() {
        return Err("this engine has no windows and cannot lose its device; use --headless without --lose-at".into());
    }
    options.check_out()?;
    let backend = open_backend(options.backend, &sources())?;
    let kernels = Kernels::build(backend.as_ref())?;
    let mut scene = Scene::new(options, &backend)?;
    for frame in (0..).take_while(|frame| !options.is_over(*frame)) {
        scene.frame(&kernels, options.seconds(frame), options.new_size(frame).unwrap_or(scene.renderer.size()))?;
    }
    let Some(out) = &options.out else { return Ok(()) };
    let (width, height) = scene.renderer.size();
    let pixels = image::ImageBuffer::from_raw(width, height, scene.renderer.picture()?);
    Ok(save_rgba8(pixels.ok_or("the picture is short")?, out)?)
}

/// Everything that belongs to one device. Fields are dropped in this order.
struct Scene {
    planet: Link,
    sea: Link,
    radar: Link,
    renderer: Renderer,
    display: Arc<VulkanDisplay>,
}

impl Scene {
    fn new(options: &EngineOptions, backend: &Arc<dyn ComputeBackend>) -> Result<Self, Failure> {
        // A renderer would add its own extensions here.
        let gpu = Arc::new(Gpu::new(|instance, physical| {
            // SAFETY: the physical device is of this instance, which was made for Vulkan 1.3.
            let needs = unsafe { device_extensions(instance, physical) }?;
            for extension in &needs.extensions {
                say!("{}: {}", extension.name.to_string_lossy(), extension.used_for)?;
            }
            Ok(needs.names())
        })?);
        // Whoever submits holds this lock; here there is only one thread.
        let lock = Arc::new(Mutex::new(()));
        let queue = (gpu.queue, gpu.family);
        let engine = VulkanEngine::new(&gpu.entry, &gpu.instance, gpu.physical, &gpu.device, queue, Arc::clone(&lock));
        let engine = engine.with_extensions(gpu.extensions.iter().copied()).with_timeline_semaphores();
        // SAFETY: the objects belong together, the device was made with these extensions and the feature, and the display
        // keeps them. The renderer submits under the lock what reads a frame before the next is finished, and only reads.
        let display = unsafe { VulkanDisplay::from_engine(engine.keeping(Arc::clone(&gpu))) }?;
        let link = |desc| Link::open(backend.clone(), display.clone(), desc, options.link_options());
        let (planet, sea) = (link(planet_desc())?, link(sea_desc())?);
        let radar = link(radar_desc(options.size).1)?;
        say!("{}: planet by {}, sea by {}, radar by {}", display.device(), planet.path(), sea.path(), radar.path())?;
        let renderer = Renderer::new(gpu, lock, options.size)?;
        Ok(Self { planet, sea, radar, renderer, display })
    }

    /// Computes and draws a frame.
    fn frame(&mut self, kernels: &Kernels, seconds: f32, size: (u32, u32)) -> Result<(), Failure> {
        self.radar.resize(radar_desc(size).1)?;
        self.planet.frame(|frame| kernels.planet(frame, seconds))?;
        self.sea.frame(|frame| kernels.sea(frame, seconds))?;
        self.radar.frame(|frame| kernels.radar(frame, seconds))?;
        // While these are alive, their links start no other frame.
        let (planet, sea, radar) = (self.planet.shown()?, self.sea.shown()?, self.radar.shown()?);
        let of = |shown: &ShownFrame<'_>| self.display.surface_frame(shown.surface());
        let frames = [of(&planet)?, of(&sea)?, of(&radar)?];
        let (planet, sea, radar) = (image(&frames[0])?, buffer(&frames[1])?, image(&frames[2])?);
        // All frames share one counter: its newest value means that all three are ready.
        let ready = frames.iter().filter_map(|frame| frame.ready).max_by_key(|point| point.value);
        let ready = ready.map(|point| (point.semaphore, point.value));
        let view = View::new(size, radar_desc(size).0, seconds, 0.0);
        self.renderer.draw(size, &view, &Inputs { planet, sea, radar, ready })
    }
}

/// Returns an image that can be sampled in its current layout.
fn image(frame: &VulkanFrame) -> Result<(gpu::vk::Image, gpu::vk::Format, gpu::vk::ImageLayout), Failure> {
    match frame.object {
        VulkanObject::Image { image, format, layout, .. } => Ok((image, format, layout)),
        other => Err(format!("not an image: {other:?}").into()),
    }
}

/// Returns a buffer and the offset of the vertices in it.
fn buffer(frame: &VulkanFrame) -> Result<(gpu::vk::Buffer, u64), Failure> {
    match frame.object {
        VulkanObject::Bytes { buffer, offset, .. } => Ok((buffer, offset)),
        other => Err(format!("not a buffer: {other:?}").into()),
    }
}
