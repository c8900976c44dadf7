//! Encodes and decodes pixels.

#[cfg(feature = "jpeg")]
use crate::jpeg;
use crate::wire::{Codec, Header, WireError};
use interop_core::{Error, Result};

impl Header {
    /// Encodes tight rows of the header's region with its codec; `None` without a codec, where the rows are the
    /// payload.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a format or size that the codec does not support, and for a codec that this program
    /// was built without.
    pub fn pack_rows(&self, pixels: &[u8], quality: u8) -> Result<Option<Vec<u8>>> {
        match self.codec {
            Codec::None => Ok(None),
            #[cfg(feature = "lz4")]
            Codec::Lz4 => Ok(Some(lz4_flex::block::compress(pixels))),
            #[cfg(feature = "jpeg")]
            Codec::Jpeg => jpeg::pack(self, pixels, quality).map(Some),
            #[allow(unreachable_patterns)] // unreachable if all are built
            other => Err(Error::invalid(
                "Header::pack",
                format!("{other} (quality {quality}, {} bytes) {NOT_BUILT}", pixels.len()),
            )),
        }
    }

    /// Returns a message with tight rows of this header's region, encoded by `codec`; `quality`, from 1 to 100, is for
    /// JPEG.
    ///
    /// # Errors
    /// As [`Header::pack_rows`].
    pub fn pack(&self, codec: Codec, pixels: &[u8], quality: u8) -> Result<Vec<u8>> {
        let packed = Self { codec, ..*self }.pack_rows(pixels, quality)?;
        Ok(self.message(codec, packed.as_deref().unwrap_or(pixels)))
    }

    /// Returns a message with a payload that `codec` has encoded already.
    pub fn message(&self, codec: Codec, payload: &[u8]) -> Vec<u8> {
        [&Self { codec, payload: payload.len() as u64, ..*self }.to_bytes()[..], payload].concat()
    }

    /// Decodes the payload of a message with this header to tight rows of its region.
    ///
    /// # Errors
    /// [`WireError::Payload`] if it does not decode to exactly the region.
    pub fn unpack(&self, payload: &[u8]) -> Result<Vec<u8>, WireError> {
        let bad = |problem: String| WireError::Payload { codec: self.codec.name(), problem };
        // `Header::read` has checked the limits.
        let expected = usize::try_from(self.pixel_bytes()).map_err(|error| bad(error.to_string()))?;
        let pixels = match self.codec {
            Codec::None => payload.to_vec(),
            #[cfg(feature = "lz4")]
            Codec::Lz4 => {
                // LZ4 compresses at most 255 to 1; refuse a payload that claims more.
                if payload.len().saturating_mul(255) < expected {
                    return Err(bad(format!("{} bytes are too few for {expected}", payload.len())));
                }
                lz4_flex::block::decompress(payload, expected).map_err(|error| bad(error.to_string()))?
            }
            #[cfg(feature = "jpeg")]
            Codec::Jpeg => jpeg::unpack(self, payload).map_err(bad)?,
            #[allow(unreachable_patterns)] // unreachable if all are built
            _ => return Err(bad(NOT_BUILT.into())),
        };
        if pixels.len() != expected {
            return Err(bad(format!("it decodes to {} bytes instead of {expected}", pixels.len())));
        }
        Ok(pixels)
    }
}

const NOT_BUILT: &str = "is not built into this program";

#[cfg(all(test, feature = "jpeg", feature = "lz4"))]
mod tests {
    use super::*;
    use crate::wire::MessageKind;
    use interop_core::{ImageDesc, PixelFormat, Region};

    fn header(format: PixelFormat, codec: Codec) -> Header {
        let image = ImageDesc::new(100, 80, format);
        Header { codec, ..Header::new(MessageKind::Tile, image, Region::new(3, 5, 37, 29)) }
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
            let packed = header.pack_rows(&pixels, 90).unwrap().unwrap();
            assert!(packed.len() < pixels.len());
            assert_eq!(header.unpack(&packed).unwrap(), pixels);
            assert!(header.unpack(&packed[..packed.len() / 2]).is_err());
        }
    }

    #[test]
    fn jpeg_keeps_colours_in_their_channels() {
        for format in [PixelFormat::R8, PixelFormat::Rgba8, PixelFormat::Bgra8] {
            let header = header(format, Codec::Jpeg);
            let pixel: &[u8] = if format == PixelFormat::R8 { &[180] } else { &[200, 100, 30, 255] };
            let pixels: Vec<u8> = pixel.iter().copied().cycle().take(header.pixel_bytes() as usize).collect();
            let packed = header.pack_rows(&pixels, 90).unwrap().unwrap();
            let back = header.unpack(&packed).unwrap();
            assert_eq!(back.len(), pixels.len());
            assert!(back.iter().zip(&pixels).all(|(a, b)| a.abs_diff(*b) <= 6), "{format}: {:?}", &back[..4]);
        }
        let deep = header(PixelFormat::Rgba32F, Codec::Jpeg);
        assert!(deep.pack_rows(&ramp(&deep), 90).is_err());
    }

    #[test]
    fn a_jpeg_of_another_size_is_refused() {
        let small = header(PixelFormat::Rgba8, Codec::Jpeg);
        let packed = small.pack_rows(&ramp(&small), 90).unwrap().unwrap();
        let other = Header { region: Region::new(0, 0, 38, 29), ..small };
        assert!(matches!(other.unpack(&packed), Err(WireError::Payload { .. })));
        let other = Header { region: Region::new(0, 0, 8, 8), ..small };
        assert!(matches!(other.unpack(&packed), Err(WireError::Payload { .. })));
    }
}
