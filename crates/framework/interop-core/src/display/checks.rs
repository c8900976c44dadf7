//! Errors about an engine's objects and about surfaces that several displays share.

use crate::describe::error::{Error, Result};
use crate::describe::surface::SurfaceDesc;
use std::fmt;

/// Checks that an engine's object was created with the usage `name`, which a copy needs; `usage` is its actual usage.
///
/// # Errors
/// [`Error::InvalidInput`] where `has` is false.
pub fn made_with(has: bool, name: &str, usage: &dyn fmt::Debug) -> Result<()> {
    if has {
        return Ok(());
    }
    Err(Error::refused(format!("the engine's object was created without {name}: its usage is {usage:?}")))
}

/// Checks that an engine's object can be copied from or to: its usage must contain one of the two names.
///
/// # Errors
/// [`Error::InvalidInput`] where `copied` is false.
pub fn check_copies(copied: bool, [from, to]: [&str; 2], usage: &dyn fmt::Debug) -> Result<()> {
    if copied {
        return Ok(());
    }
    let problem = format!("the object's usage is {usage:?}; add {from} to copy from it, {to} to copy into it");
    Err(Error::refused(problem))
}

/// Error for reading a staging block before its first frame.
pub fn not_filled() -> Error {
    Error::refused("the staging block has not been filled yet")
}

/// Error for showing a block in place that the display replaces with each frame.
pub fn not_lasting() -> Error {
    Error::refused("a block that is replaced with each frame cannot be shown in place; upload it")
}

/// Error for a surface of the other kind of content.
pub fn wrong_kind(desc: &SurfaceDesc) -> Error {
    Error::refused(format!("this call does not accept a surface of this kind: {desc}"))
}
