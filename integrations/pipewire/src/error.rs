//! [`PipewireError`].

use pixelferry::{Encoding, PixelFormat};

/// Errors of showing pictures in PipeWire.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PipewireError {
    /// No daemon answers.
    #[error(
        "cannot connect to PipeWire ({0}); start it (`systemctl --user start pipewire`), or name the folder of its \
         socket in PIPEWIRE_RUNTIME_DIR"
    )]
    Connect(pipewire::Error),
    /// A call failed.
    #[error("{call}: {error}")]
    Call {
        /// The function of PipeWire.
        call: &'static str,
        /// Error of the function.
        error: pipewire::Error,
    },
    /// PipeWire ended the connection, or refused the source.
    #[error("PipeWire reports: {0}; open the source again once it runs")]
    Lost(String),
    /// The pixel format is unsupported.
    #[error(
        "PipeWire needs pictures as rgba8 or bgra8 in sRGB, not {format} ({encoding:?}); let a kernel convert them \
         before they are published"
    )]
    Format {
        /// Format of the pictures.
        format: PixelFormat,
        /// Meaning of the pictures' numbers.
        encoding: Encoding,
    },
    /// The stream carries buffers, not images.
    #[error("the stream carries bytes without a size; publish images")]
    NoImage,
    /// The size is unsupported, or the number of bytes does not match.
    #[error(
        "{bytes} bytes do not match {width}x{height} pixels; a picture has 1 to 32767 pixels on each side, in tight \
         rows"
    )]
    Size {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// Number of given bytes.
        bytes: usize,
    },
    /// The name is invalid.
    #[error("invalid name of a source: it must have 1 to 200 bytes and no zero byte")]
    Name,
    /// An error of the stream.
    #[error(transparent)]
    Stream(#[from] pixelferry::Error),
}

/// For `map_err`.
pub(crate) fn failed(call: &'static str) -> impl Fn(pipewire::Error) -> PipewireError {
    move |error| PipewireError::Call { call, error }
}
