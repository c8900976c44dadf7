//! Packing and unpacking pixels.

use crate::error::Result;
use crate::jpeg;
use crate::wire::{Codec, Header, WireError};

/// Packs tight rows of the header's region; `None` for no codec, where the rows are the payload.
pub(crate) fn pack(header: &Header, pixels: &[u8], quality: u8) -> Result<Option<Vec<u8>>> {
    match header.codec {
        Codec::None => Ok(None),
        Codec::Lz4 => Ok(Some(lz4_flex::block::compress(pixels))),
        Codec::Jpeg => jpeg::pack(header, pixels, quality).map(Some),
    }
}

impl Header {
    /// Unpacks the payload of a message with this header to tight rows of its region.
    ///
    /// # Errors
    /// [`WireError::Payload`] for one that does not unpack to exactly the region.
    pub fn unpack(&self, payload: &[u8]) -> Result<Vec<u8>, WireError> {
        unpack(self, payload)
    }

    /// A message with tight rows of this header's region, packed by `codec`; `quality` from 1 to 100 is JPEG's.
    ///
    /// # Errors
    /// [`Error::Invalid`] for a format or a size that the codec does not take.
    pub fn pack(&self, codec: Codec, pixels: &[u8], quality: u8) -> Result<Vec<u8>> {
        let header = Self { codec, ..*self };
        let packed = pack(&header, pixels, quality)?;
        let payload = packed.as_deref().unwrap_or(pixels);
        Ok([&Self { payload: payload.len() as u64, ..header }.to_bytes()[..], payload].concat())
    }
}

/// Unpacks a payload to tight rows of the header's region.
pub(crate) fn unpack(header: &Header, payload: &[u8]) -> Result<Vec<u8>, WireError> {
    let bad = |problem: String| WireError::Payload { codec: header.codec.name(), problem };
    // `Header::read` held it against the limits.
    let expected = usize::try_from(header.pixel_bytes()).map_err(|error| bad(error.to_string()))?;
    let pixels = match header.codec {
        Codec::None => payload.to_vec(),
        Codec::Lz4 => {
            // LZ4 packs at most 255 to 1: what claims more is not unpacked.
            if payload.len().saturating_mul(255) < expected {
                return Err(bad(format!("{} bytes cannot hold {expected}", payload.len())));
            }
            lz4_flex::block::decompress(payload, expected).map_err(|error| bad(error.to_string()))?
        }
        Codec::Jpeg => jpeg::unpack(header, payload).map_err(bad)?,
    };
    if pixels.len() != expected {
        return Err(bad(format!("it unpacks to {} bytes, not {expected}", pixels.len())));
    }
    Ok(pixels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Kind;
    use pixelferry::{ImageDesc, PixelFormat, Region};

    fn header(format: PixelFormat, codec: Codec) -> Header {
        let image = ImageDesc::new(100, 80, format);
        Header { codec, ..Header::new(Kind::Tile, image, Region::new(3, 5, 37, 29)) }
    }

    fn ramp(header: &Header) -> Vec<u8> {
        let bytes = header.pixel_bytes() as usize;
        (0..bytes).map(|at| (at / 37 * 2) as u8).collect()
    }

    #[test]
    fn exact_codecs_give_every_byte_back() {
        for format in PixelFormat::ALL {
            let header = header(format, Codec::Lz4);
            let pixels = ramp(&header);
            let packed = pack(&header, &pixels, 90).unwrap().unwrap();
            assert!(packed.len() < pixels.len());
            assert_eq!(unpack(&header, &packed).unwrap(), pixels);
            assert!(unpack(&header, &packed[..packed.len() / 2]).is_err());
        }
    }

    #[test]
    fn jpeg_keeps_colours_in_their_channels() {
        for format in [PixelFormat::R8, PixelFormat::Rgba8, PixelFormat::Bgra8] {
            let header = header(format, Codec::Jpeg);
            let pixel: &[u8] = if format == PixelFormat::R8 { &[180] } else { &[200, 100, 30, 255] };
            let pixels: Vec<u8> = pixel.iter().copied().cycle().take(header.pixel_bytes() as usize).collect();
            let packed = pack(&header, &pixels, 90).unwrap().unwrap();
            let back = unpack(&header, &packed).unwrap();
            assert_eq!(back.len(), pixels.len());
            assert!(back.iter().zip(&pixels).all(|(a, b)| a.abs_diff(*b) <= 6), "{format}: {:?}", &back[..4]);
        }
        let deep = header(PixelFormat::Rgba32F, Codec::Jpeg);
        assert!(pack(&deep, &ramp(&deep), 90).is_err());
    }

    #[test]
    fn a_jpeg_of_another_size_is_refused() {
        let small = header(PixelFormat::Rgba8, Codec::Jpeg);
        let packed = pack(&small, &ramp(&small), 90).unwrap().unwrap();
        let other = Header { region: Region::new(0, 0, 38, 29), ..small };
        assert!(matches!(unpack(&other, &packed), Err(WireError::Payload { .. })));
        let other = Header { region: Region::new(0, 0, 8, 8), ..small };
        assert!(matches!(unpack(&other, &packed), Err(WireError::Payload { .. })));
    }
}
