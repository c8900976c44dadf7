//! [`Object`]: a GL object of any kind as an object of a session.

use super::acquire_release::AcquireRelease;
use super::track::Access::{Read, Write};
use super::{Failure, GlObject, GlShare, Mem, Session};
use cl3::command_queue as q;
use cl3::memory as m;
use std::ffi::c_void;
use std::sync::Arc;

/// OpenCL's memory object for a GL object.
pub struct Object {
    mem: Arc<Mem>,
    turns: AcquireRelease,
    session: Arc<Session>,
    /// Width, height, depth or layers; bytes for a buffer. Sides that it does not have are 1.
    pub size: [usize; 3],
    /// Bytes of one element; 1 for a buffer.
    pub element: usize,
    pub is_buffer: bool,
}

impl Object {
    pub fn new(share: &Arc<GlShare>, session: &Arc<Session>, object: GlObject, flags: u64) -> Result<Self, Failure> {
        let mem = share.open(&session.context, object, flags)?;
        let is_buffer = matches!(object, GlObject::Buffer { .. });
        let (size, element) = match is_buffer {
            true => ([mem.info(m::CL_MEM_SIZE).map(usize::from_ne_bytes)?, 1, 1], 1),
            false => {
                let depth = mem.image_size(m::CL_IMAGE_DEPTH)?.max(mem.image_size(m::CL_IMAGE_ARRAY_SIZE)?);
                let sides = [mem.image_size(m::CL_IMAGE_WIDTH)?, mem.image_size(m::CL_IMAGE_HEIGHT)?, depth];
                (sides.map(|side| side.max(1)), mem.image_size(m::CL_IMAGE_ELEMENT_SIZE)?)
            }
        };
        Ok(Self { mem: Arc::new(mem), turns: share.turns(), session: session.clone(), size, element, is_buffer })
    }

    /// The memory, for commands between acquire and release.
    pub fn mem(&self) -> &Arc<Mem> {
        &self.mem
    }

    /// `CL_GL_OBJECT_*` and the GL name, as the driver says.
    pub fn named(&self, share: &GlShare) -> Result<(u32, u32), Failure> {
        share.object_of(&self.mem)
    }

    pub fn raw(&self) -> *mut c_void {
        self.mem.raw()
    }

    pub fn turns_mut(&mut self) -> &mut AcquireRelease {
        &mut self.turns
    }

    pub fn is_acquired(&self) -> bool {
        self.turns.is_acquired(&self.mem)
    }

    /// Queues the beginning of OpenCL's turn.
    pub fn acquire(&self) -> Result<(), Failure> {
        self.turns.acquire(&self.session, &self.mem)
    }

    /// Queues its end, and waits for it or lets OpenGL wait.
    pub fn release(&self) -> Result<(), Failure> {
        self.turns.release(&self.session, &self.mem).and_then(|()| self.turns.wait(&self.session))
    }

    /// Copies a box (`size` elements from `origin` on, not empty) to tight rows, which `into` holds exactly. Blocks.
    pub fn read(&self, origin: [usize; 3], size: [usize; 3], into: &mut [u8]) -> Result<(), Failure> {
        let _turn = super::acquire_release::enter(&self.session, Some(&self.turns), &self.mem)?;
        if self.is_buffer {
            return self.session.queue().read_into(&self.mem, origin[0], into, &[]);
        }
        let uses = [self.mem.used_whole(Read)];
        // SAFETY: `into` holds the box and is borrowed until the command is done, for which this waits. The driver
        // refuses boxes that reach outside. The arrays have three numbers.
        let event = self.session.queue().enqueue_using("clEnqueueReadImage", &uses, &[], |queue, n, list| unsafe {
            let (origin, size, to) = (origin.as_ptr(), size.as_ptr(), into.as_mut_ptr().cast());
            q::enqueue_read_image(queue, self.raw(), 1, origin, size, 0, 0, to, n, list)
        })?;
        event.wait_until_final()
    }

    /// Copies tight rows into a box of `size` elements from `origin` on. Blocks.
    pub fn write(&self, origin: [usize; 3], size: [usize; 3], from: &[u8]) -> Result<(), Failure> {
        let _turn = super::acquire_release::enter(&self.session, Some(&self.turns), &self.mem)?;
        if self.is_buffer {
            return self.session.queue().write_from(&self.mem, origin[0], from, &[]);
        }
        let uses = [self.mem.used_whole(Write)];
        // SAFETY: as for reading; the bytes are only read.
        let event = self.session.queue().enqueue_using("clEnqueueWriteImage", &uses, &[], |queue, n, list| unsafe {
            let (origin, size, bytes) = (origin.as_ptr(), size.as_ptr(), from.as_ptr().cast_mut().cast());
            q::enqueue_write_image(queue, self.raw(), 1, origin, size, 0, 0, bytes, n, list)
        })?;
        event.wait_until_final()
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        if let Err(failure) = self.release() {
            tracing::warn!(code = failure.code, "{} failed while a GL object was given back", failure.operation);
        }
    }
}
