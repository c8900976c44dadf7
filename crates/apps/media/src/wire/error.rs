//! Reasons to refuse a message.

use interop_core::Region;

/// Reason why a message is refused. A refused message has no effect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// The message ends within the header.
    #[error("{found} bytes are too few for a header of {needed}")]
    Short {
        /// Number of received bytes.
        found: usize,
        /// Size of a header.
        needed: usize,
    },
    /// The message does not begin with pixelferry's magic bytes.
    #[error("it begins with {0:02x?}, not with PXFY")]
    Magic([u8; 4]),
    /// The protocol version is unsupported.
    #[error("unsupported protocol version {0}; this program uses version {known}", known = super::VERSION)]
    Version(u16),
    /// A value is unknown to the protocol.
    #[error("unknown {field} {value}")]
    Unknown {
        /// Name of the field.
        field: &'static str,
        /// The value.
        value: u64,
    },
    /// The message's kind does not match its key.
    #[error("unexpected message kind {found}; expected {expected}")]
    Kind {
        /// Kind of the message.
        found: &'static str,
        /// Kind that the key is for.
        expected: &'static str,
    },
    /// The picture's size is invalid.
    #[error("picture size {width}x{height} is invalid: sides are 1 to {limit} pixels")]
    Side {
        /// Width in pixels.
        width: u32,
        /// Height in pixels.
        height: u32,
        /// Limit of both sides.
        limit: u32,
    },
    /// A rectangle is empty or reaches outside of its picture.
    #[error("the rectangle {0} is empty or reaches outside of the picture")]
    Rectangle(Region),
    /// The message exceeds the receiver's limit.
    #[error("{bytes} bytes exceed the limit of {limit}")]
    TooLarge {
        /// Bytes of the unpacked content.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The payload's length does not match the header.
    #[error("the header announces {promised} bytes, but {found} arrived")]
    Length {
        /// Length from the header.
        promised: u64,
        /// Number of received bytes.
        found: u64,
    },
    /// The message belongs to another session.
    #[error("the message belongs to session {found:016x}; the current one is {current:016x}")]
    Foreign {
        /// Session of the message.
        found: u64,
        /// The current session.
        current: u64,
    },
    /// The message does not match the scene.
    #[error("it does not match the scene: {0}")]
    Scene(&'static str),
    /// The codec cannot decode the payload.
    #[error("cannot decode the {codec} payload: {problem}")]
    Payload {
        /// Name of the codec.
        codec: &'static str,
        /// Description of the problem.
        problem: String,
    },
}
