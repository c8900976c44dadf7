//! What a ray sees: sky, mountains, water, and the pines on the near bank.

use super::math::{Vec3, smoothstep, vec3};
use super::terrain::{self, Terrain};
use super::{noise, pines, sky};

/// Linear light along a ray from `origin` in the unit direction `dir`; `time` in seconds moves the water.
pub fn radiance(land: &Terrain, origin: Vec3, dir: Vec3, time: f32) -> Vec3 {
    let behind = match land.intersect(origin, dir) {
        Some(t) => ground(land, origin, dir, t),
        None if dir.y < -1e-5 => water(land, origin, dir, time),
        None => sky::radiance(dir),
    };
    let cover = pines::cover(origin, dir);
    behind.mixed(pines::COLOUR, cover)
}

fn ground(land: &Terrain, origin: Vec3, dir: Vec3, t: f32) -> Vec3 {
    let p = origin + dir * t;
    let n = terrain::normal(p, t);
    let sun = sky::sun_direction();
    let albedo = ground_albedo(p, n);
    let direct = n.dot(sun).max(0.0);
    let direct = if direct > 0.0 { direct * land.sunlight(p, sun) } else { 0.0 };
    // Light of the bright western sky wraps round slopes that turn towards it.
    let wrap = 0.5 + 0.5 * n.dot(vec3(sun.x, 0.0, sun.z).normalised());
    let light = sky::SUN_LIGHT * direct + sky::SKY_LIGHT * (0.35 + 0.65 * n.y) + vec3(0.55, 0.27, 0.14) * (0.5 * wrap);
    veiled(albedo.tinted(light), origin, dir, t)
}

fn ground_albedo(p: Vec3, n: Vec3) -> Vec3 {
    let mottle = noise::fractal(p.x / 90.0, p.z / 90.0, 4, 41);
    let rock = vec3(0.17, 0.15, 0.14) * (1.0 + 0.45 * mottle);
    let forest = vec3(0.030, 0.045, 0.026) * (1.0 + 0.6 * noise::fractal(p.x / 14.0, p.z / 14.0, 3, 43));
    let meadow = vec3(0.10, 0.105, 0.045);
    let green = forest.mixed(meadow, smoothstep(0.15, 0.45, mottle));
    let tree_line = 620.0 + 240.0 * mottle;
    let base = rock.mixed(green, smoothstep(0.55, 0.78, n.y) * (1.0 - smoothstep(tree_line, tree_line + 260.0, p.y)));
    let snow_line = 980.0 + 420.0 * mottle;
    let snow = smoothstep(snow_line, snow_line + 240.0, p.y) * smoothstep(0.50, 0.72, n.y);
    base.mixed(vec3(0.80, 0.82, 0.88), snow)
}

/// Haze that thins with height, and mist that lies on the lake.
fn veiled(colour: Vec3, origin: Vec3, dir: Vec3, t: f32) -> Vec3 {
    let slope = if dir.y.abs() < 1e-4 { 1e-4 } else { dir.y };
    let column = |density: f32, scale: f32| {
        let thickness = (-origin.y / scale).exp() * scale * (1.0 - (-t * slope / scale).exp()) / slope;
        1.0 - (-density * thickness.max(0.0)).exp()
    };
    let veil = 1.0 - (1.0 - column(6.0e-5, 900.0)) * (1.0 - column(1.3e-4, 40.0));
    colour.mixed(sky::haze(dir), veil.clamp(0.0, 1.0))
}

fn water(land: &Terrain, origin: Vec3, dir: Vec3, time: f32) -> Vec3 {
    let t = origin.y / -dir.y;
    let p = origin + dir * t;
    let n = ripples(p, t, time);
    let mut mirror = dir.reflected(n);
    mirror.y = mirror.y.abs().max(0.004);
    let mirror = mirror.normalised();
    let seen = match land.intersect(p, mirror) {
        Some(hit) => ground(land, p, mirror, hit),
        None => sky::radiance(mirror).map(|c| c.min(9.0)),
    };
    let seen = seen.mixed(pines::COLOUR, pines::cover(p, mirror));
    // Schlick's approximation for water, n = 1.33.
    let fresnel = 0.02 + 0.98 * (1.0 - (-dir.dot(n)).clamp(0.0, 1.0)).powi(5);
    let deep = vec3(0.012, 0.030, 0.040);
    veiled(deep.mixed(seen, fresnel.clamp(0.0, 1.0)), origin, dir, t)
}

fn ripples(p: Vec3, t: f32, time: f32) -> Vec3 {
    // Gusts leave smooth lanes between rough ones.
    let gust = 0.35 + 0.65 * smoothstep(-0.25, 0.35, noise::fractal(p.x / 160.0, p.z / 420.0, 3, 61));
    let mut slope = [0.0f32; 2];
    for (scale, strength, drift, seed) in [(5.5, 0.020, 0.9, 62), (1.7, 0.016, 0.6, 63), (0.55, 0.012, 0.35, 64)] {
        // A wave smaller than a pixel only adds sparkle that no lens would resolve.
        let fade = 1.0 / (1.0 + (t * 0.0030 / scale).powi(2));
        let n = noise::value(p.x / scale + drift * time, p.z / (scale * 0.7) - 0.5 * drift * time, seed);
        slope[0] += strength * fade * n.slope[0];
        slope[1] += strength * fade * n.slope[1];
    }
    vec3(-slope[0] * gust, 1.0, -slope[1] * gust).normalised()
}
