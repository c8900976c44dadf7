//! What everything made by one backend shares.

use crate::devices::CudaDevice;
use crate::ffi::nvrtc::Nvrtc;
use crate::ffi::probe::Attribute;
use crate::ffi::{Failure, Queue, shared_memory};
use interop_core::{ComputeCaps, DeviceIdentity, Error, HandleType, Language, MemoryCap, Result, Support};
use std::sync::Arc;

/// Widest access of a kernel to one pixel, bytes; CUDA wants pixels aligned to their size.
const PIXEL_ALIGNMENT: usize = 16;

/// One open device: its stream, and what is known of it.
pub struct Session {
    pub queue: Arc<Queue>,
    pub identity: DeviceIdentity,
    pub caps: ComputeCaps,
    /// Compute capability as one number, e.g. 90.
    pub architecture: i32,
    /// Sizes of exportable memory are multiples of this many bytes.
    pub granularity: usize,
}

impl Session {
    pub fn open(device: &CudaDevice) -> Result<Arc<Self>> {
        let identity = device.identity().clone();
        let name = identity.to_string();
        let queue = Queue::new(device.device.api(), device.device.raw).map_err(|f| f.on(&name))?;
        let has = |attribute| device.device.attribute(attribute).is_ok_and(|value| value != 0);
        // Devices that export nothing refuse to say.
        let granularity = shared_memory::granularity(&queue);
        let mut languages = vec![Language::Ptx];
        // Asked again when a kernel is built, with the reason.
        if Nvrtc::get().is_ok() {
            languages.push(Language::CudaCpp);
        }
        let caps = ComputeCaps {
            languages,
            imports: imports(&queue, has),
            exports: vec![MemoryCap {
                handle: HandleType::OpaqueFd,
                support: Support::when(cfg!(unix), "POSIX file descriptors exist on Unix only").and(|| {
                    Support::when(
                        has(Attribute::VirtualMemoryManagement)
                            && has(Attribute::PosixFdSupported)
                            && granularity.is_ok(),
                        "the device or driver exports no memory as a POSIX file descriptor",
                    )
                }),
                address_alignment: granularity.unwrap_or(1),
                size_alignment: granularity.unwrap_or(1),
            }],
            max_allocation: device.total_memory(),
        };
        let (major, minor) = device.compute_capability();
        Ok(Arc::new(Self {
            queue,
            identity,
            caps,
            architecture: 10 * major + minor,
            granularity: granularity.unwrap_or(1),
        }))
    }

    /// How messages call the device.
    pub fn name(&self) -> String {
        self.identity.to_string()
    }

    /// The caller's error for a refused call.
    pub fn failed(&self) -> impl Fn(Failure) -> Error + '_ {
        |failure| failure.on(&self.name())
    }

    pub fn unsupported(&self, operation: &'static str, reason: impl Into<String>) -> Error {
        Error::Unsupported { operation, device: self.name(), reason: reason.into() }
    }

    pub fn foreign(&self, operation: &'static str, object: &'static str) -> Error {
        Error::Foreign { operation, object, device: self.name() }
    }

    /// Waits for the stream.
    pub fn synchronize(&self) -> Result<()> {
        self.queue.synchronize().map_err(self.failed())
    }
}

fn imports(queue: &Queue, has: impl Fn(Attribute) -> bool) -> Vec<MemoryCap> {
    let host = Support::when(
        has(Attribute::CanMapHostMemory) && has(Attribute::HostRegisterSupported),
        "the device cannot address host memory of others",
    );
    let gl = match &queue.api().gl {
        Ok(_) => Support::Yes,
        Err(name) => Support::No(format!("the driver's library has no {name} (an installation without OpenGL)")),
    };
    vec![
        MemoryCap {
            handle: HandleType::HostPointer,
            support: host,
            address_alignment: PIXEL_ALIGNMENT,
            size_alignment: 1,
        },
        MemoryCap { handle: HandleType::GlObject, support: gl, address_alignment: 1, size_alignment: 1 },
    ]
}
