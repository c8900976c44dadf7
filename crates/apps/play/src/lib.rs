//! Plays shaders and kernels from files in a window and rebuilds them whenever they are saved.
//!
//! | to find | look in |
//! |---|---|
//! | a file and its companions as the passes of a frame | `program`, `pass`, `text`, [`Channel`] |
//! | numbers that every shader can name, and those that the user changes | `input`, [`Moment`], [`Slider`] |
//! | a built program, with its buffers and channels | `running_program`, `driver`, `picture` |
//! | the display's OpenGL, which runs fragment shaders | `gl` |
//! | where the picture is computed and shown | `screen` |
//! | the process that tries a shader before it runs here | `trial`, [`serve`] |
//! | streams that channels read | `stream` |
//! | positions in compilers' logs | `error`, [`Fault`] |
//! | the shown program, the next one, time and sliders | [`Player`] |
//! | frames without a window, and the window | [`play_headless`], [`play`] |
//!
//! A shader can do whatever a program that this user starts can do: most languages have no memory bounds, and a driver
//! compiles them. Whoever plays a shader vouches for it ([`TextVoucher`]). Only WGSL is confined to its own memory.

#![cfg_attr(docsrs, feature(doc_cfg))]

mod dialect;
mod driver;
mod error;
mod gl;
mod input;
mod pass;
mod picture;
mod player;
mod program;
mod running_program;
mod screen;
#[cfg_attr(not(target_os = "linux"), path = "stream_absent.rs")]
mod stream;
mod text;
mod trial;
mod window;

pub use dialect::backend_for;
pub use error::{Fault, PlayError, lines};
pub use input::{Clock, Moment, Slider, SliderKind};
pub use pass::{Channel, TextVoucher, Wishes};
pub use picture::Keyboard;
pub use player::{Player, PlayerOptions, play_headless};
pub use trial::serve;
pub use window::{keys, play};

/// Tests of the public interface, in the same test program as the private ones.
#[cfg(test)]
#[path = "../tests/suite/main.rs"]
mod suite;
#[cfg(test)]
extern crate self as pixelferry_play;
