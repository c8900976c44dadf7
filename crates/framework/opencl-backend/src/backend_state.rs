//! State shared by a backend, its kernels and its memories.

use crate::cl::{Context, ContextOptions, Queue};
use crate::device::OpenClDevice;
use crate::in_flight::DeviceFence;
use crate::pinned_buffer::PinnedBuffer;
use crate::queues::Queues;
use crate::sharing::caps::{both_shapes, gl_listed, handles, semaphores};
use crate::sharing::image_format::image_formats;
use crate::timeline::Timeline;
use interop_core::compute::HostPool;
use interop_core::describe::PlainMutex;
use interop_core::devices::maker_object::Maker;
use interop_core::{
    ComputeCaps, DeviceIdentity, Error, Event, GlContext, HandleType, Language, MemoryCap, MemoryKind, MemoryShape,
    QueueId, Result, Support,
};
use std::sync::Arc;

/// An opened device. Kernels and memories keep it alive; two objects belong to one backend if they share this value.
pub struct BackendState {
    pub device: OpenClDevice,
    pub caps: ComputeCaps,
    /// The queues, in the context and on the device of all objects here.
    pub queues: Arc<Queues>,
    /// The OpenGL context with which the OpenCL context shares.
    pub gl: Option<Arc<dyn GlContext>>,
    /// Kept between transfers; a transfer that finds it in use by another thread allocates its own.
    pinned: PlainMutex<Option<PinnedBuffer>>,
    /// Host memory for copies of queues.
    pub pool: Arc<HostPool<PinnedBuffer>>,
    pub timeline: Timeline,
}

impl BackendState {
    /// Opens the device; `gl` is allowed only for a device that lists `cl_khr_gl_sharing`.
    pub fn open(device: &OpenClDevice, gl: Option<Arc<dyn GlContext>>) -> Result<Self> {
        let options = ContextOptions::new();
        let options = gl.iter().fold(options, |options, gl| options.share_gl(gl.clone()));
        let context = Context::with_options(std::slice::from_ref(&device.raw), options)?;
        let queues = Arc::new(Queues::new(&context, &device.raw)?);
        Ok(Self {
            device: device.clone(),
            caps: caps(device, &context, QueueId::of(&queues)),
            queues,
            gl,
            pinned: PlainMutex::new(None),
            pool: Arc::default(),
            timeline: Timeline::default(),
        })
    }

    pub fn identity(&self) -> &DeviceIdentity {
        self.device.identity()
    }

    pub fn name(&self) -> &str {
        &self.identity().name
    }

    pub fn is_host_memory(&self) -> bool {
        self.identity().memory.is_host_memory()
    }

    /// True where images may be among the memory that kernels write.
    pub fn opens_images(&self) -> bool {
        let opens = |handle| self.caps.can_import(handle, MemoryShape::Image).is_yes();
        opens(HandleType::GlObject) || opens(HandleType::OPAQUE)
    }

    /// Returns the current queue.
    pub fn queue(&self) -> &Queue {
        self.queues.current()
    }

    pub fn context(&self) -> &Context {
        self.queue().context()
    }

    /// True where OpenGL and OpenCL wait for each other with events.
    pub fn has_gl_events(&self) -> bool {
        self.gl.is_some() && has_gl_events(&self.device)
    }

    pub fn unsupported(&self, reason: String) -> Error {
        Error::unsupported(self.name().to_owned(), reason)
    }

    /// Identifies events of this backend's queues.
    pub fn owner(&self) -> usize {
        Arc::as_ptr(&self.queues).addr()
    }

    /// Orders the backend's own queue after an operation of another queue; waits for one that this device does not have
    /// yet. The event reports whether the operation succeeded.
    pub fn follow(&self, event: &Event) -> Result<()> {
        let device = event.device_event();
        match device.as_ref().and_then(|d| DeviceFence::of(d.as_ref(), self.owner())) {
            Some(passed) => self.queue().barrier(std::slice::from_ref(&passed.event)).map(drop),
            None => {
                let _ = event.wait();
                Ok(())
            }
        }
    }

    pub fn finish(&self) -> Result<()> {
        self.queue().finish()
    }

    /// Lends pinned host memory of at least `len` bytes (more than 0) to `f`; its content is arbitrary.
    pub fn with_pinned<R>(&self, len: usize, f: impl FnOnce(&mut [u8]) -> Result<R>) -> Result<R> {
        let kept = self.pinned.lock().take();
        let mut pinned = match kept {
            Some(pinned) if pinned.0.len() >= len => pinned,
            too_small => {
                // Freed before the larger one is allocated.
                drop(too_small);
                PinnedBuffer::new(self.queue(), len)?
            }
        };
        let result = f(&mut pinned.0[..len]);
        let mut place = self.pinned.lock();
        let smaller = if place.as_ref().is_none_or(|p| p.0.len() < pinned.0.len()) {
            place.replace(pinned)
        } else {
            Some(pinned)
        };
        // No driver calls are made under the lock.
        drop(place);
        drop(smaller);
        result
    }
}

/// Size granularity with which drivers of integrated GPUs use host memory without a copy: a cache line.
const SIZE_ALIGNMENT: usize = 64;

impl Maker for BackendState {
    fn name(&self) -> String {
        Self::name(self).to_owned()
    }
}

fn has_gl_events(device: &OpenClDevice) -> bool {
    device.has_extension("cl_khr_gl_event")
}

fn caps(device: &OpenClDevice, context: &Context, queue: QueueId) -> ComputeCaps {
    let memory = device.identity().memory;
    let opened = "the device was not opened in this display's OpenGL context (ComputeBackend::open_in)";
    let gl_sharing = gl_listed(device).and(|| Support::when(context.shares_gl(), opened));
    let events = gl_sharing
        .clone()
        .and(|| Support::when(has_gl_events(device), "the device's extension list has no cl_khr_gl_event"));
    let in_place = Support::when(
        memory.is_host_memory(),
        format!("{memory} memory: the driver would copy host memory to the device and back"),
    );
    let host = MemoryCap::new(HandleType::HostPointer, MemoryShape::Linear, in_place)
        .aligned(host_alignment(memory), SIZE_ALIGNMENT);
    let gl_objects = both_shapes(HandleType::GlObject, &gl_sharing);
    let handles = both_shapes(HandleType::OPAQUE, &handles(device));
    let own = MemoryCap::new(HandleType::QueueBuffer(queue), MemoryShape::Linear, Support::Yes);
    let no_export = Support::No(format!("OpenCL has no call that exports memory as {}", HandleType::OPAQUE));
    ComputeCaps::new(vec![Language::OpenClC], device.description.limits.max_allocation)
        .with_imports([host, own.clone()].into_iter().chain(gl_objects).chain(handles).collect())
        .with_exports(both_shapes(HandleType::OPAQUE, &no_export).into_iter().chain([own]).collect())
        .with_image_formats(image_formats(context))
        .with_semaphores(semaphores(device, events))
}

/// `CL_DEVICE_MEM_BASE_ADDR_ALIGN` does not apply here: it is for sub-buffers, and covers `long16`. A CPU needs the
/// alignment of a pixel's vector type, and `ARB_map_buffer_alignment` guarantees 64 bytes for mapped GL buffers. GPUs
/// map whole pages.
fn host_alignment(memory: MemoryKind) -> usize {
    match memory {
        MemoryKind::Host => 64,
        _ => 4096,
    }
}
