//! Tests that every display draws images with every encoding into every kind of target.

use crate::describe::color::{AlphaMode, Encoding, TargetEncoding, ToneMap, load, store};
use crate::describe::error::{Error, Result};
use crate::describe::format::PixelFormat;
use crate::describe::geometry::Extent;
use crate::describe::surface::ImageDesc;
use crate::describe::view::ImageView;
use crate::draw::{DrawOptions, Filter, Fit, Placement, Plan, paint};

/// One draw.
#[derive(Debug, Clone)]
pub struct DrawCase {
    /// The image to draw.
    pub image: ImageDesc,
    /// Its pixels in tight rows, top row first.
    pub pixels: Vec<u8>,
    /// Options of the draw.
    pub options: DrawOptions,
    /// Format of the target, all of which is the viewport. Where [`DrawOptions::target`] says that the format encodes,
    /// the target is sRGB-encoded RGBA8.
    pub target: PixelFormat,
    /// Clear value of the target before the draw, as numbers that are then read from it.
    pub before: [f32; 4],
}

/// Odd, so that no pixel's centre lies on the edge between two texels, whatever the target's size.
const IMAGE: Extent = Extent::new(5, 3);

/// Tolerance for 8-bit targets: one rounding step.
const UNORM_TOLERANCE: f32 = 1.0 / 255.0;

impl DrawCase {
    /// Size of the target: wider than the image's shape, and not a multiple of its size.
    pub const AREA: Extent = Extent::new(13, 7);

    fn new(format: PixelFormat, encoding: Encoding, alpha: AlphaMode, options: DrawOptions) -> Self {
        let image = ImageDesc { extent: IMAGE, ..ImageDesc::new(1, 1, format) };
        let image = image.with_encoding(encoding).with_alpha(alpha);
        let target = match options.target {
            TargetEncoding::Linear => PixelFormat::Rgba16F,
            _ => PixelFormat::Rgba8,
        };
        Self { image, pixels: pixels(&image), options, target, before: [0.8, 0.4, 0.2, 0.6] }
    }

    /// Returns every drawing. Each is independent of the others.
    pub fn all() -> Vec<Self> {
        [meanings(), coverings(), placements(), formats(), hostile()].concat()
    }

    /// Returns the expected content of the target in tight rows, top row first, as computed by the reference.
    pub fn expected(&self) -> Result<Vec<u8>> {
        let mut bytes = vec![0; Self::AREA.pixels() as usize * self.target.bytes_per_pixel()];
        bytes.chunks_exact_mut(self.target.bytes_per_pixel()).for_each(|p| store(self.target, self.before, p));
        let plan = Plan::new(&self.image, Self::AREA, &self.options)?;
        let from = ImageView::packed(IMAGE, self.image.format, 1, 0, false)?;
        let to = ImageView::packed(Self::AREA, self.target, 1, 0, false)?;
        paint(&plan, (&self.pixels, &from), (&mut bytes, &to), (0, 0))?;
        Ok(bytes)
    }

    /// Compares a display's result with the reference. The tolerance is 1/255 in integer targets; in floating-point
    /// targets it is 1/500 of the number, and 1/5000 near 0.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] with the first wrong pixel.
    pub fn check(&self, found: &[u8]) -> Result<()> {
        let (expected, size) = (self.expected()?, self.target.bytes_per_pixel());
        if found.len() != expected.len() {
            return Err(Error::invalid(
                "DrawCase::check",
                format!("{} bytes were given instead of {}", found.len(), expected.len()),
            ));
        }
        let unorm = !self.target.channel_kind().is_float();
        let is_close = |a: f32, b: f32| {
            let tolerance = if unorm { 1.001 * UNORM_TOLERANCE } else { (b.abs() / 500.0).max(1.0 / 5000.0) };
            (a - b).abs() <= tolerance || a == b
        };
        let pairs = found.chunks_exact(size).zip(expected.chunks_exact(size)).enumerate();
        for (at, (found, expected)) in pairs {
            let (found, expected) = (load(self.target, found), load(self.target, expected));
            if !found.iter().zip(expected).all(|(a, b)| is_close(*a, b)) {
                let (x, y) = (at as u32 % Self::AREA.width, at as u32 / Self::AREA.width);
                let (image, options) = (self.image, self.options);
                let problem = format!("pixel {x}, {y} is {found:?}, not {expected:?}: {image:?} by {options:?}");
                return Err(Error::invalid("DrawCase::check", problem));
            }
        }
        Ok(())
    }
}

