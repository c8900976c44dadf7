//! Converts luma and chroma to red, green and blue.

use super::Weights;

/// Number of entries of a table.
const MOST: usize = 1 << 10;
const BITS: u32 = 20;
const ONE: f64 = (1 << BITS) as f64;

/// Contribution of each luma and chroma value to red, green and blue, as multiples of 1/`ONE`.
pub struct Matrix {
    luma: [i32; MOST],
    red: [i32; MOST],
    /// From blue's chroma, and from red's.
    green: [[i32; MOST]; 2],
    blue: [i32; MOST],
}

impl Matrix {
    /// Tables for values of 8 or 10 bits (BT.709-6, 3.4): full range, or luma from 16 to 235 and chroma from 16 to 240
    /// of 255.
    #[must_use]
    pub fn new(weights: Weights, is_full: bool, bits: u32) -> Box<Self> {
        let Weights { red, blue } = weights;
        let green = 1.0 - red - blue;
        let step = f64::from(1_u32 << (bits.clamp(8, 10) - 8));
        let top = 256.0 * step - 1.0;
        let (black, white, chroma) = if is_full { (0.0, top, top) } else { (16.0 * step, 219.0 * step, 224.0 * step) };
        let table = |from: f64, of: f64, factor: f64| -> [i32; MOST] {
            std::array::from_fn(|number| ((number as f64 - from) * 255.0 / of * factor * ONE).round() as i32)
        };
        let of = |factor: f64| table(128.0 * step, chroma, factor);
        let (by_red, by_blue) = (2.0 * (1.0 - red), 2.0 * (1.0 - blue));
        Box::new(Self {
            luma: table(black, white, 1.0),
            red: of(by_red),
            green: [of(-by_blue * blue / green), of(-by_red * red / green)],
            blue: of(by_blue),
        })
    }

    /// Converts luma, blue's chroma and red's to red, green and blue.
    pub fn colour(&self, numbers: [u16; 3]) -> [u8; 3] {
        let [luma, blue, red] = numbers.map(place);
        let luma = self.luma[luma];
        [self.red[red], self.green[0][blue] + self.green[1][red], self.blue[blue]].map(|add| level(luma + add))
    }

    /// Converts luma to grey.
    pub fn grey(&self, luma: u16) -> u8 {
        level(self.luma[place(luma)])
    }
}

fn place(number: u16) -> usize {
    usize::from(number) % MOST
}

/// Rounds to the nearest level, halves up.
fn level(fraction: i32) -> u8 {
    ((fraction + (1 << (BITS - 1))) >> BITS).clamp(0, 255) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the standards' own equations, in real numbers: luma from 0 to 1, chroma from -0.5 to 0.5.
    fn reference(numbers: [u16; 3], weights: Weights, is_full: bool, bits: u32) -> [f64; 3] {
        let step = f64::from(1 << (bits - 8));
        let [luma, blue, red] = numbers.map(f64::from);
        let top = 256.0 * step - 1.0;
        let (luma, blue, red) = match is_full {
            true => (luma / top, (blue - 128.0 * step) / top, (red - 128.0 * step) / top),
            false => {
                let chroma = |number: f64| (number / step - 128.0) / 224.0;
                ((luma / step - 16.0) / 219.0, chroma(blue), chroma(red))
            }
        };
        let (r, b) = (luma + red * 2.0 * (1.0 - weights.red), luma + blue * 2.0 * (1.0 - weights.blue));
        let g = (luma - weights.red * r - weights.blue * b) / (1.0 - weights.red - weights.blue);
        [r, g, b].map(|part| (part * 255.0).clamp(0.0, 255.0))
    }

    #[test]
    fn colours_are_those_of_the_standards() {
        for weights in [Weights::BT601, Weights::BT709, Weights::BT2020] {
            for (is_full, bits) in [(false, 8), (true, 8), (false, 10), (true, 10)] {
                let matrix = Matrix::new(weights, is_full, bits);
                for n in 0..32_u32.pow(3) {
                    let numbers = [n % 32, n / 32 % 32, n / 1024].map(|part| ((part * 8 + n % 7) << (bits - 8)) as u16);
                    let wanted = reference(numbers, weights, is_full, bits);
                    for (found, wanted) in matrix.colour(numbers).into_iter().zip(wanted) {
                        // The nearest number; of a half, either.
                        assert!((f64::from(found) - wanted).abs() < 0.501, "{weights:?} {is_full} {bits}: {numbers:?}");
                    }
                }
            }
        }
        // Red by BT.709, as others write it.
        assert_eq!(Matrix::new(Weights::BT709, false, 8).colour([63, 102, 240]), [255, 1, 0]);
    }
}
