//! Textures of the display's, which kernels in its queue write.
//!
//! To calls that see bytes a texture is its rows one after the other with no gaps.

use crate::compute::memory::WgpuMemory;
use crate::compute::session::Session;
use crate::context::queue_buffer::QueueBuffer;
use crate::context::queue_texture::QueueTexture;
use crate::context::read_back;
use interop_core::compute::{MemoryDriver, OpaqueImage, Placement};
use interop_core::devices::owned::{find, own};
use interop_core::{ComputeMemory, Error, ImageDesc, ImageView, PixelFormat, Region, Result, SharedHandle, View};
use std::cell::Cell;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use wgsl_kernel::NAMES_WORDS;

/// A texture that kernels write.
pub struct WgpuImage {
    texture: QueueTexture,
    rows: OpaqueImage,
    /// Linear copy of all of it, or of as much as a binding has, its rows padded as wgpu copies them.
    scratch: OnceLock<WgpuMemory>,
    /// Group 0 of launches that write it, from the first on.
    target: OnceLock<wgpu::BindGroup>,
    /// Rectangle of the linear copy that somebody writes, which goes to the texture before the next work on that.
    lent: Cell<Option<Region>>,
    session: Arc<Session>,
}

interop_core::owned!(WgpuImage: Session, "memory", |memory| &memory.session);

/// Direction of a copy.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Way {
    /// From the texture to memory.
    Load,
    /// From memory to the texture.
    Store,
}

impl WgpuImage {
    pub fn open(session: &Arc<Session>, handle: &SharedHandle, desc: ImageDesc) -> Result<Self> {
        let texture = QueueTexture::open(handle, &session.device, desc.extent)?;
        let (rows, session) = (OpaqueImage::new(desc)?, session.clone());
        Ok(Self { texture, rows, scratch: OnceLock::new(), target: OnceLock::new(), lent: Cell::new(None), session })
    }

    pub fn format(&self) -> PixelFormat {
        self.rows.desc().format
    }

    /// Position of a view in the texture.
    pub fn place(&self, view: &View) -> Result<Placement> {
        self.rows.place(view)
    }

    /// Group 0 of a launch that writes it.
    pub fn target(&self) -> Result<&wgpu::BindGroup> {
        self.settle()?;
        if let Some(group) = self.target.get() {
            return Ok(group);
        }
        let Session { device, .. } = self.session.as_ref();
        let layout = self.session.texture_layout(self.texture.texture.format())?;
        let group = device.scoped(|| {
            let view = self.texture.texture.create_view(&wgpu::TextureViewDescriptor {
                usage: Some(wgpu::TextureUsages::STORAGE_BINDING),
                dimension: Some(wgpu::TextureViewDimension::D2),
                mip_level_count: Some(1),
                array_layer_count: Some(1),
                ..Default::default()
            });
            let resource = wgpu::BindingResource::TextureView(&view);
            self.session.with_numbers(|numbers| numbers.bind(device, &layout, resource))
        })?;
        Ok(self.target.get_or_init(|| group))
    }

