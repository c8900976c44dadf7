//! OpenGL objects as CUDA resources. The GL context must be current when one is registered, mapped, unmapped or
//! dropped; otherwise the driver rejects the call.

use super::api::{ArrayDescriptor, GlDriver, call};
use super::{Failure, Queue, Span};
use cudarc::driver::sys as cu;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;

/// `CU_GRAPHICS_REGISTER_FLAGS_NONE`: kernels may read and write; content that they do not write stays.
const READ_WRITE: u32 = 0;
/// `CU_GRAPHICS_REGISTER_FLAGS_SURFACE_LDST`: the same for images, with surface writes.
const SURFACE: u32 = 4;
/// `CU_GL_DEVICE_LIST_ALL`.
const ALL_DEVICES: u32 = 1;

/// Tells whether the GL context that is current on this thread belongs to this device.
pub fn draws_current_context(queue: &Queue, gl: &GlDriver) -> Result<bool, Failure> {
    let mut devices = [0; 16];
    let mut count = 0;
    let _current = queue.enter()?;
    // SAFETY: writes at most as many devices as the array holds, and their number.
    unsafe {
        let (count, list) = (&raw mut count, devices.as_mut_ptr());
        call!(gl, cuGLGetDevices_v2(count, list, devices.len() as u32, ALL_DEVICES))
    }?;
    Ok(devices.iter().take(count as usize).any(|d| *d == queue.device()))
}

/// A registered GL object.
pub struct Resource {
    raw: cu::CUgraphicsResource,
    mapped: bool,
    queue: Arc<Queue>,
}

// SAFETY: as for handles of the context; the driver refuses a call without the OpenGL context, and the owner drops it in that context.
unsafe impl Send for Resource {}
// SAFETY: as above; nothing is changed through a shared reference.
unsafe impl Sync for Resource {}

impl Resource {
    pub fn buffer(queue: &Arc<Queue>, gl: &GlDriver, name: u32) -> Result<Self, Failure> {
        let _current = queue.enter()?;
        let mut raw = ptr::null_mut();
        // SAFETY: writes the handle to the given location; the driver checks the name against the current GL context.
        unsafe { call!(gl, cuGraphicsGLRegisterBuffer(&raw mut raw, name, READ_WRITE)) }?;
        Ok(Self { raw, mapped: false, queue: queue.clone() })
    }

    pub fn image(queue: &Arc<Queue>, gl: &GlDriver, name: u32, target: u32) -> Result<Self, Failure> {
        let _current = queue.enter()?;
        let mut raw = ptr::null_mut();
        // SAFETY: as in `buffer`.
        unsafe { call!(gl, cuGraphicsGLRegisterImage(&raw mut raw, name, target, SURFACE)) }?;
        Ok(Self { raw, mapped: false, queue: queue.clone() })
    }

    /// Maps the object. Earlier GL work is done before later stream work.
    pub fn map(&mut self) -> Result<(), Failure> {
        if !self.mapped {
            let queue = &self.queue;
            let _current = queue.enter()?;
            let mut raw = self.raw;
            // SAFETY: the handle is live and not mapped, and it is one.
            unsafe { call!(queue.api().driver, cuGraphicsMapResources(1, &raw mut raw, queue.raw())) }?;
            self.mapped = true;
        }
        Ok(())
    }

    /// Unmaps the object. Earlier stream work is done before later GL work.
    pub fn unmap(&mut self) -> Result<(), Failure> {
        if self.mapped {
            let queue = &self.queue;
            let _current = queue.enter()?;
            let mut raw = self.raw;
            // SAFETY: the handle is live and mapped, and it is one.
            unsafe { call!(queue.api().driver, cuGraphicsUnmapResources(1, &raw mut raw, queue.raw())) }?;
            self.mapped = false;
        }
        Ok(())
    }

