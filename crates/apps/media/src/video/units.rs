//! Access units from GStreamer's pipe: `gdppay` puts a header before each, which contains its length.

use crate::wire::{HEADER_BYTES, Header};
use std::io::{self, Read};

/// Size of gdppay's header.
const GDP_BYTES: usize = 62;
const GDP_MAJOR: u8 = 1;
/// Payload types: one buffer of the stream, or the caps of the following buffers. Others are events.
const BUFFER: u16 = 1;
const CAPS: u16 = 2;
/// Types of NAL units, in their first byte: slices of pixels, and the parameter sets before them.
const SLICE: u8 = 1;
const SLICE_OF_KEYFRAME: u8 = 5;
const PARAMETERS: u8 = 7;
/// Number of the codec in the header of a message to browsers.
const H264: u8 = 3;
const CODEC_AT: usize = 7;
/// A larger access unit is invalid.
const MOST: u32 = 256 << 20;

/// One picture as H.264: an access unit with start codes (Annex B). A keyframe begins with its parameter sets.
#[derive(Debug, Clone)]
pub struct Unit {
    /// The picture's header, with the top row first.
    pub header: Header,
    /// Whether decoding can begin here.
    pub is_key: bool,
    /// The access unit.
    pub bytes: Vec<u8>,
}

impl Unit {
    /// Returns header and unit as one message for browsers.
    pub fn message(&self) -> Vec<u8> {
        let mut header: [u8; HEADER_BYTES] = Header { payload: self.bytes.len() as u64, ..self.header }.to_bytes();
        header[CODEC_AT] = H264;
        [&header[..], &self.bytes].concat()
    }
}

/// A packet of GStreamer's.
pub(crate) struct Packet {
    pub(crate) is_caps: bool,
    /// Timestamp in nanoseconds.
    pub(crate) time: u64,
    pub(crate) bytes: Vec<u8>,
}

/// Reads the next buffer; `None` at the end.
pub(crate) fn next(pipe: &mut impl Read) -> io::Result<Option<Packet>> {
    loop {
        let packet = next_or_caps(pipe)?;
        if packet.as_ref().is_none_or(|packet| !packet.is_caps) {
            return Ok(packet);
        }
    }
}

/// Reads the next buffer, or the caps of the following ones, as text; `None` at the end.
pub(crate) fn next_or_caps(pipe: &mut impl Read) -> io::Result<Option<Packet>> {
    loop {
        let mut header = [0; GDP_BYTES];
        match pipe.read_exact(&mut header) {
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let length = u32::from_be_bytes([header[6], header[7], header[8], header[9]]);
        if header[0] != GDP_MAJOR || length > MOST {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "its output is not a packet of gdppay"));
        }
        let mut bytes = Vec::new();
        pipe.take(length.into()).read_to_end(&mut bytes)?;
        if bytes.len() < length as usize {
            return Ok(None);
        }
        let kind = u16::from_be_bytes([header[4], header[5]]);
        if kind == BUFFER || kind == CAPS {
            let time = header[10..18].iter().fold(0, |time, &byte| time << 8 | u64::from(byte));
            return Ok(Some(Packet { is_caps: kind == CAPS, time, bytes }));
        }
    }
}

/// Returns whether decoding can begin at this access unit. GStreamer's own flag is also set for pictures that need
/// earlier ones.
pub(crate) fn is_key(unit: &[u8]) -> bool {
    let mut has_parameters = false;
    // A NAL unit begins after the bytes 0, 0, 1.
    let starts = unit.windows(4).filter(|bytes| bytes[..3] == [0, 0, 1]);
    for kind in starts.map(|bytes| bytes[3] & 31) {
        has_parameters |= kind == PARAMETERS;
        if (SLICE..=SLICE_OF_KEYFRAME).contains(&kind) {
            return has_parameters && kind == SLICE_OF_KEYFRAME;
        }
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(kind: u16, time: u64, payload: &[u8]) -> Vec<u8> {
        let mut header = [0; GDP_BYTES];
        header[0] = GDP_MAJOR;
        header[4..6].copy_from_slice(&kind.to_be_bytes());
        header[6..10].copy_from_slice(&(payload.len() as u32).to_be_bytes());
        header[10..18].copy_from_slice(&time.to_be_bytes());
        [&header[..], payload].concat()
    }

    #[test]
    fn buffers_are_read_and_all_else_is_passed_over() {
        let stream = [packet(2, 0, b"caps"), packet(1, 7, b"one"), packet(1, 1 << 40, b"two")].concat();
        let mut pipe = &stream[..];
        let first = next(&mut pipe).unwrap().unwrap();
        assert_eq!((first.time, &first.bytes[..]), (7, &b"one"[..]));
        let second = next(&mut pipe).unwrap().unwrap();
        assert_eq!((second.time, &second.bytes[..]), (1 << 40, &b"two"[..]));
        assert!(next(&mut pipe).unwrap().is_none());
        for cut in [3, 61, 64] {
            assert!(next(&mut &packet(1, 0, b"unit")[..cut]).unwrap().is_none());
        }
        assert!(next(&mut &[b'E'; 100][..]).is_err());
    }

    #[test]
    fn a_keyframe_has_parameters_before_a_slice_of_its_kind() {
        let unit = |kinds: &[u8]| kinds.iter().flat_map(|kind| [0, 0, 0, 1, 0x60 | kind, 9]).collect::<Vec<u8>>();
        assert!(is_key(&unit(&[9, 7, 8, 6, 5, 5])));
        for other in [&[9, 1][..], &[9, 7, 8, 1], &[9, 5], &[7, 8], &[]] {
            assert!(!is_key(&unit(other)), "{other:?}");
        }
    }
}
