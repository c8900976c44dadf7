//! Packing and unpacking pixels.

use crate::error::{Error, Result};
use crate::wire::{Codec, Header, WireError};
use jpeg_encoder::{ColorType, Encoder};
use pixelferry::PixelFormat;
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

/// Packs tight rows of the header's region; `None` for no codec, where the rows are the payload.
pub(crate) fn pack(header: &Header, pixels: &[u8], quality: u8) -> Result<Option<Vec<u8>>> {
    match header.codec {
        Codec::None => Ok(None),
        Codec::Lz4 => Ok(Some(lz4_flex::block::compress(pixels))),
        Codec::Jpeg => jpeg(header, pixels, quality).map(Some),
    }
}

fn jpeg(header: &Header, pixels: &[u8], quality: u8) -> Result<Vec<u8>> {
    const OP: &str = "Codec::Jpeg";
    let color = match header.image.format {
        PixelFormat::R8 => ColorType::Luma,
        PixelFormat::Rgba8 => ColorType::Rgba,
        PixelFormat::Bgra8 => ColorType::Bgra,
        other => return Err(Error::invalid(OP, format!("JPEG takes R8, RGBA8 and BGRA8, not {other}; take lz4"))),
    };
    let side = |pixels: u32| {
        u16::try_from(pixels)
            .map_err(|_| Error::invalid(OP, format!("a JPEG has at most 65535 pixels a side, not {pixels}")))
    };
    let (width, height) = (side(header.region.width)?, side(header.region.height)?);
    let mut packed = Vec::new();
    let encoded = Encoder::new(&mut packed, quality.clamp(1, 100)).encode(pixels, width, height, color);
    encoded.map_err(|error| Error::invalid(OP, error.to_string()))?;
    Ok(packed)
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
        Codec::Jpeg => unpack_jpeg(header, payload).map_err(bad)?,
    };
    if pixels.len() != expected {
        return Err(bad(format!("it unpacks to {} bytes, not {expected}", pixels.len())));
    }
    Ok(pixels)
}

fn unpack_jpeg(header: &Header, payload: &[u8]) -> Result<Vec<u8>, String> {
    let (space, width, height) = match header.image.format {
        PixelFormat::R8 => (ColorSpace::Luma, header.region.width as usize, header.region.height as usize),
        _ => (ColorSpace::RGBA, header.region.width as usize, header.region.height as usize),
    };
    let options = DecoderOptions::default().set_max_width(width).set_max_height(height).jpeg_set_out_colorspace(space);
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(payload), options);
    decoder.decode_headers().map_err(|error| error.to_string())?;
    if decoder.dimensions() != Some((width, height)) {
        return Err(format!("it is of {:?}, not of {width}x{height}", decoder.dimensions()));
    }
    let mut pixels = decoder.decode().map_err(|error| error.to_string())?;
    if header.image.format == PixelFormat::Bgra8 {
        pixels.chunks_exact_mut(4).for_each(|pixel| pixel.swap(0, 2));
    }
    Ok(pixels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::Kind;
    use pixelferry::{ImageDesc, Region};

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
