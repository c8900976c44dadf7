//! What stands in a slot while its memory is out.

use pixelferry::{ComputeMemory, Error, Result};
use std::ops::Range;

/// Memory of no backend, which refuses everything.
pub(super) struct Nothing;

fn refused<T>() -> Result<T> {
    Err(Error::invalid("Nothing", "this is no memory"))
}

impl ComputeMemory for Nothing {
    fn len(&self) -> usize {
        1
    }

    fn read(&mut self, _: usize, _: &mut [u8]) -> Result<()> {
        refused()
    }

    fn write(&mut self, _: usize, _: &[u8]) -> Result<()> {
        refused()
    }

    fn map_read(&mut self, _: Range<usize>, _: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        refused()
    }

    fn map_write(&mut self, _: Range<usize>, _: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        refused()
    }

    fn release(&mut self) -> Result<()> {
        refused()
    }
}
