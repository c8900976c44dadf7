//! The payload of a report: what a receiver measured of its link.

use pixelferry::{ImageDesc, PixelFormat};
use pixelferry_media::wire::{HEADER_BYTES, Header, Limits, MessageKind, Numbers, WireError};

const BYTES: usize = 24;
const SHARED: u64 = 1;

/// Report of a receiver on the link from one sender, since its report before.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Report {
    /// The receiver's number.
    pub receiver: u64,
    /// Bytes of the messages that followed a mark.
    pub bytes: u64,
    /// Microseconds between the marks and the ends of those messages.
    pub microseconds: u64,
    /// True where the newest mark lay in memory that the sender shares.
    pub shared: bool,
}

impl Report {
    /// All bytes of the message.
    pub fn to_bytes(&self) -> Vec<u8> {
        let image = ImageDesc::new(1, 1, PixelFormat::R8);
        let header = Header::new(MessageKind::Report, image, image.extent.full());
        let mut message = Header { sender: self.receiver, payload: BYTES as u64, ..header }.to_bytes().to_vec();
        for number in [self.bytes, self.microseconds, if self.shared { SHARED } else { 0 }] {
            message.extend(number.to_le_bytes());
        }
        message
    }

    /// Reads a whole message.
    ///
    /// # Errors
    /// [`WireError`] for anything that no receiver sends.
    pub fn read(message: &[u8], limits: &Limits) -> Result<Self, WireError> {
        let header = Header::read(message, limits)?;
        header.expect(MessageKind::Report, message.len())?;
        let payload = message.get(HEADER_BYTES..).unwrap_or_default();
        if payload.len() != BYTES {
            return Err(WireError::Length { promised: BYTES as u64, found: payload.len() as u64 });
        }
        let mut from = Numbers(payload);
        let (bytes, microseconds, flags) = (from.u64(), from.u64(), from.u64());
        if flags > SHARED {
            return Err(WireError::Unknown { field: "flag of a report", value: flags });
        }
        Ok(Self { receiver: header.sender, bytes, microseconds, shared: flags == SHARED })
    }
}
