//! Tests by which path frames reach images of bevy's, with its device made by its hook and without; all pixels are compared.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

use bevy::app::PluginsState;
use bevy::asset::RenderAssetUsages;
use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::render::RenderApp;
use bevy::render::pipelined_rendering::PipelinedRenderingPlugin;
use bevy::render::render_asset::RenderAssets;
use bevy::render::renderer::{RenderDevice, RenderQueue};
use bevy::render::texture::GpuImage;
use bevy::tasks::tick_global_task_pools_on_main_thread;
use bevy::window::ExitCondition;
use bevy::winit::WinitPlugin;
use engine_picture::{pixels, source};
use pixelferry::api::opencl::OpenClBackend;
use pixelferry::api::wgpu::{WgpuBackend, WgpuDisplay, WgpuOptions, wgpu, wgpu_adapters};
use pixelferry::{
    Arg, ComputeBackend, CpuBackend, DrawOptions, Extent, Link, LinkOptions, PathId, PixelFormat, Policy, SurfaceDesc,
};
use pixelferry_bevy::{Picture, PixelferryPlugin, Screen};
use pixelferry_testing::{Need, need};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

const EXTENT: Extent = Extent::new(64, 48);

/// bevy looks for a device in each app; one after the other.
static ONE: Mutex<()> = Mutex::new(());

/// bevy without a window, whose device is made with the extensions only where the plugin is there `first`.
fn app(first: bool) -> Option<App> {
    need(Need::Lavapipe, wgpu_adapters(wgpu::Backends::VULKAN).pop().ok_or("no adapter"))?;
    let window = WindowPlugin { primary_window: None, exit_condition: ExitCondition::DontExit, ..default() };
    let bevys = DefaultPlugins.set(window);
    let bevys = bevys.disable::<WinitPlugin>().disable::<PipelinedRenderingPlugin>().disable::<LogPlugin>();
    let mut app = App::new();
    if first {
        app.add_plugins(PixelferryPlugin).add_plugins(bevys);
    } else {
        app.add_plugins(bevys).add_plugins(PixelferryPlugin);
    }
    while app.plugins_state() == PluginsState::Adding {
        tick_global_task_pools_on_main_thread();
    }
    app.finish();
    app.cleanup();
    Some(app)
}

fn open(app: &App, backend: Arc<dyn ComputeBackend>, path: Option<PathId>) -> pixelferry::Result<Link> {
    let policy = Policy::default().with_force(path);
    let surface = SurfaceDesc::image(EXTENT.width, EXTENT.height, PixelFormat::Rgba8);
    Link::open(backend, app.world().resource::<Screen>().display(), surface, LinkOptions::new(policy))
}

/// Shows frames, each computed on another thread, in an image of bevy's, and compares its texture. Returns the path.
fn show(app: &mut App, backend: Arc<dyn ComputeBackend>, link: Link) -> PathId {
    let screen = app.world().resource::<Screen>().clone();
    let kernel = backend.build(&source()).unwrap();
    let mut images = app.world_mut().resource_mut::<Assets<Image>>();
    let mut picture = Picture::new(&screen, &mut images, link).unwrap();
    let id = picture.image().id();
    let mut image = images.get_mut(&picture.image()).unwrap();
    image.texture_descriptor.usage |= wgpu::TextureUsages::COPY_SRC;
    image.asset_usage = RenderAssetUsages::all();
    drop(image);
    for frame in 0..4 {
        // On a thread of its own, as in a task.
        let kernel = Arc::clone(&kernel);
        let compute = move || {
            picture.link().frame(|next| next.launch(kernel.as_ref(), &[Arg::U32(frame)])).unwrap();
            picture
        };
        picture = thread::spawn(compute).join().unwrap();
        // In the first turns bevy makes the image's texture.
        let mut turns = 0..100;
        while !picture.show(&mut app.world_mut().resource_mut(), DrawOptions::default()).unwrap() {
            turns.next().expect("bevy made no texture");
            app.update();
        }
        assert!(read(app, id) == pixels(EXTENT, frame), "frame {frame} by {}", picture.link().path());
        app.update();
    }
    picture.link().path()
}

