//! Frames of pixelferry as a video source of PipeWire, which programs for recording, streaming or video calls use like
//! a camera.
//!
//! This crate's program shows a stream of any process ([`pixelferry::stream`]) for as long as it runs:
//!
//!
//! ```sh
//! pixelferry demo --publish try &
//! pixelferry-pipewire try
//! ```
//!
//! Your own program opens a [`VideoSource`] and gives it pictures with [`VideoSource::show`]: a subscriber's frames, or
//! the result of [`Link::read_back`](pixelferry::LinkCore::read_back). [`feed`] does that for a stream's name.
//!
//! | what | how |
//! |---|---|
//! | formats | [`PixelFormat::Rgba8`](pixelferry::PixelFormat) as `RGBA` or `RGBx`, `Bgra8` as `BGRA` or `BGRx`, as the
//! consumer chooses; numbers are sRGB |
//! | size | that of the picture; a new size is negotiated while consumers stay |
//! | memory | memfd that PipeWire makes; pictures are copied to it. No DMA-BUF |
//! | pace | a picture is sent when it comes, with at most the rate of [`VideoSource::with_rate`]; the newest wins, and
//! the last one is sent again every second |
//!
//! Tested with GStreamer's `pipewiresrc` and PipeWire 0.3.65. It has not been tried with OBS, a browser or a session
//! manager yet.

mod error;
mod feed;
mod offer;
mod source;

pub use error::PipewireError;
pub use feed::feed;
pub use source::VideoSource;
