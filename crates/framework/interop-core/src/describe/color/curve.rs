//! Curves between stored numbers and light.

use super::Encoding;

/// A transfer curve between stored numbers and light. It is odd about 0: negative numbers (colours outside the
/// primaries) are mirrored. It continues above 1, as in the extended ranges of scRGB (IEC 61966-2-2) and CSS Color 4.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Curve {
    /// No curve: the stored number is the light.
    Linear,
    /// IEC 61966-2-1: `v / 12.92` up to 0.04045, above it `((v + 0.055) / 1.055) ^ 2.4`.
    Srgb,
    /// `v ^ 2.2`.
    Gamma22,
}

impl Curve {
    /// Every curve, in the order of [`Curve::code`].
    pub const ALL: [Self; 3] = [Self::Linear, Self::Srgb, Self::Gamma22];

    /// Returns the curve of a surface's numbers.
    pub const fn of(encoding: Encoding) -> Self {
        match encoding {
            Encoding::Unmanaged | Encoding::Linear => Self::Linear,
            Encoding::Srgb => Self::Srgb,
            Encoding::Gamma22 => Self::Gamma22,
        }
    }

    /// Number of the curve in the shaders.
    pub const fn code(self) -> u32 {
        match self {
            Self::Linear => 0,
            Self::Srgb => 1,
            Self::Gamma22 => 2,
        }
    }

    /// Converts a stored number to light.
    pub fn decode(self, v: f32) -> f32 {
        let m = v.abs();
        let light = match self {
            Self::Linear => m,
            Self::Srgb if m <= 0.040_45 => m / 12.92,
            Self::Srgb => ((m + 0.055) / 1.055).powf(2.4),
            Self::Gamma22 => m.powf(2.2),
        };
        light.copysign(v)
    }

    /// Converts light to the number that stores it.
    pub fn encode(self, light: f32) -> f32 {
        let m = light.abs();
        let v = match self {
            Self::Linear => m,
            Self::Srgb if m <= 0.003_130_8 => m * 12.92,
            Self::Srgb => 1.055 * m.powf(1.0 / 2.4) - 0.055,
            Self::Gamma22 => m.powf(1.0 / 2.2),
        };
        v.copysign(light)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_from_light() {
        for curve in Curve::ALL {
            for i in -2000..=2000 {
                let v = i as f32 / 500.0;
                let back = curve.encode(curve.decode(v));
                assert!((back - v).abs() <= 4e-6 * v.abs().max(1.0), "{curve:?}: {v} came back as {back}");
            }
            for byte in 0..=255u8 {
                let back = (curve.encode(curve.decode(f32::from(byte) / 255.0)) * 255.0).round();
                assert_eq!(back, f32::from(byte), "{curve:?}");
            }
        }
    }

    /// Largest relative difference of two `powf` calls with one value: Miri varies the last bits on purpose.
    const POWF: f32 = if cfg!(miri) { 16.0 * f32::EPSILON } else { 0.0 };

    #[test]
    fn curves_rise_everywhere_and_keep_0_and_1() {
        for curve in Curve::ALL {
            for f in [Curve::decode, Curve::encode] {
                assert_eq!(f(curve, 0.0), 0.0, "{curve:?}");
                assert!((f(curve, 1.0) - 1.0).abs() < 1e-6, "{curve:?}");
                // Close steps about the joint of the sRGB curve, wide ones elsewhere.
                let close = (0..4000).map(|i| i as f32 * 2.5e-5);
                let steps: Vec<f32> = close.chain((0..2000).map(|i| 0.1 + i as f32 * 0.01)).collect();
                for pair in steps.windows(2) {
                    let (a, b) = (f(curve, pair[0]), f(curve, pair[1]));
                    assert!(a < b, "{curve:?}: {a} at {} and {b} at {}", pair[0], pair[1]);
                    let mirrored = f(curve, -pair[0]);
                    assert!((mirrored + a).abs() <= POWF * a, "{curve:?}: {mirrored} at {}", -pair[0]);
                }
            }
        }
    }

    /// Values of IEC 61966-2-1 that anybody can look up.
    #[test]
    fn known_values() {
        for (byte, light) in [(1u8, 0.000_303_53), (10, 0.003_035_27), (128, 0.215_860_5), (188, 0.502_886_5)] {
            let found = Curve::Srgb.decode(f32::from(byte) / 255.0);
            assert!((found - light).abs() < 1e-6, "{byte}: {found}");
        }
        assert!((Curve::Srgb.encode(0.5) - 0.735_357).abs() < 1e-6);
    }
}
