//! A pan over the scene as a YUV4MPEG2 stream, 8-bit 4:2:0.

use std::path::Path;

use super::camera::{self, Shot};
use super::terrain::Terrain;
use crate::error::Error;

const WIDTH: usize = 320;
const HEIGHT: usize = 180;
const FRAMES: u32 = 24;
const RATE: usize = 24;

/// The whole stream.
pub fn render(land: &Terrain, path: &Path) -> Result<Vec<u8>, Error> {
    let broken = |source| Error::Clip { path: path.to_owned(), source };
    let mut stream = Vec::new();
    let mut encoder = y4m::encode(WIDTH, HEIGHT, y4m::Ratio::new(RATE, 1))
        .with_colorspace(y4m::Colorspace::C420jpeg)
        .write_header(&mut stream)
        .map_err(broken)?;
    for frame in 0..FRAMES {
        let [y, u, v] = planes(&camera::expose(land, &shot(frame)), WIDTH, HEIGHT);
        encoder.write_frame(&y4m::Frame::new([&y, &u, &v], None)).map_err(broken)?;
    }
    Ok(stream)
}

/// From left to right in one second, with an eased start and stop.
fn shot(frame: u32) -> Shot {
    let part = frame as f32 / (FRAMES - 1) as f32;
    let eased = super::math::smoothstep(0.0, 1.0, part);
    Shot {
        width: WIDTH as u32,
        height: HEIGHT as u32,
        yaw: -0.10 + 0.24 * eased,
        half_width: 0.52,
        time: frame as f32 / RATE as f32,
        frame: frame + 1,
    }
}

/// Luma and two chroma planes of a quarter of its size: BT.601, limited range, chroma in the middle of four
/// pixels (what `C420jpeg` says). `width` and `height` are even.
fn planes(rgb: &[u8], width: usize, height: usize) -> [Vec<u8>; 3] {
    let at = |x: usize, y: usize| {
        let i = (y * width + x) * 3;
        [f32::from(rgb[i]), f32::from(rgb[i + 1]), f32::from(rgb[i + 2])]
    };
    let luma = |[r, g, b]: [f32; 3]| 16.0 + (65.481 * r + 128.553 * g + 24.966 * b) / 255.0;
    let blue = |[r, g, b]: [f32; 3]| 128.0 + (-37.797 * r - 74.203 * g + 112.0 * b) / 255.0;
    let red = |[r, g, b]: [f32; 3]| 128.0 + (112.0 * r - 93.786 * g - 18.214 * b) / 255.0;
    let code = |level: f32| (level + 0.5) as u8;

    let y = (0..width * height).map(|i| code(luma(at(i % width, i / width)))).collect();
    let mut u = Vec::with_capacity(width * height / 4);
    let mut v = Vec::with_capacity(width * height / 4);
    for row in (0..height).step_by(2) {
        for column in (0..width).step_by(2) {
            let four = [at(column, row), at(column + 1, row), at(column, row + 1), at(column + 1, row + 1)];
            let mean = [0, 1, 2].map(|c| four.iter().map(|pixel| pixel[c]).sum::<f32>() / 4.0);
            u.push(code(blue(mean)));
            v.push(code(red(mean)));
        }
    }
    [y, u, v]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_colours_get_the_codes_of_bt_601() {
        let solid = |pixel: [u8; 3]| planes(&pixel.repeat(4), 2, 2).map(|plane| plane[0]);
        assert_eq!(solid([0, 0, 0]), [16, 128, 128]);
        assert_eq!(solid([255, 255, 255]), [235, 128, 128]);
        assert_eq!(solid([255, 0, 0]), [81, 90, 240]);
        assert_eq!(solid([0, 0, 255]), [41, 240, 110]);
    }

    #[test]
    fn planes_have_the_sizes_of_four_two_zero() {
        let [y, u, v] = planes(&[7; 6 * 4 * 3], 6, 4);
        assert_eq!((y.len(), u.len(), v.len()), (24, 6, 6));
    }
}
