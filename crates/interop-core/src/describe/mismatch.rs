//! The first pixel that is not as it was written.

use std::fmt;

/// The first difference between what was written and what the display showed.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Mismatch {
    /// Row (images: in the display's native order).
    pub row: u32,
    /// Byte inside the row.
    pub byte: usize,
    /// Byte that was written.
    pub expected: u8,
    /// Byte that was read.
    pub found: u8,
    /// Number of the frame.
    pub frame: u32,
    /// State of the display's that is not as in a new context, and that may be why; see [`crate::Display::unusual_states`].
    pub unusual_states: Vec<String>,
}

impl fmt::Display for Mismatch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "frame {}, row {}, byte {}: wrote {:#04x}, the display showed {:#04x}",
            self.frame, self.row, self.byte, self.expected, self.found
        )?;
        if self.unusual_states.is_empty() {
            return Ok(());
        }
        write!(f, " (not as in a new context: {})", self.unusual_states.join(", "))
    }
}
