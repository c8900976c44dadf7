//! A small render engine on wgpu that shows what pixelferry computes: clouds on a planet, a sea as vertices, a radar.
//!
//! The engine creates its device itself. One set of links serves all windows, which are drawn with this device. Two of the
//! links compute on threads of their own. A lost device is created again with everything that belongs to it, and the frame
//! is repeated.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic where the reader has gone

#[path = "../engine/mod.rs"]
mod engine;
mod pipelines;
mod platform;

use crate::engine::output::{self, say};
use crate::engine::{
    EngineOptions, Failure, Kernels, SEA_INDICES, View, planet_desc, radar_desc, sea_desc, sea_indices, sources,
};
use clap::Parser as _;
use pipelines::{begin, layout, pipelines};
use pixelferry::api::wgpu::{OffscreenTarget, WgpuDisplay, open_device, wgpu};
use pixelferry::{AnyThread, ComputeBackend, Display, Link, LinkBuilder, open_backend, save_rgba8};
use platform::{Canvas, Windows};
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;

fn main() -> ExitCode {
    output::end(run(EngineOptions::parse()))
}

fn run(options: EngineOptions) -> Result<(), Failure> {
    options.check_out()?;
    let backend = open_backend(options.backend, &sources())?;
    let kernels = Arc::new(Kernels::build(backend.as_ref())?);
    let mut scene = None;
    platform::run(&options, |frame, windows| {
        if let (Some(Scene { device, .. }), true) = (&scene, options.lose_at == Some(frame)) {
            device.destroy();
        }
        // The frame is repeated if the device was lost in the meantime.
        for _ in 0..2 {
            let now = match &mut scene {
                Some(scene) => scene,
                None => scene.insert(Scene::new(&options, (&backend, &kernels), windows)?),
            };
            let done = now.frame(options.seconds(frame), windows);
            if done.is_err() || options.is_over(frame + 1) {
                // wgpu reports a lost device only when its queue is empty; the picture is read from a device that is
                // not lost.
                if let Err(error) = now.display.shared_device().wait(None) {
                    say!("cannot wait for the device: {error}")?;
                }
            }
            if !now.lost.load(Relaxed) {
                return done.and_then(|()| if options.is_over(frame + 1) { now.save(&options) } else { Ok(()) });
            }
            say!("the device was lost; {}", done.err().map_or("nothing failed".into(), |error| error.to_string()))?;
            scene = None;
        }
        Err("the device was lost as soon as it was created".into())
    })
}

/// Everything that belongs to one device.
struct Scene {
    adapter: wgpu::Adapter,
    device: wgpu::Device,
    queue: wgpu::Queue,
    lost: Arc<AtomicBool>,
    display: Arc<WgpuDisplay>,
    kernels: Arc<Kernels>,
    planet: Link<AnyThread>,
    sea: Link<AnyThread>,
    radar: Link<AnyThread>,
    format: wgpu::TextureFormat,
    layout: wgpu::BindGroupLayout,
    pipelines: [wgpu::RenderPipeline; 4],
    sampler: wgpu::Sampler,
    uniforms: wgpu::Buffer,
    indices: wgpu::Buffer,
    /// The target of the picture without a window.
    picture: Option<OffscreenTarget>,
}

