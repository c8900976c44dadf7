//! The header of every message.

use super::codes::{ByteCode, Codec, MessageKind};
use super::error::WireError;
use super::{HEADER_BYTES, MAGIC, Numbers, VERSION};
use interop_core::{ImageDesc, PixelFormat, Region};

/// Limits of a receiver. Larger messages are refused before memory is allocated for them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Longest side of a picture in pixels.
    pub side: u32,
    /// Bytes of a message's unpacked pixels, and of a job's picture.
    pub bytes: u64,
    /// Bytes of a job's tile.
    pub tile: u64,
    /// Bytes of a job's or an input's payload.
    pub args: u64,
}

impl Default for Limits {
    /// Sides of 65 536 pixels, 1 GiB of pixels, tiles of 64 MiB, 1 MiB of arguments.
    fn default() -> Self {
        Self { side: 65_536, bytes: 1 << 30, tile: 64 << 20, args: 1 << 20 }
    }
}

/// Header of a message, 128 bytes on the wire.
///
///
/// ```
/// use interop_core::{ImageDesc, PixelFormat, Region};
/// use pixelferry_media::wire::{Header, Limits, MessageKind};
///
/// let image = ImageDesc::new(640, 480, PixelFormat::Rgba8);
/// let header = Header::new(MessageKind::Tile, image, Region::new(64, 0, 64, 64));
/// let bytes = header.to_bytes();
/// assert_eq!(Header::read(&bytes, &Limits::default())?, header);
/// // Changed bytes are refused, or are another valid header.
/// assert!(Header::read(&bytes[1..], &Limits::default()).is_err());
/// # Ok::<(), pixelferry_media::wire::WireError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Header {
    /// Kind of the message.
    pub kind: MessageKind,
    /// Codec of its pixels.
    pub codec: Codec,
    /// Session: a number that the display chooses, larger for a later session.
    pub epoch: u64,
    /// Number of the frame in its session, from 1.
    pub frame: u64,
    /// When the frame was requested: microseconds since 1970, by the requester's clock.
    pub time: u64,
    /// Identity of the message's sender.
    pub sender: u64,
    /// The whole picture. Only size, format, encoding, row order and alpha are transmitted.
    pub image: ImageDesc,
    /// The region of the picture that the pixels cover; rows count in the picture's row order.
    pub region: Region,
    /// Bytes of the payload.
    pub payload: u64,
    /// Microseconds that computing the tile took.
    pub cost: u32,
}

/// Refuses sizes above a limit.
///
/// # Errors
/// [`WireError::TooLarge`].
pub fn too_large(bytes: u64, limit: u64) -> Result<(), WireError> {
    if bytes > limit { Err(WireError::TooLarge { bytes, limit }) } else { Ok(()) }
}

impl Header {
    /// Makes a header for a region of a picture with uncompressed pixels; all other fields are zero.
    pub fn new(kind: MessageKind, image: ImageDesc, region: Region) -> Self {
        let codec = Codec::None;
        let header = Self { kind, codec, epoch: 0, frame: 0, time: 0, sender: 0, image, region, payload: 0, cost: 0 };
        let payload = if matches!(kind, MessageKind::Tile | MessageKind::Picture) { header.pixel_bytes() } else { 0 };
        Self { payload, ..header }
    }

    /// Bytes of the region's unpacked pixels.
    pub fn pixel_bytes(&self) -> u64 {
        self.region.extent().pixels().saturating_mul(self.image.format.bytes_per_pixel() as u64)
    }

