//! The display that users hold.

use crate::context::device_state::{DeviceState, Handles, caps};
use crate::context::engine::VulkanEngine;
use crate::context::functions::{check, has, load};
use crate::context::headless::{self, VulkanOptions};
use crate::context::identity::identify;
use crate::draw::painter::Painter;
use crate::queue::commands::CopyImage;
use crate::queue::slot::Point;
use crate::queue::submissions::Submissions;
use crate::sharing::{SharingDevice, vk_format};
use crate::staging::block::VulkanStaging;
use crate::staging::semaphore::VulkanSemaphore;
use crate::surface::frame::{TimelinePoint, VulkanFrame, VulkanObject};
use crate::surface::in_place::{InPlaceBuffer, InPlaceImage};
use crate::surface::offscreen;
use crate::surface::stored_surface::{StoredBuffer, StoredImage};
use crate::surface::surface_content::{SurfaceContent, shown};
use ash::vk;
use interop_core::AnyThreadDisplay;
use interop_core::describe::error::call;
use interop_core::describe::process::enter;
use interop_core::display::{DisplayDriver, SemaphoreDriver};
use interop_core::{
    DeviceIdentity, DisplayCaps, Manner, QueueId, Result, SharedHandle, Staging, StagingKind, Surface, SurfaceDesc,
    SyncKind,
};
use std::sync::Arc;

/// A Vulkan device as a display. Any thread may use it and its objects.
///
/// Either the engine draws the frames of [`VulkanDisplay::surface_frame`] in its own submissions, or the display draws
/// into the engine's images ([`VulkanDisplay::image_target`]).
pub struct VulkanDisplay {
    /// The backend for audits, opened at the first one.
    #[cfg(feature = "compute")]
    pub(crate) in_queue: interop_core::compute::BackendInQueue,
    /// Dropped before the state, to which its objects belong.
    pub(crate) painter: Arc<Painter>,
    pub(crate) shared: Arc<DeviceState>,
}

interop_core::debug_as!(VulkanDisplay, |this| device = &this.shared.identity);

impl VulkanDisplay {
    /// Opens a display with a device of its own, created with all extensions for sharing. It needs no window.
    ///
    /// # Errors
    /// [`interop_core::Error::Unavailable`] where no loader or no such device is present;
    /// [`interop_core::Error::Driver`] where the device does not open.
    pub fn headless(options: &VulkanOptions) -> Result<Arc<Self>> {
        call("VulkanDisplay::headless", || {
            let engine = headless::open(options)?;
            // SAFETY: the objects were made there, as it says, and the engine's description keeps the device.
            unsafe { Self::from_engine(engine) }
        })
    }

    /// Opens a display on an engine's device, which submits to the engine's queue. Sharing needs the extensions and the
    /// feature that [`crate::device_extensions`] lists. [`interop_core::Display::caps`] gives the reason for what is
    /// missing; the paths through the host work without any of them.
    ///
    /// # Errors
    /// [`interop_core::Error::InvalidInput`] for null handles, a queue family that does not exist or only copies, and
    /// extensions or a feature that the device lacks; [`interop_core::Error::Unsupported`] where instance or driver are
    /// older than Vulkan 1.1; [`interop_core::Error::Driver`] where the driver refuses the display's own objects.
    ///
    /// # Safety
    /// - Handles that are not null are alive and belong together: the queue was obtained from the device with that
    ///   family, the device was created from the physical device, and that belongs to the instance, which was created
    ///   for Vulkan 1.1 or later.
    /// - The device was created with the extensions and the feature that `engine` names, and without
    ///   `VK_DEVICE_QUEUE_CREATE_PROTECTED_BIT`.
    /// - The lock excludes every other use of the queue during its call.
    /// - All of them live until the display, its surfaces, its links and the memory that backends opened from it are
    ///   dropped, or are kept by [`VulkanEngine::keeping`].
    /// - The engine's work that uses a frame is submitted to this queue, or announced by [`VulkanDisplay::read_until`],
    ///   before the next frame is finished and before the link is dropped. The work only reads, and leaves images in
    ///   their layout.
    pub unsafe fn from_engine(engine: VulkanEngine) -> Result<Arc<Self>> {
        call("VulkanDisplay::from_engine", || {
            let _entered = enter("Vulkan")?;
            // SAFETY: the caller's promise.
            let functions = unsafe { load(&engine) }?;
            // SAFETY: as above.
            let abilities = unsafe { check(&engine, &functions) }?;
            let physical = engine.physical;
            // SAFETY: as above; `check` verified that both are of Vulkan 1.1.
            let identity = unsafe { identify(&functions.instance, physical) };
            let name = identity.to_string();
            let mut families = engine.readers.clone();
            families.push(engine.family);
            families.sort_unstable();
            families.dedup();
            let (instance, device) = (functions.instance.clone(), functions.device.clone());
            let timeline = engine.timeline_semaphore;
            let of_display = Arc::new(());
            let of_queue = ((engine.family, abilities), QueueId::of(&of_display), engine.storage_formats);
            // SAFETY: all belong together and outlive the objects made from them, which the caller promises.
            let (sharing, (caps, stores), submissions) = unsafe {
                let has = |extension: &std::ffi::CStr| has(&engine, extension);
                let sharing = SharingDevice::new(instance, physical, device.clone(), has, timeline, name.clone());
                let sharing = sharing.for_families(families);
                let caps = caps(&functions.instance, physical, &sharing, of_queue);
                let queue = (engine.queue, engine.family);
                (sharing, caps, Submissions::new(&functions.instance, device, queue, engine.lock, timeline, name)?)
            };
            let VulkanEngine { instance, queue, family, .. } = engine;
            let handles = Handles { instance, physical, queue, family, abilities };
            let shared =
                DeviceState::new(identity, caps, (sharing, stores), submissions, (handles, of_display), engine.keep);
            let shared = Arc::new(shared);
            Ok(Arc::new(Self {
                #[cfg(feature = "compute")]
                in_queue: interop_core::compute::BackendInQueue::default(),
                painter: Arc::new(Painter::new(&shared)),
                shared,
            }))
        })
    }