    /// Returns the bytes of a mapped buffer; `None` where it is not mapped.
    pub fn span(&self) -> Result<Option<Span<'_>>, Failure> {
        if !self.mapped {
            return Ok(None);
        }
        let _current = self.queue.enter()?;
        let (mut address, mut len) = (0, 0);
        // SAFETY: writes address and size; the resource is mapped.
        unsafe {
            let driver = &self.queue.api().driver;
            call!(driver, cuGraphicsResourceGetMappedPointer_v2(&raw mut address, &raw mut len, self.raw))
        }?;
        // SAFETY: the driver gave both; unmapping needs `&mut self`, which ends the borrow.
        Ok(Some(unsafe { Span::new(address, len) }))
    }

    /// Returns level 0 of a mapped image; `None` where it is not mapped.
    pub fn array(&self) -> Result<Option<Array<'_>>, Failure> {
        if !self.mapped {
            return Ok(None);
        }
        let _current = self.queue.enter()?;
        let mut raw = ptr::null_mut();
        // SAFETY: writes the handle; the resource is mapped.
        unsafe {
            let driver = &self.queue.api().driver;
            call!(driver, cuGraphicsSubResourceGetMappedArray(&raw mut raw, self.raw, 0, 0))
        }?;
        // SAFETY: unmapping needs `&mut self`, which ends the borrow.
        Ok(Some(unsafe { Array::new(raw) }))
    }
}

impl Drop for Resource {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // Kernels may still write it.
        Failure::log(self.queue.synchronize());
        Failure::log(self.unmap());
        let queue = &self.queue;
        let Ok(_current) = queue.enter() else { return };
        // SAFETY: registered once, unregistered once.
        Failure::log(unsafe { call!(queue.api().driver, cuGraphicsUnregisterResource(self.raw)) });
    }
}

/// An array that is currently mapped.
pub struct Array<'a> {
    raw: cu::CUarray,
    _of: PhantomData<&'a ()>,
}

impl Array<'_> {
    /// # Safety
    /// `raw` must be an array that lives, or stays mapped, for as long as the borrow.
    pub unsafe fn new(raw: cu::CUarray) -> Self {
        Self { raw, _of: PhantomData }
    }

    pub fn raw(&self) -> cu::CUarray {
        self.raw
    }

    pub fn descriptor(&self, queue: &Queue) -> Result<ArrayDescriptor, Failure> {
        let _current = queue.enter()?;
        let mut descriptor = ArrayDescriptor::default();
        // SAFETY: writes one description of this layout (`CUDA_ARRAY3D_DESCRIPTOR`); the array is live.
        unsafe { call!(queue.api().driver, cuArray3DGetDescriptor_v2(&raw mut descriptor, self.raw)) }?;
        Ok(descriptor)
    }
}

/// The object through which kernels write an array.
pub struct SurfaceObject {
    raw: cu::CUsurfObject,
    /// The array it was created for; it is only compared, never used.
    array: cu::CUarray,
    queue: Arc<Queue>,
}

// SAFETY: the handle belongs to the context, which each call makes current on its own thread.
unsafe impl Send for SurfaceObject {}
// SAFETY: as above; nothing is changed through a shared reference.
unsafe impl Sync for SurfaceObject {}

impl SurfaceObject {
    pub fn new(queue: &Arc<Queue>, array: &Array<'_>) -> Result<Self, Failure> {
        let _current = queue.enter()?;
        // SAFETY: all of it is numbers and pointers, for which zero is a value.
        let mut desc: cu::CUDA_RESOURCE_DESC = unsafe { MaybeUninit::zeroed().assume_init() };
        desc.resType = cu::CUresourcetype::CU_RESOURCE_TYPE_ARRAY;
        desc.res.array.hArray = array.raw;
        let mut raw = 0;
        // SAFETY: reads the description, writes the handle; the array is mapped.
        unsafe { call!(queue.api().driver, cuSurfObjectCreate(&raw mut raw, &raw const desc)) }?;
        Ok(Self { raw, array: array.raw, queue: queue.clone() })
    }

    pub fn is_of(&self, array: &Array<'_>) -> bool {
        self.array == array.raw
    }

    pub fn raw(&self) -> u64 {
        self.raw
    }
}

impl Drop for SurfaceObject {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // Kernels may still use it.
        Failure::log(self.queue.synchronize());
        let Ok(_current) = self.queue.enter() else { return };
        // SAFETY: made once, destroyed once.
        Failure::log(unsafe { call!(self.queue.api().driver, cuSurfObjectDestroy(self.raw)) });
    }
}