    /// Encodes the header.
    pub fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let image = &self.image;
        let mut bytes = [0; HEADER_BYTES];
        let mut at = 0;
        let mut put = |value: &[u8]| {
            bytes[at..at + value.len()].copy_from_slice(value);
            at += value.len();
        };
        put(&MAGIC);
        put(&VERSION.to_le_bytes());
        put(&[self.kind.number(), self.codec.number()]);
        for long in [self.epoch, self.frame, self.time, self.sender] {
            put(&long.to_le_bytes());
        }
        let Region { x, y, width, height } = self.region;
        for side in [image.extent.width, image.extent.height, x, y, width, height] {
            put(&side.to_le_bytes());
        }
        put(&[image.format.number(), image.encoding.number(), image.row_order.number(), image.alpha.number()]);
        put(&self.cost.to_le_bytes());
        put(&self.payload.to_le_bytes());
        bytes
    }

    /// Decodes and checks the header at the start of a message.
    ///
    /// # Errors
    /// [`WireError`] for an invalid header, another version, or sizes above `limits`.
    pub fn read(message: &[u8], limits: &Limits) -> Result<Self, WireError> {
        let Some(bytes) = message.first_chunk::<HEADER_BYTES>() else {
            return Err(WireError::Short { found: message.len(), needed: HEADER_BYTES });
        };
        let (magic, rest) = bytes.split_at(MAGIC.len());
        if magic != MAGIC {
            let mut found = MAGIC;
            found.copy_from_slice(magic);
            return Err(WireError::Magic(found));
        }
        let mut from = Numbers(rest);
        let version = from.u16();
        if version != VERSION {
            return Err(WireError::Version(version));
        }
        let (kind, codec) = (MessageKind::from_code(from.u8())?, Codec::from_code(from.u8())?);
        let (epoch, frame, time, sender) = (from.u64(), from.u64(), from.u64(), from.u64());
        let (width, height) = (from.u32(), from.u32());
        let region = Region::new(from.u32(), from.u32(), from.u32(), from.u32());
        let mut image = ImageDesc::new(width, height, PixelFormat::from_code(from.u8())?)
            .with_encoding(ByteCode::from_code(from.u8())?)
            .with_row_order(ByteCode::from_code(from.u8())?);
        image.alpha = ByteCode::from_code(from.u8())?;
        let (cost, payload) = (from.u32(), from.u64());
        if let Some(&value) = from.0.iter().find(|&&byte| byte != 0) {
            return Err(WireError::Unknown { field: "use of a reserved byte", value: value.into() });
        }
        let header = Self { kind, codec, epoch, frame, time, sender, image, region, payload, cost };
        header.check(limits)?;
        Ok(header)
    }

    fn check(&self, limits: &Limits) -> Result<(), WireError> {
        let (width, height) = (self.image.extent.width, self.image.extent.height);
        if width == 0 || height == 0 || width > limits.side || height > limits.side {
            return Err(WireError::Side { width, height, limit: limits.side });
        }
        if self.region.check_inside(self.image.extent).is_err() {
            return Err(WireError::Rectangle(self.region));
        }
        match self.kind {
            MessageKind::Tile | MessageKind::Picture => {
                let pixels = self.pixel_bytes();
                too_large(pixels, limits.bytes)?;
                // No codec makes a picture much larger.
                too_large(self.payload, pixels.saturating_add(pixels / 8).saturating_add(4096))?;
                if self.codec == Codec::None && self.payload != pixels {
                    return Err(WireError::Length { promised: pixels, found: self.payload });
                }
                if !self.codec.takes(self.image.format) {
                    return Err(WireError::Scene("its codec does not support its pixel format"));
                }
            }
            MessageKind::Job if self.region != self.image.extent.full() => {
                return Err(WireError::Rectangle(self.region));
            }
            MessageKind::Job => {
                too_large(self.pixel_bytes(), limits.bytes)?;
                too_large(self.payload, limits.args)?;
            }
            MessageKind::Input | MessageKind::Report => too_large(self.payload, limits.args)?,
            MessageKind::Mark => too_large(self.payload, 0)?,
        }
        Ok(())
    }

    /// Refuses a message of another kind, or with a payload whose length does not match the header.
    ///
    /// # Errors
    /// [`WireError::Kind`], [`WireError::Length`].
    pub fn expect(&self, kind: MessageKind, message_bytes: usize) -> Result<(), WireError> {
        if self.kind != kind {
            return Err(WireError::Kind { found: self.kind.name(), expected: kind.name() });
        }
        let found = message_bytes.saturating_sub(HEADER_BYTES) as u64;
        if found != self.payload {
            return Err(WireError::Length { promised: self.payload, found });
        }
        Ok(())
    }
}
