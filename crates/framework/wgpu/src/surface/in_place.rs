//! Surfaces without storage, which show staging blocks in place.

use crate::context::device_state::DeviceState;
use crate::context::queue_texture::QueueTexture;
use crate::draw::picture::{Picture, Source};
use crate::draw::tools::Tools;
use crate::staging::{Block, WgpuStaging};
use crate::surface::buffer_copies::export;
use crate::surface::texture_copies;
use interop_core::display::{Bytes, InPlaceDriver, Pixels, SurfaceDriver};
use interop_core::draw::{Manner, Plan};
use interop_core::{BufferView, Error, HandleType, ImageView, Region, Result, SharedHandle, Staging};
use std::ops::Range;
use std::sync::Arc;

/// An image in a staging block: rows in a buffer, or a shared texture.
pub(crate) struct InPlaceImage {
    shown: Option<Arc<Picture>>,
    /// Dropped last: memory that other code holds waits for its readers.
    tools: Arc<Tools>,
}

interop_core::owned!(InPlaceImage: DeviceState, "surface", |surface| &surface.tools.shared);

impl InPlaceImage {
    pub(crate) fn new(tools: &Arc<Tools>) -> Self {
        Self { tools: Arc::clone(tools), shown: None }
    }

    pub(crate) fn picture(&self) -> Result<&Picture> {
        self.shown.as_deref().ok_or(Error::NothingShown)
    }
}

impl SurfaceDriver<Pixels> for InPlaceImage {
    fn read_back(&mut self, at: &Region) -> Result<Vec<u8>> {
        self.tools.painter.read_back(&self.tools.shared, self.picture()?, *at)
    }

    fn draw_back(&mut self, at: &Region, plan: &Plan, manner: Option<Manner>) -> Result<Option<Vec<u8>>> {
        let tools = &self.tools;
        tools.drawing.draw_back(&tools.shared, &tools.painter, self.picture()?, *at, plan, manner)
    }
}

impl InPlaceDriver<Pixels> for InPlaceImage {
    fn download_shown(&mut self, at: &Region, staging: &mut Staging, view: &ImageView) -> Result<bool> {
        let Source::Texture(texture, _) = self.picture()?.source() else { return Ok(false) };
        texture_copies::to_staging(&self.tools, texture, *at, staging, view).map(|()| true)
    }

    fn lend(&self, queue: HandleType) -> Result<Option<(SharedHandle, Option<ImageView>)>> {
        let device = &self.tools.shared;
        Ok(match self.picture()?.source() {
            Source::Memory(buffer, view) => export(device, buffer, queue).map(|handle| (handle, Some(*view))),
            Source::Texture(texture, _) => {
                let lent = QueueTexture::over(device, texture, false, false).ok();
                lent.and_then(|lent| lent.export(queue)).map(|handle| (handle, None))
            }
        })
    }

    fn show(&mut self, staging: &Staging, view: &ImageView) -> Result<()> {
        let staging = WgpuStaging::of(staging, &self.tools.shared)?;
        self.shown = Some(staging.block()?.picture(&self.tools.shared, *view)?);
        Ok(())
    }

    fn show_texture(&mut self, staging: &Staging) -> Result<bool> {
        self.shown = Some(Arc::clone(WgpuStaging::of(staging, &self.tools.shared)?.image()?));
        Ok(true)
    }
}

/// Bytes in a staging block.
pub(crate) struct InPlaceBuffer {
    shown: Option<(Arc<Block>, BufferView)>,
    /// Dropped last: memory that other code holds waits for its readers.
    shared: Arc<DeviceState>,
}

interop_core::owned!(InPlaceBuffer: DeviceState, "surface", |surface| &surface.shared);

impl InPlaceBuffer {
    pub(crate) fn new(shared: &Arc<DeviceState>) -> Self {
        Self { shared: Arc::clone(shared), shown: None }
    }

    pub(crate) fn buffer(&self) -> Result<(&wgpu::Buffer, BufferView)> {
        let (block, view) = self.shown.as_ref().ok_or(Error::NothingShown)?;
        Ok((block.buffer(), *view))
    }
}

impl SurfaceDriver<Bytes> for InPlaceBuffer {
    fn read_back(&mut self, at: &Range<usize>) -> Result<Vec<u8>> {
        let (buffer, view) = self.buffer()?;
        let start = view.offset + at.start;
        self.shared.read_buffer(buffer, start as u64..(start + at.len()) as u64)
    }
}

impl InPlaceDriver<Bytes> for InPlaceBuffer {
    fn lend(&self, queue: HandleType) -> Result<Option<(SharedHandle, Option<BufferView>)>> {
        let (buffer, view) = self.buffer()?;
        Ok(export(&self.shared, buffer, queue).map(|handle| (handle, Some(view))))
    }

    fn show(&mut self, staging: &Staging, view: &BufferView) -> Result<()> {
        self.shown = Some((Arc::clone(WgpuStaging::of(staging, &self.shared)?.block()?), *view));
        Ok(())
    }
}
