//! Environment variables: read, and rejected with an error where the value is invalid.

use super::error::{Error, Result};
use std::ffi::OsString;

/// Returns a variable's value without surrounding spaces; `None` where it is unset or empty.
pub(crate) fn text(get: &dyn Fn(&str) -> Option<OsString>, variable: &str, wanted: &str) -> Result<Option<String>> {
    let Some(value) = get(variable) else { return Ok(None) };
    let text = value.to_str().ok_or_else(|| wrong(variable, &value.to_string_lossy(), wanted))?.trim();
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

pub(crate) fn wrong(variable: &str, value: &str, wanted: &str) -> Error {
    Error::invalid("environment", format!("invalid value '{value}' for {variable}; use {wanted}"))
}
