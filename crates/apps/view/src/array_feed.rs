//! The link of an array to a display. Its picture is made where the array lies, by the array's own device or by the backend that makes
//! pictures of the host's arrays the quickest; later frames of the same picture cost nothing.

use crate::array::Array;
use crate::error::ViewError;
use pixelferry::{
    Api, AutoLink, ComputeBackend, Display, ImageDesc, Kernel, Link, LinkBuilder, LinkCore, LinkOptions, PixelFormat,
    SurfaceDesc, Unwritten,
};
use pixelferry_look::{ColourTable, Gauge, Plane};
use std::sync::Arc;

pub struct ArrayFeed {
    carrier: Carrier,
    /// Measures arrays on the device.
    pub gauge: Option<Gauge>,
}

enum Carrier {
    /// Arrays of the host, which any backend can write.
    Host(Box<AutoLink<Writer>>),
    /// Arrays of this very backend: another one of its device does not read its memory.
    Device(Box<Link>, Arc<dyn Kernel>, ColourTable),
}

/// What a backend needs to make pictures of the host's arrays.
struct Writer {
    /// `None` where the host makes the picture in memory that the backend uploads from.
    kernel: Option<Arc<dyn Kernel>>,
    table: ColourTable,
}

impl ArrayFeed {
    /// A link for pictures as large as the plane, of arrays in memory like this one's.
    pub fn open(display: &Arc<dyn Display>, array: &Array, plane: &Plane) -> Result<Self, ViewError> {
        plane.check_sides(display.caps().max_image_side)?;
        // Use a texture of the display instead of host memory that draws read in place: each picture is drawn many
        // times.
        let image = ImageDesc::new(plane.width, plane.height, PixelFormat::Rgba8);
        let desc = SurfaceDesc::Image(image.with_unwritten(Unwritten::Overwrite));
        let carrier = match array.backend() {
            Some(backend) => {
                let link = Link::open(Arc::clone(backend), Arc::clone(display), desc, LinkOptions::default())?;
                Carrier::Device(Box::new(link), backend.build(&Plane::source(&desc))?, ColourTable::default())
            }
            None => {
                let builder = LinkBuilder::new(desc).shown_by(display).work(plane.work());
                let prepare = move |backend: &Arc<dyn ComputeBackend>, _| {
                    let has_kernel = backend.device().api == Api::Cpu;
                    let kernel = has_kernel.then(|| backend.build(&Plane::source(&desc))).transpose()?;
                    Ok(Writer { kernel, table: ColourTable::default() })
                };
                Carrier::Host(Box::new(builder.open_auto(prepare)?))
            }
        };
        Ok(Self { carrier, gauge: None })
    }

    pub fn link(&self) -> &LinkCore {
        match &self.carrier {
            Carrier::Host(link) => link.link(),
            Carrier::Device(link, ..) => link,
        }
    }

    pub fn link_mut(&mut self) -> &mut LinkCore {
        match &mut self.carrier {
            Carrier::Host(link) => link.link_mut(),
            Carrier::Device(link, ..) => link,
        }
    }

    /// Returns whether the feed can read that array's memory.
    pub fn reads(&self, array: &Array) -> bool {
        match (&self.carrier, array.backend()) {
            (Carrier::Device(link, ..), Some(backend)) => Arc::ptr_eq(backend, link.backend()),
            (carrier, backend) => backend.is_none() && matches!(carrier, Carrier::Host(_)),
        }
    }

    /// Makes a picture of the array and shows it.
    pub fn put(&mut self, array: &Array, plane: &Plane) -> Result<(), ViewError> {
        match &mut self.carrier {
            Carrier::Host(link) => {
                link.set_work(&plane.work());
                // Kernels read it until the frame is flushed.
                let mut read = None;
                link.frame(|next, Writer { kernel, table }| {
                    let Some(kernel) = kernel else {
                        return array.read(&plane.span, |bytes| plane.write(next.target()?, bytes))?;
                    };
                    let memory = array.import(next.backend(), &plane.span)?;
                    let table = table.lend(plane.table(), next.backend())?;
                    next.launch(kernel.as_ref(), &plane.arguments(memory.as_ref(), table))?;
                    read = Some(memory);
                    Ok(())
                })?;
                link.link_mut().flush()?;
            }
            Carrier::Device(link, kernel, table) => {
                let backend = Arc::clone(link.backend());
                let table = table.lend(plane.table(), backend.as_ref())?;
                array.lend(backend.as_ref(), plane, |memory, plane| {
                    link.frame(|frame| frame.launch(kernel.as_ref(), &plane.arguments(memory, table)))?;
                    link.flush()
                })?;
            }
        }
        Ok(())
    }
}
