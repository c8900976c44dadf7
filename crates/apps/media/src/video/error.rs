//! Errors of encoding and decoding video.

use interop_core::{Extent, PixelFormat};

/// Reason why there is no video, and what to try.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// GStreamer's tools cannot be started.
    #[error(
        "cannot run {tool} ({source}); install GStreamer with its plugins (Debian: gstreamer1.0-tools \
         gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly)"
    )]
    NoTools {
        /// The program.
        tool: &'static str,
        /// Error of the system.
        source: std::io::Error,
    },
    /// GStreamer lacks elements.
    #[error("GStreamer has no {elements}; install its plugins (Debian: {packages})")]
    NoElements {
        /// Names of the missing elements.
        elements: String,
        /// Debian packages that contain them.
        packages: String,
    },
    /// GStreamer has no supported encoder.
    #[error(
        "GStreamer has none of {0}; install one (Debian: x264enc is in gstreamer1.0-plugins-ugly, openh264enc is in \
         gstreamer1.0-plugins-bad)"
    )]
    NoEncoder(String),
    /// The pixel format is unsupported.
    #[error("cannot encode {0} pictures as H.264; use RGBA8, BGRA8 or R8")]
    Format(PixelFormat),
    /// The picture is too large or too small for encoders.
    #[error(
        "cannot encode {0} pixels as H.264, which needs sides of 16 to 16384 pixels; record them as .y4m or as \
             pictures (%05d.png)"
    )]
    Size(Extent),
    /// The message is not a valid picture.
    #[error(transparent)]
    Wire(#[from] crate::wire::WireError),
    /// Passing the file to a decoder failed.
    #[error("cannot pass the video to a decoder: {0}")]
    Input(std::io::Error),
    /// The system cannot start a thread.
    #[error("cannot start a thread for the encoder: {0}")]
    Threads(std::io::Error),
    /// The child ended or stopped accepting data.
    #[error("{element}: {reason}")]
    Ended {
        /// The encoder or decoder.
        element: &'static str,
        /// GStreamer's message, or what was observed.
        reason: String,
    },
}
