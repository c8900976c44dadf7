//! [`PipewireError`].

use pixelferry::{Encoding, PixelFormat};

/// Errors that keep pictures from PipeWire.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PipewireError {
    /// No daemon answers.
    #[error(
        "PipeWire cannot be reached ({0}); start it (`systemctl --user start pipewire`), or name the folder of its socket in PIPEWIRE_RUNTIME_DIR"
    )]
    Connect(pipewire::Error),
    /// A call failed.
    #[error("{call}: {error}")]
    Call {
        /// The function of PipeWire.
        call: &'static str,
        /// Its report.
        error: pipewire::Error,
    },
    /// PipeWire ended the connection, or refused the source.
    #[error("PipeWire reports: {0}; open the source again once it runs")]
    Lost(String),
    /// Pictures that are not offered.
    #[error(
        "pictures go to PipeWire as rgba8 or bgra8 in sRGB, and these are {format} ({encoding:?}); let a kernel convert them before they are published"
    )]
    Format {
        /// Their format.
        format: PixelFormat,
        /// Meaning of their numbers.
        encoding: Encoding,
    },
    /// A stream of buffers.
    #[error("the stream carries bytes without a size; publish images")]
    NoImage,
    /// A size that no buffer of PipeWire has, or bytes that do not fit it.
    #[error(
        "{bytes} bytes were given for {width}x{height} pixels; a picture has 1 to 32767 on each side, in tight rows"
    )]
    Size {
        /// Pixels.
        width: u32,
        /// Pixels.
        height: u32,
        /// Value that was given.
        bytes: usize,
    },
    /// The name is no text for PipeWire.
    #[error("a source's name has 1 to 200 bytes and no zero")]
    Name,
    /// The stream's side failed.
    #[error(transparent)]
    Stream(#[from] pixelferry::Error),
}

/// For `map_err`.
pub(crate) fn failed(call: &'static str) -> impl Fn(pipewire::Error) -> PipewireError {
    move |error| PipewireError::Call { call, error }
}
