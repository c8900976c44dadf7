//! Memory and semaphores of other APIs that a device can open, according to its driver's lists.

use crate::device::OpenClDevice;
use crate::os::{MEMORY, MEMORY_EXTENSION, SEMAPHORE, SEMAPHORE_EXTENSION};
use interop_core::{HandleType, MemoryCap, MemoryShape, SemaphoreCap, Support, SyncKind};
use opencl3::device::get_device_data;
use opencl3::platform::platform::get_platform_data;

const SHAPES: [MemoryShape; 2] = [MemoryShape::Linear, MemoryShape::Image];

/// `CL_PLATFORM_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR`.
const PLATFORM_MEMORY_TYPES: u32 = 0x2044;
/// `CL_DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR`.
const DEVICE_MEMORY_TYPES: u32 = 0x204F;
/// `CL_PLATFORM_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR`.
const PLATFORM_SEMAPHORE_TYPES: u32 = 0x2037;
/// `CL_DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR`.
const DEVICE_SEMAPHORE_TYPES: u32 = 0x204D;

/// Tells whether the device lists the extension for sharing with OpenGL.
pub fn gl_listed(device: &OpenClDevice) -> Support {
    Support::when(device.raw.lists_gl_sharing(), "the device's extension list has no cl_khr_gl_sharing")
}

/// Tells whether the device lists `extension`.
fn listed(device: &OpenClDevice, extension: &str) -> Support {
    Support::when(device.has_extension(extension), format!("the device's extension list has no {extension}"))
}

/// Tells whether the device imports handles of the type. Drivers older than version 1.0 of the extensions report this
/// only for the platform, which is then used.
fn imports(device: &OpenClDevice, of_device: u32, of_platform: u32, wanted: u32, name: &str) -> Support {
    let types = get_device_data(device.raw.raw(), of_device);
    let types = types.or_else(|_| get_platform_data(device.raw.platform().raw(), of_platform)).unwrap_or_default();
    Support::when(
        types.as_chunks::<4>().0.contains(&wanted.to_ne_bytes()),
        format!("the driver lists {name}, but does not import opaque handles"),
    )
}

/// Support for memory behind handles of the operating system.
pub fn handles(device: &OpenClDevice) -> Support {
    let name = MEMORY_EXTENSION;
    listed(device, "cl_khr_external_memory")
        .and(|| listed(device, name))
        .and(|| imports(device, DEVICE_MEMORY_TYPES, PLATFORM_MEMORY_TYPES, MEMORY, name))
}

/// Returns both shapes of memory behind `handle`, with the same support.
pub fn both_shapes(handle: HandleType, support: &Support) -> [MemoryCap; 2] {
    SHAPES.map(|shape| MemoryCap::new(handle, shape, support.clone()))
}

/// Returns the semaphores: the extension has only binary ones; `events` is the support for events of GL fences.
pub fn semaphores(device: &OpenClDevice, events: Support) -> Vec<SemaphoreCap> {
    let name = SEMAPHORE_EXTENSION;
    let binary = listed(device, "cl_khr_semaphore")
        .and(|| listed(device, "cl_khr_external_semaphore"))
        .and(|| listed(device, name))
        .and(|| imports(device, DEVICE_SEMAPHORE_TYPES, PLATFORM_SEMAPHORE_TYPES, SEMAPHORE, name));
    let timeline = Support::No("OpenCL has no semaphores with a counter".into());
    vec![
        SemaphoreCap::new(SyncKind::BinarySemaphore, binary),
        SemaphoreCap::new(SyncKind::TimelineSemaphore, timeline),
        SemaphoreCap::new(SyncKind::SharedEvent, events),
    ]
}
