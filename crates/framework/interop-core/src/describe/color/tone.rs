//! Tone maps: from a scene's light to a display's light.

use crate::describe::error::{Error, Result};
use std::fmt;
use std::str::FromStr;

/// Tone maps clamp light to this value: the largest binary16 number.
pub const BRIGHTEST: f32 = 65504.0;

/// Tone mapping: how light brighter than the target's white is reduced. All variants except [`ToneMap::None`] return
/// numbers in 0..=1 and treat negative channels as 0.
///
/// ```
/// use interop_core::{DrawOptions, ToneMap};
///
/// let options = DrawOptions::default().with_exposure(1.0).with_tone_map(ToneMap::Reinhard { white: 4.0 });
/// options.tone_map.check()?;
/// assert!(ToneMap::Reinhard { white: 0.0 }.check().is_err());
/// # Ok::<(), interop_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Default)]
#[non_exhaustive]
pub enum ToneMap {
    /// No tone mapping: floating-point targets keep brighter light, other targets clip it.
    #[default]
    None,
    /// Clips light at 1, in floating-point targets as well.
    Clamp,
    /// Reinhard et al., "Photographic Tone Reproduction for Digital Images" (SIGGRAPH 2002), equation 4, by luminance
    /// `L` (BT.709 weights): the colour times `(1 + L / white^2) / (1 + L)`. Channels that are still above 1 are
    /// clipped.
    Reinhard {
        /// Luminance that maps to 1: 0.001 or more. Infinity gives the paper's equation 3, `1 / (1 + L)`.
        white: f32,
    },
    /// Narkowicz, "ACES Filmic Tone Mapping Curve" (2015), applied to each channel: `v (2.51 v + 0.03) / (v (2.43 v +
    /// 0.59) + 0.14)`. Kernels call it `pf_tonemap_aces`.
    AcesNarkowicz,
    /// Hill's fit of the ACES reference rendering and sRGB output transforms (published with BakingLab, 2016): a matrix,
    /// `(v (v + 0.0245786) - 0.000090537) / (v (0.983729 v + 0.4329510) + 0.238081)` by channel, a matrix.
    AcesHill,
}

/// Matrix of [`ToneMap::AcesHill`] from sRGB primaries, row by row.
const HILL_IN: [[f32; 3]; 3] =
    [[0.597_19, 0.354_58, 0.048_23], [0.076, 0.908_34, 0.015_66], [0.0284, 0.133_83, 0.837_77]];
/// Matrix of [`ToneMap::AcesHill`] back to sRGB primaries, row by row.
const HILL_OUT: [[f32; 3]; 3] =
    [[1.604_75, -0.531_08, -0.073_67], [-0.102_08, 1.108_13, -0.006_05], [-0.003_27, -0.072_76, 1.076_02]];

/// Luminance weights of ITU-R BT.709, for linear light.
const LUMINANCE: [f32; 3] = [0.2126, 0.7152, 0.0722];

fn dot(a: [f32; 3], b: [f32; 3]) -> f32 {
    a[0] * b[0] + a[1] * b[1] + a[2] * b[2]
}

impl ToneMap {
    /// Checks the white point of [`ToneMap::Reinhard`].
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where it is not a number or too small.
    pub fn check(self) -> Result<()> {
        match self {
            Self::Reinhard { white } if !(Self::LEAST_WHITE..=f32::INFINITY).contains(&white) => Err(Error::refused(
                format!("invalid white point {white}; give a luminance of {} or more", Self::LEAST_WHITE),
            )),
            _ => Ok(()),
        }
    }

    const LEAST_WHITE: f32 = 1e-3;

    /// Number of the tone map in the shaders.
    pub const fn code(self) -> u32 {
        match self {
            Self::None => 0,
            Self::Clamp => 1,
            Self::Reinhard { .. } => 2,
            Self::AcesNarkowicz => 3,
            Self::AcesHill => 4,
        }
    }

    /// `1 / white^2`, 0 where there is no white point.
    pub fn inverse_white_squared(self) -> f32 {
        match self {
            Self::Reinhard { white } => (white * white).recip(),
            _ => 0.0,
        }
    }

    /// Maps a scene's light to the display's.
    pub fn apply(self, scene: [f32; 3]) -> [f32; 3] {
        if self == Self::None {
            return scene;
        }
        let scene = scene.map(|v| v.clamp(0.0, BRIGHTEST));
        let shown = match self {
            Self::None | Self::Clamp => scene,
            Self::Reinhard { .. } => {
                let l = dot(LUMINANCE, scene);
                let scale = (1.0 + l * self.inverse_white_squared()) / (1.0 + l);
                scene.map(|v| v * scale)
            }
            Self::AcesNarkowicz => scene.map(|v| v * (2.51 * v + 0.03) / (v * (2.43 * v + 0.59) + 0.14)),
            Self::AcesHill => {
                let film = HILL_IN.map(|row| {
                    let v = dot(row, scene);
                    (v * (v + 0.024_578_6) - 0.000_090_537) / (v * (0.983_729 * v + 0.432_951) + 0.238_081)
                });
                HILL_OUT.map(|row| dot(row, film))
            }
        };
        shown.map(|v| v.clamp(0.0, 1.0))
    }
}

