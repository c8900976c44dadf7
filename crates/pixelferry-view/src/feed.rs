//! The way of an array of the host to a display. Its picture is made by the processor, which reads the array where it lies, in
//! the kernel that makes pictures of all arrays; later frames of the same picture cost nothing.

use crate::array::Array;
use crate::error::ViewError;
use pixelferry::{
    BackendChoice, ComputeMemory, Display, ImageDesc, Kernel, Link, LinkBuilder, Opened, PixelFormat, Result,
    SurfaceDesc, Unwritten,
};
use pixelferry_look::Plane;
use std::ptr;
use std::rc::Rc;
use std::sync::Arc;

pub struct Feed {
    pub link: Link,
    kernel: Arc<dyn Kernel>,
    table: Table,
}

/// Colours of a map in memory of the backend.
type Table = Option<(&'static [[u8; 4]; 256], Box<dyn ComputeMemory>)>;

impl Feed {
    /// A way for pictures as large as the plane.
    pub fn open(display: &Rc<dyn Display>, plane: &Plane) -> Result<Self> {
        // A texture of the display's, and not memory of the host that it reads in place: each is drawn many times.
        let image = ImageDesc::new(plane.width, plane.height, PixelFormat::Rgba8);
        let desc = SurfaceDesc::Image(image.with_unwritten(Unwritten::Overwrite));
        let builder = LinkBuilder::new(desc).shown_by(display).backend(BackendChoice::Cpu);
        let Opened { backend, link, .. } = builder.open()?;
        Ok(Self { kernel: backend.build(&Plane::source(&desc))?, link, table: None })
    }

    /// Makes a picture of the array and shows it.
    pub fn put(&mut self, array: &Array, plane: &Plane) -> Result<(), ViewError> {
        let Self { link, kernel, table } = self;
        let backend = Arc::clone(link.backend());
        let memory = backend.import_host(&array.block(&plane.span)?)?;
        if let Some(colours) = plane.table()
            && table.as_ref().is_none_or(|(of, _)| !ptr::eq(*of, colours))
        {
            let bytes = colours.as_flattened();
            let mut memory = backend.allocate(bytes.len())?;
            memory.write(0, bytes)?;
            *table = Some((colours, memory));
        }
        let table = plane.table().and(table.as_ref()).map(|(_, memory)| memory.as_ref());
        link.frame(|frame| frame.launch(kernel.as_ref(), &plane.arguments(memory.as_ref(), table)))?;
        Ok(link.flush()?)
    }
}
