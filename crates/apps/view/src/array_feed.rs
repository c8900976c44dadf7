//! The link of an array to a display. Its picture is made where the array lies, by the array's own device or by the backend that makes
//! pictures of the host's arrays the quickest; later frames of the same picture cost nothing.

use crate::array::Array;
use crate::error::ViewError;
use pixelferry::{
    Api, AutoLink, ComputeBackend, ComputeMemory, Display, ImageDesc, Kernel, Link, LinkBuilder, LinkOptions,
    PixelFormat, Result, SurfaceDesc, Unwritten,
};
use pixelferry_look::{Gauge, Plane};
use std::ptr;
use std::rc::Rc;
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
    Device(Box<Link>, Writer),
}

/// What a backend needs to make pictures.
struct Writer {
    backend: Arc<dyn ComputeBackend>,
    /// `None` where the host makes the picture in memory that the backend uploads from.
    kernel: Option<Arc<dyn Kernel>>,
    table: Table,
}

/// Colours of a map in memory of the backend.
type Table = Option<(&'static [[u8; 4]; 256], Box<dyn ComputeMemory>)>;

impl Writer {
    fn new(backend: &Arc<dyn ComputeBackend>, desc: &SurfaceDesc, has_kernel: bool) -> Result<Self> {
        let kernel = has_kernel.then(|| backend.build(&Plane::source(desc))).transpose()?;
        Ok(Self { backend: Arc::clone(backend), kernel, table: None })
    }

    /// The colours of a plane's map as the kernel reads them.
    fn colours(&mut self, plane: &Plane) -> Result<Option<&dyn ComputeMemory>> {
        let Some(colours) = plane.table() else { return Ok(None) };
        if self.table.as_ref().is_none_or(|(of, _)| !ptr::eq(*of, colours)) {
            let bytes = colours.as_flattened();
            let mut memory = self.backend.allocate(bytes.len())?;
            memory.write(0, bytes)?;
            self.table = Some((colours, memory));
        }
        Ok(self.table.as_ref().map(|(_, memory)| memory.as_ref()))
    }
}

impl ArrayFeed {
    /// A link for pictures as large as the plane, of arrays in memory like this one's.
    pub fn open(display: &Rc<dyn Display>, array: &Array, plane: &Plane) -> Result<Self, ViewError> {
        plane.check_sides(display.caps().max_image_side)?;
        // Use a texture of the display instead of host memory that draws read in place: each picture is drawn many
        // times.
        let image = ImageDesc::new(plane.width, plane.height, PixelFormat::Rgba8);
        let desc = SurfaceDesc::Image(image.with_unwritten(Unwritten::Overwrite));
        let carrier = match array.backend() {
            Some(backend) => {
                let link = Link::open(Arc::clone(backend), Rc::clone(display), desc, LinkOptions::default())?;
                Carrier::Device(Box::new(link), Writer::new(backend, &desc, true)?)
            }
            None => {
                let builder = LinkBuilder::new(desc).shown_by(display).work(plane.work());
                let prepare = move |backend: &Arc<_>, _| Writer::new(backend, &desc, backend.device().api == Api::Cpu);
                Carrier::Host(Box::new(builder.open_auto(prepare)?))
            }
        };
        Ok(Self { carrier, gauge: None })
    }

    pub fn link(&self) -> &Link {
        match &self.carrier {
            Carrier::Host(link) => link.link(),
            Carrier::Device(link, _) => link,
        }
    }

    pub fn link_mut(&mut self) -> &mut Link {
        match &mut self.carrier {
            Carrier::Host(link) => link.link_mut(),
            Carrier::Device(link, _) => link,
        }
    }

    /// Returns whether the feed can read that array's memory.
    pub fn reads(&self, array: &Array) -> bool {
        match (&self.carrier, array.backend()) {
            (Carrier::Device(link, _), Some(backend)) => Arc::ptr_eq(backend, link.backend()),
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
                link.frame(|next, writer| {
                    let Some(kernel) = writer.kernel.clone() else {
                        return array.read(&plane.span, |bytes| plane.write(next.target()?, bytes))?;
                    };
                    let memory = array.import(writer.backend.as_ref(), &plane.span)?;
                    next.launch(kernel.as_ref(), &plane.arguments(memory.as_ref(), writer.colours(plane)?))?;
                    read = Some(memory);
                    Ok(())
                })?;
                link.link_mut().flush()?;
            }
            Carrier::Device(link, writer) => {
                let (backend, kernel) = (Arc::clone(&writer.backend), writer.kernel.clone());
                let table = writer.colours(plane)?;
                array.lend(backend.as_ref(), plane, |memory, plane| {
                    let Some(kernel) = &kernel else { return Ok(()) };
                    link.frame(|frame| frame.launch(kernel.as_ref(), &plane.arguments(memory, table)))?;
                    link.flush()
                })?;
            }
        }
        Ok(())
    }
}
