//! Textures: CUDA arrays, which kernels write through surface objects.
//!
//! Byte-wise calls see an image as tightly packed rows in the texture's order, whatever its real layout. Views of it
//! must have that row pitch.

use crate::ffi::copy::{CopyLocation, Size};
use crate::ffi::external_memory::ExternalImage;
use crate::ffi::graphics::{Array, Resource, SurfaceObject};
use crate::ffi::{DeviceBlock, Failure, Span};
use crate::memory::not_acquired;
use crate::session::Session;
use crate::turn::Turn;
use interop_core::compute::MemoryDriver;
use interop_core::compute::{OpaqueImage, Placement};
use interop_core::{Error, ImageDesc, Region, Result, View};
use std::ops::Range;
use std::sync::Arc;

/// An array, by the API that shares it.
pub enum Texture {
    /// An OpenGL texture, which CUDA can access only while it is mapped.
    Registered(Resource),
    /// Memory that both sides have open; the host or semaphores order the accesses.
    External(ExternalImage, Turn),
}

impl Texture {
    /// Returns the array; `None` while OpenGL has it.
    fn array(&self) -> Result<Option<Array<'_>>, Failure> {
        match self {
            Self::Registered(resource) => resource.array(),
            Self::External(image, _) => Ok(Some(image.array())),
        }
    }
}

/// A texture that kernels write.
pub struct CudaImage {
    /// Surface object of the array that was mapped last: the driver usually returns the same array each time.
    surface: Option<SurfaceObject>,
    /// Linear copy of a part, for kernels that cannot write arrays.
    scratch: Option<(DeviceBlock, usize)>,
    // Dropped after the fields that depend on it.
    texture: Texture,
    image: OpaqueImage,
    pub session: Arc<Session>,
}

interop_core::owned!(CudaImage: Session, "memory", |memory| &memory.session);

impl CudaImage {
    pub fn new(session: &Arc<Session>, texture: Texture, desc: ImageDesc) -> Result<Self> {
        let image = OpaqueImage::new(desc)?;
        Ok(Self { surface: None, scratch: None, texture, image, session: session.clone() })
    }

    /// Returns the GL object, which is mapped for each turn.
    fn resource(&mut self) -> Option<&mut Resource> {
        match &mut self.texture {
            Texture::Registered(resource) => Some(resource),
            Texture::External(..) => None,
        }
    }

    /// Returns the position of `view`. Rejects pixels of another size and rows that do not match.
    pub fn place(&self, view: &View) -> Result<Placement> {
        self.image.place(view)
    }

    /// Returns the bytes of a rectangle's rows, and the number of rows.
    fn size(&self, region: Region) -> Size {
        let row_bytes = region.width as usize * self.image.desc().format.bytes_per_pixel();
        Size { row_bytes, rows: region.height as usize }
    }

    /// Returns the rectangle's first pixel in `array`.
    fn at<'a>(&self, array: &'a Array<'a>, region: Region) -> CopyLocation<'a> {
        let x_bytes = region.x as usize * self.image.desc().format.bytes_per_pixel();
        CopyLocation::Array { array, x_bytes, y: region.y as usize }
    }

