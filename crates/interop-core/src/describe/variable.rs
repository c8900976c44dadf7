//! Variables of the environment: read, and refused where they say what cannot be.

use super::error::{Error, Result};
use std::ffi::OsString;

/// A variable's value without spaces around it; `None` where it is not set or empty.
pub(crate) fn text(get: &dyn Fn(&str) -> Option<OsString>, variable: &str, wanted: &str) -> Result<Option<String>> {
    let Some(value) = get(variable) else { return Ok(None) };
    let text = value.to_str().ok_or_else(|| wrong(variable, &value.to_string_lossy(), wanted))?.trim();
    Ok((!text.is_empty()).then(|| text.to_owned()))
}

pub(crate) fn wrong(variable: &str, value: &str, wanted: &str) -> Error {
    Error::invalid("environment", format!("{variable} is '{value}'; give {wanted}"))
}