fn read(app: &App, image: AssetId<Image>) -> Vec<u8> {
    let (device, queue) = (app.world().resource::<RenderDevice>(), app.world().resource::<RenderQueue>());
    let images = app.sub_app(RenderApp).world().resource::<RenderAssets<GpuImage>>();
    let texture = &images.get(image).unwrap().texture;
    let row = EXTENT.width * 4;
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(row * EXTENT.height),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(row), rows_per_image: None };
    let to = wgpu::TexelCopyBufferInfo { buffer: &buffer, layout };
    encoder.copy_texture_to_buffer(texture.as_image_copy(), to, texture.size());
    queue.submit([encoder.finish()]);
    let (tell, told) = mpsc::channel();
    buffer.map_async(wgpu::MapMode::Read, .., move |result| tell.send(result).unwrap());
    device.wgpu_device().poll(wgpu::PollType::wait_indefinitely()).unwrap();
    told.recv().unwrap().unwrap();
    buffer.get_mapped_range(..).unwrap().to_vec()
}

/// WGSL kernels on a device of their own, as another API would be, to which memory goes by file descriptor.
fn other_device() -> Arc<dyn ComputeBackend> {
    Arc::new(WgpuBackend::open(&WgpuOptions::default()).unwrap())
}

/// WGSL kernels in bevy's own queue.
fn own_queue(app: &App) -> Arc<dyn ComputeBackend> {
    let display = app.world().resource::<Screen>().display();
    let display = display.downcast_ref::<WgpuDisplay>().unwrap();
    Arc::new(WgpuBackend::on(display.shared_device()).unwrap())
}

fn by_itself_in_bevys_queue(app: &mut App) {
    let backend = own_queue(app);
    let link = open(app, backend.clone(), None).unwrap();
    let path = show(app, backend, link);
    assert!(path.name().starts_with("in-queue"), "{path}");
    println!("WGSL in bevy's queue by {path}");
}

/// Memory of bevy's device, opened by its descriptor, which wgpu itself makes possible.
fn by_descriptor(app: &mut App) {
    let backend = other_device();
    let link = open(app, backend.clone(), Some(PathId::EXPORTED_UPLOAD)).unwrap();
    println!("{}", link.explain());
    assert_eq!(show(app, backend, link), PathId::EXPORTED_UPLOAD);
}

#[test]
fn with_bevys_hook_its_device_reads_pages_of_the_host() {
    let _one = ONE.lock();
    let Some(mut app) = app(true) else { return };
    by_itself_in_bevys_queue(&mut app);
    by_descriptor(&mut app);
    let caps = app.world().resource::<Screen>().display().caps().clone();
    println!("semaphores, without which the host waits for each frame: {:?}", caps.semaphores);
    let Some(backend) = need(Need::Pocl, OpenClBackend::open_best()) else { return };
    let backend: Arc<dyn ComputeBackend> = Arc::new(backend);
    let link = open(&app, backend.clone(), Some(PathId::PINNED_UPLOAD)).unwrap();
    println!("{}", link.explain());
    assert_eq!(show(&mut app, backend, link), PathId::PINNED_UPLOAD);
}

#[test]
fn without_the_hook_frames_take_the_other_paths() {
    let _one = ONE.lock();
    let Some(mut app) = app(false) else { return };
    by_itself_in_bevys_queue(&mut app);
    by_descriptor(&mut app);
    let backend = Arc::new(CpuBackend::new().unwrap());
    let error = open(&app, backend.clone(), Some(PathId::PINNED_UPLOAD)).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("made without VK_EXT_external_memory_host"), "{error}");
    let link = open(&app, backend.clone(), None).unwrap();
    let path = show(&mut app, backend, link);
    assert!(["host", "pbo"].iter().any(|by| path.name().starts_with(by)), "{path}");
    println!("threads by {path}");
}
