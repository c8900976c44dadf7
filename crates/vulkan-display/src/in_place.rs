//! Surfaces without storage, which show staging blocks where they lie.

use crate::device_state::DeviceState;
use crate::memory::{Buffer, Image};
use crate::staging::VulkanStaging;
use crate::transfer::{blit_back, read_buffer, read_image, read_rows};
use interop_core::display::checks::{buffer_source, image_source, range, region};
use interop_core::draw::{Manner, Plan};
use interop_core::{
    BufferView, Error, ImageDesc, ImageView, Part, Region, Result, Staging, Surface, SurfaceDesc, View,
};
use std::any::Any;
use std::rc::Rc;

/// Where the pixels lie that an image surface shows.
pub(crate) enum Pixels {
    /// In an image.
    Image(Rc<Image>),
    /// In rows of a buffer.
    Rows(Rc<Buffer>, ImageView),
}

/// An image in a staging block.
pub(crate) struct InPlaceImage {
    desc: SurfaceDesc,
    shown: Option<Pixels>,
    shared: Rc<DeviceState>,
}

interop_core::owned!(InPlaceImage: DeviceState, "surface", |surface| &surface.shared);

impl InPlaceImage {
    pub(crate) fn new(shared: &Rc<DeviceState>, desc: SurfaceDesc) -> Self {
        Self { desc, shown: None, shared: Rc::clone(shared) }
    }

    pub(crate) fn pixels(&self) -> Result<&Pixels> {
        self.shown.as_ref().ok_or(Error::NothingShown)
    }
}

impl Surface for InPlaceImage {
    fn desc(&self) -> &SurfaceDesc {
        &self.desc
    }

    fn read_in_place(&mut self, staging: &dyn Staging, view: &View) -> Result<()> {
        const OP: &str = "read_in_place";
        let staging = VulkanStaging::of(staging, &self.shared, OP)?;
        let pixels = match staging.image() {
            Some(image) => {
                let of = image.desc();
                let fits = |i: &ImageDesc| i.extent == of.extent && i.format == of.format;
                if !matches!(&self.desc, SurfaceDesc::Image(i) if fits(i)) {
                    let problem =
                        format!("the block is an image of {} {}, the surface is {}", of.extent, of.format, self.desc);
                    return Err(Error::invalid(OP, problem));
                }
                Pixels::Image(Rc::clone(image))
            }
            None => {
                let (_, view) = image_source(&self.desc, &Part::full(&self.desc), view, staging.len(), OP)?;
                Pixels::Rows(Rc::clone(staging.lasting(OP)?), view)
            }
        };
        staging.show();
        self.shown = Some(pixels);
        Ok(())
    }

    fn read_back(&mut self, part: &Part) -> Result<Vec<u8>> {
        let region = region(&self.desc, part, "read_back")?;
        match self.pixels()? {
            Pixels::Image(image) => {
                read_image(&self.shared, image.place(), image.desc().format.bytes_per_pixel(), region)
            }
            Pixels::Rows(buffer, view) => read_rows(&self.shared, buffer.raw(), view, region),
        }
    }

    fn draw_back(&mut self, at: Region, plan: &Plan, manner: Option<Manner>) -> Result<Option<Vec<u8>>> {
        let at = region(&self.desc, &Part::Image(at), "draw_back")?;
        match self.pixels()? {
            Pixels::Image(image) if manner.is_none() && plan.is_copy() => blit_back(&self.shared, image.place(), at),
            _ => Ok(None),
        }
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}

/// Bytes in a staging block.
pub(crate) struct InPlaceBuffer {
    desc: SurfaceDesc,
    shown: Option<(Rc<Buffer>, BufferView)>,
    shared: Rc<DeviceState>,
}

interop_core::owned!(InPlaceBuffer: DeviceState, "surface", |surface| &surface.shared);

impl InPlaceBuffer {
    pub(crate) fn new(shared: &Rc<DeviceState>, desc: SurfaceDesc) -> Self {
        Self { desc, shown: None, shared: Rc::clone(shared) }
    }

    pub(crate) fn bytes(&self) -> Result<(&Rc<Buffer>, BufferView)> {
        let (buffer, view) = self.shown.as_ref().ok_or(Error::NothingShown)?;
        Ok((buffer, *view))
    }
}

impl Surface for InPlaceBuffer {
    fn desc(&self) -> &SurfaceDesc {
        &self.desc
    }

    fn read_in_place(&mut self, staging: &dyn Staging, view: &View) -> Result<()> {
        const OP: &str = "read_in_place";
        let staging = VulkanStaging::of(staging, &self.shared, OP)?;
        let (_, view) = buffer_source(&self.desc, &Part::full(&self.desc), view, staging.len(), OP)?;
        let buffer = Rc::clone(staging.lasting(OP)?);
        staging.show();
        self.shown = Some((buffer, view));
        Ok(())
    }

    fn read_back(&mut self, part: &Part) -> Result<Vec<u8>> {
        let range = range(&self.desc, part, "read_back")?;
        let (buffer, view) = self.bytes()?;
        let start = view.offset as u64;
        read_buffer(&self.shared, buffer.raw(), &(start + range.start..start + range.end))
    }

    fn as_any(&self) -> &dyn Any {
        self
    }
}
