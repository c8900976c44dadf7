//! The plan of one draw: all decisions, made from the image, the viewport and the options.

use super::{DrawOptions, Filter, Fit, Placement};
use crate::describe::color::{AlphaMode, Curve, Encoding, TargetEncoding, ToneMap};
use crate::describe::error::{Error, Result};
use crate::describe::geometry::{Extent, Region};
use crate::describe::surface::{ImageDesc, SurfaceDesc};
use crate::devices::capability::DisplayCaps;

/// Colour conversions of one draw. Where a draw needs none, numbers are copied unchanged.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Shading {
    /// Curve from the surface's numbers to light.
    pub decode: Curve,
    /// Curve from light to the written numbers.
    pub encode: Curve,
    /// Meaning of the surface's alpha in this draw.
    pub alpha: AlphaMode,
    /// Factor that light is multiplied by.
    pub gain: f32,
    /// Tone map, applied after the gain.
    pub tone: ToneMap,
}

/// A draw with checked arguments and all decisions made.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Plan {
    /// Rectangle of the picture in the viewport; rows count from the top.
    pub picture: Placement,
    /// The pixels of the viewport that are written.
    pub drawn: Region,
    /// True where each pixel shows exactly one texel.
    pub one_to_one: bool,
    /// True where each pixel is a weighted average of four texels.
    pub weighs: bool,
    /// True where the first channel is shown as grey.
    pub grey: bool,
    /// Colour conversions, if there are any.
    pub shading: Option<Shading>,
    /// Colour of `drawn` beside and behind the picture, before [`Shading::encode`].
    pub background: Option<[f32; 3]>,
    /// True where `drawn` reaches beyond the picture.
    pub bars: bool,
    /// True where the draw blends: its output is multiplied by alpha and added to the target's content times `1 -
    /// alpha`.
    pub blends: bool,
    /// True where the target's format encodes what is written.
    pub format_encodes: bool,
}

/// Largest exposure in either direction, in stops.
const STOPS: f32 = 32.0;

impl DrawOptions {
    /// Checks that exposure, background and tone map are valid.
    fn check(&self) -> Result<()> {
        if !(-STOPS..=STOPS).contains(&self.exposure) {
            let problem = format!("invalid exposure of {} stops; give -{STOPS} to {STOPS}", self.exposure);
            return Err(Error::refused(problem));
        }
        if let Some(color) = self.background
            && !color.iter().all(|v| (0.0..=1.0).contains(v))
        {
            let problem = format!("invalid background {color:?}; give sRGB numbers from 0 to 1");
            return Err(Error::refused(problem));
        }
        self.tone_map.check()
    }
}

impl Plan {
    /// Plans how `image` is drawn into a viewport of this size.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for an invalid exposure, background or white point, for a size of 0, and where light
    /// would have to be changed on a surface without an encoding.
    pub fn new(image: &ImageDesc, area: Extent, options: &DrawOptions) -> Result<Self> {
        Self::blending(image, area, options, options.background.is_none())
    }

    /// Like [`Plan::new`], for a surface and a viewport of a display.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a buffer, and for a side that exceeds the display's limit
    /// ([`DisplayCaps::max_image_side`]); those of [`Plan::new`].
    pub fn of(surface: &SurfaceDesc, area: Extent, caps: &DisplayCaps, options: &DrawOptions) -> Result<Self> {
        let limit = caps.max_image_side;
        if area.width.max(area.height) > limit {
            return Err(Error::refused(format!(
                "the viewport is {area}, but this display allows at most {limit} pixels a side"
            )));
        }
        Self::new(surface.pixels()?, area, options)
    }

    /// Plans how `image` becomes a picture file: at its own size, as sRGB numbers with straight alpha, over a
    /// background if `options` have one. Fit, filter and target of `options` are ignored.
    ///
    /// # Errors
    /// The errors of [`Plan::new`].
    pub fn picture(image: &ImageDesc, options: &DrawOptions) -> Result<Self> {
        let options = DrawOptions { fit: Fit::Stretch, target: TargetEncoding::Srgb, ..*options };
        // Files hold straight alpha, which stays unchanged where nothing covers it.
        let stays = image.alpha == AlphaMode::Straight && options.background.is_none();
        let alpha = if stays { AlphaMode::Stored } else { image.alpha };
        Self::blending(&image.with_alpha(alpha), image.extent, &options, false)
    }

