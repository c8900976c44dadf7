//! Building blocks of command-line programs: choices by name, and checks of output files before the work.

pub use crate::choice::{ApiChoice, ChoiceRow};
pub use crate::files::check_writable;
#[cfg(feature = "picture")]
pub use crate::picture::check_picture_file;
