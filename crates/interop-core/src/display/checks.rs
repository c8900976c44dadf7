//! Refusals of an engine's objects that several displays have.

use crate::describe::error::{Error, Result};
use crate::describe::surface::SurfaceDesc;
use std::fmt;

/// Refuses an engine's object that was made without the usage `name`, which a copy needs; `usage` is what it was made with.
///
/// # Errors
/// [`Error::InvalidInput`] where not `has`.
pub fn made_with(has: bool, name: &str, usage: &dyn fmt::Debug) -> Result<()> {
    if has {
        return Ok(());
    }
    Err(Error::refused(format!("the engine's object was made without {name}: its usage is {usage:?}")))
}

/// Refuses an engine's object that can be copied neither from nor to: it is `copied` where its usage has one of the two names.
///
/// # Errors
/// [`Error::InvalidInput`] where not `copied`.
pub fn check_copies(copied: bool, [from, to]: [&str; 2], usage: &dyn fmt::Debug) -> Result<()> {
    if copied {
        return Ok(());
    }
    let problem =
        format!("its usage is {usage:?}: add {from} for what is taken from it, {to} for what is written into it");
    Err(Error::refused(problem))
}

/// The refusal of a staging block before its first frame.
pub fn not_filled() -> Error {
    Error::refused("the staging block was not filled yet")
}

/// The refusal to show a block in place that a display replaces with each frame.
pub fn not_lasting() -> Error {
    Error::refused("a block that is another for each frame is not shown in place; upload it")
}

/// The refusal of a surface of the other kind.
pub fn wrong_kind(desc: &SurfaceDesc) -> Error {
    Error::refused(format!("it is not made for a surface that is an {desc}"))
}
