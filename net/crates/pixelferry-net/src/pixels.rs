//! Pixels that came, and writing them where they are shown.

use crate::codec::unpack;
use crate::error::{Error, Result};
use crate::net::now;
use crate::wire::{Codec, HEADER_BYTES, Header, Kind, Limits, WireError};
use pixelferry::{ImageView, Region, View, WriteFrame};
use std::borrow::Cow;
use std::io::{Read, Seek, SeekFrom};
use std::time::Duration;
use zenoh::bytes::ZBytes;

/// One message with pixels: a tile, or a picture.
#[derive(Debug)]
pub struct Pixels {
    header: Header,
    bytes: Bytes,
}

#[derive(Debug)]
enum Bytes {
    /// The message as it came, header first: in shared memory, or in pieces from the network.
    Message(ZBytes),
    Unpacked(Vec<u8>),
}

/// Reads the header of a message and holds it against its key's kind.
pub(crate) fn read_header(message: &ZBytes, kind: Kind, limits: &Limits) -> Result<Header, WireError> {
    // Read once: what lies in shared memory could change between two looks.
    let mut bytes = [0; HEADER_BYTES];
    let short = WireError::Short { found: message.len(), needed: HEADER_BYTES };
    message.reader().read_exact(&mut bytes).map_err(|_| short)?;
    let header = Header::read(&bytes, limits)?;
    header.expect(kind, message.len())?;
    Ok(header)
}

impl Pixels {
    /// Takes a message whose header was read. Packed ones are unpacked here.
    pub(crate) fn new(header: Header, message: ZBytes) -> Result<Self, WireError> {
        let bytes = match header.codec {
            Codec::None => Bytes::Message(message),
            _ => {
                let whole = message.to_bytes();
                let unpacked = unpack(&header, whole.get(HEADER_BYTES..).unwrap_or_default())?;
                if !is_valid(&message) {
                    return Err(WireError::Payload { codec: header.codec.name(), problem: TAKEN_BACK.into() });
                }
                Bytes::Unpacked(unpacked)
            }
        };
        Ok(Self { header, bytes })
    }

    /// Session, frame, sender, picture and place.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The part of the picture that they are.
    pub fn region(&self) -> Region {
        self.header.region
    }

    /// How long ago their frame was asked for, by the clocks of both machines; zero where those disagree.
    pub fn age(&self) -> Duration {
        Duration::from_micros(now().saturating_sub(self.header.time))
    }

    /// Whether they lie in memory that the sender shares.
    pub fn is_shared(&self) -> bool {
        matches!(&self.bytes, Bytes::Message(message) if message.as_shm().is_some())
    }

    /// Tight rows; a copy only where they came in pieces.
    ///
    /// # Errors
    /// [`Error::Gone`] where the sender took the memory back.
    pub fn to_bytes(&self) -> Result<Cow<'_, [u8]>> {
        match &self.bytes {
            Bytes::Unpacked(pixels) => Ok(Cow::Borrowed(pixels)),
            Bytes::Message(message) => {
                let pixels = match message.to_bytes() {
                    Cow::Borrowed(bytes) => Cow::Borrowed(bytes.get(HEADER_BYTES..).unwrap_or_default()),
                    Cow::Owned(mut bytes) => Cow::Owned(bytes.split_off(HEADER_BYTES.min(bytes.len()))),
                };
                self.check()?;
                Ok(pixels)
            }
        }
    }

    /// Refuses pixels whose shared memory the sender took back; what was read of it may be of any frame.
    pub(crate) fn check(&self) -> Result<()> {
        match &self.bytes {
            Bytes::Message(message) if !is_valid(message) => Err(Error::Gone(self.region())),
            _ => Ok(()),
        }
    }

    /// Copies the pixels to their place in `to`, which begins at byte `base` of `view`'s memory and shows all of the
    /// picture. Check afterwards.
    pub(crate) fn lay(&self, view: &ImageView, base: usize, to: &mut [u8]) -> Result<()> {
        let Region { x, y, height, .. } = self.region();
        let pixel = self.header.image.format.bytes_per_pixel();
        let row_bytes = self.region().width as usize * pixel;
        let mut rows = self.rows()?;
        for row in y..y + height {
            let start = view.row_start(row).wrapping_add(x as usize * pixel).wrapping_sub(base);
            let place = start.checked_add(row_bytes).and_then(|end| to.get_mut(start..end));
            let place =
                place.ok_or_else(|| Error::invalid("Tiles::write", "the frame is not of the tiles' picture"))?;
            rows.read_exact(place).map_err(|_| Error::Gone(self.region()))?;
        }
        Ok(())
    }

    fn rows(&self) -> Result<Box<dyn Read + '_>> {
        match &self.bytes {
            Bytes::Unpacked(pixels) => Ok(Box::new(pixels.as_slice())),
            Bytes::Message(message) => {
                let mut reader = message.reader();
                let skipped = reader.seek(SeekFrom::Start(HEADER_BYTES as u64));
                skipped.map_err(|_| Error::Gone(self.region()))?;
                Ok(Box::new(reader))
            }
        }
    }
}

const TAKEN_BACK: &str = "its shared memory was taken back while it was read";

/// False where shared memory was given to another message since.
fn is_valid(message: &ZBytes) -> bool {
    use zenoh::shm::ShmBuf;
    message.as_shm().is_none_or(|bytes| bytes.is_valid())
}

/// Writes all of `pixels` into a frame of the whole picture: one copy, from the network's memory into the frame's.
pub(crate) fn write_all(pixels: &[Pixels], frame: &mut WriteFrame<'_>) -> Result<()> {
    let (memory, view) = frame.target()?.into_parts();
    let View::Image(view) = view else {
        return Err(Error::invalid("Tiles::write", "a buffer was given where a picture is due"));
    };
    if pixels.iter().any(|part| part.header.image.extent != view.extent || part.header.image.format != view.format) {
        return Err(Error::invalid("Tiles::write", "the frame is not of the tiles' picture"));
    }
    let span = view.span();
    let mut failed = None;
    memory.map_write(span.clone(), &mut |to| {
        failed = pixels.iter().find_map(|part| part.lay(&view, span.start, to).err());
        Ok(())
    })?;
    if let Some(failed) = failed {
        return Err(failed);
    }
    pixels.iter().try_for_each(Pixels::check)
}
