//! Options that Python gives by name.

use crate::failure::Failure;
use pixelferry::{Audit, Fit, PixelFormat, RowOrder};
use pyo3::prelude::*;
use std::num::NonZero;

/// The error for a name that is not among `names`.
pub fn one_of(what: &str, given: &str, names: &[&str]) -> Failure {
    Failure::Shape(format!("unknown {what}='{given}'; use one of {}", names.join(", ")))
}

/// A format of pictures.
pub fn format(name: &str) -> Result<PixelFormat, Failure> {
    let names = PixelFormat::ALL.map(name_of);
    let known = names.iter().position(|known| known == name).map(|at| PixelFormat::ALL[at]);
    known.ok_or_else(|| one_of("format", name, &names.each_ref().map(String::as_str)))
}

/// Python's name of a format.
pub fn name_of(format: PixelFormat) -> String {
    format.name().to_lowercase()
}

/// Parses which frames are audited: "auto", "off", or a number N for each Nth frame.
pub fn audit(given: Option<&Bound<'_, PyAny>>) -> Result<Audit, Failure> {
    let Some(given) = given else { return Ok(Audit::Auto) };
    let every = given.extract().ok().and_then(NonZero::new).map(Audit::Every);
    match (every, given.extract().unwrap_or_default()) {
        (Some(every), _) => Ok(every),
        (None, "auto") => Ok(Audit::Auto),
        (None, "off") => Ok(Audit::Off),
        _ => Err(one_of("audit", &given.to_string(), &["auto", "off", "a number from 1"])),
    }
}

/// Returns the order of an array's rows in a picture.
pub fn rows(name: &str) -> Result<RowOrder, Failure> {
    match name {
        "top-down" => Ok(RowOrder::TopDown),
        "bottom-up" => Ok(RowOrder::BottomUp),
        other => Err(one_of("rows", other, &["top-down", "bottom-up"])),
    }
}

/// Parses how a picture is fitted into an area.
pub fn fit(name: &str) -> Result<Fit, Failure> {
    match name {
        "contain" => Ok(Fit::Contain),
        "stretch" => Ok(Fit::Stretch),
        "cover" => Ok(Fit::Cover),
        "integer" => Ok(Fit::Integer),
        "none" => Ok(Fit::None),
        other => Err(one_of("fit", other, &["contain", "stretch", "cover", "integer", "none"])),
    }
}
