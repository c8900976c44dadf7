//! No surface passes for another one, of another size.

use interop_core::display::{Pixels, SurfaceDriver};
use interop_core::{Region, Result, Surface, SurfacePart};
use std::any::Any;

struct Large(Surface);

impl SurfaceDriver<Pixels> for Large {
    fn read_back(&mut self, at: &Region) -> Result<Vec<u8>> {
        self.0.read_back(&SurfacePart::Image(*at))
    }
    fn as_any(&self) -> &dyn Any { //~ E0407
        self.0.driver()
    }
}

fn main() {}
