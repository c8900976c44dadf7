//! The first pixel that differs from the written one.

use std::fmt;

/// The first difference between the written bytes and those that the display showed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Mismatch {
    /// Row of the pixel; for images, in the display's native order.
    pub row: u32,
    /// Byte within the row.
    pub byte: usize,
    /// The byte that was written.
    pub expected: u8,
    /// The byte that was read back.
    pub found: u8,
    /// Number of the frame.
    pub frame: u32,
    /// Display state that differs from a new context's and may be the cause; see [`crate::Display::unusual_states`].
    pub unusual_states: Vec<String>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "frame {}, row {}, byte {}: pixelferry wrote {:#04x}, but the display showed {:#04x}",
            self.frame, self.row, self.byte, self.expected, self.found
        )?;
        if self.unusual_states.is_empty() {
            return Ok(());
        }
        write!(
            f,
            " (these settings of the context were changed and may be the cause: {})",
            self.unusual_states.join(", ")
        )
    }
}