/// Returns numbers that differ from pixel to pixel and lie in the image's range.
fn pixels(image: &ImageDesc) -> Vec<u8> {
    let size = image.format.bytes_per_pixel();
    let is_float = image.format.channel_kind().is_float();
    // Unmanaged numbers stay in the target's range; light exceeds white and the primaries.
    let (low, high) = match image.encoding {
        Encoding::Linear if is_float => (-0.25, 9.0),
        Encoding::Srgb | Encoding::Gamma22 if is_float => (-0.25, 1.5),
        _ => (0.0, 1.0),
    };
    let mut bytes = vec![0; image.extent.pixels() as usize * size];
    for (at, pixel) in (0u32..).zip(bytes.chunks_exact_mut(size)) {
        let noise = |c: u32| {
            let hash = (at * 4 + c + 1).wrapping_mul(0x9E37_79B1) ^ ((at * 4 + c) << 7);
            (hash.wrapping_mul(0x85EB_CA77) >> 16) as f32 / 65535.0
        };
        let alpha = match at % 4 {
            0 => 1.0,
            1 => 0.0,
            _ => noise(3),
        };
        // Includes dark values for the linear part of the curves.
        let scale = if at % 5 == 4 { 0.02 } else { 1.0 };
        let cover = if image.alpha == AlphaMode::Premultiplied { alpha } else { 1.0 };
        let [r, g, b] = [0, 1, 2].map(|c| (low + (high - low) * noise(c)) * scale * cover);
        store(image.format, [r, g, b, alpha], pixel);
    }
    bytes
}

const PLAIN: DrawOptions = DrawOptions {
    filter: Filter::Nearest,
    fit: Fit::Stretch,
    grey: true,
    background: None,
    exposure: 0.0,
    tone_map: ToneMap::None,
    target: TargetEncoding::Srgb,
    manner: None,
};

/// Pairs of target and image encodings: every curve in both directions, and no curve.
const WAYS: [(TargetEncoding, Encoding); 9] = [
    (TargetEncoding::Srgb, Encoding::Unmanaged),
    (TargetEncoding::Srgb, Encoding::Srgb),
    (TargetEncoding::Srgb, Encoding::Linear),
    (TargetEncoding::Srgb, Encoding::Gamma22),
    (TargetEncoding::SrgbFormat, Encoding::Srgb),
    (TargetEncoding::SrgbFormat, Encoding::Linear),
    (TargetEncoding::Linear, Encoding::Unmanaged),
    (TargetEncoding::Linear, Encoding::Srgb),
    (TargetEncoding::Linear, Encoding::Linear),
];
const ENCODINGS: [Encoding; 4] = [Encoding::Unmanaged, Encoding::Srgb, Encoding::Linear, Encoding::Gamma22];
const ALPHAS: [AlphaMode; 4] = [AlphaMode::Stored, AlphaMode::Opaque, AlphaMode::Premultiplied, AlphaMode::Straight];
const TONES: [ToneMap; 6] = [
    ToneMap::None,
    ToneMap::Clamp,
    ToneMap::Reinhard { white: f32::INFINITY },
    ToneMap::Reinhard { white: 4.0 },
    ToneMap::AcesNarkowicz,
    ToneMap::AcesHill,
];

/// Draws with curves, exposures and tone maps.
fn meanings() -> Vec<DrawCase> {
    let mut cases = Vec::new();
    for (target, encoding) in WAYS {
        let format = if encoding == Encoding::Linear { PixelFormat::Rgba16F } else { PixelFormat::Rgba8 };
        let tones = if encoding == Encoding::Unmanaged { &TONES[..1] } else { &TONES[..] };
        cases.extend(tones.iter().zip([0.0, 1.5, 0.0, -2.0, 0.5, 0.0]).map(|(tone_map, exposure)| {
            let options = DrawOptions { target, tone_map: *tone_map, exposure, ..PLAIN };
            DrawCase::new(format, encoding, AlphaMode::Stored, options)
        }));
    }
    cases
}

/// Draws with alpha over a background and over the target's content.
fn coverings() -> Vec<DrawCase> {
    let mut cases = Vec::new();
    for (target, encoding) in WAYS {
        for (alpha, background) in ALPHAS.iter().flat_map(|a| [None, Some([0.1, 0.5, 0.9])].map(|b| (*a, b))) {
            let filter = if background.is_some() { Filter::Linear } else { Filter::Nearest };
            let options = DrawOptions { target, background, filter, ..PLAIN };
            cases.push(DrawCase::new(PixelFormat::Rgba8, encoding, alpha, options));
        }
    }
    let options = DrawOptions { tone_map: ToneMap::AcesHill, target: TargetEncoding::Linear, ..PLAIN };
    cases.extend(ALPHAS.map(|alpha| DrawCase::new(PixelFormat::Rgba16F, Encoding::Linear, alpha, options)));
    cases
}