    /// Returns the device's functions, for the user's own work.
    pub fn device_functions(&self) -> &ash::Device {
        self.shared.sharing.device()
    }

    /// Returns the instance of the device.
    pub fn instance(&self) -> vk::Instance {
        self.shared.handles.instance
    }

    /// Returns the physical device.
    pub fn physical_device(&self) -> vk::PhysicalDevice {
        self.shared.handles.physical
    }

    /// Returns the queue to which the display submits, and its family.
    pub fn queue(&self) -> (vk::Queue, u32) {
        (self.shared.handles.queue, self.shared.handles.family)
    }

    /// Returns the current frame of a surface, for a submission of the engine. Record the commands that read it, let
    /// the submission wait for [`VulkanFrame::ready`], and submit before the next frame is finished. After a submission
    /// to another queue than the display's, announce its end with [`VulkanDisplay::read_until`].
    ///
    /// The object may change from frame to frame: call this for each frame.
    ///
    /// # Errors
    /// [`interop_core::Error::Foreign`] for a surface of another display; [`interop_core::Error::NothingShown`] for a
    /// surface that shows in place and has no frame yet; [`interop_core::Error::Driver`] for errors of the driver.
    pub fn surface_frame(&self, surface: &Surface) -> Result<VulkanFrame> {
        let object = match shown(&self.shared, surface)? {
            SurfaceContent::Image(CopyImage { image, format, layout }, desc) => {
                VulkanObject::Image { image, format, extent: desc.extent, layout }
            }
            SurfaceContent::Rows(buffer, view) => VulkanObject::Rows { buffer, format: vk_format(view.format), view },
            SurfaceContent::Bytes(buffer, view) => {
                VulkanObject::Bytes { buffer, offset: view.offset as u64, len: view.len as u64 }
            }
        };
        let ready = self.shared.submissions.ready()?;
        Ok(VulkanFrame { object, ready: ready.map(|(semaphore, value)| TimelinePoint { semaphore, value }) })
    }

    /// Makes all further work of the display wait until the engine has read a frame on another queue. A submission of
    /// the engine signals this value of the engine's own timeline semaphore. Submissions to the display's own queue
    /// need no announcement.
    ///
    /// # Errors
    /// [`interop_core::Error::Unsupported`] where the device was made without timeline semaphores; the host must wait
    /// there.
    ///
    /// # Safety
    /// The semaphore is a timeline semaphore of this device. It lives until its counter reaches the value, which it
    /// does reach.
    pub unsafe fn read_until(&self, point: TimelinePoint) -> Result<()> {
        if !self.shared.sharing.counts() {
            let reason = "the device was made without timeline semaphores; let the host wait for the engine's fence";
            return Err(self.shared.unsupported(reason));
        }
        self.shared.submissions.read_until(Point { semaphore: point.semaphore, value: Some(point.value) });
        Ok(())
    }
}

impl AnyThreadDisplay for VulkanDisplay {}

impl DisplayDriver for VulkanDisplay {
    fn device(&self) -> &DeviceIdentity {
        &self.shared.identity
    }

    fn caps(&self) -> &DisplayCaps {
        &self.shared.caps
    }

    fn create_surface(&self, desc: &SurfaceDesc) -> Result<Surface> {
        Surface::stored(
            (DisplayDriver::device(self), DisplayDriver::caps(self)),
            desc,
            |image, _| StoredImage::new(&self.shared, image),
            |bytes| StoredBuffer::new(&self.shared, bytes),
        )
    }

    fn create_in_place_surface(&self, desc: &SurfaceDesc) -> Result<Surface> {
        let shared = &self.shared;
        Surface::in_place(
            (DisplayDriver::device(self), DisplayDriver::caps(self)),
            desc,
            |_| Ok(InPlaceImage::new(shared)),
            || Ok(InPlaceBuffer::new(shared)),
        )
    }

    #[cfg(feature = "compute")]
    fn backend_in_queue(&self) -> Result<Option<Box<dyn std::any::Any + Send + Sync>>> {
        self.opened_in_queue()
    }

    fn batch(&self, work: &mut dyn FnMut() -> Result<()>) -> Result<()> {
        self.shared.submissions.batch(work)?
    }

    fn create_staging(&self, kind: StagingKind, bytes: usize) -> Result<Staging> {
        Staging::new((DisplayDriver::device(self), DisplayDriver::caps(self)), kind, bytes, |kind| {
            VulkanStaging::new(&self.shared, kind, bytes)
        })
    }

    fn create_semaphore(&self, kind: SyncKind) -> Result<(Box<dyn SemaphoreDriver>, SharedHandle)> {
        let (semaphore, handle) = VulkanSemaphore::new(&self.shared, kind)?;
        Ok((Box::new(semaphore), handle))
    }

    /// Copies the surface to memory of the device, with the same reads as a draw.
    fn draw_offscreen_by(&self, surface: &Surface, _: Option<Manner>) -> Result<()> {
        surface.check_download()?;
        offscreen::read_through(&self.shared, &shown(&self.shared, surface)?)
    }

    fn finish(&self) -> Result<()> {
        self.shared.submissions.finish()
    }
}
