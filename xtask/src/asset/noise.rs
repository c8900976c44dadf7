//! Repeatable noise: value noise with its slope, and sums of octaves of it.

/// Value noise at a point: the value in -1..1 and its slope along both axes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Sample {
    pub value: f32,
    pub slope: [f32; 2],
}

/// A whole-number hash with good avalanche; the same on every machine.
pub fn hash(x: i32, y: i32, seed: u32) -> u32 {
    let mut h = (x as u32).wrapping_mul(0x9E37_79B1) ^ (y as u32).wrapping_mul(0x85EB_CA77) ^ seed;
    h = (h ^ (h >> 16)).wrapping_mul(0x7FEB_352D);
    h = (h ^ (h >> 15)).wrapping_mul(0x846C_A68B);
    h ^ (h >> 16)
}

/// The hash as a number in 0..1.
pub fn unit(x: i32, y: i32, seed: u32) -> f32 {
    (hash(x, y, seed) >> 8) as f32 / (1 << 24) as f32
}

pub fn value(x: f32, y: f32, seed: u32) -> Sample {
    let (ix, iy) = (x.floor(), y.floor());
    let (fx, fy) = (x - ix, y - iy);
    let (ix, iy) = (ix as i32, iy as i32);
    let corner = |dx, dy| unit(ix.wrapping_add(dx), iy.wrapping_add(dy), seed) * 2.0 - 1.0;
    let (a, b, c, d) = (corner(0, 0), corner(1, 0), corner(0, 1), corner(1, 1));
    // The quintic blend has a continuous second derivative, so lighting shows no grid.
    let blend = |t: f32| t * t * t * (t * (t * 6.0 - 15.0) + 10.0);
    let blend_slope = |t: f32| 30.0 * t * t * (t * (t - 2.0) + 1.0);
    let (u, v) = (blend(fx), blend(fy));
    let cross = a - b - c + d;
    Sample {
        value: a + (b - a) * u + (c - a) * v + cross * u * v,
        slope: [blend_slope(fx) * (b - a + cross * v), blend_slope(fy) * (c - a + cross * u)],
    }
}

/// One octave to the next: turn by about 37 degrees so that no axis shows, and double the frequency.
pub fn next_octave(x: f32, y: f32) -> (f32, f32) {
    (1.6 * x - 1.2 * y, 1.2 * x + 1.6 * y)
}

/// Plain fractal sum, about -1..1.
pub fn fractal(mut x: f32, mut y: f32, octaves: u32, seed: u32) -> f32 {
    let (mut sum, mut gain) = (0.0, 0.5);
    for octave in 0..octaves {
        sum += gain * value(x, y, seed.wrapping_add(octave)).value;
        gain *= 0.5;
        (x, y) = next_octave(x, y);
    }
    sum
}
