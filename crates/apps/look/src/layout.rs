//! Order of an array's axes.

use crate::refusal::Refusal;
use pixelferry::driver::describe::words::counted;

/// Order of the axes: a given one, or guessed from the shape with [`GUESSES`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Layout(Option<[Option<Axis>; 4]>);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Axis {
    Count,
    Height,
    Width,
    Channels,
}

impl Axis {
    const LETTERS: [(char, Self); 4] =
        [('N', Self::Count), ('H', Self::Height), ('W', Self::Width), ('C', Self::Channels)];
}

/// Sides and strides of pictures: count, height, width and channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Axes {
    /// 1 for a missing axis.
    pub sides: [i64; 4],
    /// In bytes.
    pub strides: [i64; 4],
    /// The order, with a letter for each axis.
    pub layout: &'static str,
}

impl Axes {
    /// Columns of the grid: as many as rows, or one more.
    pub fn columns(&self) -> i64 {
        let count = self.sides[0].max(1);
        let root = count.isqrt();
        if root * root < count { root + 1 } else { root }
    }

    /// Width and height of the whole grid.
    pub fn size(&self) -> [i64; 2] {
        let ([count, height, width, _], columns) = (self.sides, self.columns());
        [width.saturating_mul(columns), height.saturating_mul((count.max(1) + columns - 1) / columns)]
    }
}

/// Limits of a window's default size: the picture's size is clamped to them.
const LARGEST: [f64; 2] = [1920.0, 1080.0];
const SMALLEST: f64 = 160.0;

/// Returns the default size of a window for a picture of this size.
pub fn window_for(size: [i64; 2]) -> [u32; 2] {
    let [width, height] = size.map(|side| side.max(1) as f64);
    let scale = (LARGEST[0] / width).min(LARGEST[1] / height).min(1.0);
    [width, height].map(|side| (side * scale).max(SMALLEST) as u32)
}

/// A shape and the order that is guessed for it.
#[derive(Debug, Clone, Copy)]
pub struct Guess {
    /// Shape, in words.
    pub shape: &'static str,
    /// Guessed order.
    pub layout: &'static str,
    /// Numbers of channels for which the guess holds.
    channels: &'static [i64],
}

/// Guesses if no order is given; the first match counts.
pub const GUESSES: [Guess; 6] = [
    Guess { shape: "(height, width)", layout: "HW", channels: &[] },
    Guess { shape: "(height, width, 1 to 4)", layout: "HWC", channels: &[1, 2, 3, 4] },
    Guess { shape: "(1 or 3 or 4, height, width)", layout: "CHW", channels: &[1, 3, 4] },
    Guess { shape: "(count, height, width)", layout: "NHW", channels: &[] },
    Guess { shape: "(count, height, width, 1 to 4)", layout: "NHWC", channels: &[1, 2, 3, 4] },
    Guess { shape: "(count, 1 or 3 or 4, height, width)", layout: "NCHW", channels: &[1, 3, 4] },
];

/// Formats the table of guesses as text.
pub fn guesses() -> String {
    let rows = GUESSES.map(|guess| {
        let many = if guess.layout.starts_with('N') { ", a grid of about as many columns as rows" } else { "" };
        format!("    {:36} layout={:?}{many}\n", guess.shape, guess.layout)
    });
    format!("  layouts that are guessed from the shape; the first match counts:\n{}", rows.concat())
}

impl Guess {
    fn fits(&self, shape: &[i64]) -> bool {
        let channels = self.layout.find('C').and_then(|at| shape.get(at));
        shape.len() == self.layout.len() && channels.is_none_or(|channels| self.channels.contains(channels))
    }
}

impl Layout {
    /// The order is guessed from the shape with [`GUESSES`].
    pub const GUESSED: Self = Self(None);

