//! The publisher's side: a display whose surfaces are in memory that other processes share.

mod display;
mod display_state;
mod hub;
mod piece;
mod server;
mod staging;
mod surface;

pub(crate) use display::now;
pub use display::{PublishedFrame, StreamDisplay, StreamOptions};
