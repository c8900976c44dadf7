//! Reasons to refuse a message.

use interop_core::Region;

/// Reason why a message is refused. Nothing of a refused message is used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum WireError {
    /// It ends within the header.
    #[error("{found} bytes are no header of {needed}")]
    Short {
        /// Bytes that came.
        found: usize,
        /// Bytes of a header.
        needed: usize,
    },
    /// It does not begin as messages of pixelferry do.
    #[error("it begins with {0:02x?}, not with PXFY")]
    Magic([u8; 4]),
    /// Another version of the protocol.
    #[error("it is of version {0} of the protocol; this program speaks version {known}", known = super::VERSION)]
    Version(u16),
    /// A number that the protocol does not have.
    #[error("{value} is no {field} of the protocol")]
    Unknown {
        /// The field.
        field: &'static str,
        /// Value that was found.
        value: u64,
    },
    /// A message of another kind than its key is for.
    #[error("it is a {found}, where a {expected} is due")]
    Kind {
        /// Kind of the message.
        found: &'static str,
        /// Kind that the key is for.
        expected: &'static str,
    },
    /// Sides that no picture has.
    #[error("picture size {width}x{height} is invalid: sides are 1 to {limit} pixels")]
    Side {
        /// Columns.
        width: u32,
        /// Rows.
        height: u32,
        /// The most of either.
        limit: u32,
    },
    /// A rectangle that is empty or reaches outside its picture.
    #[error("the rectangle {0} is empty or reaches outside the picture")]
    Rectangle(Region),
    /// More bytes than the receiver takes.
    #[error("{bytes} bytes are more than the {limit} that this program takes")]
    TooLarge {
        /// Bytes that the message stands for.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// The payload is not as long as the header says.
    #[error("the header promises {promised} bytes, {found} came")]
    Length {
        /// By the header.
        promised: u64,
        /// Number of bytes that came.
        found: u64,
    },
    /// A message of another session than the one that is followed.
    #[error("it is of session {found:016x}; session {current:016x} is followed")]
    Foreign {
        /// Session of the message.
        found: u64,
        /// Session that is followed.
        current: u64,
    },
    /// A picture or a tile that the scene does not have.
    #[error("it does not fit the scene: {0}")]
    Scene(&'static str),
    /// A payload that its codec cannot read.
    #[error("its {codec} payload cannot be read: {problem}")]
    Payload {
        /// The codec.
        codec: &'static str,
        /// Reason why it cannot be read.
        problem: String,
    },
}
