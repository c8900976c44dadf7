//! The backend's own objects as objects of [`crate::cl`], so that both levels can be mixed.

use crate::backend::OpenClBackend;
use crate::cl;
use crate::memory::OpenClMemory;
use crate::sharing::image::OpenClImage;
use interop_core::compute::Access;
use interop_core::describe::error::call;
use interop_core::devices::maker_object::{own, own_mut};
use interop_core::{ComputeMemory, Error, RawMemory, RawTarget, Result, Target};

impl OpenClBackend {
    /// Returns the context (`cl_context`) of this backend's kernels and memories.
    ///
    /// # Errors
    /// [`interop_core::Error::Driver`] for errors of the driver.
    pub fn context(&self) -> Result<cl::Context> {
        Ok(self.shared.context().clone())
    }

    /// Returns the in-order queue (`cl_command_queue`) of the backend's work. Commands enqueued there run in the order
    /// of the calls, whoever makes them. [`interop_core::ComputeBackend::set_timeline`] makes the backend use another
    /// queue, so call this again afterwards.
    ///
    /// # Errors
    /// The errors of [`OpenClBackend::context`].
    pub fn cl_queue(&self) -> Result<cl::Queue> {
        Ok(self.shared.queue().clone())
    }

    /// Returns the memory as a buffer: the same `cl_mem`, the same bytes. Commands on it are ordered with the backend's
    /// commands like any others.
    ///
    /// # Errors
    /// [`interop_core::Error::Foreign`] for memory of another backend; [`interop_core::Error::Unsupported`] for
    /// imported memory, whose lifetime its owner determines.
    pub fn buffer_of(&self, memory: &dyn ComputeMemory) -> Result<cl::Buffer> {
        call("OpenClBackend::buffer_of", || {
            let memory = OpenClMemory::of(memory, &self.shared)?;
            let Some(buffer) = memory.for_others() else {
                return Err(self
                    .shared
                    .unsupported("the memory is imported and may be freed before the buffer".into()));
            };
            Ok(buffer.clone())
        })
    }

    /// Returns a buffer of this backend's [`OpenClBackend::context`], or a part of one, as memory for the backend's
    /// kernels: the same `cl_mem`.
    ///
    /// # Errors
    /// [`interop_core::Error::Foreign`] for a buffer of another context.
    pub fn memory_of(&self, buffer: &cl::Buffer) -> Result<Box<dyn ComputeMemory>> {
        if !self.shared.context().is(buffer.context()) {
            let device = self.shared.name().to_owned();
            return Err(Error::Foreign { operation: "OpenClBackend::memory_of", object: "buffer", device });
        }
        Ok(Box::new(OpenClMemory::over(&self.shared, buffer)))
    }

    /// Implements [`interop_core::ComputeBackend::raw`].
    pub(crate) fn names_of<'a>(&self, target: Target<'a>) -> Result<RawTarget<'a>> {
        let queue = self.shared.queue();
        let (queue, context, device) = (queue.raw(), queue.context().raw(), queue.device().raw());
        let (memory, view) = target.into_parts();
        if !memory.is::<OpenClImage>() {
            let memory = own::<OpenClMemory>(memory, &self.shared)?;
            memory.enter(&view.span(), Access::Write)?;
            let buffer = memory.lent_out()?;
            // SAFETY: the target lies inside the memory, which keeps its object for as long as it is borrowed.
            return Ok(unsafe { RawTarget::new(RawMemory::OpenCl { buffer, queue, context, device }, view) });
        }
        let image = own_mut::<OpenClImage>(memory, &self.shared)?;
        let at = image.place(&view)?;
        let (row, step) = at.first_row();
        let (image, first) = (image.lent_out()?, (at.region.x, row));
        // SAFETY: the target lies inside the memory, which keeps its object for as long as it is borrowed.
        Ok(unsafe { RawTarget::new(RawMemory::OpenClImage { image, first, step, queue, context, device }, view) })
    }
}
