//! The display that every test runs on: Mesa's Vulkan on the CPU, or what `PIXELFERRY_WGPU_ADAPTER` names; where [`OPENGL`] is
//! set, Mesa's OpenGL.

use interop_core::path::PATHS;
use interop_core::{Display as _, PathId, PathKind};
use pixelferry_testing::{Need, has, need};
use pixelferry_wgpu::{WgpuDisplay, WgpuOptions};
use std::sync::Arc;

/// Set where `opengl` runs tests again.
pub const OPENGL: &str = "PIXELFERRY_TEST_OPENGL";

pub const LAVAPIPE: &str = "llvmpipe";

/// The paths from memory of the host, all of which Mesa's drivers have.
pub fn host_paths() -> impl Iterator<Item = PathId> {
    let of_the_host = |kind| !matches!(kind, PathKind::Direct | PathKind::ExternalMemory | PathKind::InQueue);
    PATHS.iter().filter(move |path| of_the_host(path.kind)).map(|path| path.id)
}

pub fn is_opengl() -> bool {
    std::env::var_os(OPENGL).is_some()
}

pub fn backends() -> wgpu::Backends {
    if is_opengl() { wgpu::Backends::GL } else { wgpu::Backends::VULKAN }
}

fn adapter_name() -> String {
    std::env::var("PIXELFERRY_WGPU_ADAPTER").unwrap_or_else(|_| LAVAPIPE.into())
}

pub fn options() -> WgpuOptions {
    WgpuOptions::default().with_name(adapter_name()).with_backends(backends())
}

/// `None` after saying SKIPPED; a failure where the machine must have it.
pub fn display() -> Option<Arc<WgpuDisplay>> {
    let display = need(if is_opengl() { Need::Egl } else { Need::Lavapipe }, WgpuDisplay::headless(options()))?;
    println!("{}", described(&display));
    Some(display)
}

/// The device with its driver and version.
pub fn described(display: &WgpuDisplay) -> String {
    format!("{} ({})", display.device(), display.device().driver)
}

/// True where the CPU draws; says SKIPPED where a GPU does.
pub fn is_software(display: &WgpuDisplay, what: &str) -> bool {
    has(what, described(display), if display.device().software { Ok(()) } else { Err("a GPU draws") }).is_some()
}

pub use pixelferry_wgpu::wgpu;

/// The pixels of four bytes of a level and layer, in tight rows.
pub fn read(display: &WgpuDisplay, texture: &wgpu::Texture, level: u32, layer: u32) -> Vec<u8> {
    let (device, queue) = (display.wgpu_device(), display.wgpu_queue());
    let (width, height) = (texture.width() >> level, texture.height() >> level);
    let pitch = (4 * width).next_multiple_of(256);
    let buffer = device.create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: u64::from(pitch * height),
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::MAP_READ,
        mapped_at_creation: false,
    });
    let mut encoder = device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(pitch), rows_per_image: None };
    encoder.copy_texture_to_buffer(
        wgpu::TexelCopyTextureInfo {
            mip_level: level,
            origin: wgpu::Origin3d { z: layer, ..wgpu::Origin3d::ZERO },
            ..texture.as_image_copy()
        },
        wgpu::TexelCopyBufferInfo { buffer: &buffer, layout },
        wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
    );
    queue.submit([encoder.finish()]);
    bytes_of(device, &buffer).chunks_exact(pitch as usize).flat_map(|row| row[..4 * width as usize].to_vec()).collect()
}

/// Returns what a buffer that can be mapped has when all that was submitted is done.
pub fn bytes_of(device: &wgpu::Device, buffer: &wgpu::Buffer) -> Vec<u8> {
    buffer.map_async(wgpu::MapMode::Read, .., |mapped| mapped.unwrap());
    device.poll(wgpu::PollType::wait_indefinitely()).unwrap();
    buffer.get_mapped_range(..).unwrap().to_vec()
}

/// A pass that draws into one view and keeps what it drew.
pub fn pass<'e>(
    encoder: &'e mut wgpu::CommandEncoder,
    view: &wgpu::TextureView,
    load: wgpu::LoadOp<wgpu::Color>,
) -> wgpu::RenderPass<'e> {
    encoder.begin_render_pass(&wgpu::RenderPassDescriptor {
        color_attachments: &[Some(wgpu::RenderPassColorAttachment {
            view,
            depth_slice: None,
            resolve_target: None,
            ops: wgpu::Operations { load, store: wgpu::StoreOp::Store },
        })],
        ..wgpu::RenderPassDescriptor::default()
    })
}

/// The adapter of the driver that the tests are for.
pub fn adapter() -> wgpu::Adapter {
    let adapters = pixelferry_wgpu::wgpu_adapters(backends());
    adapters.into_iter().find(|adapter| adapter.get_info().name.contains(&adapter_name())).unwrap()
}

/// That of a display, from which it can be opened again.
pub fn adapter_of(display: &WgpuDisplay) -> wgpu::Adapter {
    let adapters = pixelferry_wgpu::wgpu_adapters(backends());
    adapters.into_iter().find(|adapter| adapter.get_info().name == display.device().name).unwrap()
}

/// The value of a future of wgpu's, which natively is ready at once.
pub fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).as_mut().poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("the future is not ready"),
    }
}
