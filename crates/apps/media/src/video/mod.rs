//! Encodes pictures as H.264 and decodes videos with GStreamer's tools, if they are installed.
//!
//! An [`Encoder`] is a child process, `gst-launch-1.0`, that reads raw pictures and returns an access unit for each. No
//! library of GStreamer is linked: a crash in a driver ends the child, and the program continues. [`encoders`] lists
//! what this machine has, hardware first. A [`VideoFile`] records pictures in the same way, and a [`Decoder`] returns
//! those of a file.
//!
//!
//! ```no_run
//! use pixelferry_media::video::{Encoder, EncoderReport, Error, Shape, encoders};
//!
//! # fn encode(message: bytes::Bytes) -> Result<(), Error> {
//! // A picture's message.
//! let shape = Shape::of(&message)?;
//! let encoder = Encoder::start(encoders()?[0], shape, |said| match said {
//!     EncoderReport::Unit(unit) => println!("frame {}: {} bytes", unit.header.frame, unit.bytes.len()),
//!     EncoderReport::Ended(reason) => eprintln!("{reason}"),
//! })?;
//! encoder.write(message);
//! # Ok(())
//! # }
//! ```

mod child;
pub(crate) mod decoder;
mod elements;
mod encoder;
mod error;
mod feed;
mod file;
mod shape;
mod units;

pub use decoder::{DecodedPicture, Decoder};
pub use elements::{Element, encoders};
pub use encoder::{Encoder, EncoderReport};
pub use error::Error;
pub use file::{Container, VideoFile};
pub use shape::Shape;
#[cfg(feature = "web")]
pub(crate) use shape::header;
pub use units::Unit;
