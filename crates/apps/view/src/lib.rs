//! Shows arrays closely in a window or in browsers, reads arrays from files, and paints what egui lays out.
//!
//! | to find | look in |
//! |---|---|
//! | an array and its memory | [`Array`] |
//! | arrays from `.npy` files, pictures and videos | [`FileContent`], [`ReadError`] |
//! | a playing video | [`Film`] |
//! | single elements of an array | `elements` |
//! | how an array gets to a display | `array_feed` |
//! | what the window shows, and its keys | [`ArrayView`], [`KEYS`] |
//! | one of its arrays, or a difference of two | `shown_array` |
//! | the last frames of a repeatedly sent array | `ring` |
//! | grid, numbers and lines over the picture | `overlay` |
//! | the histogram, in which the user can drag the range | `chart` |
//! | images that other programs send with tev's protocol | [`Listener`] |
//! | channels of those images and of files, as arrays | `sheets` |
//! | a stream of another process (feature `stream`, Linux) | `AttachedStream`; `StreamTap`, `Texels` |
//! | all sources of later arrays | [`LiveArrays`] |
//! | the window, and saving a picture instead | [`show`], [`save`] |
//! | the same in browsers (feature `serve`), and elsewhere as messages | `PageServer`, `Watcher` |
//! | egui's triangles with OpenGL and in plain memory | [`paint`] |

#![cfg_attr(docsrs, feature(doc_cfg))]

mod array;
mod array_feed;
#[cfg(all(feature = "stream", target_os = "linux"))]
mod attached_stream;
mod chart;
mod elements;
mod error;
mod file;
mod film;
mod keys;
mod listen;
mod live_arrays;
mod overlay;
pub mod paint;
mod ring;
#[cfg(feature = "serve")]
mod serve;
mod sheets;
mod shown_array;
#[cfg(all(feature = "stream", target_os = "linux"))]
mod stream_tap;
mod view;
mod wake;
mod window;

pub use array::Array;
#[cfg(all(feature = "stream", target_os = "linux"))]
pub use attached_stream::{AttachedStream, Texels};
pub use error::{ReadError, ViewError};
pub use file::{FileContent, decode as decode_picture, is_picture};
pub use film::Film;
pub use keys::{KEYS, Key, keys, name_of};
pub use listen::Listener;
pub use live_arrays::LiveArrays;
pub use overlay::pixel_at;
#[cfg(feature = "serve")]
pub use serve::{PageServer, Watcher};
#[cfg(all(feature = "stream", target_os = "linux"))]
pub use stream_tap::{StreamNews, StreamTap};
pub use view::ArrayView;
pub use window::{SMALLEST, explain, save, show};

/// Tests of the public interface, in the same test program as the private ones.
#[cfg(test)]
#[path = "../tests/suite/main.rs"]
mod suite;
#[cfg(test)]
extern crate self as pixelferry_view;
