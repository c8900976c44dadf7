//! Parts of a command line program: choices by their names, and files that are checked before the work.

pub use crate::choice::{Choice, Named};
pub use crate::files::check_writable;
#[cfg(feature = "picture")]
pub use crate::picture::check_picture_file;
