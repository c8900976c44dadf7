//! Commands on images. Host memory holds tight rows.

use super::transfer::{values_in, zeroed};
use super::{Buffer, Event, Image, ImageType, OwnedValues, PendingRead, Queue};
use crate::Element;
use crate::ffi::track::Access::{Read, Write};
use crate::ffi::{ImageBox, MapMode, MappedBytes};
use cl3::command_queue as q;
use cl3::error_codes::CL_INVALID_VALUE;
use interop_core::devices::ranges::range_of;
use interop_core::{Error, Result};
use std::ops::Range;

impl Image {
    /// Returns the bytes of a box in host memory; an error for one that is empty or reaches outside.
    fn check_box(&self, part: &ImageBox, operation: &'static str) -> Result<usize> {
        let sides = part.origin.iter().zip(part.region).zip(self.region());
        let inside = |((start, len), side): ((&usize, usize), usize)| {
            len > 0 && start.checked_add(len).is_some_and(|end| end <= side)
        };
        let bytes = part.host_bytes(self.pixel_size());
        match bytes {
            Some(bytes) if sides.into_iter().all(inside) => Ok(bytes),
            _ => {
                Err(Error::invalid(operation, format!("{part:?} is not inside an image of {:?} pixels", self.region())))
            }
        }
    }
}

/// A colour for [`Queue::fill_image`] (`fill_color` of `clEnqueueFillImage`), by the type of the format's values.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Colour {
    /// For normalised and floating-point formats: red, green, blue, alpha (a `cl_float4`).
    Float([f32; 4]),
    /// For signed formats (a `cl_int4`).
    Signed([i32; 4]),
    /// For unsigned formats (a `cl_uint4`).
    Unsigned([u32; 4]),
}

impl Colour {
    /// The four words of four bytes that the driver reads.
    fn words(self) -> [u32; 4] {
        match self {
            Self::Float(v) => bytemuck::cast(v),
            Self::Signed(v) => bytemuck::cast(v),
            Self::Unsigned(v) => v,
        }
    }

    fn fits(self, format: super::ImageFormat) -> bool {
        use super::ChannelType as T;
        match format.data {
            T::SignedInt8 | T::SignedInt16 | T::SignedInt32 => matches!(self, Self::Signed(_)),
            T::UnsignedInt8 | T::UnsignedInt16 | T::UnsignedInt32 => matches!(self, Self::Unsigned(_)),
            _ => matches!(self, Self::Float(_)),
        }
    }
}

impl Queue {
    fn check_image(&self, image: &Image, part: &ImageBox, operation: &'static str) -> Result<usize> {
        self.context().check_same(&image.context, operation, "image")?;
        image.check_box(part, operation)
    }

    fn check_host(&self, image: &Image, part: &ImageBox, given: usize, operation: &'static str) -> Result<()> {
        match self.check_image(image, part, operation)? {
            bytes if bytes == given => Ok(()),
            bytes => Err(Error::invalid(operation, format!("{given} bytes were given, but the pixels need {bytes}"))),
        }
    }

    /// Reads a part of an image (`clEnqueueReadImage`). Does not block.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the part is not inside or not a whole number of values.
    pub fn read_image<T: Element>(&self, from: &Image, part: &ImageBox, wait: &[Event]) -> Result<PendingRead<T>> {
        const OP: &str = "clEnqueueReadImage";
        let bytes = self.check_image(from, part, OP)?;
        let into = zeroed(OP, values_in::<T>(OP, bytes)?)?;
        // SAFETY: the host memory has the size of the part and lives until the command is done. Pitches of 0 are those
        // without gaps. The rest is live, and the arrays have three numbers.
        self.reading(OP, &[from.raw.used_whole(Read)], wait, into, |queue, to, n, list| unsafe {
            let (origin, region) = (part.origin.as_ptr(), part.region.as_ptr());
            q::enqueue_read_image(queue, from.raw(), 0, origin, region, 0, 0, to, n, list)
        })
    }

    /// Writes a part of an image (`clEnqueueWriteImage`); the command owns or shares the values until it has completed.
    /// Does not block.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the part is not inside, or the values have another size.
    pub fn write_image<T: Element>(
        &self,
        to: &Image,
        part: &ImageBox,
        from: impl Into<OwnedValues<T>>,
        wait: &[Event],
    ) -> Result<Event> {
        const OP: &str = "clEnqueueWriteImage";
        let from = from.into();
        self.check_host(to, part, size_of_val(from.as_slice()), OP)?;
        // SAFETY: as for reading; the driver only reads the host memory.
        self.writing(OP, &[to.raw.used_whole(Write)], wait, from, |queue, source, n, list| unsafe {
            let (origin, region) = (part.origin.as_ptr(), part.region.as_ptr());
            q::enqueue_write_image(queue, to.raw(), 0, origin, region, 0, 0, source.cast_mut(), n, list)
        })
    }

