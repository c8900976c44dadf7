//! Memory for frames, refused where this machine has none.

use interop_core::{Error, Result};

/// Empty memory for so many bytes.
pub(crate) fn reserve(len: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    bytes.try_reserve_exact(len).map_err(|e| Error::Unavailable {
        what: format!("host memory of {len} bytes"),
        reason: e.to_string(),
        hint: "Use a smaller part or free memory.".into(),
    })?;
    Ok(bytes)
}
