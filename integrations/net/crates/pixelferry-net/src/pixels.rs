//! Received pixels, and copying them to where they are shown.

use crate::error::{Error, Result};
use crate::lend::{FetchedBytes, Ticket};
use crate::net::now;
use pixelferry::{ImageView, Region, View, WriteFrame};
use pixelferry_media::wire::{Codec, HEADER_BYTES, Header, Limits, MessageKind, WireError};
use std::borrow::Cow;
use std::io::{self, ErrorKind, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;
use zenoh::bytes::ZBytes;
use zenoh::sample::Sample;

/// A message with pixels: a tile, or a picture.
#[derive(Debug)]
pub struct Pixels {
    header: Header,
    bytes: Bytes,
    is_shared: bool,
}

#[derive(Debug)]
enum Bytes {
    /// The message, header first: lent by its sender, or in pieces from the network.
    Message(ZBytes),
    Unpacked(Vec<u8>),
}

/// Reads the header of a message and checks the kind of its key.
pub(crate) fn read_header(message: &ZBytes, kind: MessageKind, limits: &Limits) -> Result<Header, WireError> {
    let header = begin(message, limits)?;
    header.expect(kind, message.len())?;
    Ok(header)
}

/// Reads the header of a message of which more may come.
pub(crate) fn begin(message: &ZBytes, limits: &Limits) -> Result<Header, WireError> {
    let mut bytes = [0; HEADER_BYTES];
    let short = WireError::Short { found: message.len(), needed: HEADER_BYTES };
    message.reader().read_exact(&mut bytes).map_err(|_| short)?;
    Header::read(&bytes, limits)
}

/// A received message with pixels.
pub(crate) struct ArrivedMessage {
    pub header: Header,
    /// Header and payload.
    pub message: ZBytes,
    /// Whether it is in the sender's memory.
    pub is_shared: bool,
}

/// A notification of a message with pixels.
pub(crate) struct PixelNotice {
    pub header: Header,
    /// Header and payload, or where they are.
    lies: std::result::Result<ZBytes, Ticket>,
}

impl PixelNotice {
    /// Reads a message, or the notification of a lent one.
    pub fn read(sample: &Sample, kind: MessageKind, limits: &Limits) -> Result<Self, WireError> {
        let Some(ticket) = sample.attachment() else { return Self::whole(sample.payload().clone(), kind, limits) };
        let (head, ticket) = (sample.payload().to_bytes(), Ticket::read(&ticket.to_bytes()));
        let (Ok(head), Some(ticket)) = (<&[u8; HEADER_BYTES]>::try_from(head.as_ref()), ticket) else {
            return Err(WireError::Short { found: sample.payload().len(), needed: HEADER_BYTES });
        };
        let header = Header::read(head, limits)?;
        header
            .expect(kind, length(&header).ok_or(WireError::TooLarge { bytes: header.payload, limit: limits.bytes })?)?;
        Ok(Self { header, lies: Err(ticket) })
    }

    /// Reads a complete message.
    pub fn whole(message: ZBytes, kind: MessageKind, limits: &Limits) -> Result<Self, WireError> {
        Ok(Self { header: read_header(&message, kind, limits)?, lies: Ok(message) })
    }

    /// Returns the message, or a newer picture that its sender has written there since. `None` if neither is there any
    /// more.
    pub fn fetch(
        self,
        limits: &Limits,
        place: &AtomicU64,
        open: impl Fn(Ticket, usize) -> io::Result<FetchedBytes>,
    ) -> Option<ArrivedMessage> {
        let ticket = match self.lies {
            Ok(message) => return Some(ArrivedMessage { header: self.header, message, is_shared: false }),
            Err(ticket) => ticket,
        };
        match open(ticket, length(&self.header)?) {
            Ok(held) => {
                let header = Header::read(held.as_ref().first_chunk::<HEADER_BYTES>()?, limits).ok()?;
                let bytes = length(&header).filter(|&bytes| bytes <= held.as_ref().len())?;
                let is_newer = header.expect(MessageKind::Picture, bytes).is_ok()
                    && (self.header.kind, self.header.epoch) == (header.kind, header.epoch)
                    && header.frame > self.header.frame
                    && header.region == header.image.extent.full();
                let message = || bytes::Bytes::from_owner(held).slice(..bytes).into();
                (is_newer || header == self.header).then(|| ArrivedMessage {
                    header,
                    message: message(),
                    is_shared: true,
                })
            }
            Err(error) => {
                if error.kind() == ErrorKind::PermissionDenied && place.swap(0, Ordering::Relaxed) != 0 {
                    tracing::warn!("cannot read another program's memory ({error}); its messages are copied");
                }
                tracing::debug!("lent pixels are gone: {error}");
                None
            }
        }
    }
}

/// Size of a message with this header.
pub(crate) fn length(header: &Header) -> Option<usize> {
    usize::try_from(header.payload).ok()?.checked_add(HEADER_BYTES)
}

/// Reads a mark, and whether its sender is in the same place.
pub(crate) fn read_mark(sample: &Sample, limits: &Limits, place: &AtomicU64) -> Result<(Header, bool), WireError> {
    let header = read_header(sample.payload(), MessageKind::Mark, limits)?;
    let ours = place.load(Ordering::Relaxed);
    let is_near = sample.attachment().is_some_and(|place| ours != 0 && *place.to_bytes() == ours.to_le_bytes());
    Ok((header, is_near))
}

impl Pixels {
    /// Takes pixels whose header was read; decodes them.
    pub(crate) fn new(arrived: ArrivedMessage) -> Result<Self, WireError> {
        let ArrivedMessage { header, message, is_shared } = arrived;
        let bytes = match header.codec {
            Codec::None => Bytes::Message(message),
            _ => Bytes::Unpacked(header.unpack(message.to_bytes().get(HEADER_BYTES..).unwrap_or_default())?),
        };
        Ok(Self { header, bytes, is_shared })
    }

    /// Session, frame, sender, picture and place.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The region of the picture that the pixels cover.
    pub fn region(&self) -> Region {
        self.header.region
    }

    /// Time since their frame was requested, by the clocks of both machines; zero if those disagree.
    pub fn age(&self) -> Duration {
        Duration::from_micros(now().saturating_sub(self.header.time))
    }

    /// Whether they are in memory that the sender shares.
    pub fn is_shared(&self) -> bool {
        self.is_shared && matches!(self.bytes, Bytes::Message(_))
    }

    /// Returns tight rows; copies only if they arrived in pieces.
    ///
    /// # Errors
    /// None at present.
    pub fn to_bytes(&self) -> Result<Cow<'_, [u8]>> {
        match &self.bytes {
            Bytes::Unpacked(pixels) => Ok(Cow::Borrowed(pixels)),
            Bytes::Message(message) => {
                let mut slices = message.slices();
                if let (Some(only), None) = (slices.next(), slices.next()) {
                    return Ok(Cow::Borrowed(only.get(HEADER_BYTES..).unwrap_or_default()));
                }
                let mut pixels = Vec::with_capacity(message.len());
                self.pieces().for_each(|piece| pixels.extend_from_slice(piece));
                Ok(Cow::Owned(pixels))
            }
        }
    }

    /// Copies the pixels as tight rows to existing memory; this is a single copy, however they arrived.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `to` does not have the length of the pixels.
    pub fn copy_to(&self, to: &mut [u8]) -> Result<()> {
        let (found, needed) = (to.len() as u64, self.header.pixel_bytes());
        if found != needed {
            return Err(Error::invalid("Pixels::copy_to", format!("{found} bytes for pixels that need {needed}")));
        }
        self.reader().fill(to)
    }

    /// Copies the pixels to their position in `to`, which begins at byte `base` of `view`'s memory and covers the whole
    /// picture.
    pub(crate) fn lay(&self, view: &ImageView, base: usize, to: &mut [u8]) -> Result<()> {
        let Region { x, y, height, .. } = self.region();
        let pixel = self.header.image.format.bytes_per_pixel();
        let row_bytes = self.region().width as usize * pixel;
        let mut rows = self.reader();
        for row in y..y + height {
            let start = view.row_start(row).wrapping_add(x as usize * pixel).wrapping_sub(base);
            let place = start.checked_add(row_bytes).and_then(|end| to.get_mut(start..end));
            let place =
                place.ok_or_else(|| Error::invalid("Tiles::write", "the frame does not match the tiles' picture"))?;
            rows.fill(place)?;
        }
        Ok(())
    }

    /// The pixels as they are in memory.
    fn pieces<'a>(&'a self) -> impl Iterator<Item = &'a [u8]> {
        let (message, unpacked) = match &self.bytes {
            Bytes::Message(message) => (Some(message), None),
            Bytes::Unpacked(pixels) => (None, Some(pixels.as_slice())),
        };
        let mut header = HEADER_BYTES;
        let after_header = move |slice: &'a [u8]| {
            let (skipped, rest) = slice.split_at(header.min(slice.len()));
            header -= skipped.len();
            rest
        };
        message.into_iter().flat_map(|message| message.slices()).map(after_header).chain(unpacked)
    }

    fn reader(&self) -> Reader<'_, impl Iterator<Item = &[u8]>> {
        Reader { region: self.region(), piece: &[], pieces: self.pieces() }
    }
}

