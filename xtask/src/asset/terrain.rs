//! Mountains around a lake: a height field in metres over the sea, x to the right, z away from the viewer.

use rayon::prelude::*;

use super::math::{Vec3, smoothstep, vec3};
use super::noise;

/// Octaves that decide where a ray lands, and octaves that the light sees.
const SHAPE_OCTAVES: u32 = 8;
const DETAIL_OCTAVES: u32 = 13;
const FARTHEST: f32 = 26_000.0;
const HIGHEST: f32 = 3_800.0;

/// Height of the ground; the lake's surface is at zero.
pub fn height(x: f32, z: f32, octaves: u32) -> f32 {
    let shore = 260.0 * noise::fractal(x / 900.0, z / 900.0, 4, 5);
    // Distance from the middle of the lake, stretched along the view.
    let (dx, dz) = ((x + 150.0) / 1.0, (z - 1500.0) / 1.75);
    let from_lake = (dx * dx + dz * dz).sqrt() + shore - 1250.0;
    if from_lake < -300.0 {
        return -30.0;
    }
    let rise = smoothstep(-100.0, 3600.0, from_lake);
    // A valley runs away from the viewer, towards the sun, so that the light comes through.
    let valley = smoothstep(0.0, 2600.0, (x - 0.27 * z).abs());
    let near = smoothstep(200.0, 3200.0, z);
    let mountains = eroded(x / 2300.0 + 7.3, z / 2300.0 + 2.1, octaves);
    let bank = (from_lake * 0.10).min(26.0);
    bank + rise * (0.22 + 0.78 * valley) * (0.25 + 0.75 * near) * (950.0 + 1350.0 * mountains)
}

/// Fractal sum in which steep places get less of the finer octaves: ridges stay rough, slopes wash smooth.
fn eroded(mut x: f32, mut y: f32, octaves: u32) -> f32 {
    let (mut sum, mut gain, mut slope) = (0.0, 1.0, [0.0f32; 2]);
    for octave in 0..octaves {
        let n = noise::value(x, y, 11 + octave);
        slope = [slope[0] + n.slope[0], slope[1] + n.slope[1]];
        sum += gain * n.value / (1.0 + 0.55 * (slope[0] * slope[0] + slope[1] * slope[1]));
        gain *= 0.5;
        (x, y) = noise::next_octave(x, y);
    }
    sum
}

/// The ground, with a coarse copy that most steps of a ray can do with.
pub struct Terrain {
    coarse: Vec<f32>,
}

/// The coarse copy: a square grid of points `SPACING` metres apart that starts at `CORNER`.
const POINTS: usize = 2048;
const SPACING: f32 = 14.0;
const CORNER: (f32, f32) = (-14_000.0, -1_000.0);
/// The most that the true ground is taken to rise over the coarse copy between its points.
const ROUGHNESS: f32 = 24.0;

impl Terrain {
    pub fn new() -> Self {
        let mut coarse = vec![0.0; POINTS * POINTS];
        coarse.par_chunks_mut(POINTS).enumerate().for_each(|(row, line)| {
            for (column, point) in line.iter_mut().enumerate() {
                let (x, z) = (CORNER.0 + column as f32 * SPACING, CORNER.1 + row as f32 * SPACING);
                *point = height(x, z, SHAPE_OCTAVES);
            }
        });
        Self { coarse }
    }

    /// Distance along the ray at which it meets ground above the water, if it does.
    pub fn intersect(&self, origin: Vec3, dir: Vec3) -> Option<f32> {
        let mut far = FARTHEST;
        if dir.y > 1e-4 {
            far = far.min((HIGHEST - origin.y) / dir.y);
        } else if dir.y < -1e-5 {
            far = far.min(-origin.y / dir.y);
        }
        let (mut before, mut t) = (0.0, 2.0);
        while t < far {
            let p = origin + dir * t;
            let mut gap = p.y - self.coarse(p.x, p.z) - ROUGHNESS;
            if gap < 0.0 {
                gap = p.y - height(p.x, p.z, SHAPE_OCTAVES);
                if gap < 0.0 {
                    return Some(refine(origin, dir, before, t));
                }
            }
            before = t;
            // In proportion to the gap, a step never jumps a ridge by much; the floor keeps far rays affordable.
            t += (gap * 0.4).max(0.8 + t * 0.0022);
        }
        None
    }

    /// How much of the sun reaches `p`, 0..1, with a soft edge.
    pub fn sunlight(&self, p: Vec3, sun: Vec3) -> f32 {
        let (mut light, mut t) = (1.0f32, 25.0);
        while t < 9_000.0 {
            let q = p + sun * t;
            if q.y > HIGHEST {
                break;
            }
            let gap = q.y - self.coarse(q.x, q.z);
            light = light.min(0.5 + 24.0 * gap / t);
            if light <= 0.0 {
                return 0.0;
            }
            t += gap.clamp(20.0, 260.0);
        }
        smoothstep(0.0, 1.0, light)
    }

    /// Between the four nearest points of the coarse copy; past its edge, the nearest edge point's height.
    fn coarse(&self, x: f32, z: f32) -> f32 {
        let last = (POINTS - 1) as f32 - 0.001;
        let (u, v) = ((x - CORNER.0) / SPACING, (z - CORNER.1) / SPACING);
        let (u, v) = (u.clamp(0.0, last), v.clamp(0.0, last));
        let i = v as usize * POINTS + u as usize;
        let (u, v) = (u.fract(), v.fract());
        let c = &self.coarse;
        let near = c[i] + (c[i + 1] - c[i]) * u;
        let far = c[i + POINTS] + (c[i + POINTS + 1] - c[i + POINTS]) * u;
        near + (far - near) * v
    }
}

fn refine(origin: Vec3, dir: Vec3, mut outside: f32, mut inside: f32) -> f32 {
    for _ in 0..9 {
        let t = 0.5 * (outside + inside);
        let p = origin + dir * t;
        if p.y < height(p.x, p.z, SHAPE_OCTAVES) {
            inside = t;
        } else {
            outside = t;
        }
    }
    inside
}

/// Unit normal of the ground, with detail no finer than one pixel at distance `t`.
pub fn normal(p: Vec3, t: f32) -> Vec3 {
    let e = (t * 0.0011).max(0.15);
    let h = |dx: f32, dz: f32| height(p.x + dx, p.z + dz, DETAIL_OCTAVES);
    vec3(h(-e, 0.0) - h(e, 0.0), 2.0 * e, h(0.0, -e) - h(0.0, e)).normalised()
}