    /// `blends` says that translucent pixels are blended with the target.
    fn blending(image: &ImageDesc, area: Extent, options: &DrawOptions, blends: bool) -> Result<Self> {
        options.check()?;
        for (what, size) in [("image", image.extent), ("viewport", area)] {
            if size.width == 0 || size.height == 0 {
                return Err(Error::refused(format!("the {what} is empty: {size}")));
            }
        }
        let unmanaged = image.encoding == Encoding::Unmanaged;
        if unmanaged && (options.exposure != 0.0 || options.tone_map != ToneMap::None) {
            let problem =
                "exposure and tone maps need to know what the frame's numbers mean; give its ImageDesc an encoding";
            return Err(Error::refused(problem));
        }
        let picture = options.fit.placement(image.extent, area);
        let inside = picture.inside(area);
        if inside.width == 0 || inside.height == 0 {
            return Err(Error::refused(format!("the picture lies outside the viewport of {area}: {picture:?}")));
        }
        let one_to_one = (picture.width, picture.height) == (image.extent.width, image.extent.height);
        let weighs = options.filter == Filter::Linear && !one_to_one;
        let has_alpha = image.format.channels() == 4;
        let alpha = if has_alpha { image.alpha } else { AlphaMode::Stored };
        let blends = blends && alpha.is_translucent();
        let bars = options.background.is_some() && inside != area.full();
        let encode = match options.target {
            TargetEncoding::Srgb if !unmanaged => Curve::Srgb,
            _ => Curve::Linear,
        };
        let shading = Shading {
            decode: Curve::of(image.encoding),
            encode,
            alpha,
            gain: options.exposure.exp2(),
            tone: options.tone_map,
        };
        let shading = shading.simplified(weighs, blends);
        let encode = shading.map_or(Curve::Linear, |s| s.encode);
        // The target's numbers are sRGB as well if no curve is applied on the way to them.
        let as_given = encode == Curve::Linear && options.target == TargetEncoding::Srgb;
        let background =
            options.background.map(|color| if as_given { color } else { color.map(|v| Curve::Srgb.decode(v)) });
        Ok(Self {
            picture,
            drawn: if bars { area.full() } else { inside },
            one_to_one,
            weighs,
            grey: options.grey && image.format.channels() == 1,
            shading,
            background,
            bars,
            blends,
            format_encodes: options.target == TargetEncoding::SrgbFormat,
        })
    }

    /// Plans an image of this size without scaling or conversions.
    pub const fn exact(extent: Extent) -> Self {
        Self {
            picture: Placement { x: 0, y: 0, width: extent.width, height: extent.height },
            drawn: extent.full(),
            one_to_one: true,
            weighs: false,
            grey: false,
            shading: None,
            background: None,
            bars: false,
            blends: false,
            format_encodes: false,
        }
    }
}

