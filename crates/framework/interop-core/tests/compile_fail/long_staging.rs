//! No block passes for another one, of another length: its type is all that a display finds it by.

use interop_core::display::StagingDriver;
use interop_core::{Result, Staging};
use std::any::Any;

struct Long(Staging);

impl StagingDriver for Long {
    fn fence(&mut self, _: bool) -> Result<()> {
        self.0.fence()
    }
    fn wait(&mut self) -> Result<()> {
        self.0.wait()
    }
    fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        self.0.map_write(f)
    }
    fn as_any(&self) -> &dyn Any { //~ E0407
        self.0.driver()
    }
}

fn main() {}
