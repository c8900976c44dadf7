//! Converts RGBA8 pixels to luma and chroma.

use super::Weights;
use interop_core::Extent;
use interop_core::describe::threads;
use std::sync::{Mutex, PoisonError};
use std::thread;

const BITS: u32 = 20;
const ONE: f64 = (1 << BITS) as f64;

/// Converts RGBA8 to luma from 16 to 235 and chroma from 16 to 240; ignores alpha.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Yuv {
    /// Weights of red, green and blue in luma, blue's chroma and red's, as multiples of 1/`ONE`.
    factors: [[i32; 3]; 3],
}

impl Yuv {
    /// BT.709, which this crate's H.264 uses.
    pub fn bt709() -> Self {
        Self::of(Weights::BT709)
    }

    fn of(Weights { red, blue }: Weights) -> Self {
        let luma = [red, 1.0 - red - blue, blue];
        let fixed = |factors: [f64; 3], steps: f64| factors.map(|factor| (factor * steps / 255.0 * ONE).round() as i32);
        let chroma = |of: usize| {
            let mut factors = luma.map(|weight| -weight / (2.0 * (1.0 - luma[of])));
            factors[of] = 0.5;
            fixed(factors, 224.0)
        };
        Self { factors: [fixed(luma, 219.0), chroma(2), chroma(0)] }
    }

    /// Returns the value in a plane for the sum of 2 to the power of `log2` pixels.
    const fn number(&self, plane: usize, [r, g, b]: [i32; 3], log2: u32) -> u8 {
        let [red, green, blue] = self.factors[plane];
        let black = if plane == 0 { 16 } else { 128 };
        let half = 1 << (BITS - 1);
        ((red * r + green * g + blue * b + (((black << BITS) + half) << log2)) >> (BITS + log2)) as u8
    }

    /// Appends three planes of the pixels' size (4:4:4).
    pub fn put_444(&self, pixels: &[u8], to: &mut Vec<u8>) {
        let each = pixels.len() / 4;
        let from = to.len();
        to.resize(from + 3 * each, 0);
        let (luma, chroma) = to[from..].split_at_mut(each);
        let (blue, red) = chroma.split_at_mut(each);
        let fill = |plane: usize, numbers: &mut [u8]| {
            for (number, pixel) in numbers.iter_mut().zip(pixels.chunks_exact(4)) {
                *number = self.number(plane, [pixel[0], pixel[1], pixel[2]].map(i32::from), 0);
            }
        };
        at_once([(0, luma), (1, blue), (2, red)], fill);
    }

    /// Appends luma, and chroma for each two by two pixels (4:2:0, I420). `pixels` are tight rows of `width` pixels;
    /// both sides must be even. Rows of the planes are padded to multiples of four bytes, as in GStreamer.
    pub fn put_420(&self, pixels: &[u8], width: u32, to: &mut Vec<u8>) {
        let row = 4 * width.max(1) as usize;
        let (rows, from) = (pixels.len() / row, to.len());
        let strides = [row / 4, row / 8, row / 8].map(|numbers| numbers.next_multiple_of(4).max(4));
        let of_chroma = strides[1] * (rows / 2);
        to.resize(from + strides[0] * rows + 2 * of_chroma, 0);
        let (luma, chroma) = to[from..].split_at_mut(strides[0] * rows);
        let (blue, red) = chroma.split_at_mut(of_chroma);
        let fill = |plane: usize, numbers: &mut [u8]| {
            if plane == 0 {
                for (numbers, pixels) in numbers.chunks_exact_mut(strides[0]).zip(pixels.chunks_exact(row)) {
                    for (number, pixel) in numbers.iter_mut().zip(pixels.chunks_exact(4)) {
                        *number = self.number(0, [pixel[0], pixel[1], pixel[2]].map(i32::from), 0);
                    }
                }
                return;
            }
            let rows = numbers.chunks_exact_mut(strides[plane]).zip(pixels.chunks_exact(2 * row));
            for (numbers, two) in rows {
                let (upper, lower) = two.split_at(row);
                let pairs = upper.chunks_exact(8).zip(lower.chunks_exact(8));
                for (number, (upper, lower)) in numbers.iter_mut().zip(pairs) {
                    let sum =
                        |at: usize| [upper[at], upper[at + 4], lower[at], lower[at + 4]].map(i32::from).iter().sum();
                    *number = self.number(plane, [sum(0), sum(1), sum(2)], 2);
                }
            }
        };
        at_once([(0, luma), (1, blue), (2, red)], fill);
    }
}

/// Fills planes with a few threads: at 1080p, one thread would take longer than a frame at 60 per second.
fn at_once(planes: [(usize, &mut [u8]); 3], fill: impl Fn(usize, &mut [u8]) + Sync) {
    let helpers = planes.len() - 1;
    let left = Mutex::new(Vec::from(planes));
    let next = || left.lock().unwrap_or_else(PoisonError::into_inner).pop();
    let work = || {
        while let Some((plane, numbers)) = next() {
            fill(plane, numbers);
        }
    };
    thread::scope(|scope| {
        for _ in 0..helpers {
            // If the system starts no thread, the others do its work.
            drop(threads::spawn_scoped(thread::Builder::new(), scope, work));
        }
        work();
    });
}

