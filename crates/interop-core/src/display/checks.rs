//! Refusals of an engine's objects that several displays have.

use crate::describe::error::{Error, Result};
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

/// Returns the message for an engine's object that can be copied neither from nor to.
pub fn no_copies([from, to]: [&str; 2], usage: &dyn fmt::Debug) -> String {
    format!("its usage is {usage:?}: add {from} for what is taken from it, {to} for what is written into it")
}
