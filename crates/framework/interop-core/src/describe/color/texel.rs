//! One pixel of any format as four numbers.

use crate::describe::format::{ChannelKind, PixelFormat};
use half::f16;

/// Four numbers from the bytes of a pixel, as a sampler gives them: missing channels are 0, a missing alpha is 1,
/// normalised channels are `0..=1`. `pixel` is at least as long as one pixel.
pub fn load(format: PixelFormat, pixel: &[u8]) -> [f32; 4] {
    let info = format.info();
    let short = |c: usize| [pixel[2 * c], pixel[2 * c + 1]];
    let word = |c: usize| [pixel[4 * c], pixel[4 * c + 1], pixel[4 * c + 2], pixel[4 * c + 3]];
    match info.kind {
        ChannelKind::Unorm8 => gather(info.order, |c| f32::from(pixel[c]) / 255.0),
        ChannelKind::Unorm16 => gather(info.order, |c| f32::from(u16::from_ne_bytes(short(c))) / 65535.0),
        ChannelKind::Unorm10A2 => {
            let word = u32::from_ne_bytes(word(0));
            gather(info.order, |c| ((word >> (10 * c)) & LARGEST_OF_10A2[c]) as f32 / LARGEST_OF_10A2[c] as f32)
        }
        ChannelKind::Float16 => gather(info.order, |c| f16::from_ne_bytes(short(c)).to_f32()),
        ChannelKind::Float32 => gather(info.order, |c| f32::from_ne_bytes(word(c))),
    }
}

fn gather(order: &[usize], channel: impl Fn(usize) -> f32) -> [f32; 4] {
    let mut color = [0.0, 0.0, 0.0, 1.0];
    order.iter().enumerate().for_each(|(stored, own)| color[*own] = channel(stored));
    color
}

/// Largest stored value of each channel; it stands for 1.
const LARGEST_OF_10A2: [u32; 4] = [1023, 1023, 1023, 3];

/// Writes four numbers as a target does. Normalised channels are clamped to 0..=1 (NaN becomes 0) and rounded; channels
/// that the format lacks are dropped. `pixel` is at least as long as one pixel.
pub fn store(format: PixelFormat, color: [f32; 4], pixel: &mut [u8]) {
    let info = format.info();
    // A cast to an integer turns NaN into 0.
    let unorm = |v: f32, largest: u32| (v.clamp(0.0, 1.0) * largest as f32).round() as u32;
    let own = info.order.iter().map(|own| color[*own]);
    match info.kind {
        ChannelKind::Unorm8 => own.zip(pixel).for_each(|(v, to)| *to = unorm(v, 255) as u8),
        ChannelKind::Unorm16 => {
            own.zip(pixel.chunks_exact_mut(2))
                .for_each(|(v, to)| to.copy_from_slice(&(unorm(v, 65535) as u16).to_ne_bytes()));
        }
        ChannelKind::Unorm10A2 => {
            let bits = own.zip(LARGEST_OF_10A2).enumerate();
            let word = bits.fold(0, |word, (c, (v, largest))| word | unorm(v, largest) << (10 * c));
            pixel[..4].copy_from_slice(&word.to_ne_bytes());
        }
        ChannelKind::Float16 => {
            own.zip(pixel.chunks_exact_mut(2)).for_each(|(v, to)| to.copy_from_slice(&f16::from_f32(v).to_ne_bytes()));
        }
        ChannelKind::Float32 => {
            own.zip(pixel.chunks_exact_mut(4)).for_each(|(v, to)| to.copy_from_slice(&v.to_ne_bytes()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_comes_back() {
        for format in PixelFormat::ALL {
            // 64 and 128 alternately: floats of any size that are finite.
            let bytes: Vec<u8> = (0..16).map(|i| if i % 2 == 1 { 64 } else { 128 }).collect();
            let len = format.bytes_per_pixel();
            let mut back = [0; 16];
            store(format, load(format, &bytes), &mut back);
            assert_eq!(back[..len], bytes[..len], "{format}");
            assert_eq!(back[len..], [0; 16][len..], "{format} writes one pixel");
        }
    }

    #[test]
    fn bytes_are_cut_and_rounded() {
        let mut pixel = [9; 4];
        store(PixelFormat::Rgba8, [f32::NAN, 7.0, -1.0, 0.5], &mut pixel);
        assert_eq!(pixel, [0, 255, 0, 128]);
        assert_eq!(load(PixelFormat::Rg8, &[255, 0]), [1.0, 0.0, 0.0, 1.0]);
    }

    #[test]
    fn blue_comes_first_and_bits_are_packed_from_the_lowest() {
        assert_eq!(load(PixelFormat::Bgra8, &[255, 0, 51, 0]), [0.2, 0.0, 1.0, 0.0]);
        let word = 1023u32 | 2 << 30;
        assert_eq!(load(PixelFormat::Rgb10A2, &word.to_ne_bytes()), [1.0, 0.0, 0.0, 2.0 / 3.0]);
        let mut pixel = [0; 4];
        store(PixelFormat::Rgb10A2, [0.0, 1.0, f32::NAN, 1.0], &mut pixel);
        assert_eq!(u32::from_ne_bytes(pixel), 1023 << 10 | 3 << 30);
    }
}
