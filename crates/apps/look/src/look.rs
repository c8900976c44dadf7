//! How numbers become colours.

use crate::colormap::Colormap;
use crate::element::Element;
use crate::refusal::Refusal;
use crate::value::Value;
use std::fmt;

/// One end of a range.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum End {
    /// A number.
    Value(f64),
    /// The number below which this percentage of all numbers is; 0 is the minimum, 100 the maximum.
    Percent(f64),
}

/// Numbers to show from black to white, or over a colormap.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Range {
    /// The type's range: [`ElementRow::white`](crate::ElementRow::white).
    OfType,
    /// [`Range::OfType`], except for one channel of floats with numbers below 0 or above 1: minimum to maximum.
    OfData,
    /// The first becomes black, the second white.
    Between(End, End),
    /// Symmetric about zero, reaching to the number farthest from zero; 1 if all are zero.
    Symmetric,
}

impl Range {
    /// Minimum to maximum.
    pub const MINMAX: Self = Self::Between(End::Percent(0.0), End::Percent(100.0));

    /// Returns the range if it does not depend on the numbers.
    pub const fn fixed(self) -> Option<(f64, f64)> {
        match self {
            Self::Between(End::Value(low), End::Value(high)) => Some((low, high)),
            _ => None,
        }
    }
}

/// A number computed from two parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pair {
    /// Distance from zero.
    Magnitude = 1,
    /// Angle from -pi to pi.
    Phase = 2,
}

/// Part of complex numbers to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ComplexPart {
    /// A number computed from both parts.
    Of(Pair),
    /// The real part.
    Real,
    /// The imaginary part.
    Imaginary,
}

/// What to show of an element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Channel {
    /// One of several channels, from 0.
    Number(u32),
    /// A part of complex numbers.
    Part(ComplexPart),
}

impl Channel {
    /// Parts of complex numbers by name.
    pub const PARTS: [(&str, ComplexPart); 4] = [
        ("magnitude", ComplexPart::Of(Pair::Magnitude)),
        ("phase", ComplexPart::Of(Pair::Phase)),
        ("real", ComplexPart::Real),
        ("imaginary", ComplexPart::Imaginary),
    ];
}

/// How to show numbers.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Look {
    /// Numbers to show from black to white.
    pub range: Range,
    /// Brightening in stops, after the range.
    pub exposure: f32,
    /// Gamma: numbers above 0 are raised to its inverse, after the exposure.
    pub gamma: f32,
    /// Colours for one channel, applied to 0 to 1, after the gamma.
    pub colormap: Option<Colormap>,
    /// What to show of an element.
    pub channel: Option<Channel>,
    /// Show numbers below 0 blue and numbers above 1 red, after the exposure. By default only a viewer does so, for one
    /// channel whose numbers may be outside the range.
    pub marks: Option<bool>,
}

impl Default for Look {
    fn default() -> Self {
        Self { range: Range::OfType, exposure: 0.0, gamma: 1.0, colormap: None, channel: None, marks: None }
    }
}

impl Look {
    /// Refuses invalid values.
    ///
    /// # Errors
    /// [`Refusal::Shape`] for invalid numbers.
    pub fn check(&self) -> Result<(), Refusal> {
        let wrong = |what: String| Err(Refusal::Shape(what));
        let ends = match self.range {
            Range::Between(low, high) => [low, high],
            Range::OfType | Range::OfData | Range::Symmetric => [End::Value(0.0), End::Value(1.0)],
        };
        for end in ends {
            match end {
                End::Value(value) if !value.is_finite() => {
                    return wrong(format!("range: {value} is not a valid end; use a finite number"));
                }
                End::Percent(part) if !(0.0..=100.0).contains(&part) => {
                    return wrong(format!("range: '{part}%' is not between 0 and 100"));
                }
                _ => {}
            }
        }
        if ends[0] == ends[1] {
            return wrong(
                "range: both ends are equal; give the number that becomes black and the one that becomes white".into(),
            );
        }
        if !(self.gamma.is_finite() && self.gamma > 0.0) {
            return wrong(format!("invalid gamma={}; use a number above 0", self.gamma));
        }
        if !(-64.0..=64.0).contains(&self.exposure) {
            return wrong(format!("invalid exposure={}; use -64 to 64 stops", self.exposure));
        }
        Ok(())
    }
}

