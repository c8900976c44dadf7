//! Writes the verification pattern with the code that runs users' kernels.

use crate::buffer::CpuBuffer;
use crate::crew::Loops;
use crate::image::CpuImage;
use interop_core::describe::pattern::Pattern;
use interop_core::{Result, View};

/// Name of the kernel in messages.
pub(crate) const NAME: &str = "verification pattern";

/// Writes the pattern into `bytes`, the span of `view`.
pub(crate) fn write(pattern: &Pattern, view: View, bytes: &mut [u8], loops: Loops) -> Result<()> {
    match view {
        View::Image(image) => {
            CpuImage::new(bytes, image, loops, NAME).for_rows(|y, row| pattern.write_row(y, row));
            Ok(())
        }
        View::Buffer(_) => CpuBuffer::new(bytes, loops, NAME)
            .par_chunks::<u8>(Pattern::BUFFER_ROW, |row, bytes| pattern.write_row(row as u32, bytes)),
    }
}
