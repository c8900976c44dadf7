//! Memory in the place of memory that is gone.

use crate::compute::MemoryDriver;
use crate::describe::error::{Error, Result};
use std::ops::Range;

/// In the place of memory that goes later than its owner, or that a path does not have.
pub(super) struct Gone;

impl MemoryDriver for Gone {
    fn len(&self) -> usize {
        0
    }

    fn read(&mut self, _: usize, _: &mut [u8]) -> Result<()> {
        Err(gone())
    }

    fn write(&mut self, _: usize, _: &[u8]) -> Result<()> {
        Err(gone())
    }

    fn map_read(&mut self, _: Range<usize>, _: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        Err(gone())
    }

    fn map_write(&mut self, _: Range<usize>, _: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        Err(gone())
    }

    fn release(&mut self) -> Result<()> {
        Err(gone())
    }
}

fn gone() -> Error {
    Error::refused("the memory was given back")
}