    /// Bytes from row to row of the linear copy.
    fn pitch(&self) -> usize {
        self.rows.pitch().next_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as usize)
    }

    fn scratch(&self) -> Result<&WgpuMemory> {
        if let Some(made) = self.scratch.get() {
            return Ok(made);
        }
        let most = usize::try_from(self.session.caps.max_allocation).unwrap_or(usize::MAX) / self.pitch();
        let bytes = self.pitch() * most.min(self.rows.desc().extent.height as usize).max(1);
        let buffer = QueueBuffer::new(&self.session.device, bytes)?;
        Ok(self.scratch.get_or_init(|| WgpuMemory::over(&self.session, buffer, bytes)))
    }

    /// Gives `f` a linear copy of all that a view spans, then copies that back: two copies on the device around a kernel that needs
    /// words.
    pub fn through_linear(&self, view: &View, f: impl FnOnce(&WgpuMemory, &View) -> Result<()>) -> Result<()> {
        let (memory, linear) = self.lend(view)?;
        f(memory, &linear)?;
        self.settle()
    }

    /// A linear copy of all that a view spans, for whoever writes there before the next work on the texture.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a texture that is to be written by stores alone.
    pub fn lent(&self, view: &View) -> Result<(&WgpuMemory, View)> {
        if self.texture.stores_only {
            return Err(self.session.device.unsupported(NAMES_WORDS));
        }
        self.lend(view)
    }

    /// Copies back what was lent.
    fn settle(&self) -> Result<()> {
        let Some(region) = self.lent.take() else { return Ok(()) };
        self.copy_region(region, (self.scratch()?, self.first(region), Some(self.pitch())), Way::Store)
    }

    /// First byte of a rectangle in the linear copy, which begins with its first row.
    fn first(&self, region: Region) -> usize {
        region.x as usize * self.format().bytes_per_pixel()
    }

    fn lend(&self, view: &View) -> Result<(&WgpuMemory, View)> {
        self.settle()?;
        let Placement { region, reversed } = self.rows.place(view)?;
        let (memory, pitch, format) = (self.scratch()?, self.pitch(), self.format());
        let span = region.height as usize * pitch;
        self.rows.check_room(span, MemoryDriver::len(memory), &self.session.identity, &self.session.caps)?;
        let first = self.first(region);
        let last = first + (region.height as usize).saturating_sub(1) * pitch;
        let rows = isize::try_from(pitch).map_err(|_| Error::refused("rows of the texture are too long"))?;
        let (offset, row_pitch) = if reversed { (last, -rows) } else { (first, rows) };
        let linear = ImageView { offset, row_pitch, extent: region.extent(), format };
        self.copy_region(region, (memory, first, Some(pitch)), Way::Load)?;
        self.lent.set(Some(region));
        Ok((memory, View::Image(linear)))
    }

    /// Queues a copy of a rectangle from or to byte `first` of memory on, its rows `pitch` bytes apart.
    fn copy_region(
        &self,
        region: Region,
        (memory, first, pitch): (&WgpuMemory, usize, Option<usize>),
        way: Way,
    ) -> Result<()> {
        let layout = wgpu::TexelCopyBufferLayout {
            offset: first as u64,
            bytes_per_row: pitch.map(|pitch| pitch as u32),
            rows_per_image: None,
        };
        let linear = wgpu::TexelCopyBufferInfo { buffer: memory.buffer(), layout };
        let (texture, size) = (self.at(region), extent(region));
        self.session.device.record(|encoder| match way {
            Way::Load => encoder.copy_texture_to_buffer(texture, linear, size),
            Way::Store => encoder.copy_buffer_to_texture(linear, texture, size),
        })
    }

    fn at(&self, region: Region) -> wgpu::TexelCopyTextureInfo<'_> {
        let origin = wgpu::Origin3d { x: region.x, y: region.y, z: 0 };
        wgpu::TexelCopyTextureInfo { origin, ..self.texture.texture.as_image_copy() }
    }

    /// Queues a copy of `range` from or to the same bytes of memory, whose rows wgpu copies together where they are as long as it
    /// wants.
    pub fn copy_rows(&self, memory: &WgpuMemory, range: &Range<usize>, way: Way) -> Result<()> {
        self.settle()?;
        let pitch = self.rows.pitch();
        let together = pitch.is_multiple_of(wgpu::COPY_BYTES_PER_ROW_ALIGNMENT as usize);
        for (at, region) in self.rows.rectangles(range)? {
            let first = range.start + at;
            if together && region.height > 1 {
                self.copy_region(region, (memory, first, Some(pitch)), way)?;
                continue;
            }
            for row in 0..region.height {
                let line = Region { y: region.y + row, height: 1, ..region };
                self.copy_region(line, (memory, first + row as usize * pitch, None), way)?;
            }
        }
        Ok(())
    }

    /// Queues a copy of `range` to a texture with the same rows.
    pub fn copy_image(&self, to: &Self, range: &Range<usize>) -> Result<()> {
        self.rows.check_alike(&to.rows)?;
        let rectangles = self.rows.rectangles(range)?;
        self.settle().and_then(|()| to.settle())?;
        self.session.device.record(|encoder| {
            for (_, region) in rectangles {
                encoder.copy_texture_to_texture(self.at(region), to.at(region), extent(region));
            }
        })
    }
}

/// The memory as it is, or the linear copy of a texture, for whoever writes there before the next work on it.
pub fn linear<'m>(memory: &'m dyn ComputeMemory, view: View, session: &Session) -> Result<(&'m WgpuMemory, View)> {
    match find::<WgpuImage>(memory, session) {
        Some(image) => image.lent(&view),
        None => Ok((own::<WgpuMemory>(memory, session)?, view)),
    }
}

fn extent(region: Region) -> wgpu::Extent3d {
    wgpu::Extent3d { width: region.width, height: region.height, depth_or_array_layers: 1 }
}

impl MemoryDriver for WgpuImage {
    fn len(&self) -> usize {
        self.rows.len()
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        self.settle()?;
        let pixel = self.format().bytes_per_pixel();
        for (at, region) in self.rows.rectangles(&(offset..offset + into.len()))? {
            let bytes = read_back::image(&self.session.device, region, pixel, |_| self.texture.texture.clone())?;
            into[at..at + bytes.len()].copy_from_slice(&bytes);
        }
        Ok(())
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        let (device, pixel) = (&self.session.device, self.format().bytes_per_pixel());
        let rectangles = self.rows.rectangles(&(offset..offset + from.len()))?;
        self.settle()?;
        // Recorded commands use the content from before the write.
        device.submit_recorded()?;
        device.scoped(|| {
            for (at, region) in rectangles {
                let row = region.width as usize * pixel;
                let bytes_per_row = Some(row as u32);
                let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row, rows_per_image: None };
                let bytes = &from[at..at + row * region.height as usize];
                device.queue.write_texture(self.at(region), bytes, layout, extent(region));
            }
        })
    }

    fn submit(&mut self) -> Result<()> {
        self.settle()?;
        // The display's own calls know what is recorded.
        if self.texture.is_anothers { self.session.device.flush().map(drop) } else { Ok(()) }
    }

    fn release(&mut self) -> Result<()> {
        // The queue keeps the order.
        Ok(())
    }
}
