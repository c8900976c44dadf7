//! State shared by a backend, its kernels and its memories.

use crate::device::OpenClDevice;
use crate::sharing::caps::{both_shapes, handles, semaphores};
use crate::sharing::gl_listed::listed;
use crate::timeline::Timeline;
use interop_core::compute::HostPool;
use interop_core::devices::owned::Maker;
use interop_core::{
    ComputeCaps, DeviceIdentity, Error, Event, GlContext, HandleType, Language, MemoryCap, MemoryKind, MemoryShape,
    PixelFormat, QueueId, Result, Support,
};
use pixelferry_opencl::base::in_flight::DeviceFence;
use pixelferry_opencl::base::{Failure, GlShare, Pinned, Session};
use std::sync::{Arc, Mutex, PoisonError};

/// An opened device. Kernels and memories keep it alive; two of them are of the same backend if it is the same value.
pub struct BackendState {
    pub device: OpenClDevice,
    pub caps: ComputeCaps,
    pub session: Arc<Session>,
    /// The OpenGL context that the session shares with.
    pub gl: Option<Arc<GlShare>>,
    /// Kept between transfers; a transfer that finds it taken by another thread makes one of its own.
    pinned: Mutex<Option<Pinned>>,
    /// Host memory of queues' copies.
    pub pool: Arc<HostPool<Pinned>>,
    pub timeline: Timeline,
}

impl BackendState {
    /// `gl` only for a device that lists `cl_khr_gl_sharing`.
    pub fn open(device: &OpenClDevice, gl: Option<Arc<dyn GlContext>>) -> Result<Self> {
        let session = Session::open(&device.raw, gl, device.has_extension("cl_khr_gl_event"))?;
        let gl = session.gl().cloned();
        let session = Arc::new(session);
        Ok(Self {
            device: device.clone(),
            caps: caps(device, gl.as_deref(), QueueId::of(&session), session.image_formats()),
            session,
            gl,
            pinned: Mutex::new(None),
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

    /// True where an image may be among the memory that kernels write.
    pub fn opens_images(&self) -> bool {
        let opens = |handle| self.caps.can_import(handle, MemoryShape::Image).is_yes();
        opens(HandleType::GlObject) || opens(HandleType::OPAQUE)
    }

    pub fn error(&self, failure: Failure) -> Error {
        failure.on(self.name())
    }

    pub fn unsupported(&self, reason: String) -> Error {
        Error::unsupported(self.name().to_owned(), reason)
    }

    /// Tells events of this backend's queues from others.
    pub fn owner(&self) -> usize {
        Arc::as_ptr(&self.session).addr()
    }

    /// Orders the backend's own queue after an operation of another; waits for one that is not with this device yet.
    /// Whether it went well is said by its event.
    pub fn follow(&self, event: &Event) -> Result<()> {
        let device = event.device_event();
        match device.as_ref().and_then(|d| DeviceFence::of(d.as_ref(), self.owner())) {
            Some(passed) => {
                let waits = self.session.queue().barrier(std::slice::from_ref(&passed.event));
                waits.map(drop)
            }
            None => {
                let _ = event.wait();
                Ok(())
            }
        }
    }

    pub fn finish(&self) -> Result<()> {
        self.session.finish()
    }

    /// Lends `f` pinned host memory of at least `len` bytes, more than 0; its content is arbitrary.
    pub fn with_pinned<R>(&self, len: usize, f: impl FnOnce(&mut [u8]) -> Result<R>) -> Result<R> {
        let kept = self.pinned.lock().unwrap_or_else(PoisonError::into_inner).take();
        let mut pinned = match kept {
            Some(pinned) if pinned.len() >= len => pinned,
            too_small => {
                // Freed before the larger one is allocated.
                drop(too_small);
                Pinned::new(&self.session, len)?
            }
        };
        let result = f(&mut pinned.bytes()[..len]);
        let mut place = self.pinned.lock().unwrap_or_else(PoisonError::into_inner);
        let smaller =
            if place.as_ref().is_none_or(|p| p.len() < pinned.len()) { place.replace(pinned) } else { Some(pinned) };
        // Driver calls are not made under the lock.
        drop(place);
        drop(smaller);
        result
    }
}

/// Rounding of sizes that lets drivers of integrated GPUs use host memory without a copy: a cache line.
const SIZE_ALIGNMENT: usize = 64;

impl Maker for BackendState {
    fn name(&self) -> String {
        Self::name(self).to_owned()
    }
}

fn caps(device: &OpenClDevice, gl: Option<&GlShare>, queue: QueueId, image_formats: Vec<PixelFormat>) -> ComputeCaps {
    let memory = device.identity().memory;
    let opened = "the device was opened on its own, not in this display's OpenGL context (ComputeBackend::open_in)";
    let gl_sharing = listed(device).and(|| Support::when(gl.is_some(), opened));
    let events = gl_sharing.clone().and(|| {
        let events = gl.is_some_and(GlShare::has_events);
        Support::when(events, "the device's extension list has no cl_khr_gl_event")
    });
    let in_place = Support::when(
        memory.is_host_memory(),
        format!("{memory} memory: the driver would copy host memory to the device and back"),
    );
    let host = MemoryCap::new(HandleType::HostPointer, MemoryShape::Linear, in_place)
        .aligned(host_alignment(memory), SIZE_ALIGNMENT);
    let gl_objects = both_shapes(HandleType::GlObject, &gl_sharing);
    let handles = both_shapes(HandleType::OPAQUE, &handles(device));
    let own = MemoryCap::new(HandleType::QueueBuffer(queue), MemoryShape::Linear, Support::Yes);
    let no_export = Support::No(format!("OpenCL has no call that exports memory by {}", HandleType::OPAQUE));
    ComputeCaps::new(vec![Language::OpenClC], device.description.limits.max_allocation)
        .with_imports([host, own.clone()].into_iter().chain(gl_objects).chain(handles).collect())
        .with_exports(both_shapes(HandleType::OPAQUE, &no_export).into_iter().chain([own]).collect())
        .with_image_formats(image_formats)
        .with_semaphores(semaphores(device, events))
}

/// `CL_DEVICE_MEM_BASE_ADDR_ALIGN` is not the measure here: it is for sub-buffers, and counts `long16`. A CPU needs
/// what a pixel's vector type needs, and 64 bytes is what `ARB_map_buffer_alignment` promises of mapped GL buffers.
/// GPUs map whole pages.
fn host_alignment(memory: MemoryKind) -> usize {
    match memory {
        MemoryKind::Host => 64,
        _ => 4096,
    }
}
