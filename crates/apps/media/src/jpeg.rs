//! JPEG, with checks for small files that would decode to much memory.

use crate::turbo::{Layout, Turbo};
use crate::wire::Header;
use interop_core::{Error, PixelFormat, Result};
use jpeg_encoder::{ColorType, Encoder, EncodingError, SamplingFactor};
use zune_core::bytestream::ZCursor;
use zune_core::colorspace::ColorSpace;
use zune_core::options::DecoderOptions;
use zune_jpeg::JpegDecoder;

/// A block of 8x8 values takes at least two bits.
const PIXELS_PER_BYTE: usize = 256;
const MOST_COMPONENTS: u8 = 4;

/// From this quality on, colours have the picture's resolution; below it, half (4:2:0).
pub const FINE: u8 = 90;

const BASELINE: u8 = 0xc0;
const SCAN: u8 = 0xda;
const END: u8 = 0xd9;

/// Encodes tight rows of the header's region.
pub(crate) fn pack(header: &Header, pixels: &[u8], quality: u8) -> Result<Vec<u8>> {
    const OP: &str = "Codec::Jpeg";
    let (color, layout) = match header.image.format {
        PixelFormat::R8 => (ColorType::Luma, Layout::Grey),
        PixelFormat::Rgba8 => (ColorType::Rgba, Layout::Rgba),
        PixelFormat::Bgra8 => (ColorType::Bgra, Layout::Bgra),
        other => return Err(Error::invalid(OP, format!("JPEG supports R8, RGBA8 and BGRA8, not {other}; use lz4"))),
    };
    let side = |pixels: u32| {
        u16::try_from(pixels)
            .map_err(|_| Error::invalid(OP, format!("a JPEG has at most 65535 pixels per side, not {pixels}")))
    };
    let (width, height) = (side(header.region.width)?, side(header.region.height)?);
    let quality = quality.clamp(1, 100);
    if let Some(turbo) = Turbo::get() {
        let packed = turbo.pack(pixels, (width, height), layout, quality, quality < FINE);
        return packed.map_err(|problem| Error::invalid(OP, problem));
    }
    let packed = without_turbo(pixels, (width, height), color, quality, quality < FINE);
    packed.map_err(|error| Error::invalid(OP, error.to_string()))
}

/// Encodes tight rows with the built-in encoder, with colours at half resolution (4:2:0) if `halved`.
pub(crate) fn without_turbo(
    pixels: &[u8],
    (width, height): (u16, u16),
    color: ColorType,
    quality: u8,
    halved: bool,
) -> std::result::Result<Vec<u8>, EncodingError> {
    let mut packed = Vec::new();
    let mut encoder = Encoder::new(&mut packed, quality);
    encoder.set_sampling_factor(if halved { SamplingFactor::F_2_2 } else { SamplingFactor::F_1_1 });
    encoder.encode(pixels, width, height, color)?;
    Ok(packed)
}

/// Accepts only a baseline JPEG of this size with at most one scan per component: other kinds take many times the
/// memory while they are decoded, and much time.
fn check(payload: &[u8], width: usize, height: usize) -> Result<(), String> {
    if payload.len().saturating_mul(PIXELS_PER_BYTE) < width.saturating_mul(height) {
        return Err(format!("{} bytes are too few for {width}x{height} pixels", payload.len()));
    }
    let (mut frame, mut scans, mut rest) = (None, 0, payload);
    while let Some(at) = rest.iter().position(|&byte| byte == 0xff) {
        rest = rest.get(at + 1..).unwrap_or_default();
        let Some((&marker, after)) = rest.split_first() else { break };
        match marker {
            // A fill byte.
            0xff => continue,
            // An escaped data byte, or a marker without length.
            0 | 0xd0..=0xd8 => {
                rest = after;
                continue;
            }
            END => break,
            // Huffman tables, extensions and arithmetic tables are not frames.
            0xc1..=0xcf if ![0xc4, 0xc8, 0xcc].contains(&marker) => return Err("it is not a baseline JPEG".into()),
            SCAN => scans += 1,
            _ => {}
        }
        let Some(&[high, low]) = after.first_chunk() else { break };
        if marker == BASELINE {
            let [_, _, _, high, low, wide, narrow, components] =
                *after.first_chunk().ok_or("its frame header is truncated")?;
            let found = (u16::from_be_bytes([wide, narrow]).into(), u16::from_be_bytes([high, low]).into());
            if frame.replace((found, components)).is_some() {
                return Err("it has more than one frame".into());
            }
        }
        rest = after.get(usize::from(u16::from_be_bytes([high, low]))..).unwrap_or_default();
    }
    let (found, components) = frame.ok_or("it has no frame")?;
    if found != (width, height) {
        return Err(format!("its size is {found:?}, not {width}x{height}"));
    }
    if !(1..=MOST_COMPONENTS).contains(&components) || scans > u32::from(components) {
        return Err(format!("it has {scans} scans of {components} components"));
    }
    Ok(())
}

/// Decodes to tight rows of the header's region, or says what is wrong.
pub(crate) fn unpack(header: &Header, payload: &[u8]) -> Result<Vec<u8>, String> {
    let (width, height) = (header.region.width as usize, header.region.height as usize);
    check(payload, width, height)?;
    let space = if header.image.format == PixelFormat::R8 { ColorSpace::Luma } else { ColorSpace::RGBA };
    let options = DecoderOptions::default().set_max_width(width).set_max_height(height);
    let options = options.jpeg_set_out_colorspace(space).jpeg_set_max_scans(MOST_COMPONENTS.into());
    let mut decoder = JpegDecoder::new_with_options(ZCursor::new(payload), options);
    decoder.decode_headers().map_err(|error| error.to_string())?;
    if decoder.dimensions() != Some((width, height)) {
        return Err(format!("its size is {:?}, not {width}x{height}", decoder.dimensions()));
    }
    let mut pixels = decoder.decode().map_err(|error| error.to_string())?;
    if header.image.format == PixelFormat::Bgra8 {
        pixels.chunks_exact_mut(4).for_each(|pixel| pixel.swap(0, 2));
    }
    Ok(pixels)
}