    /// Reads a part into borrowed memory of exactly its size (`clEnqueueReadImage`). Blocks.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the part is not inside, or `into` has another size.
    pub fn read_image_into<T: Element>(
        &self,
        from: &Image,
        part: &ImageBox,
        into: &mut [T],
        wait: &[Event],
    ) -> Result<()> {
        const OP: &str = "clEnqueueReadImage";
        self.check_host(from, part, size_of_val(into), OP)?;
        // SAFETY: `into` holds the part and is borrowed until the command is done, for which this waits. The rest is live,
        // and the arrays have three numbers.
        let event = self.enqueue_using(OP, &[from.raw.used_whole(Read)], wait, |queue, n, list| unsafe {
            let (origin, region, to) = (part.origin.as_ptr(), part.region.as_ptr(), into.as_mut_ptr().cast());
            q::enqueue_read_image(queue, from.raw(), 1, origin, region, 0, 0, to, n, list)
        })?;
        event.wait_until_final()
    }

    /// Writes a part from borrowed memory of exactly its size (`clEnqueueWriteImage`). Blocks until the values are
    /// written.
    ///
    /// # Errors
    /// Those of [`Queue::read_image_into`].
    pub fn write_image_from<T: Element>(&self, to: &Image, part: &ImageBox, from: &[T], wait: &[Event]) -> Result<()> {
        const OP: &str = "clEnqueueWriteImage";
        self.check_host(to, part, size_of_val(from), OP)?;
        // SAFETY: as for reading; the values are only read.
        let event = self.enqueue_using(OP, &[to.raw.used_whole(Write)], wait, |queue, n, list| unsafe {
            let (origin, region) = (part.origin.as_ptr(), part.region.as_ptr());
            q::enqueue_write_image(queue, to.raw(), 1, origin, region, 0, 0, from.as_ptr().cast_mut().cast(), n, list)
        })?;
        event.wait_until_final()
    }

    /// Fills a part with a colour (`clEnqueueFillImage`). Does not block.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the part is not inside, or the colour has another type than the format's values.
    pub fn fill_image(&self, to: &Image, part: &ImageBox, colour: Colour, wait: &[Event]) -> Result<Event> {
        const OP: &str = "clEnqueueFillImage";
        self.check_image(to, part, OP)?;
        if !colour.fits(to.format()) {
            return Err(Error::invalid(OP, format!("{colour:?} is not a valid colour for {}", to.format())));
        }
        let colour = colour.words();
        // SAFETY: the driver copies the colour before it returns; the rest is live, and the arrays have three numbers.
        self.enqueue_using(OP, &[to.raw.used_whole(Write)], wait, |queue, n, list| unsafe {
            let (origin, region) = (part.origin.as_ptr(), part.region.as_ptr());
            q::enqueue_fill_image(queue, to.raw(), colour.as_ptr().cast(), origin, region, n, list)
        })
    }

    /// Copies a part to `to_origin` of an image of the same format (`clEnqueueCopyImage`). Does not block.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the formats differ, a box is not inside, or both are in one image and overlap.
    pub fn copy_image(
        &self,
        (from, part): (&Image, &ImageBox),
        (to, to_origin): (&Image, [usize; 3]),
        wait: &[Event],
    ) -> Result<Event> {
        const OP: &str = "clEnqueueCopyImage";
        self.check_image(from, part, OP)?;
        let target = ImageBox { origin: to_origin, region: part.region };
        self.check_image(to, &target, OP)?;
        if from.format() != to.format() {
            return Err(Error::invalid(OP, format!("{} cannot be copied to {}", from.format(), to.format())));
        }
        let apart = (0..3).any(|i| part.origin[i].abs_diff(to_origin[i]) >= part.region[i]);
        if from.raw.overlaps(&(0..usize::MAX), &to.raw, &(0..usize::MAX)) && !apart {
            return Err(Error::invalid(OP, "the two boxes overlap; copy through another image"));
        }
        self.copy_image_mem(&from.raw, &to.raw, part, to_origin, wait)
    }

    /// Copies a part to byte `offset` of a buffer, in tight rows (`clEnqueueCopyImageToBuffer`). Does not block.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the part or its bytes are not inside; [`Error::Unsupported`] where the driver
    /// cannot copy this type of image.
    pub fn copy_image_to_buffer(
        &self,
        (from, part): (&Image, &ImageBox),
        (to, offset): (&Buffer, usize),
        wait: &[Event],
    ) -> Result<Event> {
        const OP: &str = "clEnqueueCopyImageToBuffer";
        let bytes = self.check_image(from, part, OP)?;
        let range = range_of(offset, bytes);
        self.check(to, &range, OP)?;
        let copied = self.copy_image_to_mem(&from.raw, part, (&to.raw, range), wait);
        self.explain_refusal(from, copied, OP)
    }