/// Reads pixels from consecutive pieces.
struct Reader<'a, Pieces> {
    region: Region,
    piece: &'a [u8],
    pieces: Pieces,
}

impl<'a, Pieces: Iterator<Item = &'a [u8]>> Reader<'a, Pieces> {
    /// Fills `to` with the next pixels.
    fn fill(&mut self, mut to: &mut [u8]) -> Result<()> {
        while !to.is_empty() {
            if self.piece.is_empty() {
                self.piece = self.pieces.next().ok_or(Error::Gone(self.region))?;
            }
            let (now, later) = self.piece.split_at(self.piece.len().min(to.len()));
            let (place, rest) = to.split_at_mut(now.len());
            place.copy_from_slice(now);
            (self.piece, to) = (later, rest);
        }
        Ok(())
    }
}

/// Copies a message whose header was read. Pixels are decoded unless their codec is in `codecs`.
pub(crate) fn copy(header: &Header, message: &ZBytes, codecs: &[Codec]) -> Result<Vec<u8>, WireError> {
    let bytes = message.to_bytes().into_owned();
    if header.codec == Codec::None || codecs.contains(&header.codec) {
        return Ok(bytes);
    }
    let pixels = header.unpack(bytes.get(HEADER_BYTES..).unwrap_or_default())?;
    let unpacked = Header { codec: Codec::None, payload: header.pixel_bytes(), ..*header };
    Ok([&unpacked.to_bytes()[..], &pixels].concat())
}

/// Writes all of `pixels` into a frame of the whole picture: one copy, from the network's memory into the frame's.
pub(crate) fn write_all(pixels: &[Pixels], frame: &mut WriteFrame<'_>) -> Result<()> {
    let (memory, view) = frame.target()?.into_parts();
    let View::Image(view) = view else {
        return Err(Error::invalid("Tiles::write", "a buffer was given instead of a picture"));
    };
    if pixels.iter().any(|part| part.header.image.extent != view.extent || part.header.image.format != view.format) {
        return Err(Error::invalid("Tiles::write", "the frame does not match the tiles' picture"));
    }
    let span = view.span();
    let mut failed = None;
    memory.map_write(span.clone(), &mut |to| {
        failed = pixels.iter().find_map(|part| part.lay(&view, span.start, to).err());
        Ok(())
    })?;
    failed.map_or(Ok(()), Err)
}
