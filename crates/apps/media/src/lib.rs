//! Pictures in forms that other programs accept: as messages with a common header ([`wire`]), compressed with LZ4 or
//! JPEG on the host or with `GpuJpeg`; as H.264; and in browsers. It only serves browsers; other transport of messages
//! is up to the caller.
//!
//! | feature | what it brings |
//! |---|---|
//! | `lz4`, `jpeg` | codecs of [`wire::Header::pack`] and [`wire::Header::unpack`] |
//! | `video` | `video::Encoder` and `video::VideoFile`: H.264 with GStreamer's tools, if they are installed; `source::Source`: frames of videos |
//! | `video` | `film::Film`: frames of videos as arguments of kernels |
//! | `record` | `record::Recorder`: films of what a program shows |
//! | `web` | `web::Gateway`: a page that shows the pictures in browsers and sends mouse and keys back |
//! | `events` | `Event`: decodes the input messages of that page |
//!
//! ```
//! use interop_core::{ImageDesc, PixelFormat};
//! use pixelferry_media::wire::{Codec, HEADER_BYTES, Header, Limits, MessageKind};
//!
//! # #[cfg(feature = "lz4")] {
//! let image = ImageDesc::new(64, 48, PixelFormat::Rgba8);
//! let pixels = vec![7; 64 * 48 * 4];
//! let message = Header::new(MessageKind::Picture, image, image.extent.full()).pack(Codec::Lz4, &pixels, 0)?;
//! let header = Header::read(&message, &Limits::default())?;
//! assert_eq!(header.unpack(&message[HEADER_BYTES..])?, pixels);
//! # }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#![cfg_attr(docsrs, feature(doc_cfg))]

mod codec;
#[cfg(feature = "events")]
mod event;
#[cfg(feature = "video")]
pub mod film;
#[cfg(feature = "jpeg")]
mod gpu;
#[cfg(feature = "jpeg")]
mod jpeg;
pub mod memory;
#[cfg(feature = "jpeg")]
mod nvjpeg;
#[cfg(feature = "record")]
pub mod record;
#[cfg(feature = "video")]
pub mod source;
#[cfg(feature = "jpeg")]
mod turbo;
#[cfg(feature = "video")]
pub mod video;
#[cfg(feature = "web")]
pub mod web;
pub mod wire;
pub mod yuv;

#[cfg(feature = "events")]
pub use event::Event;
#[cfg(feature = "jpeg")]
pub use gpu::{GpuJpeg, mean_square};
#[cfg(feature = "jpeg")]
pub use nvjpeg::GpuJpegError;

/// Tests of the public interface, in the same test program as the private ones.
#[cfg(test)]
#[path = "../tests/suite/main.rs"]
mod suite;
#[cfg(test)]
extern crate self as pixelferry_media;