impl Scene {
    fn new(
        options: &EngineOptions,
        (backend, kernels): (&Arc<dyn ComputeBackend>, &Arc<Kernels>),
        windows: &mut Windows,
    ) -> Result<Self, Failure> {
        windows.forget_device();
        let (adapter, format) = windows.adapter()?;
        let (device, queue) = open_device(&adapter, &wgpu::DeviceDescriptor::default())?;
        let lost = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&lost);
        device.set_device_lost_callback(move |_, _| told.store(true, Relaxed));
        let display = WgpuDisplay::from_engine(&adapter, device.clone(), queue.clone())?;
        // wgpu computes in this device's own queue, with kernels that are lost together with the device.
        let (outside, shown_by) = (backend, display.clone() as Arc<dyn Display>);
        let sides = LinkBuilder::new(planet_desc()).computed_by(outside).shown_by(&shown_by);
        let (backend, _) = sides.open_sides()?;
        let kernels =
            if Arc::ptr_eq(&backend, outside) { kernels.clone() } else { Arc::new(Kernels::build(backend.as_ref())?) };
        let link = |desc| -> Result<_, Failure> {
            let link = Link::open(backend.clone(), display.clone(), desc, options.link_options())?;
            Ok(link.for_any_thread(&display).map_err(|_| "the link is to another display")?)
        };
        let (planet, sea) = (link(planet_desc())?, link(sea_desc())?);
        let radar = link(radar_desc(options.size).1)?;
        say!("{}: planet by {}, sea by {}, radar by {}", display.device(), planet.path(), sea.path(), radar.path())?;
        let layout = layout(&device);
        let pipelines = pipelines(&device, &layout, format);
        let linear = wgpu::FilterMode::Linear;
        let sampler = device.create_sampler(&wgpu::SamplerDescriptor {
            address_mode_u: wgpu::AddressMode::Repeat,
            mag_filter: linear,
            min_filter: linear,
            ..Default::default()
        });
        let buffer = |size, usage| {
            let usage = usage | wgpu::BufferUsages::COPY_DST;
            device.create_buffer(&wgpu::BufferDescriptor { label: None, size, usage, mapped_at_creation: false })
        };
        let uniforms = buffer(size_of::<View>() as u64, wgpu::BufferUsages::UNIFORM);
        let indices = buffer(4 * SEA_INDICES as u64, wgpu::BufferUsages::INDEX);
        queue.write_buffer(&indices, 0, bytemuck::cast_slice(&sea_indices()));
        #[rustfmt::skip]
        let scene = Self { adapter, device, queue, lost, display, kernels, planet, sea, radar, format, layout, pipelines, sampler, uniforms, indices, picture: None };
        Ok(scene)
    }

    /// Computes a frame and draws it in every window.
    fn frame(&mut self, seconds: f32, windows: &mut Windows) -> Result<(), Failure> {
        let Some(size) = windows.list.first().map(|canvas| canvas.size) else { return Ok(()) };
        // Kernels in the device's own queue fail after it was lost, so this is checked before they run, too.
        self.display.poll()?;
        if self.lost.load(Relaxed) {
            return Ok(());
        }
        // Frames in flight stay; the old radar is shown until the first one of the new size.
        self.radar.resize(radar_desc(size).1)?;
        // Each on a thread of its own; this one waits for them, because it draws.
        let (planet, sea, kernels) = (&mut self.planet, &mut self.sea, &self.kernels);
        thread::scope(|threads| {
            let planet = threads.spawn(|| planet.frame(|frame| kernels.planet(frame, seconds)));
            let sea = threads.spawn(|| sea.frame(|frame| kernels.sea(frame, seconds)));
            self.radar.frame(|frame| kernels.radar(frame, seconds))?;
            for computed in [planet, sea] {
                computed.join().map_err(|_| "a thread panicked")??;
            }
            Ok::<_, Failure>(())
        })?;
        // Reports a lost device, with which nothing more can be created.
        self.display.poll()?;
        if self.lost.load(Relaxed) {
            return Ok(());
        }
        for canvas in &mut windows.list {
            let shown = canvas.next(&self.adapter, &self.device, self.format);
            let view = match (&shown, &self.picture) {
                (Some(shown), _) => shown.texture.create_view(&wgpu::TextureViewDescriptor::default()),
                (None, _) if canvas.is_window() => continue,
                (None, Some(picture)) if canvas.fits(picture.texture()) => picture.view().clone(),
                (None, _) => {
                    let picture = self.display.create_offscreen_target(canvas.size.0, canvas.size.1)?;
                    self.picture.insert(picture).view().clone()
                }
            };
            self.draw(canvas, &view, seconds)?;
            if let Some(shown) = shown {
                self.queue.present(shown);
            }
        }
        Ok(())
    }

    fn draw(&self, canvas: &mut Canvas, view: &wgpu::TextureView, seconds: f32) -> Result<(), Failure> {
        // While these are alive, their links start no other frame.
        let (planet, sea, radar) = (self.planet.shown()?, self.sea.shown()?, self.radar.shown()?);
        let sea = self.display.surface_buffer(sea.surface())?;
        let uniforms = View::new(canvas.size, radar_desc(canvas.size).0, seconds, 0.0);
        self.queue.write_buffer(&self.uniforms, 0, bytemuck::bytes_of(&uniforms));
        let bind = |binding, resource| wgpu::BindGroupEntry { binding, resource };
        let [planet, radar] = [&planet, &radar].map(|shown| {
            let picture = wgpu::BindingResource::TextureView(self.display.surface_texture(shown.surface())?);
            let sampler = wgpu::BindingResource::Sampler(&self.sampler);
            let entries = &[bind(0, self.uniforms.as_entire_binding()), bind(1, picture), bind(2, sampler)];
            let group = wgpu::BindGroupDescriptor { label: None, layout: &self.layout, entries };
            Ok::<_, Failure>(self.device.create_bind_group(&group))
        });
        let (planet, radar) = (planet?, radar?);
        let mut encoder = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let mut pass = begin(&mut encoder, canvas.attachments(&self.device, self.format), view);
        let [sky_part, sea_part, planet_part, radar_part] = &self.pipelines;
        pass.set_bind_group(0, &planet, &[]);
        pass.set_pipeline(sky_part);
        pass.draw(0..4, 0..1);
        pass.set_pipeline(planet_part);
        pass.draw(0..64 * 32 * 6, 0..1);
        pass.set_pipeline(sea_part);
        pass.set_vertex_buffer(0, sea.buffer.slice(sea.offset..sea.offset + sea.len));
        pass.set_index_buffer(self.indices.slice(..), wgpu::IndexFormat::Uint32);
        pass.draw_indexed(0..SEA_INDICES as u32, 0, 0..1);
        pass.set_bind_group(0, &radar, &[]);
        pass.set_pipeline(radar_part);
        pass.draw(0..4, 0..1);
        drop(pass);
        self.queue.submit([encoder.finish()]);
        Ok(())
    }

    fn save(&self, options: &EngineOptions) -> Result<(), Failure> {
        let (Some(out), Some(picture)) = (&options.out, &self.picture) else { return Ok(()) };
        let (width, height) = (picture.texture().width(), picture.texture().height());
        let pixels = image::ImageBuffer::from_raw(width, height, picture.read_pixels()?);
        Ok(save_rgba8(pixels.ok_or("the picture is short")?, out)?)
    }
}
