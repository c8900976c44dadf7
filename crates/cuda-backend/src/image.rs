//! Textures: arrays, which kernels write through surface objects.
//!
//! To the byte-wise calls an image is its rows one after the other with no gaps, in the texture's order, whatever its
//! real layout. Views of it must have that row pitch.

use crate::ffi::copy::{Place, Size};
#[cfg(unix)]
use crate::ffi::external_memory::ExternalImage;
use crate::ffi::graphics::{Array, Resource, SurfaceObject};
use crate::ffi::{DeviceBlock, Failure, Span};
use crate::memory::{not_acquired, range};
use crate::session::Session;
#[cfg(unix)]
use crate::turn::Turn;
use interop_core::compute::check_range;
use interop_core::{ComputeMemory, Error, ImageDesc, ImageView, Result};
use std::any::Any;
use std::ops::Range;
use std::sync::Arc;

/// Whose array it is.
pub enum Texture {
    /// An OpenGL texture, with CUDA only while it is mapped.
    Registered(Resource),
    /// Memory that both sides have open; the host or semaphores keep them apart.
    #[cfg(unix)]
    External(ExternalImage, Turn),
}

impl Texture {
    /// The array; `None` where it is with OpenGL now.
    fn array(&self) -> Result<Option<Array<'_>>, Failure> {
        match self {
            Self::Registered(resource) => resource.array(),
            #[cfg(unix)]
            Self::External(image, _) => Ok(Some(image.array())),
        }
    }
}

/// A texture that kernels write.
pub struct CudaImage {
    /// Surface object of the array that was mapped last: the driver gives the same one each time as a rule.
    surface: Option<SurfaceObject>,
    /// Linear copy of a part, for kernels that cannot write arrays.
    scratch: Option<(DeviceBlock, usize)>,
    // After what depends on it.
    texture: Texture,
    desc: ImageDesc,
    pub session: Arc<Session>,
}

/// Where a view lies in the array.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// Column and row of the view's pixel (0, 0).
    pub x: usize,
    pub y: usize,
    /// The view's rows go up, not down.
    pub reversed: bool,
    pub size: Size,
    pub x_bytes: usize,
}

impl Placement {
    /// The view's first row in the array's order.
    pub fn top(&self) -> usize {
        if self.reversed { self.y + 1 - self.size.rows } else { self.y }
    }
}

impl CudaImage {
    pub fn new(session: &Arc<Session>, texture: Texture, desc: ImageDesc) -> Self {
        Self { surface: None, scratch: None, texture, desc, session: session.clone() }
    }

    /// The GL object, for calls that map several at once.
    pub fn resource(&mut self) -> Option<&mut Resource> {
        match &mut self.texture {
            Texture::Registered(resource) => Some(resource),
            #[cfg(unix)]
            Texture::External(..) => None,
        }
    }

    fn pitch(&self) -> usize {
        self.desc.extent.width as usize * self.desc.format.bytes_per_pixel()
    }

