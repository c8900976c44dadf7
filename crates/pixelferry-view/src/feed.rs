//! Brings an array's picture to a display. The array's own device, or the processor, makes the picture where the array
//! is, with the kernel that makes pictures of all arrays. Later frames of the same picture cost nothing.

use crate::array::Array;
use crate::error::ViewError;
use pixelferry::{
    BackendChoice, ComputeMemory, Display, ImageDesc, Kernel, Link, LinkBuilder, LinkOptions, Opened, PixelFormat,
    SurfaceDesc, Unwritten,
};
use pixelferry_look::{Gauge, Plane};
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;

pub struct Feed {
    pub link: Link,
    kernel: Arc<dyn Kernel>,
    table: Table,
    is_device: bool,
    /// Measures arrays on the device.
    pub gauge: Option<Gauge>,
}

/// A colormap's table, with a copy in memory of the backend.
type Table = Option<(&'static [[u8; 4]; 256], Box<dyn ComputeMemory>)>;

impl Feed {
    /// Opens a link for pictures as large as the plane, for arrays in memory like this one's.
    pub fn open(display: &Rc<dyn Display>, array: &Array, plane: &Plane) -> Result<Self, ViewError> {
        plane.check_sides(display.caps().max_image_side)?;
        // Use a texture of the display instead of host memory that draws read in place: each picture is drawn many
        // times.
        let image = ImageDesc::new(plane.width, plane.height, PixelFormat::Rgba8);
        let desc = SurfaceDesc::Image(image.with_unwritten(Unwritten::Overwrite));
        let link = match array.backend() {
            // Use this very backend: another backend on the same device cannot read its memory.
            Some(backend) => Link::open(Arc::clone(backend), Rc::clone(display), desc, LinkOptions::default())?,
            None => {
                let builder = LinkBuilder::new(desc).shown_by(display).backend(BackendChoice::Cpu);
                let Opened { link, .. } = builder.open()?;
                link
            }
        };
        let kernel = link.backend().build(&Plane::source(&desc))?;
        Ok(Self { link, kernel, table: None, is_device: array.backend().is_some(), gauge: None })
    }

    /// Returns whether the feed can read that array's memory.
    pub fn reads(&self, array: &Array) -> bool {
        array.backend().map_or(!self.is_device, |backend| Arc::ptr_eq(backend, self.link.backend()))
    }

    /// Makes a picture of the array and shows it.
    pub fn put(&mut self, array: &Array, plane: &Plane) -> Result<(), ViewError> {
        let Self { link, kernel, table, .. } = self;
        let backend = Arc::clone(link.backend());
        if let Some(colours) = plane.table()
            && table.as_ref().is_none_or(|(of, _)| !ptr::eq(*of, colours))
        {
            let bytes = colours.as_flattened();
            let mut memory = backend.allocate(bytes.len())?;
            memory.write(0, bytes)?;
            *table = Some((colours, memory));
        }
        let table = plane.table().and(table.as_ref()).map(|(_, memory)| memory.as_ref());
        array.lend(backend.as_ref(), plane, |memory, plane| {
            link.frame(|frame| frame.launch(kernel.as_ref(), &plane.arguments(memory, table)))?;
            link.flush()
        })?;
        Ok(())
    }
}
