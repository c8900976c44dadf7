//! A backend, a display and four paths that pixelferry does not know: what a program of somebody else's would add.
//!
//! They stand on the public contracts of `interop-core` alone, and its conformance suite is their test.

mod backend;
mod board;
mod changed_rows;
mod lent_bytes;
mod own_pages;
mod page_flip;

pub use backend::{PIXEL_FUNCTION, PixelFunction, Value, Worker};
pub use board::Board;
pub use changed_rows::changed_rows;
pub use lent_bytes::lent_bytes;
pub use own_pages::own_pages;
pub use page_flip::page_flip;
