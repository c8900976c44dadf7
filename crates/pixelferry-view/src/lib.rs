//! A window that shows arrays closely, arrays from files, and the painters of what egui lays out.
//!
//! | to find | look in |
//! |---|---|
//! | an array and its memory | [`Array`] |
//! | arrays from `.npy` files, pictures and videos | [`Opened`], [`ReadError`] |
//! | a video that is played | [`Film`] |
//! | single elements of it | `elements` |
//! | the way of an array to a display | `feed` |
//! | what the window shows, and its keys | [`ArrayView`], [`KEYS`] |
//! | one of its arrays, or their difference | `shown` |
//! | the last frames of one that comes again and again | `ring` |
//! | grid, numbers and lines over the picture | `overlay` |
//! | the histogram there, and the range that a hand drags in it | `chart` |
//! | images that other programs send by tev's protocol | [`Listener`] |
//! | their channels, and those of files, as arrays | `sheets` |
//! | a stream of another process (feature `stream`, Linux) | `Attached`; `Tap`, `Texels` |
//! | all that brings arrays later | [`Live`] |
//! | the window, and a picture in its place | [`show`], [`save`] |
//! | the same in browsers (feature `serve`), and elsewhere as messages | `Serve`, `Watcher` |
//! | egui's triangles by OpenGL and in plain memory | [`paint`] |

mod array;
#[cfg(all(feature = "stream", target_os = "linux"))]
mod attached;
mod chart;
mod elements;
mod error;
mod feed;
mod file;
mod film;
mod keys;
mod listen;
mod live;
mod overlay;
pub mod paint;
mod ring;
#[cfg(feature = "serve")]
mod serve;
mod sheets;
mod shown;
#[cfg(all(feature = "stream", target_os = "linux"))]
mod tap;
mod view;
mod wake;
mod window;

pub use array::Array;
#[cfg(all(feature = "stream", target_os = "linux"))]
pub use attached::{Attached, Texels};
pub use error::{ReadError, ViewError};
pub use file::{Opened, decode as decode_picture, is_picture};
pub use film::Film;
pub use keys::{KEYS, Key, keys, name_of};
pub use listen::Listener;
pub use live::Live;
pub use overlay::pixel_at;
#[cfg(feature = "serve")]
pub use serve::{Serve, Watcher};
#[cfg(all(feature = "stream", target_os = "linux"))]
pub use tap::{Tap, Tapped};
pub use view::ArrayView;
pub use window::{SMALLEST, explain, save, show};

/// Tests of the public interface, in the same test program as the private ones.
#[cfg(test)]
#[path = "../tests/suite/main.rs"]
mod suite;
#[cfg(test)]
extern crate self as pixelferry_view;
