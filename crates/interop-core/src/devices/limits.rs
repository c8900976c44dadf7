//! Check of a surface's description against a display's limits.

use super::capability::DisplayCaps;
use crate::describe::error::{Error, Result};
use crate::describe::surface::SurfaceDesc;

impl SurfaceDesc {
    /// Checks the description against a display's limits. Returns the bytes of one frame.
    pub fn check(&self, display: &str, caps: &DisplayCaps) -> Result<usize> {
        let bytes = self.byte_len()?;
        match self {
            Self::Image(i) if !caps.image_formats.contains(&i.format) => {
                let lacked = caps.lacked_formats.iter().find(|(format, _)| *format == i.format);
                let lacked = lacked.map(|(_, what)| format!(", as it lacks {what}")).unwrap_or_default();
                Err(Error::unsupported(
                    display.to_owned(),
                    format!("it shows no images of {}{lacked}; use another format", i.format),
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
            _ if bytes as u64 > caps.max_buffer_bytes => Err(Error::unsupported(
                display.to_owned(),
                format!("{self} is larger than its largest buffer, {} bytes", caps.max_buffer_bytes),
            )),
            _ => Ok(bytes),
        }
    }
}
