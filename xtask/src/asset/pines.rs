//! Conifers on the near bank, dark against the light.

use super::math::{Vec3, smoothstep, vec3};
use super::noise;

pub const COLOUR: Vec3 = vec3(0.006, 0.008, 0.010);

/// One tree: where its foot stands in metres, and how tall it is.
struct Pine {
    x: f32,
    z: f32,
    tall: f32,
    seed: u32,
}

const fn pine(x: f32, z: f32, tall: f32, seed: u32) -> Pine {
    Pine { x, z, tall, seed }
}

const PINES: [Pine; 15] = [
    pine(-31.0, 46.0, 19.0, 1),
    pine(-27.2, 50.0, 24.0, 2),
    pine(-24.0, 44.0, 14.0, 3),
    pine(-36.0, 60.0, 27.0, 4),
    pine(-29.5, 62.0, 21.0, 5),
    pine(-22.5, 56.0, 11.5, 6),
    pine(-20.0, 52.0, 7.0, 7),
    pine(-40.0, 70.0, 24.0, 8),
    pine(-33.5, 55.0, 16.0, 9),
    pine(31.5, 52.0, 13.0, 10),
    pine(34.5, 56.0, 18.5, 11),
    pine(28.8, 50.0, 6.5, 12),
    pine(38.5, 60.0, 23.0, 13),
    pine(33.0, 49.0, 8.5, 14),
    pine(26.5, 49.0, 4.0, 15),
];

/// Where the tongues of land that carry the trees stand, metres from the viewer.
const BANK_Z: f32 = 50.0;

/// How much of the ray the trees and the land they stand on hide, 0..1.
pub fn cover(origin: Vec3, dir: Vec3) -> f32 {
    let mut clear = 1.0;
    for tree in &PINES {
        if let Some((x, y)) = at_distance(origin, dir, tree.z) {
            clear *= 1.0 - tree_cover(tree, x - tree.x, y);
        }
    }
    if let Some((x, y)) = at_distance(origin, dir, BANK_Z) {
        clear *= 1.0 - bank_cover(x, y);
    }
    1.0 - clear
}

/// Where a ray passes the upright plane at `z`, if it goes there.
fn at_distance(origin: Vec3, dir: Vec3, z: f32) -> Option<(f32, f32)> {
    let t = (z - origin.z) / dir.z;
    (t > 0.0).then_some((origin.x + dir.x * t, origin.y + dir.y * t))
}

fn tree_cover(tree: &Pine, x: f32, y: f32) -> f32 {
    let up = (y - 0.2) / tree.tall;
    if !(0.0..=1.0).contains(&up) || x.abs() > tree.tall * 0.24 {
        return 0.0;
    }
    // Whorls of branches: wide where a whorl hangs, narrow just above it, each side by its own chance.
    let whorls = tree.tall * 1.5;
    let level = (1.0 - up) * whorls;
    let side = if x < 0.0 { 0 } else { 1 };
    let chance = noise::unit(level as i32, side, tree.seed);
    let hang = level.fract();
    let reach = tree.tall * 0.19 * (1.0 - up).powf(0.85) * (0.55 + 0.45 * chance) * (0.42 + 0.58 * hang) + 0.05;
    let needles = 0.16 * noise::fractal(x * 5.0, y * 5.0, 3, tree.seed.wrapping_mul(77));
    let gaps = smoothstep(-0.55, -0.25, noise::fractal(x * 2.3, y * 3.1, 3, tree.seed.wrapping_add(500)));
    let trunk = 1.0 - smoothstep(0.10, 0.16, x.abs() / (1.0 + 0.5 * (1.0 - up)));
    let crown = (1.0 - smoothstep(reach - 0.10, reach + 0.06, x.abs() + needles)) * gaps;
    let crown = crown * smoothstep(0.02, 0.07, up);
    crown.max(trunk * (1.0 - up * up))
}

fn bank_cover(x: f32, y: f32) -> f32 {
    let rough = 0.30 * noise::fractal(x / 1.6, 3.0, 4, 91) + 0.14 * noise::fractal(x * 3.0, 1.0, 3, 92);
    let lapped = 0.50 * noise::fractal(x / 2.4, 7.0, 4, 93);
    let left = tongue(-15.0 - x, 15.0, 0.52, y, rough, lapped);
    let right = tongue(x - 24.0, 10.0, 0.85, y, rough, lapped);
    left.max(right)
}

/// Land that begins at `inland` = 0, is highest `length` metres further, and whose shore comes nearer to the
/// viewer, so lower in the picture, by `shore` a metre.
fn tongue(inland: f32, length: f32, shore: f32, y: f32, rough: f32, lapped: f32) -> f32 {
    let top = -0.3 + 2.2 * smoothstep(0.0, length, inland) + rough;
    let waterline = -0.35 - shore * inland + lapped;
    (1.0 - smoothstep(top - 0.05, top + 0.03, y)) * smoothstep(waterline - 0.04, waterline + 0.04, y)
}
