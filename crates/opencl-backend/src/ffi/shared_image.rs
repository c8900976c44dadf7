//! Images: memory whose order only the driver knows.

use super::handle::{Handle, MemKind, done, enqueued};
use super::turn::{Borrowed, Turns};
use super::{Buffer, Failure, Session};
use opencl3::command_queue as queue;
use opencl3::memory::{
    CL_FLOAT, CL_HALF_FLOAT, CL_MEM_OBJECT_IMAGE2D, CL_R, CL_RG, CL_RGBA, CL_UNORM_INT8, cl_image_desc, cl_image_format,
};
use std::ffi::c_void;
use std::ptr;
use std::sync::Arc;

/// Size and format of an image of two dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pixels {
    pub width: usize,
    pub height: usize,
    pub format: interop_core::PixelFormat,
}

impl Pixels {
    pub fn of(image: &interop_core::ImageDesc) -> Self {
        let interop_core::Extent { width, height } = image.extent;
        Self { width: width as usize, height: height as usize, format: image.format }
    }

    /// For the calls that create images.
    pub(super) fn describe(self) -> (cl_image_format, cl_image_desc) {
        let desc = cl_image_desc {
            image_type: CL_MEM_OBJECT_IMAGE2D,
            image_width: self.width,
            image_height: self.height,
            image_depth: 0,
            image_array_size: 0,
            image_row_pitch: 0,
            image_slice_pitch: 0,
            num_mip_levels: 0,
            num_samples: 0,
            buffer: ptr::null_mut(),
        };
        (image_format(self.format), desc)
    }
}

/// The format as OpenCL names it.
pub(super) fn image_format(format: interop_core::PixelFormat) -> cl_image_format {
    use interop_core::format::ChannelKind;
    let image_channel_order = match format.channels() {
        1 => CL_R,
        2 => CL_RG,
        _ => CL_RGBA,
    };
    let image_channel_data_type = match format.channel_kind() {
        ChannelKind::Float16 => CL_HALF_FLOAT,
        ChannelKind::Float32 => CL_FLOAT,
        _ => CL_UNORM_INT8,
    };
    cl_image_format { image_channel_order, image_channel_data_type }
}

/// A rectangle of an image: column, row, width and height in pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rect {
    pub x: usize,
    pub y: usize,
    pub width: usize,
    pub height: usize,
}

impl Rect {
    fn origin(self) -> [usize; 3] {
        [self.x, self.y, 0]
    }

    fn size(self) -> [usize; 3] {
        [self.width, self.height, 1]
    }
}

/// An image object of a session that another API has, too.
pub struct Image {
    mem: Handle<MemKind>,
    session: Arc<Session>,
    turns: Option<Turns>,
    pixels: Pixels,
}

impl Image {
    pub(super) fn new(session: &Arc<Session>, mem: Handle<MemKind>, turns: Option<Turns>, pixels: Pixels) -> Self {
        Self { mem, session: session.clone(), turns, pixels }
    }

    pub fn pixels(&self) -> Pixels {
        self.pixels
    }

    /// Waits for the turn that was released last.
    pub fn wait_released(&self) -> Result<(), Failure> {
        self.turns.as_ref().map_or(Ok(()), |turns| turns.wait(&self.session))
    }

    pub fn turns_mut(&mut self) -> Option<&mut Turns> {
        self.turns.as_mut()
    }

    pub(super) fn raw(&self) -> *mut c_void {
        self.mem.raw()
    }

    /// Queues the beginning of this API's turn.
    pub fn acquire(&self) -> Result<(), Failure> {
        // SAFETY: the object is live, of this session, and these are its turns.
        self.turns.as_ref().map_or(Ok(()), |turns| unsafe { turns.acquire(&self.session, self.raw()) })
    }

    /// Queues the end of this API's turn.
    pub fn release(&self) -> Result<(), Failure> {
        // SAFETY: as above.
        self.turns.as_ref().map_or(Ok(()), |turns| unsafe { turns.release(&self.session, self.raw()) })
    }