/// Draws with all fits and filters, with and without bars.
fn placements() -> Vec<DrawCase> {
    let mut cases = Vec::new();
    for (fit, filter) in Fit::ALL.iter().flat_map(|fit| [Filter::Nearest, Filter::Linear].map(|f| (*fit, f))) {
        for (encoding, background) in [
            (Encoding::Unmanaged, None),
            (Encoding::Unmanaged, Some([0.25, 0.5, 0.75])),
            (Encoding::Srgb, None),
            (Encoding::Srgb, Some([0.25, 0.5, 0.75])),
            (Encoding::Linear, Some([1.0, 0.0, 0.02])),
        ] {
            let options = DrawOptions { fit, filter, background, ..PLAIN };
            cases.push(DrawCase::new(PixelFormat::Rgba8, encoding, AlphaMode::Stored, options));
        }
    }
    // Zoomed and moved: clipped by the viewport, lines one pixel wide, and a single pixel.
    for (x, y, width, height) in [(-7, 3, 40, 31), (4, -90, 3, 200), (2, 1, 1, 1)] {
        let fit = Fit::At(Placement { x, y, width, height });
        for (filter, encoding) in [(Filter::Nearest, Encoding::Unmanaged), (Filter::Linear, Encoding::Srgb)] {
            let options = DrawOptions { fit, filter, background: Some([0.25, 0.5, 0.75]), ..PLAIN };
            cases.push(DrawCase::new(PixelFormat::Rgba8, encoding, AlphaMode::Stored, options));
        }
    }
    let options = DrawOptions { fit: Fit::Contain, background: Some([0.25, 0.5, 0.75]), ..PLAIN };
    for target in [TargetEncoding::SrgbFormat, TargetEncoding::Linear] {
        let options = DrawOptions { target, ..options };
        cases.extend(ENCODINGS.map(|e| DrawCase::new(PixelFormat::Rgba8, e, AlphaMode::Opaque, options)));
    }
    // The visible part is larger than the viewport and clipped on every side.
    let mut large = DrawCase::new(PixelFormat::Rgba8, Encoding::Srgb, AlphaMode::Opaque, options);
    large.options.fit = Fit::None;
    cases.push(large);
    cases
}

/// Draws of every format: unchanged, as light, grey and red; the last into targets of their own format.
fn formats() -> Vec<DrawCase> {
    let mut cases = Vec::new();
    for (format, encoding) in PixelFormat::ALL.iter().flat_map(|f| ENCODINGS.map(|e| (*f, e))) {
        for grey in if format.channels() == 1 { &[true, false][..] } else { &[true] } {
            let options = DrawOptions { grey: *grey, filter: Filter::Linear, ..PLAIN };
            cases.push(DrawCase::new(format, encoding, AlphaMode::Stored, options));
        }
    }
    for (format, encoding) in [(PixelFormat::Rgba16F, Encoding::Linear), (PixelFormat::Rgba32F, Encoding::Srgb)] {
        for exposure in [0.0, 3.0] {
            // Floating-point targets clip nothing.
            let options = DrawOptions { target: TargetEncoding::Linear, exposure, ..PLAIN };
            cases.push(DrawCase { target: format, ..DrawCase::new(format, encoding, AlphaMode::Stored, options) });
        }
    }
    cases
}

/// Draws of NaN, infinities and other invalid light: the results must be valid and stay within their pixels.
fn hostile() -> Vec<DrawCase> {
    let numbers = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, 3e38, -3e38, 1e-40];
    let mut cases = Vec::new();
    let alphas = |encoding, tone_map| ALPHAS.map(|alpha| (encoding, tone_map, alpha));
    let light = TONES.iter().flat_map(|tone_map| alphas(Encoding::Linear, *tone_map));
    let curved = alphas(Encoding::Srgb, ToneMap::AcesHill).into_iter().chain(alphas(Encoding::Gamma22, ToneMap::None));
    for (encoding, tone_map, alpha) in light.chain(curved) {
        let (filter, background) = (Filter::Linear, Some([0.5; 3]));
        let options = DrawOptions { tone_map, filter, background, exposure: 32.0, ..PLAIN };
        let mut case = DrawCase::new(PixelFormat::Rgba32F, encoding, alpha, options);
        for (at, pixel) in case.pixels.chunks_exact_mut(16).enumerate() {
            let [r, g, b] = [0, 1, 2].map(|c| numbers[(at + 2 * c) % numbers.len()]);
            // A stored alpha is not corrected.
            let a = if alpha == AlphaMode::Stored { 0.5 } else { numbers[at % numbers.len()] };
            store(PixelFormat::Rgba32F, [r, g, b, a], pixel);
        }
        cases.push(case);
    }
    cases
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_wrong_pixel_is_found() {
        for case in DrawCase::all() {
            let mut found = case.expected().unwrap();
            case.check(&found).unwrap();
            let last = found.len() - 1;
            found[last] ^= 0x20;
            assert!(case.check(&found).is_err(), "{case:?}");
        }
    }

    /// Cases that all look the same would prove nothing. Some must: a format that encodes shows what a shader encodes.
    #[test]
    fn the_cases_differ() {
        let all = DrawCase::all();
        let mut seen: Vec<_> = all.iter().map(|case| case.expected().unwrap()).collect();
        seen.sort();
        seen.dedup();
        assert!(2 * seen.len() > all.len(), "{} pictures of {} cases", seen.len(), all.len());
    }
}
