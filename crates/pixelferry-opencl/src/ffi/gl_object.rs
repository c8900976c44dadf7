//! [`Object`]: a GL object of any kind as an object of a session.

use super::acquire_release::AcquireRelease;
use super::{GlObject, GlShare, ImageBox, Mem, Session};
use crate::{Buffer, Image};
use cl3::memory as m;
use interop_core::Result;
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
    pub fn new(share: &Arc<GlShare>, session: &Arc<Session>, object: GlObject, flags: u64) -> Result<Self> {
        let mem = share.open(&session.context, object, flags)?;
        let is_buffer = matches!(object, GlObject::Buffer { .. });
        let error = |failure| session.error(failure);
        let side = |param| mem.image_size(param).map_err(error);
        let (size, element) = match is_buffer {
            true => ([mem.info(m::CL_MEM_SIZE).map(usize::from_ne_bytes).map_err(error)?, 1, 1], 1),
            false => {
                let depth = side(m::CL_IMAGE_DEPTH)?.max(side(m::CL_IMAGE_ARRAY_SIZE)?);
                let sides = [side(m::CL_IMAGE_WIDTH)?, side(m::CL_IMAGE_HEIGHT)?, depth];
                (sides.map(|side| side.max(1)), side(m::CL_IMAGE_ELEMENT_SIZE)?)
            }
        };
        Ok(Self { mem: Arc::new(mem), turns: share.turns(), session: session.clone(), size, element, is_buffer })
    }

    /// The memory as a buffer, for commands between acquire and release.
    pub fn as_buffer(&self) -> Result<Buffer> {
        Buffer::of_mem(self.mem.clone(), &self.session.context)
    }

    /// The memory as an image, for commands between acquire and release.
    pub fn as_image(&self) -> Result<Image> {
        Image::of_mem(self.mem.clone(), &self.session.context)
    }

    /// `CL_GL_OBJECT_*` and the GL name, as the driver says.
    pub fn named(&self, share: &GlShare) -> Result<(u32, u32)> {
        share.object_of(&self.mem).map_err(|f| self.session.error(f))
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
    pub fn acquire(&self) -> Result<()> {
        self.turns.acquire(&self.session, &self.mem)
    }

    /// Queues its end, and waits for it or lets OpenGL wait.
    pub fn release(&self) -> Result<()> {
        self.turns.release(&self.session, &self.mem).and_then(|()| self.turns.wait(&self.session))
    }

    /// Copies a box (`size` elements from `origin` on, not empty) to tight rows, which `into` holds exactly. Blocks.
    pub fn read(&self, origin: [usize; 3], size: [usize; 3], into: &mut [u8]) -> Result<()> {
        let _turn = super::acquire_release::enter(&self.session, Some(&self.turns), &self.mem)?;
        if self.is_buffer {
            return self.session.queue().read_into(&self.as_buffer()?, origin[0], into, &[]);
        }
        self.session.queue().read_image_into(&self.mem, &ImageBox { origin, region: size }, into)
    }

    /// Copies tight rows into a box of `size` elements from `origin` on. Blocks.
    pub fn write(&self, origin: [usize; 3], size: [usize; 3], from: &[u8]) -> Result<()> {
        let _turn = super::acquire_release::enter(&self.session, Some(&self.turns), &self.mem)?;
        if self.is_buffer {
            return self.session.queue().write_from(&self.as_buffer()?, origin[0], from, &[]);
        }
        self.session.queue().write_image_from(&self.mem, &ImageBox { origin, region: size }, from)
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        if let Err(error) = self.release() {
            tracing::warn!(%error, "a GL object was not given back");
        }
    }
}
