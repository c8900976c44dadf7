//! The camera: a ray per sample, an average per pixel, all rows on all cores.

use rayon::prelude::*;

use super::math::{Vec3, vec3};
use super::terrain::Terrain;
use super::{film, scene};

/// Samples per pixel along each axis.
const SAMPLES: u32 = 2;

/// One exposure.
#[derive(Clone, Copy, Debug)]
pub struct Shot {
    pub width: u32,
    pub height: u32,
    /// Turn to the right, radians.
    pub yaw: f32,
    /// Half the picture's width at distance 1: the tangent of half the angle of view.
    pub half_width: f32,
    /// Seconds; moves the water.
    pub time: f32,
    /// Seeds the grain.
    pub frame: u32,
}

const EYE: Vec3 = vec3(0.0, 5.5, 0.0);
/// Height of the horizon over the middle of the picture, in halves of the picture's width.
const PITCH: f32 = 0.085;

/// Packed 8-bit sRGB, rows from the top.
pub fn expose(land: &Terrain, shot: &Shot) -> Vec<u8> {
    let mut rgb = vec![0u8; shot.width as usize * shot.height as usize * 3];
    rgb.par_chunks_mut(shot.width as usize * 3).enumerate().for_each(|(y, row)| {
        for (x, pixel) in row.chunks_exact_mut(3).enumerate() {
            let light = average(land, shot, x as f32, y as f32);
            let at = ((x as f32 + 0.5) / shot.width as f32, (y as f32 + 0.5) / shot.height as f32);
            pixel.copy_from_slice(&film::develop(light, at, (x as i32, y as i32), shot.frame));
        }
    });
    rgb
}

fn average(land: &Terrain, shot: &Shot, x: f32, y: f32) -> Vec3 {
    let step = 1.0 / SAMPLES as f32;
    let mut sum = Vec3::default();
    for sy in 0..SAMPLES {
        for sx in 0..SAMPLES {
            let dir = ray(shot, x + (sx as f32 + 0.5) * step, y + (sy as f32 + 0.5) * step);
            // The sun's disc is thousands of times the sky; held here so that its edge stays smooth.
            sum += scene::radiance(land, EYE, dir, shot.time).map(|c| c.min(12.0));
        }
    }
    sum * (step * step)
}

fn ray(shot: &Shot, x: f32, y: f32) -> Vec3 {
    let (w, h) = (shot.width as f32, shot.height as f32);
    let right = (2.0 * x / w - 1.0) * shot.half_width;
    let up = ((h - 2.0 * y) / w + PITCH) * shot.half_width;
    let (sin, cos) = shot.yaw.sin_cos();
    vec3(right * cos + sin, up, cos - right * sin).normalised()
}