    /// Returns the currently mapped array, after checking its size.
    pub fn array(&self) -> Result<Array<'_>> {
        let array = self.texture.array().map_err(self.session.failed())?;
        array.ok_or_else(not_acquired)
    }

    /// Compares a newly mapped texture with its description.
    pub fn check(&self) -> Result<()> {
        let found = self.array()?.descriptor(&self.session.queue).map_err(self.session.failed())?;
        let channel_bytes = match found.format {
            0x01 | 0x08 => 1,
            0x02 | 0x09 | 0x10 => 2,
            _ => 4,
        };
        let (extent, bytes) = (self.image.desc().extent, self.image.desc().format.bytes_per_pixel());
        let expected = (extent.width as usize, extent.height as usize, bytes);
        let found = (found.width, found.height, found.channels as usize * channel_bytes);
        if found != expected {
            return Err(Error::refused(format!(
                "the texture is {}x{} with {} bytes a pixel, but its description says {} with {bytes}",
                found.0, found.1, found.2, extent
            )));
        }
        Ok(())
    }

    /// Returns the handle with which kernels write the currently mapped array.
    pub fn surface_object(&mut self) -> Result<u64> {
        let array = self.texture.array().map_err(self.session.failed())?.ok_or_else(not_acquired)?;
        if self.surface.as_ref().is_none_or(|s| !s.is_of(&array)) {
            // Dropping the old one waits for its kernels.
            self.surface = None;
            self.surface = Some(SurfaceObject::new(&self.session.queue, &array).map_err(self.session.failed())?);
        }
        Ok(self.surface.as_ref().map_or(0, SurfaceObject::raw))
    }

    /// Passes a linear copy of a part to `f` (tight rows in the array's order), then copies it back. This costs two
    /// copies on the device for a kernel that needs linear memory.
    pub fn through_linear(&mut self, at: &Placement, f: impl FnOnce(Span<'_>) -> Result<()>) -> Result<()> {
        let size = self.size(at.region);
        let len = size.row_bytes * size.rows;
        if self.scratch.as_ref().is_none_or(|(_, have)| *have < len) {
            self.scratch = None;
            self.scratch = Some((DeviceBlock::new(&self.session.queue, len).map_err(self.session.failed())?, len));
        }
        let array = self.array()?;
        let Some((block, _)) = &self.scratch else { return Ok(()) };
        let span = block.span().part(0..len).map_err(self.session.failed())?;
        let copies = self.session.queue.copies();
        let linear = || CopyLocation::Device { span, pitch: size.row_bytes };
        let texture = || self.at(&array, at.region);
        copies.rectangle(texture(), linear(), size).map_err(self.session.failed())?;
        f(span)?;
        copies.rectangle(linear(), texture(), size).map_err(self.session.failed())
    }

    /// Queues a copy of `range` to or from linear memory of the same length.
    pub fn copy_linear(&self, range: &Range<usize>, linear: Span<'_>, to_linear: bool) -> Result<()> {
        let rectangles = self.image.rectangles(range)?;
        let (array, copies) = (self.array()?, self.session.queue.copies());
        for (at, region) in rectangles {
            let size = self.size(region);
            let span = linear.part(at..linear.len()).map_err(self.session.failed())?;
            let (texture, linear) = (self.at(&array, region), CopyLocation::Device { span, pitch: size.row_bytes });
            let (from, to) = if to_linear { (texture, linear) } else { (linear, texture) };
            copies.rectangle(from, to, size).map_err(self.session.failed())?;
        }
        Ok(())
    }

    /// Queues a copy of `range` to an image with the same rows.
    pub fn copy_image(&self, to: &Self, range: &Range<usize>) -> Result<()> {
        self.image.check_alike(&to.image)?;
        let rectangles = self.image.rectangles(range)?;
        let (from_array, to_array, copies) = (self.array()?, to.array()?, self.session.queue.copies());
        for (_, region) in rectangles {
            let (from, to) = (self.at(&from_array, region), to.at(&to_array, region));
            copies.rectangle(from, to, self.size(region)).map_err(self.session.failed())?;
        }
        Ok(())
    }
}

impl MemoryDriver for CudaImage {
    fn len(&self) -> usize {
        self.image.len()
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        let rectangles = self.image.rectangles(&(offset..offset + into.len()))?;
        let (array, copies) = (self.array()?, self.session.queue.copies());
        for (at, region) in rectangles {
            let size = self.size(region);
            let to = CopyLocation::HostTarget { bytes: &mut into[at..], pitch: size.row_bytes };
            copies.rectangle(self.at(&array, region), to, size).map_err(self.session.failed())?;
        }
        Ok(())
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        let rectangles = self.image.rectangles(&(offset..offset + from.len()))?;
        let (array, copies) = (self.array()?, self.session.queue.copies());
        for (at, region) in rectangles {
            let size = self.size(region);
            let from = CopyLocation::HostSource { bytes: &from[at..], pitch: size.row_bytes };
            copies.rectangle(from, self.at(&array, region), size).map_err(self.session.failed())?;
        }
        Ok(())
    }

    fn acquire(&mut self) -> Result<()> {
        let session = self.session.clone();
        let Some(resource) = self.resource() else { return Ok(()) };
        session.timed("map", || resource.map()).map_err(session.failed())
    }

    fn submit(&mut self) -> Result<()> {
        match &mut self.texture {
            Texture::Registered(_) => Ok(()),
            Texture::External(_, turn) => turn.submit(&self.session),
        }
    }

    fn release(&mut self) -> Result<()> {
        match &mut self.texture {
            // As for buffers: the driver keeps the order, so the host need not wait.
            Texture::Registered(resource) => {
                let session = &self.session;
                session.timed("unmap", || resource.unmap()).map_err(session.failed())
            }
            Texture::External(_, turn) => turn.release(&self.session),
        }
    }
}
