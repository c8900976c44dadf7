//! `pixelferry.vulkan.Memory`.

use crate::array::{Array, Layout};
use crate::engine::cuda_of;
use crate::failure::Failure;
use crate::job::guarded;
use crate::raw::descriptor::taken;
use crate::raw::owned_bytes::{CudaBytes, HostBytes, Memory};
use crate::raw::vulkan;
use crate::vulkan::Uuid;
use pixelferry::SurfaceDesc;
use pixelferry::api::vulkan::sharing::MappedMemory;
use pixelferry::driver::{DeviceUuid, MemoryHandle, OsHandle};
use pyo3::prelude::*;
use std::os::fd::IntoRawFd as _;

/// Memory that Vulkan and arrays share, as an array of its bytes.
#[pyclass(module = "pixelferry.vulkan", name = "Memory", extends = Array, frozen)]
pub struct VulkanMemory {
    /// `None` for memory that the program exported.
    ours: Option<MemoryHandle>,
    allocation: u64,
    dedicated: bool,
}

/// Opens memory that the program exported.
fn open(uuid: DeviceUuid, handle: OsHandle, bytes: u64, dedicated: bool) -> Result<Memory, Failure> {
    let handle = vulkan::memory(handle, bytes, dedicated);
    Ok(match cuda_of(uuid)? {
        Some(backend) => Memory::Cuda(CudaBytes::of(&backend, backend.open_memory(handle)?)?),
        None => Memory::Host(HostBytes::mapped(MappedMemory::open(uuid, handle)?)),
    })
}

/// Allocates memory for the program to open.
fn allocate(uuid: DeviceUuid, bytes: u64) -> Result<(Memory, MemoryHandle), Failure> {
    let len = usize::try_from(bytes).map_err(|_| Failure::Shape(format!("{bytes} bytes exceed the address space")))?;
    Ok(match cuda_of(uuid)? {
        Some(backend) => {
            let (memory, handle) = backend.export_memory(len)?;
            (Memory::Cuda(CudaBytes::of(&backend, memory)?), handle)
        }
        None => {
            let (memory, handle) = MappedMemory::export(uuid, bytes)?;
            (Memory::Host(HostBytes::mapped(memory)), handle)
        }
    })
}

/// Layout of an array of this many bytes.
fn layout(bytes: i64) -> Result<(Layout, u64), Failure> {
    let some = u64::try_from(bytes).ok().filter(|bytes| *bytes > 0);
    let some = some.ok_or_else(|| Failure::Shape(format!("bytes={bytes} is invalid: memory has at least 1 byte")))?;
    Ok((Layout::of(&SurfaceDesc::buffer(some))?, some))
}

#[pymethods]
impl VulkanMemory {
    #[new]
    #[pyo3(signature = (fd, bytes, *, uuid, dedicated=false))]
    fn new(py: Python<'_>, fd: i64, bytes: i64, uuid: Uuid, dedicated: bool) -> PyResult<PyClassInitializer<Self>> {
        let (layout, allocation) = layout(bytes)?;
        let opened = py.detach(|| guarded(|| taken(fd, |copy| open(uuid.0, copy, allocation, dedicated))))?;
        let this = Self { ours: None, allocation, dedicated };
        Ok(PyClassInitializer::from(Array::new(opened, layout)).add_subclass(this))
    }

    /// Allocates memory that the program's Vulkan can open with a descriptor.
    #[staticmethod]
    #[pyo3(signature = (bytes, *, uuid))]
    fn export(py: Python<'_>, bytes: i64, uuid: Uuid) -> PyResult<Py<Self>> {
        let (layout, bytes) = layout(bytes)?;
        let (memory, handle) = py.detach(|| guarded(|| allocate(uuid.0, bytes)))?;
        let this = Self { allocation: handle.bytes(), dedicated: handle.is_dedicated(), ours: Some(handle) };
        Py::new(py, PyClassInitializer::from(Array::new(memory, layout)).add_subclass(this))
    }

    /// Returns a new descriptor of exported memory, which the caller owns.
    fn fd(&self) -> PyResult<i32> {
        let none = || {
            Failure::Device("fd() works only for memory that pixelferry exported; your program exported this one and has its descriptor".into())
        };
        let copy = self.ours.as_ref().ok_or_else(none)?.try_clone();
        let copy = copy.map_err(|error| Failure::Device(format!("no file descriptor is left: {error}")))?;
        Ok(copy.into_handle().into_raw_fd())
    }

    /// Bytes of the whole allocation: `VkMemoryAllocateInfo.allocationSize`.
    #[getter]
    fn allocation(&self) -> u64 {
        self.allocation
    }

    /// Whether it is a dedicated allocation for one buffer or image.
    #[getter]
    fn dedicated(&self) -> bool {
        self.dedicated
    }

    fn __repr__(slf: PyRef<'_, Self>) -> String {
        let array = slf.as_super();
        format!("<pixelferry.vulkan.Memory: {} bytes, {}>", array.nbytes(), array.device())
    }
}