    /// Copies from a buffer to a part of an image (`clEnqueueCopyBufferToImage`). Does not block.
    pub fn copy_buffer_to_image(
        &self,
        (from, offset): (&Buffer, usize),
        (to, part): (&Image, &ImageBox),
        wait: &[Event],
    ) -> Result<Event> {
        const OP: &str = "clEnqueueCopyBufferToImage";
        let bytes = self.check_image(to, part, OP)?;
        let range = range_of(offset, bytes);
        self.check(from, &range, OP)?;
        let copied = self.copy_mem_to_image((&from.raw, range), &to.raw, part, wait);
        self.explain_refusal(to, copied, OP)
    }

    /// The arguments were checked, so a driver that calls them invalid cannot copy this type of image: NVIDIA 580 with
    /// 1-D arrays.
    fn explain_refusal(&self, image: &Image, copied: Result<Event>, operation: &'static str) -> Result<Event> {
        match copied {
            Err(Error::Driver(e)) if e.code == i64::from(CL_INVALID_VALUE) => {
                let reason =
                    format!("the driver does not support {:?}; read and write it from the host", image.image_type());
                Err(self.device().unsupported(operation, reason))
            }
            copied => copied,
        }
    }

    /// Maps a part for reading (`clEnqueueMapImage`). Blocks; see [`Queue::map_read`].
    pub fn map_image_read(&self, image: &Image, part: &ImageBox, wait: &[Event]) -> Result<ImageMapRead> {
        self.map_image(image, part, MapMode::Read, wait).map(ImageMapRead)
    }

    /// Maps a part for reading and writing (`clEnqueueMapImage`). Blocks; see [`Queue::map_write`].
    pub fn map_image_write(&self, image: &Image, part: &ImageBox, wait: &[Event]) -> Result<ImageMapWrite> {
        self.map_image(image, part, MapMode::ReadWrite, wait).map(ImageMapWrite)
    }

    fn map_image(&self, image: &Image, part: &ImageBox, mode: MapMode, wait: &[Event]) -> Result<ImageMap> {
        const OP: &str = "clEnqueueMapImage";
        self.check_image(image, part, OP)?;
        let layers = image.image_type() == ImageType::D1Array;
        let mapped = MappedBytes::image(self, (&image.raw, image.pixel_size()), part, layers, mode, wait)?;
        let [w, h, d] = part.region;
        let [rows, slices] = if layers { [1, h] } else { [h, d] };
        Ok(ImageMap { mapped, row: w * image.pixel_size(), rows, slices })
    }
}

struct ImageMap {
    mapped: MappedBytes,
    row: usize,
    rows: usize,
    slices: usize,
}

impl ImageMap {
    fn range(&self, row: usize, slice: usize) -> Option<Range<usize>> {
        if row >= self.rows || slice >= self.slices {
            return None;
        }
        let [row_pitch, slice_pitch] = self.mapped.pitches;
        let start = slice * slice_pitch + row * row_pitch;
        Some(start..start + self.row)
    }
}

/// Pixels of an image, for reading (`clEnqueueMapImage`, `CL_MAP_READ`); unmapped on drop.
pub struct ImageMapRead(ImageMap);

/// Pixels of an image, for reading and writing (`clEnqueueMapImage`, `CL_MAP_READ | CL_MAP_WRITE`); unmapped on drop.
pub struct ImageMapWrite(ImageMap);

impl ImageMapRead {
    /// Returns the bytes of one row of the part, by the pitches of `clEnqueueMapImage`; `slice` counts slices of
    /// volumes and layers of arrays. `None` outside.
    pub fn row(&self, row: usize, slice: usize) -> Option<&[u8]> {
        self.0.mapped.bytes().get(self.0.range(row, slice)?)
    }

    /// Unmaps, and returns the event of the unmapping (`clEnqueueUnmapMemObject`).
    pub fn unmap(self) -> Result<Event> {
        self.0.mapped.unmap()
    }
}

impl ImageMapWrite {
    /// Returns the bytes of one row, by the pitches of `clEnqueueMapImage`; see [`ImageMapRead::row`].
    pub fn row(&self, row: usize, slice: usize) -> Option<&[u8]> {
        self.0.mapped.bytes().get(self.0.range(row, slice)?)
    }

    /// Returns the bytes of one row for writing; the image has them after `clEnqueueUnmapMemObject`.
    pub fn row_mut(&mut self, row: usize, slice: usize) -> Option<&mut [u8]> {
        let range = self.0.range(row, slice)?;
        self.0.mapped.bytes_mut().get_mut(range)
    }

    /// Unmaps, and returns the event of the unmapping (`clEnqueueUnmapMemObject`).
    pub fn unmap(self) -> Result<Event> {
        self.0.mapped.unmap()
    }
}
