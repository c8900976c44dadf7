//! Commands on images. The caller gives host memory of the right size; see [`ImageBox::host_bytes`].

use super::pending::{Owned, Reading};
use super::track::Access::{Read, Write};
use super::transfer::Element;
use super::{Event, Failure, Mem, Queue};
use cl3::command_queue as q;
use cl3::error_codes::CL_INVALID_VALUE;
use cl3::memory as m;
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

    fn check(&self, operation: &'static str, pixel: usize, host: usize) -> Result<(), Failure> {
        let fits = self.host_bytes(pixel).is_some_and(|bytes| bytes > 0 && bytes == host);
        if fits { Ok(()) } else { Err(Failure { operation, code: CL_INVALID_VALUE }) }
    }
}

/// An image and the size of its pixels, bytes.
#[derive(Clone, Copy)]
pub struct Image<'a> {
    pub mem: &'a Mem,
    pub pixel: usize,
}

impl Queue {
    /// Reads a part, without gaps between the rows.
    pub fn read_image<T: Element>(
        &self,
        image: Image<'_>,
        part: &ImageBox,
        into: Vec<T>,
        wait: &[Event],
    ) -> Result<Reading<T>, Failure> {
        const CALL: &str = "clEnqueueReadImage";
        part.check(CALL, image.pixel, size_of_val(into.as_slice()))?;
        // SAFETY: the host memory has the size of the part and lives until the command is done. Pitches of 0 are those
        // without gaps. The rest is live, and the arrays have three numbers.
        self.reading(CALL, &[image.mem.used_whole(Read)], wait, into, |queue, to, n, list| unsafe {
            let (origin, region) = (part.origin.as_ptr(), part.region.as_ptr());
            q::enqueue_read_image(queue, image.mem.raw(), 0, origin, region, 0, 0, to, n, list)
        })
    }

    /// Writes a part, without gaps between the rows.
    pub fn write_image<T: Element>(
        &self,
        image: Image<'_>,
        part: &ImageBox,
        from: Owned<T>,
        wait: &[Event],
    ) -> Result<Event, Failure> {
        const CALL: &str = "clEnqueueWriteImage";
        part.check(CALL, image.pixel, size_of_val(from.as_slice()))?;
        // SAFETY: as for reading; the driver only reads the host memory.
        self.writing(CALL, &[image.mem.used_whole(Write)], wait, from, |queue, source, n, list| unsafe {
            let (origin, region) = (part.origin.as_ptr(), part.region.as_ptr());
            q::enqueue_write_image(queue, image.mem.raw(), 0, origin, region, 0, 0, source.cast_mut(), n, list)
        })
    }

    /// Fills a part; `colour` is four floats, signed or unsigned numbers, as the format's values are.
    pub fn fill_image(&self, mem: &Mem, part: &ImageBox, colour: &[u8; 16], wait: &[Event]) -> Result<Event, Failure> {
        // The driver reads four words of four bytes.
        let colour: [u32; 4] = bytemuck::cast(*colour);
        // SAFETY: the driver copies the colour before it returns; the rest is live, and the arrays have three numbers.
        self.enqueue_using("clEnqueueFillImage", &[mem.used_whole(Write)], wait, |queue, n, list| unsafe {
            let (origin, region) = (part.origin.as_ptr(), part.region.as_ptr());
            q::enqueue_fill_image(queue, mem.raw(), colour.as_ptr().cast(), origin, region, n, list)
        })
    }

    /// Copies between images of one format.
    pub fn copy_image(
        &self,
        from: &Mem,
        to: &Mem,
        part: &ImageBox,
        to_origin: [usize; 3],
        wait: &[Event],
    ) -> Result<Event, Failure> {
        let uses = [from.used_whole(Read), to.used_whole(Write)];
        // SAFETY: all objects are live, and the arrays have three numbers.
        self.enqueue_using("clEnqueueCopyImage", &uses, wait, |queue, n, list| unsafe {
            let (origin, region) = (part.origin.as_ptr(), part.region.as_ptr());
            q::enqueue_copy_image(queue, from.raw(), to.raw(), origin, to_origin.as_ptr(), region, n, list)
        })
    }

    /// Copies from a part of an image to a buffer, without gaps between the rows; `bytes` is where in the buffer.
    pub fn copy_image_to_buffer(
        &self,
        from: &Mem,
        part: &ImageBox,
        (to, bytes): (&Mem, Range<usize>),
        wait: &[Event],
    ) -> Result<Event, Failure> {
        if to.whole().1 + bytes.start == 0 || !self.miscounts_offsets() {
            return self.copy_image_to(from, part, (to, bytes), wait);
        }
        let len = bytes.len();
        let between = Mem::buffer(self.context(), m::CL_MEM_READ_WRITE, len, None)?;
        let copied = self.copy_image_to(from, part, (&between, 0..len), wait)?;
        self.copy((&between, 0), (to, bytes.start), len, &[copied])
    }

    fn copy_image_to(
        &self,
        from: &Mem,
        part: &ImageBox,
        (to, bytes): (&Mem, Range<usize>),
        wait: &[Event],
    ) -> Result<Event, Failure> {
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
    pub fn copy_buffer_to_image(
        &self,
        (from, bytes): (&Mem, Range<usize>),
        to: &Mem,
        part: &ImageBox,
        wait: &[Event],
    ) -> Result<Event, Failure> {
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
