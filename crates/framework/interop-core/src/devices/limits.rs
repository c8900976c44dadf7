//! Checks of sizes and formats against the limits of a display or a device.

use super::capability::{ComputeCaps, DisplayCaps, Support};
use crate::describe::error::{Error, Result};
use crate::describe::surface::SurfaceDesc;

impl SurfaceDesc {
    /// Checks the description against the limits of a display, whose name errors contain. Returns the bytes of one
    /// frame.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for invalid sizes, [`Error::Unsupported`] for sizes and formats that the display does
    /// not show.
    pub fn check(&self, display: &str, caps: &DisplayCaps) -> Result<usize> {
        let bytes = self.byte_len()?;
        match self {
            Self::Image(i) if !caps.image_formats.contains(&i.format) => {
                let lacked = caps.lacked_formats.iter().find(|(format, _)| *format == i.format);
                let lacked = lacked.map(|(_, what)| format!(", because it lacks {what}")).unwrap_or_default();
                Err(Error::unsupported(
                    display.to_owned(),
                    format!("it does not show images of format {}{lacked}; use another format", i.format),
                ))
            }
            Self::Image(i) if i.extent.width.max(i.extent.height) > caps.max_image_side => Err(Error::unsupported(
                display.to_owned(),
                format!(
                    "{} is larger than its largest texture, {m}x{m}; use a smaller size or several surfaces",
                    i.extent,
                    m = caps.max_image_side
                ),
            )),
            Self::Image(_) if bytes as u64 <= caps.max_image_bytes => Ok(bytes),
            _ => {
                let refuse = |reason| Error::unsupported(display, format!("{self}: {reason}"));
                caps.fits(bytes as u64).ok_or_else(refuse).map(|()| bytes)
            }
        }
    }
}

impl DisplayCaps {
    /// Tells whether a buffer may have this many bytes.
    pub(crate) fn fits(&self, bytes: u64) -> Support {
        within(bytes, self.max_buffer_bytes, "buffer", self.buffer_limit)
    }
}

impl ComputeCaps {
    /// Tells whether linear memory may have this many bytes.
    pub(crate) fn fits(&self, bytes: u64) -> Support {
        within(bytes, self.max_allocation, "allocation", self.allocation_limit)
    }
}

/// Compares a size with `most`; `limit` is the device's name for it, and how to raise it.
fn within(bytes: u64, most: u64, what: &str, limit: &str) -> Support {
    let limit = if limit.is_empty() { String::new() } else { format!(" ({limit})") };
    Support::when(bytes <= most, format!("{bytes} bytes are more than its largest {what}, {most}{limit}"))
}