impl fmt::Display for ToneMap {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::None => f.write_str("none"),
            Self::Clamp => f.write_str("clamp"),
            Self::Reinhard { white } if white.is_infinite() => f.write_str("reinhard"),
            Self::Reinhard { white } => write!(f, "reinhard:{white}"),
            Self::AcesNarkowicz => f.write_str("aces-narkowicz"),
            Self::AcesHill => f.write_str("aces"),
        }
    }
}

impl FromStr for ToneMap {
    type Err = Error;

    /// Parses the texts that `Display` writes: `none`, `clamp`, `reinhard`, `reinhard:4` (with its white point), `aces`
    /// (Hill's fit) or `aces-narkowicz`.
    fn from_str(text: &str) -> Result<Self> {
        let tone = match text {
            "none" => Self::None,
            "clamp" => Self::Clamp,
            "reinhard" => Self::Reinhard { white: f32::INFINITY },
            "aces" => Self::AcesHill,
            "aces-narkowicz" => Self::AcesNarkowicz,
            _ => {
                let white = text.strip_prefix("reinhard:").and_then(|white| white.parse().ok());
                let names = "none, clamp, reinhard, reinhard:WHITE, aces or aces-narkowicz";
                let white = white.ok_or_else(|| {
                    Error::invalid("ToneMap::from_str", format!("unknown tone map '{text}'; give {names}"))
                })?;
                Self::Reinhard { white }
            }
        };
        tone.check().map_err(|error| error.of("ToneMap::from_str"))?;
        Ok(tone)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAPS: [ToneMap; 5] = [
        ToneMap::Clamp,
        ToneMap::Reinhard { white: f32::INFINITY },
        ToneMap::Reinhard { white: 4.0 },
        ToneMap::AcesNarkowicz,
        ToneMap::AcesHill,
    ];

    #[test]
    fn greys_rise_and_stay_inside() {
        for map in MAPS {
            let mut before = -1.0;
            for i in 0..400 {
                let v = 1e-4 * 1.06_f32.powi(i);
                let [r, g, b] = map.apply([v; 3]);
                assert!((0.0..=1.0).contains(&r), "{map}: {r}");
                assert!(r > before || (r == before && r > 0.99) || (r == 0.0 && v < 4e-3), "{map} falls at {v}: {r}");
                // The rows of Hill's matrices sum to 1 within the digits that were published.
                assert!((g - r).abs() < 1e-4 && (b - r).abs() < 1e-4, "{map} colours grey: {r} {g} {b}");
                before = r;
            }
        }
    }

    #[test]
    fn what_is_no_light_gives_light() {
        for map in MAPS {
            for scene in [[-1.0; 3], [f32::INFINITY; 3], [1e30, 0.0, -1e30], [0.0; 3]] {
                assert!(map.apply(scene).iter().all(|v| (0.0..=1.0).contains(v)), "{map}: {:?}", map.apply(scene));
            }
        }
        assert_eq!(ToneMap::None.apply([-1.0, 5.0, 1e30]), [-1.0, 5.0, 1e30]);
    }

    #[test]
    fn white_points() {
        let close = |a: f32, b: f32| assert!((a - b).abs() < 1e-6, "{a} is not {b}");
        close(ToneMap::Reinhard { white: 4.0 }.apply([4.0; 3])[0], 1.0);
        close(ToneMap::Reinhard { white: f32::INFINITY }.apply([1.0; 3])[0], 0.5);
        close(ToneMap::AcesNarkowicz.apply([1.0; 3])[1], 2.54 / 3.16);
        for white in [0.0, -1.0, f32::NAN, 1e-20, f32::NEG_INFINITY] {
            assert!(ToneMap::Reinhard { white }.check().is_err(), "{white}");
        }
    }

    #[test]
    fn names_are_read_back() {
        for map in MAPS.into_iter().chain([ToneMap::None]) {
            assert_eq!(map.to_string().parse::<ToneMap>().unwrap(), map);
        }
        for wrong in ["", "Aces", "reinhard:", "reinhard:0", "reinhard:NaN", "clamp:1"] {
            assert!(wrong.parse::<ToneMap>().is_err(), "{wrong}");
        }
    }
}