    /// Parses an order, a letter for each axis: H and W, and if present N (pictures in a grid) and C.
    ///
    /// # Errors
    /// [`Refusal::Shape`] for any other text.
    pub fn named(name: &str) -> Result<Self, Refusal> {
        let refused = || {
            Refusal::Shape(format!(
                "unknown layout='{name}'; name each axis with a letter: H, W, and if present N (pictures in a grid) \
                 and C, such as \"HW\", \"HWC\", \"CHW\", \"NHWC\" or \"NCHW\""
            ))
        };
        let mut axes = [None; 4];
        for (at, letter) in name.chars().enumerate() {
            let axis = Axis::LETTERS.iter().find(|(known, _)| *known == letter).map(|(_, axis)| *axis);
            if axis.is_none() || axes.contains(&axis) {
                return Err(refused());
            }
            *axes.get_mut(at).ok_or_else(refused)? = axis;
        }
        let has = |axis| axes.contains(&Some(axis));
        if has(Axis::Height) && has(Axis::Width) { Ok(Self(Some(axes))) } else { Err(refused()) }
    }

    /// Refuses an order with channels for an array without channels, which [`Layout::of`] accepts.
    ///
    /// # Errors
    /// [`Refusal::Shape`] with the order to give instead.
    pub fn check_channels(self, shape: &[i64]) -> Result<(), Refusal> {
        let named: Vec<Axis> = self.0.unwrap_or_default().into_iter().flatten().collect();
        if named.len() != shape.len() + 1 || !named.contains(&Axis::Channels) {
            return Ok(());
        }
        let (letters, have) = (letters(&named), counted(shape.len(), "dimension"));
        let what = format!("an array of shape {shape:?} has {have}, but layout=\"{letters}\" names {}", named.len());
        Err(Refusal::Shape(format!("{what}; use layout=\"{}\"", letters.replace('C', ""))))
    }

    /// Assigns the axes of a shape. An order with channels also accepts an array without channels.
    ///
    /// # Errors
    /// [`Refusal::Shape`] for a shape that cannot be a picture, with the line to write instead.
    pub fn of(self, shape: &[i64], strides: &[i64]) -> Result<Axes, Refusal> {
        let axes = match self.0 {
            Some(axes) => axes,
            None => {
                let guess = GUESSES.iter().find(|guess| guess.fits(shape));
                let name = guess.ok_or_else(|| Refusal::Shape(instead(shape)))?.layout;
                Self::named(name)?.0.unwrap_or_default()
            }
        };
        let mut named: Vec<Axis> = axes.into_iter().flatten().collect();
        if named.len() == shape.len() + 1 {
            named.retain(|axis| *axis != Axis::Channels);
        }
        if named.len() != shape.len() || shape.len() != strides.len() {
            let letters = letters(&named);
            let (have, want) = (counted(shape.len(), "dimension"), letters.len());
            let what = format!("an array of shape {shape:?} has {have}, but layout=\"{letters}\" names {want}");
            return Err(Refusal::Shape(format!("{what}; name each axis with a letter")));
        }
        let (mut sides, mut steps) = ([1; 4], [0; 4]);
        for ((axis, side), stride) in named.iter().zip(shape).zip(strides) {
            (sides[*axis as usize], steps[*axis as usize]) = (*side, *stride);
        }
        Ok(Axes { sides, strides: steps, layout: name_of(&named) })
    }
}

fn letters(named: &[Axis]) -> String {
    named.iter().map(|axis| Axis::LETTERS[*axis as usize].0).collect()
}

/// Returns the table's name for common orders, and a general one for others.
fn name_of(named: &[Axis]) -> &'static str {
    let letters = letters(named);
    GUESSES.iter().find(|guess| guess.layout == letters).map_or("as asked for", |guess| guess.layout)
}

