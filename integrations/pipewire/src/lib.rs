//! Frames of pixelferry as a video source of PipeWire: what a camera is to programs that record, stream or confer.
//!
//! The program of this crate shows a stream that any process publishes ([`pixelferry::stream`]) for as long as it runs:
//!
//! ```sh
//! pixelferry demo --publish try &
//! pixelferry-pipewire try
//! ```
//!
//! A program of your own opens a [`VideoSource`] and gives it pictures by [`VideoSource::show`]: a subscriber's frames, or what
//! [`pixelferry::Link::read_back`] returns. [`feed`] does it for a stream's name.
//!
//! | what | how |
//! |---|---|
//! | formats | [`PixelFormat::Rgba8`](pixelferry::PixelFormat) as `RGBA` or `RGBx`, `Bgra8` as `BGRA` or `BGRx`, as the consumer likes; numbers are sRGB |
//! | size | as the picture's; another one is agreed on again while consumers stay |
//! | memory | memfd that PipeWire makes; pictures are copied to it. No DMA-BUF |
//! | pace | a picture goes out when it comes, at most so many in a second as [`VideoSource::with_rate`] says; the newest wins, and the last one goes out again every second |
//!
//! Seen by GStreamer's `pipewiresrc` with PipeWire 0.3.65. Nobody ran OBS, a browser or a session manager with it yet.

mod error;
mod feed;
mod offer;
mod source;

pub use error::PipewireError;
pub use feed::feed;
pub use source::VideoSource;