impl Shading {
    /// Removes steps that change nothing; `None` where no step is left.
    fn simplified(self, weighs: bool, blends: bool) -> Option<Self> {
        let covers = self.alpha.is_translucent() && !blends;
        let keeps_light = self.gain == 1.0 && self.tone == ToneMap::None;
        // Encoding reverses decoding, with no step in between.
        let curves_cancel = self.decode == self.encode && keeps_light && !weighs && !covers;
        let (decode, encode) = if curves_cancel { (Curve::Linear, Curve::Linear) } else { (self.decode, self.encode) };
        let is_identity = (decode, encode) == (Curve::Linear, Curve::Linear) && keeps_light;
        let alpha_as_is = match self.alpha {
            AlphaMode::Stored => true,
            // Premultiplied numbers are stored in the form that blending needs.
            AlphaMode::Premultiplied => blends,
            AlphaMode::Opaque | AlphaMode::Straight => false,
        };
        (!(is_identity && alpha_as_is)).then_some(Self { decode, encode, ..self })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::describe::format::PixelFormat;

    const AREA: Extent = Extent::new(8, 4);

    fn image(format: PixelFormat, encoding: Encoding, alpha: AlphaMode) -> ImageDesc {
        ImageDesc::new(8, 4, format).with_encoding(encoding).with_alpha(alpha)
    }

    #[test]
    fn what_changes_nothing_is_not_done() {
        let plain = DrawOptions::default();
        let to = |target| DrawOptions { target, ..plain };
        use {AlphaMode::Stored, Encoding as E, PixelFormat as F, TargetEncoding as T};
        for format in F::ALL {
            let desc = ImageDesc::new(8, 4, format);
            for target in [T::Srgb, T::Linear, T::SrgbFormat] {
                assert_eq!(Plan::new(&desc, AREA, &to(target)).unwrap().shading, None, "{format}");
            }
            let identities = [(E::Srgb, T::Srgb), (E::Linear, T::Linear), (E::Linear, T::SrgbFormat)];
            for (encoding, target) in identities {
                let plan = Plan::new(&image(format, encoding, Stored), AREA, &to(target)).unwrap();
                assert_eq!(plan.shading, None, "{encoding:?} to {target:?}");
            }
            for (encoding, target) in [(E::Linear, T::Srgb), (E::Srgb, T::Linear), (E::Gamma22, T::Srgb)] {
                let plan = Plan::new(&image(format, encoding, Stored), AREA, &to(target)).unwrap();
                assert!(plan.shading.is_some(), "{encoding:?} to {target:?}");
            }
        }
        let premultiplied = image(F::Rgba8, E::Srgb, AlphaMode::Premultiplied);
        let plan = Plan::new(&premultiplied, AREA, &plain).unwrap();
        assert_eq!((plan.shading, plan.blends), (None, true));
        let over = DrawOptions { background: Some([0.0; 3]), ..plain };
        let plan = Plan::new(&premultiplied, AREA, &over).unwrap();
        assert_eq!((plan.shading.map(|s| s.encode), plan.blends), (Some(Curve::Srgb), false));
    }

    #[test]
    fn numbers_that_mean_nothing_are_refused() {
        let desc = image(PixelFormat::Rgba16F, Encoding::Linear, AlphaMode::Opaque);
        let plain = DrawOptions::default();
        let wrong = [
            DrawOptions { exposure: f32::NAN, ..plain },
            DrawOptions { exposure: f32::INFINITY, ..plain },
            DrawOptions { exposure: 33.0, ..plain },
            DrawOptions { tone_map: ToneMap::Reinhard { white: 0.0 }, ..plain },
            DrawOptions { tone_map: ToneMap::Reinhard { white: f32::NAN }, ..plain },
            DrawOptions { background: Some([0.0, f32::NAN, 0.0]), ..plain },
            DrawOptions { background: Some([0.0, 0.0, 1.5]), ..plain },
        ];
        for options in wrong {
            assert!(matches!(Plan::new(&desc, AREA, &options), Err(Error::InvalidInput { .. })), "{options:?}");
        }
        assert!(Plan::new(&desc, Extent::new(0, 1), &plain).is_err());
        assert!(Plan::new(&ImageDesc::new(0, 1, PixelFormat::R8), AREA, &plain).is_err());
        let unmanaged = ImageDesc::new(8, 4, PixelFormat::Rgba16F);
        for options in [DrawOptions { exposure: 1.0, ..plain }, DrawOptions { tone_map: ToneMap::AcesHill, ..plain }] {
            let error = Plan::new(&unmanaged, AREA, &options).unwrap_err();
            assert!(error.to_string().contains("encoding"), "{error}");
        }
    }

    #[test]
    fn bars_are_drawn_where_there_are_any() {
        let desc = ImageDesc::new(4, 4, PixelFormat::Rgba8);
        let options = |fit| DrawOptions { fit, background: Some([0.5; 3]), ..DrawOptions::default() };
        let contained = Plan::new(&desc, AREA, &options(Fit::Contain)).unwrap();
        assert_eq!((contained.bars, contained.drawn), (true, AREA.full()));
        assert_eq!(contained.background, Some([0.5; 3]), "the target's own numbers");
        let covering = Plan::new(&desc, AREA, &options(Fit::Cover)).unwrap();
        assert_eq!((covering.bars, covering.drawn), (false, AREA.full()));
        let kept = DrawOptions { background: None, ..options(Fit::Contain) };
        assert_eq!(Plan::new(&desc, AREA, &kept).unwrap().drawn, Region::new(2, 0, 4, 4));
    }
}
