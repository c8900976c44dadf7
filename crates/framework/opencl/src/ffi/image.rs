//! [`ImageBox`], and copies of images.

use super::Mem;
use super::track::Access::{Read, Write};
use crate::{Event, Queue};
use cl3::command_queue as q;
use interop_core::Result;
use std::ops::Range;

/// A part of an image, in pixels, as `clEnqueueReadImage` and its like take it; numbers of unused dimensions are 0 and
/// 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ImageBox {
    /// The first pixel (`origin` of `clEnqueueReadImage`).
    pub origin: [usize; 3],
    /// Sides (`region` of `clEnqueueReadImage`).
    pub region: [usize; 3],
}

impl ImageBox {
    /// Bytes that it takes in host memory without gaps, where `clEnqueueReadImage` puts it with pitches of 0; `pixel`
    /// is a pixel's (`CL_IMAGE_ELEMENT_SIZE`). `None` where they overflow.
    pub fn host_bytes(&self, pixel: usize) -> Option<usize> {
        let [w, h, d] = self.region;
        w.checked_mul(h)?.checked_mul(d)?.checked_mul(pixel)
    }
}

impl Queue {
    /// Copies between images of one format.
    pub(crate) fn copy_image_mem(
        &self,
        from: &Mem,
        to: &Mem,
        part: &ImageBox,
        to_origin: [usize; 3],
        wait: &[Event],
    ) -> Result<Event> {
        let uses = [from.used_whole(Read), to.used_whole(Write)];
        // SAFETY: all objects are live, and the arrays have three numbers.
        self.enqueue_using("clEnqueueCopyImage", &uses, wait, |queue, n, list| unsafe {
            let (origin, region) = (part.origin.as_ptr(), part.region.as_ptr());
            q::enqueue_copy_image(queue, from.raw(), to.raw(), origin, to_origin.as_ptr(), region, n, list)
        })
    }

    /// Copies from a part of an image to a buffer, without gaps between the rows; `bytes` is where in the buffer.
    pub(crate) fn copy_image_to_mem(
        &self,
        from: &Mem,
        part: &ImageBox,
        (to, bytes): (&Mem, Range<usize>),
        wait: &[Event],
    ) -> Result<Event> {
        if to.whole().1 + bytes.start == 0 || !self.miscounts_offsets() {
            return self.copy_image_to(from, part, (to, bytes), wait);
        }
        let len = bytes.len();
        let between = self.scratch(len)?;
        let copied = self.copy_image_to(from, part, (&between, 0..len), wait)?;
        self.copy_mem((&between, 0..len), (to, bytes), &[copied])
    }

    fn copy_image_to(
        &self,
        from: &Mem,
        part: &ImageBox,
        (to, bytes): (&Mem, Range<usize>),
        wait: &[Event],
    ) -> Result<Event> {
        let uses = [from.used_whole(Read), to.used(&bytes, Write)];
        let (to, start) = to.whole();
        let at = start + bytes.start;
        // SAFETY: all objects are live, and the arrays have three numbers.
        self.enqueue_using("clEnqueueCopyImageToBuffer", &uses, wait, |queue, n, list| unsafe {
            let (origin, region) = (part.origin.as_ptr(), part.region.as_ptr());
            q::enqueue_copy_image_to_buffer(queue, from.raw(), to.raw(), origin, region, at, n, list)
        })
    }

    /// The reverse.
    pub(crate) fn copy_mem_to_image(
        &self,
        (from, bytes): (&Mem, Range<usize>),
        to: &Mem,
        part: &ImageBox,
        wait: &[Event],
    ) -> Result<Event> {
        let uses = [from.used(&bytes, Read), to.used_whole(Write)];
        let (from, start) = from.whole();
        let at = start + bytes.start;
        // SAFETY: all objects are live, and the arrays have three numbers.
        self.enqueue_using("clEnqueueCopyBufferToImage", &uses, wait, |queue, n, list| unsafe {
            let (origin, region) = (part.origin.as_ptr(), part.region.as_ptr());
            q::enqueue_copy_buffer_to_image(queue, from.raw(), to.raw(), at, origin, region, n, list)
        })
    }
}