    /// Takes the turn for the commands that are queued while what is returned lives, unless it is taken already.
    pub(super) fn enter(&self) -> Result<Option<Borrowed<'_>>, Failure> {
        super::turn::enter(&self.session, self.turns.as_ref(), self.raw())
    }

    /// Blocks until the pixels are there, in tight rows; `into` holds exactly the rectangle.
    pub fn read(&self, at: Rect, into: &mut [u8]) -> Result<(), Failure> {
        debug_assert_eq!(into.len(), at.width * at.height * self.pixels.format.bytes_per_pixel());
        let _turn = self.enter()?;
        // SAFETY: `done` waits for the command, so `into`, which holds the rectangle, outlives it; the driver refuses
        // rectangles outside the image.
        unsafe {
            let event = queue::enqueue_read_image(
                self.session.queue.raw(),
                self.raw(),
                1,
                at.origin().as_ptr(),
                at.size().as_ptr(),
                0,
                0,
                into.as_mut_ptr().cast(),
                0,
                ptr::null(),
            );
            done("clEnqueueReadImage", event)
        }
    }

    /// Blocks until `from`, tight rows of exactly the rectangle, may be reused.
    pub fn write(&self, at: Rect, from: &[u8]) -> Result<(), Failure> {
        debug_assert_eq!(from.len(), at.width * at.height * self.pixels.format.bytes_per_pixel());
        let _turn = self.enter()?;
        // SAFETY: as for reading; the bytes are only read.
        unsafe {
            let event = queue::enqueue_write_image(
                self.session.queue.raw(),
                self.raw(),
                1,
                at.origin().as_ptr(),
                at.size().as_ptr(),
                0,
                0,
                from.as_ptr().cast_mut().cast(),
                0,
                ptr::null(),
            );
            done("clEnqueueWriteImage", event)
        }
    }

    /// Queues a copy of the rectangle to tight rows from byte `offset` of `to` on.
    pub fn copy_to_buffer(&self, at: Rect, to: &Buffer, offset: usize) -> Result<(), Failure> {
        let (_turn, _other) = (self.enter()?, to.enter()?);
        // SAFETY: both are live, and the driver keeps them until the copy is done and refuses what lies outside.
        unsafe {
            let event = queue::enqueue_copy_image_to_buffer(
                self.session.queue.raw(),
                self.raw(),
                to.raw(),
                at.origin().as_ptr(),
                at.size().as_ptr(),
                offset,
                0,
                ptr::null(),
            );
            enqueued("clEnqueueCopyImageToBuffer", event)
        }
    }

    /// Queues a copy of tight rows from byte `offset` of `from` on to the rectangle.
    pub fn copy_from_buffer(&self, at: Rect, from: &Buffer, offset: usize) -> Result<(), Failure> {
        let (_turn, _other) = (self.enter()?, from.enter()?);
        // SAFETY: as above.
        unsafe {
            let event = queue::enqueue_copy_buffer_to_image(
                self.session.queue.raw(),
                from.raw(),
                self.raw(),
                offset,
                at.origin().as_ptr(),
                at.size().as_ptr(),
                0,
                ptr::null(),
            );
            enqueued("clEnqueueCopyBufferToImage", event)
        }
    }

    /// Queues a copy of the rectangle to the same place in `to`.
    pub fn copy_to_image(&self, at: Rect, to: &Self) -> Result<(), Failure> {
        let (_turn, _other) = (self.enter()?, to.enter()?);
        // SAFETY: as above; they are two images.
        unsafe {
            let event = queue::enqueue_copy_image(
                self.session.queue.raw(),
                self.raw(),
                to.raw(),
                at.origin().as_ptr(),
                at.origin().as_ptr(),
                at.size().as_ptr(),
                0,
                ptr::null(),
            );
            enqueued("clEnqueueCopyImage", event)
        }
    }
}

impl Drop for Image {
    fn drop(&mut self) {
        // The other API may reuse the memory right after this.
        if let Err(failure) = self.release().and_then(|()| self.session.finish()) {
            tracing::warn!(code = failure.code, "{} failed while an image was dropped", failure.operation);
        }
    }
}
