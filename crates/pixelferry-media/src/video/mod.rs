//! Pictures as H.264, by GStreamer's tools where they are installed.
//!
//! An [`Encoder`] is a child process, `gst-launch-1.0`, that takes raw pictures and gives an access unit for each. No library of
//! GStreamer's is linked: a driver's fault ends the child, and the program goes on. [`encoders`] lists what this machine has,
//! hardware first. A [`VideoFile`] holds pictures by the same means, and a [`Decoder`] gives those of any file.
//!
//! ```no_run
//! use pixelferry_media::video::{Encoder, Error, Said, Shape, encoders};
//!
//! # fn encode(message: bytes::Bytes) -> Result<(), Error> {
//! // A picture's message.
//! let shape = Shape::of(&message)?;
//! let encoder = Encoder::start(encoders()?[0], shape, |said| match said {
//!     Said::Unit(unit) => println!("frame {}: {} bytes", unit.header.frame, unit.bytes.len()),
//!     Said::Ended(reason) => eprintln!("{reason}"),
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

pub use decoder::{Decoded, Decoder};
pub use elements::{Element, encoders};
pub use encoder::{Encoder, Said};
pub use error::Error;
pub use file::{Container, VideoFile};
pub use shape::Shape;
#[cfg(feature = "web")]
pub(crate) use shape::header;
pub use units::Unit;
