//! No block passes for another one that the host reaches, so that a display would write under a slice.

use interop_core::display::StagingDriver;
use interop_core::{Result, Staging};
use std::any::Any;

struct UnlistedStaging(Staging);

impl StagingDriver for UnlistedStaging {
    fn fence(&mut self, _: bool) -> Result<()> {
        self.0.fence()
    }
    fn wait(&mut self) -> Result<()> {
        self.0.wait()
    }
    fn map_write(&mut self, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        self.0.map_write(f)
    }
    fn as_any_mut(&mut self) -> &mut dyn Any { //~ E0407
        self.0.driver_mut()
    }
}

fn main() {}