/// Makes frames of a Y4M file with chroma for every pixel (4:4:4). Colours use BT.601 at every size: the format has no
/// standard field for the matrix, and most readers assume BT.601. The header also names it for readers that know the
/// extension (`XCOLORMATRIX`).
///
///
/// ```
/// use interop_core::Extent;
/// use pixelferry_media::yuv::Frames;
///
/// let frames = Frames::new(Extent::new(1, 1), 25);
/// let mut file = frames.header().into_bytes();
/// frames.put(&[255, 255, 255, 255], &mut file);
/// assert_eq!(file, b"YUV4MPEG2 W1 H1 F25:1 Ip A1:1 C444 XCOLORRANGE=LIMITED XCOLORMATRIX=BT601\nFRAME\n\xeb\x80\x80");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Frames {
    extent: Extent,
    rate: u32,
    yuv: Yuv,
}

impl Frames {
    /// Frames of this size at `rate` frames per second.
    #[must_use]
    pub fn new(extent: Extent, rate: u32) -> Self {
        Self { extent, rate, yuv: Yuv::of(Weights::BT601) }
    }

    /// Returns the first line of a file.
    pub fn header(&self) -> String {
        let Extent { width, height } = self.extent;
        format!("YUV4MPEG2 W{width} H{height} F{}:1 Ip A1:1 C444 XCOLORRANGE=LIMITED XCOLORMATRIX=BT601\n", self.rate)
    }

    /// Appends a frame of tight rows of RGBA8, top row first.
    pub fn put(&self, pixels: &[u8], to: &mut Vec<u8>) {
        to.extend_from_slice(b"FRAME\n");
        self.yuv.put_444(pixels, to);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By the standards' own equations, in real numbers.
    fn reference(pixel: [f64; 3], Weights { red: of_red, blue: of_blue }: Weights) -> [f64; 3] {
        let [r, g, b] = pixel.map(|level| level / 255.0);
        let luma = of_red * r + (1.0 - of_red - of_blue) * g + of_blue * b;
        let (blue, red) = ((b - luma) / (2.0 * (1.0 - of_blue)), (r - luma) / (2.0 * (1.0 - of_red)));
        [16.0 + 219.0 * luma, 128.0 + 224.0 * blue, 128.0 + 224.0 * red]
    }

    /// The nearest number; of a half, either.
    #[track_caller]
    fn assert_near(found: u8, wanted: f64, what: &str) {
        assert!((f64::from(found) - wanted).abs() < 0.501, "{what}: {found}, not {wanted}");
    }

    #[test]
    fn colours_are_those_of_the_standards() {
        let pixels: Vec<[u8; 3]> =
            (0..32_u32.pow(3)).map(|n| [n % 32, n / 32 % 32, n / 1024].map(|part| (part * 8 + n % 8) as u8)).collect();
        let rgba: Vec<u8> = pixels.iter().flat_map(|[r, g, b]| [*r, *g, *b, 7]).collect();
        for rows in [64, 1024] {
            let mut file = Vec::new();
            Frames::new(Extent::new((pixels.len() / rows) as u32, rows as u32), 30).put(&rgba, &mut file);
            let planes: Vec<&[u8]> = file[6..].chunks(pixels.len()).collect();
            for (n, pixel) in pixels.iter().enumerate() {
                let wanted = reference(pixel.map(f64::from), Weights::BT601);
                (0..3).for_each(|plane| assert_near(planes[plane][n], wanted[plane], &format!("{pixel:?} of {rows}")));
            }
        }
    }

    #[test]
    fn chroma_is_that_of_four_pixels() {
        let level = |x: u32, y: u32, channel: u32| ((x * 50 + y * 35 + channel * 77) % 256) as u8;
        let places = (0..4).flat_map(|y| (0..8).map(move |x| (x, y)));
        let rgba: Vec<u8> = places.flat_map(|(x, y)| [level(x, y, 0), level(x, y, 1), level(x, y, 2), 0]).collect();
        let mut planes = Vec::new();
        Yuv::bt709().put_420(&rgba, 8, &mut planes);
        assert_eq!(planes.len(), 8 * 4 * 3 / 2);
        let mean = |x: u32, y: u32, side: u32| {
            let all = (0..side * side).map(|n| (x + n % side, y + n / side));
            [0, 1, 2].map(|c| all.clone().map(|(x, y)| f64::from(level(x, y, c))).sum::<f64>() / f64::from(side * side))
        };
        for (y, x) in (0..4).flat_map(|y| (0..8).map(move |x| (y, x))) {
            let wanted = reference(mean(x, y, 1), Weights::BT709)[0];
            assert_near(planes[(y * 8 + x) as usize], wanted, &format!("luma at {x}, {y}"));
            if x % 2 + y % 2 == 0 {
                let wanted = reference(mean(x, y, 2), Weights::BT709);
                let at = (32 + y / 2 * 4 + x / 2) as usize;
                assert_near(planes[at], wanted[1], &format!("blue at {x}, {y}"));
                assert_near(planes[at + 8], wanted[2], &format!("red at {x}, {y}"));
            }
        }
    }
}