/// Suggests what to write for a shape that is not a picture.
fn instead(shape: &[i64]) -> String {
    let line = match shape.len() {
        0 => "x[None, None] for one pixel",
        1 => "x[None, :] for one row of pixels, or x.reshape(height, width)",
        3 | 4 => "x[0], or name the axes, such as layout=\"NCHW\"",
        _ => "one of its pictures, such as x[0], or x.reshape(-1, height, width, channels) for all in a grid",
    };
    format!("an array of shape {shape:?} is not a picture; show {line}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guessed(shape: &[i64]) -> Result<(&'static str, [i64; 4]), String> {
        let strides: Vec<i64> = (1..=shape.len() as i64).collect();
        Layout::GUESSED.of(shape, &strides).map(|axes| (axes.layout, axes.sides)).map_err(|e| e.to_string())
    }

    #[test]
    fn every_shape_is_guessed_as_the_table_says() {
        let rows: [(&[i64], &str, [i64; 4]); 13] = [
            (&[480, 640], "HW", [1, 480, 640, 1]),
            (&[48, 64, 1], "HWC", [1, 48, 64, 1]),
            (&[48, 64, 2], "HWC", [1, 48, 64, 2]),
            (&[3, 64, 3], "HWC", [1, 3, 64, 3]),
            (&[4, 4, 4], "HWC", [1, 4, 4, 4]),
            (&[1, 48, 64], "CHW", [1, 48, 64, 1]),
            (&[3, 48, 64], "CHW", [1, 48, 64, 3]),
            (&[4, 48, 64], "CHW", [1, 48, 64, 4]),
            (&[2, 48, 64], "NHW", [2, 48, 64, 1]),
            (&[16, 28, 28], "NHW", [16, 28, 28, 1]),
            (&[9, 48, 64, 3], "NHWC", [9, 48, 64, 3]),
            (&[2, 2, 2, 2], "NHWC", [2, 2, 2, 2]),
            (&[8, 3, 32, 32], "NCHW", [8, 32, 32, 3]),
        ];
        for (shape, layout, sides) in rows {
            assert_eq!(guessed(shape), Ok((layout, sides)), "{shape:?}");
            assert!(guesses().contains(&format!("layout={layout:?}")));
        }
        assert!(GUESSES.iter().all(|guess| rows.iter().any(|row| row.1 == guess.layout)));
    }

    #[test]
    fn what_is_no_picture_names_the_line_to_write() {
        let rows: [(&[i64], &str); 5] = [
            (&[], "x[None, None]"),
            (&[7], "x[None, :]"),
            (&[2, 7, 48, 64], "x[0]"),
            (&[5, 2, 48, 64], "layout=\"NCHW\""),
            (&[1, 2, 3, 4, 5], "x.reshape(-1, height, width, channels)"),
        ];
        for (shape, line) in rows {
            let said = guessed(shape).unwrap_err();
            assert!(said.contains(line), "{said}");
        }
    }

    #[test]
    fn named_axes_are_where_the_letters_say() {
        let of = |name: &str, shape: &[i64]| {
            let strides: Vec<i64> = (1..=shape.len() as i64).map(|n| n * 10).collect();
            Layout::named(name).and_then(|layout| layout.of(shape, &strides)).map(|axes| (axes.sides, axes.strides))
        };
        assert_eq!(of("WHC", &[5, 6, 3]), Ok(([1, 6, 5, 3], [0, 20, 10, 30])));
        assert_eq!(of("NCHW", &[2, 3, 4, 5]), Ok(([2, 4, 5, 3], [10, 30, 40, 20])));
        assert_eq!(of("HWC", &[4, 5]), Ok(([1, 4, 5, 1], [0, 10, 20, 0])));
        assert_eq!(of("CHW", &[4, 5]), Ok(([1, 4, 5, 1], [0, 10, 20, 0])));
        for wrong in ["", "H", "HC", "HWX", "HWW", "NHWCN", "hw"] {
            assert!(of(wrong, &[4, 5]).unwrap_err().to_string().contains("name each axis"), "{wrong}");
        }
        let check = |name: &str, shape: &[i64]| Layout::named(name).unwrap().check_channels(shape);
        assert_eq!((check("HWC", &[4, 5, 3]), check("HW", &[4, 5])), (Ok(()), Ok(())));
        for (name, instead) in [("HWC", "layout=\"HW\""), ("CHW", "layout=\"HW\""), ("CWH", "layout=\"WH\"")] {
            let said = check(name, &[4, 5]).unwrap_err().to_string();
            assert!(said.contains("has 2 dimensions") && said.ends_with(&format!("use {instead}")), "{said}");
        }
        assert!(of("HW", &[4, 5, 3]).unwrap_err().to_string().contains("has 3 dimensions"));
    }
}