    /// The array that is mapped now, as large as promised.
    fn array(&self, operation: &'static str) -> Result<Array<'_>> {
        let array = self.texture.array().map_err(self.session.failed())?;
        array.ok_or_else(|| not_acquired(operation))
    }

    /// Compares a texture that was mapped for the first time with its description.
    pub fn check(&self, operation: &'static str) -> Result<()> {
        let found = self.array(operation)?.descriptor(&self.session.queue).map_err(self.session.failed())?;
        let channel_bytes = match found.format {
            0x01 | 0x08 => 1,
            0x02 | 0x09 | 0x10 => 2,
            _ => 4,
        };
        let (extent, bytes) = (self.desc.extent, self.desc.format.bytes_per_pixel());
        let expected = (extent.width as usize, extent.height as usize, bytes);
        let found = (found.width, found.height, found.channels as usize * channel_bytes);
        if found != expected {
            return Err(Error::invalid(
                operation,
                format!(
                    "the texture is {}x{} with {} bytes a pixel, it was said to be {} with {bytes}",
                    found.0, found.1, found.2, extent
                ),
            ));
        }
        Ok(())
    }

    /// Where `view` lies; refuses pixels of another size and rows that are not the image's.
    pub fn place(&self, view: &ImageView, operation: &'static str) -> Result<Placement> {
        let (pixel, pitch) = (self.desc.format.bytes_per_pixel(), self.pitch());
        let (x_bytes, y) = (view.offset % pitch, view.offset / pitch);
        let fits = view.format.bytes_per_pixel() == pixel
            && view.pitch() == pitch
            && x_bytes.is_multiple_of(pixel)
            && x_bytes + view.row_len() <= pitch;
        if !fits {
            return Err(Error::invalid(
                operation,
                format!("{view:?} is no rectangle of a texture whose rows have {pitch} bytes, {pixel} for a pixel"),
            ));
        }
        let size = Size { row_bytes: view.row_len(), rows: view.extent.height as usize };
        Ok(Placement { x: x_bytes / pixel, y, reversed: view.is_reversed(), size, x_bytes })
    }

    /// The handle by which kernels write the array that is mapped now.
    pub fn surface_object(&mut self, operation: &'static str) -> Result<u64> {
        let array = self.texture.array().map_err(self.session.failed())?.ok_or_else(|| not_acquired(operation))?;
        if self.surface.as_ref().is_none_or(|s| !s.is_of(&array)) {
            // The old one waits for its kernels when it goes.
            self.surface = None;
            self.surface = Some(SurfaceObject::new(&self.session.queue, &array).map_err(self.session.failed())?);
        }
        Ok(self.surface.as_ref().map_or(0, SurfaceObject::raw))
    }

    /// Gives `f` a linear copy of a part (tight rows in the array's order), then copies it back: two copies on the
    /// device around a kernel that needs linear memory.
    pub fn through_linear(
        &mut self,
        at: &Placement,
        operation: &'static str,
        f: impl FnOnce(Span<'_>) -> Result<()>,
    ) -> Result<()> {
        let len = at.size.row_bytes * at.size.rows;
        if self.scratch.as_ref().is_none_or(|(_, have)| *have < len) {
            self.scratch = None;
            self.scratch = Some((DeviceBlock::new(&self.session.queue, len).map_err(self.session.failed())?, len));
        }
        let array = self.array(operation)?;
        let Some((block, _)) = &self.scratch else { return Ok(()) };
        let span = block.span().part(0..len).map_err(self.session.failed())?;
        let copies = self.session.queue.copies();
        let linear = || Place::Device { span, pitch: at.size.row_bytes };
        let texture = || Place::Array { array: &array, x_bytes: at.x_bytes, y: at.top() };
        copies.rectangle(texture(), linear(), at.size).map_err(self.session.failed())?;
        f(span)?;
        copies.rectangle(linear(), texture(), at.size).map_err(self.session.failed())
    }

    /// A range of bytes as rectangles: (byte in the range, column in bytes, row, size). At most three.
    fn rectangles(&self, range: &Range<usize>) -> Vec<(usize, usize, usize, Size)> {
        let pitch = self.pitch();
        let (mut list, mut at) = (Vec::with_capacity(3), range.start);
        while at < range.end {
            let (x, left) = (at % pitch, range.end - at);
            let size = if x == 0 && left >= pitch {
                Size { row_bytes: pitch, rows: left / pitch }
            } else {
                Size { row_bytes: left.min(pitch - x), rows: 1 }
            };
            list.push((at - range.start, x, at / pitch, size));
            at += size.row_bytes * size.rows;
        }
        list
    }

    /// Refuses ranges outside and those that cut a pixel, which arrays cannot be copied by.
    fn check_bytes(&self, range: &Range<usize>, operation: &'static str) -> Result<()> {
        check_range(range, self.len(), operation)?;
        let pixel = self.desc.format.bytes_per_pixel();
        if !(range.start.is_multiple_of(pixel) && range.end.is_multiple_of(pixel)) {
            return Err(Error::invalid(
                operation,
                format!("bytes {range:?} of a texture cut a pixel of {pixel} bytes"),
            ));
        }
        Ok(())
    }

    /// Queues a copy of `range` into linear memory of the same length, or from there.
    pub fn copy_linear(&self, range: &Range<usize>, linear: Span<'_>, to_linear: bool) -> Result<()> {
        const OP: &str = "CudaBackend::copy";
        self.check_bytes(range, OP)?;
        let (array, copies) = (self.array(OP)?, self.session.queue.copies());
        for (at, x_bytes, y, size) in self.rectangles(range) {
            let span = linear.part(at..linear.len()).map_err(self.session.failed())?;
            let (texture, linear) =
                (Place::Array { array: &array, x_bytes, y }, Place::Device { span, pitch: size.row_bytes });
            let (from, to) = if to_linear { (texture, linear) } else { (linear, texture) };
            copies.rectangle(from, to, size).map_err(self.session.failed())?;
        }
        Ok(())
    }

    /// Queues a copy of `range` to an image with the same rows.
    pub fn copy_image(&self, to: &Self, range: &Range<usize>) -> Result<()> {
        const OP: &str = "CudaBackend::copy";
        self.check_bytes(range, OP)?;
        to.check_bytes(range, OP)?;
        if self.pitch() != to.pitch() {
            return Err(Error::invalid(OP, "the two textures have rows of different lengths"));
        }
        let (from_array, to_array, copies) = (self.array(OP)?, to.array(OP)?, self.session.queue.copies());
        for (_, x_bytes, y, size) in self.rectangles(range) {
            let (from, to) =
                (Place::Array { array: &from_array, x_bytes, y }, Place::Array { array: &to_array, x_bytes, y });
            copies.rectangle(from, to, size).map_err(self.session.failed())?;
        }
        Ok(())
    }
}

impl ComputeMemory for CudaImage {
    fn len(&self) -> usize {
        self.pitch() * self.desc.extent.height as usize
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        const OP: &str = "CudaImage::read";
        let range = range(offset, into.len());
        self.check_bytes(&range, OP)?;
        let (array, copies) = (self.array(OP)?, self.session.queue.copies());
        for (at, x_bytes, y, size) in self.rectangles(&range) {
            let to = Place::HostTarget { bytes: &mut into[at..], pitch: size.row_bytes };
            copies.rectangle(Place::Array { array: &array, x_bytes, y }, to, size).map_err(self.session.failed())?;
        }
        Ok(())
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        const OP: &str = "CudaImage::write";
        let range = range(offset, from.len());
        self.check_bytes(&range, OP)?;
        let (array, copies) = (self.array(OP)?, self.session.queue.copies());
        for (at, x_bytes, y, size) in self.rectangles(&range) {
            let from = Place::HostSource { bytes: &from[at..], pitch: size.row_bytes };
            copies.rectangle(from, Place::Array { array: &array, x_bytes, y }, size).map_err(self.session.failed())?;
        }
        Ok(())
    }

    fn view(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.check_bytes(&range, "CudaImage::view")?;
        let mut bytes = vec![0; range.len()];
        self.read(range.start, &mut bytes)?;
        f(&bytes)
    }

    fn fill(&mut self, range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        self.check_bytes(&range, "CudaImage::fill")?;
        let mut bytes = vec![0; range.len()];
        f(&mut bytes)?;
        self.write(range.start, &bytes)
    }

    fn acquire(&mut self) -> Result<()> {
        let session = self.session.clone();
        let Some(resource) = self.resource() else { return Ok(()) };
        session.timed("map", || Resource::map_all(&session.queue, &mut [resource])).map_err(session.failed())
    }

    fn submit(&mut self) -> Result<()> {
        match &mut self.texture {
            Texture::Registered(_) => Ok(()),
            #[cfg(unix)]
            Texture::External(_, turn) => turn.submit(&self.session),
        }
    }

    fn release(&mut self) -> Result<()> {
        match &mut self.texture {
            // As for buffers: the driver keeps the order, the host need not wait.
            Texture::Registered(resource) => {
                let session = &self.session;
                session
                    .timed("unmap", || Resource::unmap_all(&session.queue, &mut [resource]))
                    .map_err(session.failed())
            }
            #[cfg(unix)]
            Texture::External(_, turn) => turn.release(&self.session),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn as_any_mut(&mut self) -> &mut dyn Any {
        self
    }
}
