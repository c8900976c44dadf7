//! The backend's own objects as those of [`crate::cl`], so that both levels can be mixed.

use crate::backend::OpenClBackend;
use crate::cl;
use crate::memory::OpenClMemory;
use crate::sharing::image::OpenClImage;
use interop_core::compute::Access;
use interop_core::describe::error::call;
use interop_core::devices::owned::{own, own_mut};
use interop_core::{ComputeMemory, Error, RawMemory, RawTarget, Result, Target};

impl OpenClBackend {
    /// The context (`cl_context`) that kernels and memories of this backend live in.
    ///
    /// # Errors
    /// [`interop_core::Error::Driver`] where the device does not answer.
    pub fn context(&self) -> Result<cl::Context> {
        Ok(self.shared.context().clone())
    }

    /// The in-order queue (`cl_command_queue`) that the backend puts its work into. What is enqueued there runs in the
    /// order of the calls, whoever made them. [`interop_core::ComputeBackend::set_timeline`] makes the backend use
    /// another; ask again after it.
    ///
    /// # Errors
    /// The errors of [`OpenClBackend::context`].
    pub fn cl_queue(&self) -> Result<cl::Queue> {
        Ok(self.shared.queue().clone())
    }

    /// The memory as a buffer: the same `cl_mem`, the same bytes. Commands on it take turns with the backend's like any
    /// other two.
    ///
    /// # Errors
    /// [`interop_core::Error::Foreign`] for memory of another backend, [`interop_core::Error::Unsupported`] for imported memory, whose life is its
    /// owner's.
    pub fn buffer_of(&self, memory: &dyn ComputeMemory) -> Result<cl::Buffer> {
        call("OpenClBackend::buffer_of", || {
            let memory = OpenClMemory::of(memory, &self.shared)?;
            let Some(buffer) = memory.for_others() else {
                return Err(self.shared.unsupported("the memory is imported and may go before the buffer".into()));
            };
            Ok(buffer.clone())
        })
    }

    /// A buffer of this backend's [`OpenClBackend::context`], or a part of one, as memory for the backend's kernels:
    /// the same `cl_mem`.
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

    /// [`interop_core::ComputeBackend::raw`].
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