/// Colours of numbers that are not finite.
pub const NAN: [u8; 4] = [255, 0, 255, 255];
pub const INFINITY: [u8; 4] = [255, 255, 0, 255];
pub const MINUS_INFINITY: [u8; 4] = [0, 255, 255, 255];
/// Colour of marked numbers above the range.
pub const ABOVE: [u8; 4] = [255, 0, 0, 255];
/// Colour of marked numbers below the range.
pub const BELOW: [u8; 4] = [0, 0, 255, 255];

/// How numbers become colours, once the range is known.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Tone {
    /// Number that becomes 0, and number that becomes 1.
    pub range: (f64, f64),
    /// The same for integers that floats cannot represent.
    pub whole: Option<(i128, i128)>,
    /// Factor, after the range.
    pub gain: f32,
    /// Exponent, after the factor.
    pub exponent: f32,
    /// Colours for one channel, instead of grey.
    pub colormap: Option<Colormap>,
    /// Whether NaN and infinity have colours of their own.
    pub odd: bool,
    /// Whether numbers outside the range have colours of their own.
    pub marks: bool,
}

impl Tone {
    /// Default tone, in which `white` becomes 1.
    pub const fn plain(white: f64) -> Self {
        Self { range: (0.0, white), whole: None, gain: 1.0, exponent: 1.0, colormap: None, odd: false, marks: false }
    }

    /// Tone of a look, for a range.
    pub fn new(look: &Look, range: (f64, f64), odd: bool) -> Self {
        Self {
            range,
            whole: None,
            gain: look.exposure.exp2(),
            exponent: 1.0 / look.gamma,
            // Without a map, the picture is grey.
            colormap: look.colormap.filter(|map| map.colours().is_some()),
            odd,
            marks: look.marks == Some(true),
        }
    }

    /// Returns whether this is the default tone of the element's type.
    pub fn is_plain(&self, element: Element) -> bool {
        element.row().white.is_some_and(|white| *self == Self::plain(white))
    }

    /// Returns the colour of a number, given its position in the range.
    pub fn colour(&self, part: f32) -> [u8; 4] {
        let part = part * self.gain;
        if self.marks && part > 1.0 {
            return ABOVE;
        }
        let part = part.clamp(0.0, 1.0).powf(self.exponent);
        let level = |most: f32| (part * most) as u8;
        match self.colormap.and_then(Colormap::colours) {
            Some(table) => table[usize::from(level(255.99))],
            None => [level(255.5), level(255.5), level(255.5), u8::MAX],
        }
    }

    /// The ends that numbers are compared with; for integers, without the common origin.
    pub(crate) fn ends(&self) -> (f64, f64) {
        self.whole.map_or(self.range, |(low, high)| (0.0, (high - low) as f64))
    }
}

/// Formats a number of a range without hundreds of digits.
struct Short(f64);

impl fmt::Display for Short {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_long = self.0 != 0.0 && !(1e-7..1e17).contains(&self.0.abs());
        if is_long { write!(f, "{:e}", self.0) } else { write!(f, "{}", self.0) }
    }
}

/// Rounds as people write numbers.
fn rounded(number: f32) -> f32 {
    (number * 1e4).round() / 1e4
}

/// With `#`, the text is short: rounded, and without what is equal for all.
impl fmt::Display for Tone {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { range: (low, high), whole, gain, exponent, colormap, odd, marks } = *self;
        match (whole, f.alternate()) {
            (Some((low, high)), _) => write!(f, "range {low} to {high}")?,
            (None, true) => write!(f, "range {:.5} to {:.5}", Value::Double(low), Value::Double(high))?,
            (None, false) => write!(f, "range {} to {}", Short(low), Short(high))?,
        }
        if gain != 1.0 {
            write!(f, ", exposure {}", rounded(gain.log2()))?;
        }
        if exponent != 1.0 {
            write!(f, ", gamma {}", rounded(1.0 / exponent))?;
        }
        if let Some((_, name)) = Colormap::ALL.iter().find(|(map, _)| Some(*map) == colormap) {
            write!(f, ", colormap {name}")?;
        }
        if odd && !f.alternate() {
            f.write_str(", NaN magenta, inf yellow, -inf cyan")?;
        }
        if marks { f.write_str(", above red, below blue") } else { Ok(()) }
    }
}
