//! State shared by all objects of one backend.

use crate::devices::{CudaDevice, devices_of};
use crate::ffi::host_memory::PinnedMemory;
use crate::ffi::nvrtc::Nvrtc;
use crate::ffi::probe::Attribute;
use crate::ffi::submit_queue::DeviceFence;
use crate::ffi::{Failure, Queue, shared_memory};
use crate::timeline::Timeline;
use interop_core::compute::HostPool;
use interop_core::describe::process::enter;
use interop_core::devices::maker_object::Maker;
use interop_core::{
    ComputeCaps, DeviceIdentity, Error, Event, HandleType, Language, MemoryCap, MemoryShape, PixelFormat, QueueId,
    Result, SemaphoreCap, Support, SyncKind,
};
use std::sync::Arc;

/// Largest access of a kernel to one pixel, in bytes; CUDA requires pixels to be aligned to their size.
const PIXEL_ALIGNMENT: usize = 16;

/// An opened device: its stream, and its properties.
pub struct Session {
    /// Dropped before the stream that contains its events.
    pub timeline: Timeline,
    pub queue: Arc<Queue>,
    pub identity: DeviceIdentity,
    pub caps: ComputeCaps,
    /// Compute capability as one number, e.g. 90.
    pub architecture: i32,
    /// Granularity of exportable memory sizes, in bytes.
    pub granularity: usize,
    /// Host memory for copies of queues.
    pub pinned: Arc<HostPool<PinnedMemory>>,
}

impl Session {
    pub fn open(device: &CudaDevice) -> Result<Arc<Self>> {
        let _entered = enter("CUDA")?;
        let identity = device.identity().clone();
        let name = identity.to_string();
        let queue = Queue::new(device.device.api(), device.device.raw).map_err(|f| f.on(&name))?;
        let has = |attribute| device.device.attribute(attribute).is_ok_and(|value| value != 0);
        // Devices that cannot export memory return an error here.
        let granularity = shared_memory::granularity(&queue);
        let exports = Support::when(
            has(Attribute::VirtualMemoryManagement) && has(Attribute::ExportSupported) && granularity.is_ok(),
            format!("the device or driver cannot export memory as {}", HandleType::OPAQUE),
        );
        let grain = granularity.unwrap_or(1);
        let mut languages = vec![Language::Ptx];
        // Checked again when a kernel is built, with the reason.
        if Nvrtc::get().is_ok() {
            languages.push(Language::CudaCpp);
        }
        let exported = |shape| MemoryCap::new(HandleType::OPAQUE, shape, exports.clone()).aligned(grain, grain);
        let own = MemoryCap::new(HandleType::QueueBuffer(QueueId::of(&queue)), MemoryShape::Linear, Support::Yes);
        let caps = ComputeCaps::new(languages, device.total_memory())
            .with_imports(imports(&queue, has).into_iter().chain([own.clone()]).collect())
            .with_image_formats(PixelFormat::ALL)
            .with_exports(SHAPES.map(exported).into_iter().chain([own]).collect())
            .with_semaphores(
                [SyncKind::BinarySemaphore, SyncKind::TimelineSemaphore]
                    .map(|kind| SemaphoreCap::new(kind, Support::Yes))
                    .into(),
            );
        let (major, minor) = device.compute_capability();
        let (timeline, architecture, pinned) = (Timeline::default(), 10 * major + minor, Arc::default());
        Ok(Arc::new(Self { timeline, queue, identity, caps, architecture, granularity: grain, pinned }))
    }

    /// Converts a failed call to the caller's error.
    pub fn failed(&self) -> impl Fn(Failure) -> Error + '_ {
        |failure| failure.on(&self.name())
    }

    /// Runs `f` as a piece of work for the timeline, see [`Timeline::timed`].
    pub fn timed<R>(&self, name: &str, f: impl FnOnce() -> R) -> R {
        self.timeline.timed(&self.queue, name, f)
    }

    /// Returns the display's device, by the driver's number, if kernels here can write its memory.
    pub fn reach(&self, display: &DeviceIdentity) -> Result<i32, String> {
        let own = self.queue.device();
        let Support::No(other) = self.identity.same_device(display) else { return Ok(own) };
        let list = devices_of(self.queue.api()).map_err(|error| error.to_string())?;
        let this = list.iter().find(|d| d.device.raw == own);
        let peer = list.iter().find(|d| d.identity().same_device(display).is_yes());
        match this.zip(peer) {
            None => Err(format!("{other}, which CUDA does not drive")),
            Some((this, peer)) => match this.device.can_access_peer(peer.device) {
                Ok(true) => Ok(peer.device.raw),
                Ok(false) => Err(format!("{other}; the two have no peer access")),
                Err(failure) => Err(format!("{other}; {}", failure.on(&self.name()))),
            },
        }
    }

    /// True where textures may be among the memory that kernels write.
    pub fn has_textures(&self) -> bool {
        [HandleType::GlObject, HandleType::OPAQUE]
            .iter()
            .any(|handle| self.caps.can_import(*handle, MemoryShape::Image).is_yes())
    }

    pub fn unsupported(&self, reason: impl Into<String>) -> Error {
        Error::unsupported(self.name(), reason)
    }

    /// Orders the stream after an operation of a queue; waits for one that this device does not have yet. The event
    /// reports whether the operation succeeded.
    pub fn follow(&self, event: &Event) -> Result<()> {
        let device = event.device_event();
        match device.as_ref().and_then(|d| DeviceFence::of(d.as_ref(), &self.queue)) {
            Some(passed) => self.queue.wait(&passed.event).map_err(self.failed()),
            None => {
                let _ = event.wait();
                Ok(())
            }
        }
    }

    /// Waits for the stream.
    pub fn synchronize(&self) -> Result<()> {
        self.queue.synchronize().map_err(self.failed())
    }
}

impl Maker for Session {
    fn name(&self) -> String {
        self.identity.to_string()
    }
}

const SHAPES: [MemoryShape; 2] = [MemoryShape::Linear, MemoryShape::Image];

fn imports(queue: &Queue, has: impl Fn(Attribute) -> bool) -> Vec<MemoryCap> {
    let host = Support::when(
        has(Attribute::CanMapHostMemory) && has(Attribute::HostRegisterSupported),
        "the device cannot address imported host memory",
    );
    let gl = match &queue.api().gl {
        Ok(_) => Support::Yes,
        Err(name) => Support::No(format!("the driver library has no {name} (an installation without OpenGL)")),
    };
    let host = MemoryCap::new(HandleType::HostPointer, MemoryShape::Linear, host).aligned(PIXEL_ALIGNMENT, 1);
    // `cuGraphicsGLRegisterImage` does not list packed formats.
    let objects =
        SHAPES.map(|shape| MemoryCap::new(HandleType::GlObject, shape, gl.clone()).without(&[PixelFormat::Rgb10A2]));
    let opened = SHAPES.map(|shape| MemoryCap::new(HandleType::OPAQUE, shape, Support::Yes));
    [host].into_iter().chain(objects).chain(opened).collect()
}
