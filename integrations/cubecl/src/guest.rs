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
use pixelferry::{Extent, Result, Taken, Target};
use std::rc::Rc;
use std::sync::Arc;

/// Server that runs CubeCL's side of a device.
type Server = WgpuServer<AutoCompiler>;

/// A wgpu device that CubeCL, a backend and a display share. Stays on its thread.
pub struct CubeGuest {
    display: Rc<WgpuDisplay>,
    backend: Arc<WgpuBackend>,
    device: WgpuDevice,
    client: Client,
}

impl CubeGuest {
    /// Opens a device with all that the adapter has, so that kernels may use every type that it computes with.
    ///
    /// # Errors
    /// Where the driver refuses the device; else as of [`CubeGuest::on`].
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

    /// Moves into a device that is there, once: CubeCL keeps its memory and its thread until the process ends. Features that
    /// the adapter has and the device was opened without, it takes to be there.
    ///
    /// The device's handlers of errors and of a lost device are CubeCL's from then on.
    ///
    /// # Errors
    /// [`Unsupported`](pixelferry::Error::Unsupported) where the device has no compute shaders,
    /// [`Driver`](pixelferry::Error::Driver) where CubeCL or wgpu refuses it.
    pub fn on(adapter: &wgpu::Adapter, device: wgpu::Device, queue: wgpu::Queue) -> Result<Self> {
        const OP: &str = "CubeGuest::on";
        let display = WgpuDisplay::from_engine(adapter, device.clone(), queue.clone())?;
        let shared = display.shared_device();
        let backend = Arc::new(WgpuBackend::on(shared.clone())?);
        // CubeCL only keeps it; one with no API loads no driver.
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

    /// CubeCL's name of the device, by which libraries on CubeCL find it.
    pub fn device(&self) -> &WgpuDevice {
        &self.device
    }

    /// Returns what kernels are launched with.
    pub fn client(&self) -> &Client {
        &self.client
    }

    /// The display, for [`Link::open`](pixelferry::Link::open) and drawing.
    pub fn display(&self) -> Rc<WgpuDisplay> {
        Rc::clone(&self.display)
    }

    /// The backend, for [`Link::open`](pixelferry::Link::open) and kernels in WGSL.
    pub fn backend(&self) -> Arc<WgpuBackend> {
        Arc::clone(&self.backend)
    }

    /// Memory of CubeCL's for a picture with four bytes a pixel, to be kept from frame to frame.
    ///
    /// # Errors
    /// [`InvalidInput`](pixelferry::Error::InvalidInput) for a side of 0 and more pixels than 32 bits count.
    pub fn pixels(&self, extent: Extent) -> Result<Pixels> {
        Pixels::new(self.backend.wgpu_device(), &self.client, extent)
    }

    /// Submits the kernels that were launched, and behind them the copy of what they wrote into a frame
    /// ([`WriteFrame::target`](pixelferry::WriteFrame::target)) of as many bytes.
    ///
    /// # Errors
    /// What a launch met before: a kernel that does not build, a device that is lost
    /// ([`Driver`](pixelferry::Error::Driver)). Else as of [`WgpuBackend::copy_from_buffer`].
    pub fn copy(&self, pixels: &Pixels, target: Target<'_>) -> Result<()> {
        pixels.check(&target)?;
        self.copy_from(pixels.handle(), target)
    }

    /// [`CubeGuest::copy`] of any memory of CubeCL's on this device, from its first byte on.
    ///
    /// # Errors
    /// Those of [`CubeGuest::copy`].
    pub fn copy_from(&self, from: Handle, target: Target<'_>) -> Result<()> {
        let (buffer, offset) = self.submitted("CubeGuest::copy", from)?;
        self.backend.copy_from_buffer(target, &buffer, offset)
    }

    /// Copies what an intake took into CubeCL's memory of as many bytes, for kernels that are launched later.
    ///
    /// # Errors
    /// Those of [`CubeGuest::copy`], of [`WgpuBackend::copy_to_buffer`].
    pub fn copy_to(&self, taken: &Taken<'_>, to: Handle) -> Result<()> {
        let (buffer, offset) = self.submitted("CubeGuest::copy_to", to)?;
        self.backend.copy_to_buffer(taken.memory(), taken.view(), &buffer, offset)
    }

    /// The buffer of wgpu's behind memory, with all submitted that was launched.
    fn submitted(&self, operation: &'static str, memory: Handle) -> Result<(wgpu::Buffer, u64)> {
        call(self.backend.wgpu_device(), operation, || {
            let place = self.client.get_resource::<Server>(memory)?;
            // The call above submits in this version; only this one promises to.
            self.client.flush()?;
            let place = place.resource();
            Ok::<_, ServerError>((place.buffer.clone(), place.offset))
        })
    }

    /// Waits for all that CubeCL launched. It alone is told that the device was lost, and says so here; frames of a lost device
    /// may pass without an error.
    ///
    /// # Errors
    /// [`Driver`](pixelferry::Error::Driver) with what CubeCL reports.
    pub fn finish(&self) -> Result<()> {
        const OP: &str = "CubeGuest::finish";
        call(self.backend.wgpu_device(), OP, || block_on(self.client.sync()))
    }
}
