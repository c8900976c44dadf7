//! [`CubeGuest`].

use crate::Pixels;
use crate::error::call;
use cubecl_core::client::Client;
use cubecl_core::device::Device;
use cubecl_core::future::block_on;
use cubecl_core::server::{Handle, ServerError};
use cubecl_wgpu::{AutoCompiler, RuntimeOptions, WgpuDevice, WgpuServer, WgpuSetup, try_init_device, wgpu};
use pixelferry::api::wgpu::WgpuBackend;
use pixelferry::api::wgpu::{WgpuDisplay, open_device};
use pixelferry::{Extent, IntakeGuard, Result, Target};
use std::sync::Arc;

/// The server of CubeCL's runtime for a device.
type Server = WgpuServer<AutoCompiler>;

/// A wgpu device that CubeCL, a backend and a display share. Stays on its thread.
pub struct CubeGuest {
    display: Arc<WgpuDisplay>,
    backend: Arc<WgpuBackend>,
    device: WgpuDevice,
    client: Client,
}

impl CubeGuest {
    /// Opens a device with all features of the adapter, so that kernels may use every supported type.
    ///
    /// # Errors
    /// If the driver refuses the device; otherwise those of [`CubeGuest::on`].
    pub fn open(adapter: &wgpu::Adapter) -> Result<Self> {
        let features = adapter.features() - wgpu::Features::all_experimental_mask();
        let (device, queue) = open_device(
            adapter,
            &wgpu::DeviceDescriptor {
                label: Some("pixelferry"),
                required_features: features - wgpu::Features::MAPPABLE_PRIMARY_BUFFERS,
                required_limits: adapter.limits(),
                ..wgpu::DeviceDescriptor::default()
            },
        )?;
        Self::on(adapter, device, queue)
    }

    /// Uses an existing device; call it once per device, because CubeCL keeps its memory and its thread until the
    /// process ends. CubeCL assumes that all features of the adapter are enabled on the device.
    ///
    /// CubeCL takes over the device's handlers for errors and for a lost device.
    ///
    /// # Errors
    /// [`Unsupported`](pixelferry::Error::Unsupported) if the device has no compute shaders,
    /// [`Driver`](pixelferry::Error::Driver) if CubeCL or wgpu refuses it.
    pub fn on(adapter: &wgpu::Adapter, device: wgpu::Device, queue: wgpu::Queue) -> Result<Self> {
        const OP: &str = "CubeGuest::on";
        let display = WgpuDisplay::from_engine(adapter, device.clone(), queue.clone())?;
        let shared = display.shared_device();
        let backend = Arc::new(WgpuBackend::on(shared.clone())?);
        // CubeCL only stores it; without an API it loads no driver.
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends: wgpu::Backends::empty(),
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        });
        let setup =
            WgpuSetup { instance, backend: adapter.get_info().backend, adapter: adapter.clone(), device, queue };
        let guest = call(&shared, OP, || try_init_device(setup, RuntimeOptions::try_default()?))?;
        let client = call(&shared, OP, || Ok::<_, ServerError>(Client::load::<Server>(guest.to_id())))?;
        Ok(Self { display, backend, device: guest, client })
    }

    /// CubeCL's name of the device, with which libraries on CubeCL find it.
    pub fn device(&self) -> &WgpuDevice {
        &self.device
    }

    /// The client that launches kernels.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The display, for [`Link::open`](pixelferry::Link::open) and drawing.
    pub fn display(&self) -> Arc<WgpuDisplay> {
        Arc::clone(&self.display)
    }

    /// The backend, for [`Link::open`](pixelferry::Link::open) and kernels in WGSL.
    pub fn backend(&self) -> Arc<WgpuBackend> {
        Arc::clone(&self.backend)
    }

    /// Allocates CubeCL memory for a picture with four bytes per pixel; keep it from frame to frame.
    ///
    /// # Errors
    /// [`InvalidInput`](pixelferry::Error::InvalidInput) for a side of 0, or more pixels than 32 bits can count.
    pub fn pixels(&self, extent: Extent) -> Result<Pixels> {
        Pixels::new(self.backend.wgpu_device(), &self.client, extent)
    }

    /// Submits the launched kernels, and then the copy of their result into a frame
    /// ([`WriteFrame::target`](pixelferry::WriteFrame::target)) of the same number of bytes.
    ///
    /// # Errors
    /// Errors of earlier launches: a kernel that does not build, a lost device ([`Driver`](pixelferry::Error::Driver)).
    /// Otherwise those of [`WgpuBackend::copy_from_buffer`].
    pub fn copy(&self, pixels: &Pixels, target: Target<'_>) -> Result<()> {
        pixels.check(&target)?;
        self.copy_from(pixels.handle(), target)
    }

    /// Like [`CubeGuest::copy`], from any CubeCL memory on this device, from its first byte.
    ///
    /// # Errors
    /// Those of [`CubeGuest::copy`].
    pub fn copy_from(&self, from: Handle, target: Target<'_>) -> Result<()> {
        let (buffer, offset) = self.submitted("CubeGuest::copy", from)?;
        self.backend.copy_from_buffer(target, &buffer, offset)
    }

    /// Copies what an intake took into CubeCL memory of the same number of bytes, for kernels that are launched later.
    ///
    /// # Errors
    /// Those of [`CubeGuest::copy`], of [`WgpuBackend::copy_to_buffer`].
    pub fn copy_to(&self, taken: &IntakeGuard<'_>, to: Handle) -> Result<()> {
        let (buffer, offset) = self.submitted("CubeGuest::copy_to", to)?;
        self.backend.copy_to_buffer(taken.memory(), taken.view(), &buffer, offset)
    }

    /// Submits everything that was launched, and returns the wgpu buffer of the memory.
    fn submitted(&self, operation: &'static str, memory: Handle) -> Result<(wgpu::Buffer, u64)> {
        call(self.backend.wgpu_device(), operation, || {
            let place = self.client.get_resource::<Server>(memory)?;
            // The call above submits in this version, but only this call guarantees it.
            self.client.flush()?;
            let place = place.resource();
            Ok::<_, ServerError>((place.buffer.clone(), place.offset))
        })
    }

    /// Waits for everything that CubeCL launched. Only CubeCL is notified of a lost device and reports it here; frames
    /// of a lost device may pass without an error.
    ///
    /// # Errors
    /// [`Driver`](pixelferry::Error::Driver) with CubeCL's message.
    pub fn finish(&self) -> Result<()> {
        const OP: &str = "CubeGuest::finish";
        call(self.backend.wgpu_device(), OP, || block_on(self.client.sync()))
    }
}
