//! Errors, typed.

use interop_core::{Extent, PixelFormat};

/// Reason why there is no H.264, and what to try.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// GStreamer's tools do not run.
    #[error(
        "{tool} does not run ({source}); install GStreamer with its plugins (Debian: gstreamer1.0-tools \
         gstreamer1.0-plugins-base gstreamer1.0-plugins-good gstreamer1.0-plugins-bad gstreamer1.0-plugins-ugly)"
    )]
    NoTools {
        /// The program.
        tool: &'static str,
        /// The system's words.
        source: std::io::Error,
    },
    /// GStreamer lacks elements.
    #[error("GStreamer has no {elements}; install its plugins (Debian: {packages})")]
    NoElements {
        /// Their names.
        elements: String,
        /// The Debian packages that have them.
        packages: String,
    },
    /// GStreamer knows no encoder.
    #[error(
        "GStreamer has none of {0}; install one (Debian: gstreamer1.0-plugins-ugly has x264enc, gstreamer1.0-plugins-bad \
         openh264enc)"
    )]
    NoEncoder(String),
    /// A picture that H.264 cannot have.
    #[error("{0} pictures cannot be H.264; serve RGBA8, BGRA8 or R8")]
    Format(PixelFormat),
    /// A picture that is larger or smaller than encoders take.
    #[error("{0} pixels cannot be H.264, whose sides have 16 to 16384; record them as .y4m or as pictures (%05d.png)")]
    Size(Extent),
    /// Bytes that are no picture.
    #[error(transparent)]
    Wire(#[from] crate::wire::WireError),
    /// The file of a video is not given to a decoder.
    #[error("the video cannot be given to a decoder: {0}")]
    Input(std::io::Error),
    /// The system gives no thread.
    #[error("no thread for the encoder: {0}")]
    Threads(std::io::Error),
    /// The child ended, or did not take what it should.
    #[error("{element}: {reason}")]
    Ended {
        /// The encoder.
        element: &'static str,
        /// GStreamer's words, or what was seen.
        reason: String,
    },
}
