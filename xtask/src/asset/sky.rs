//! Evening sky: gradient, sun and a broken layer of cloud lit from below.

use super::math::{Vec3, smoothstep, vec3};
use super::noise;

/// Towards the sun; low, a little right of the middle of the picture.
pub fn sun_direction() -> Vec3 {
    vec3(0.30, 0.085, 1.0).normalised()
}

pub const SUN_LIGHT: Vec3 = vec3(6.2, 2.9, 1.15);
pub const SKY_LIGHT: Vec3 = vec3(0.23, 0.33, 0.58);

const CLOUD_HEIGHT: f32 = 2600.0;

/// Light that arrives from direction `dir` (unit), clouds included.
pub fn radiance(dir: Vec3) -> Vec3 {
    let clear = clear_sky(dir);
    let (cover, light) = clouds(dir);
    clear.mixed(light, cover) + sun_disc(dir) * (1.0 - 0.9 * cover)
}

/// The haze that distance lays over things seen in direction `dir`.
pub fn haze(dir: Vec3) -> Vec3 {
    let towards = dir.dot(sun_direction()).max(0.0);
    vec3(0.26, 0.30, 0.44).mixed(vec3(1.25, 0.60, 0.28), 0.75 * towards.powi(8))
        + vec3(0.5, 0.24, 0.07) * towards.powi(64)
}

fn clear_sky(dir: Vec3) -> Vec3 {
    let up = dir.y.max(0.0);
    let towards = dir.dot(sun_direction()).max(0.0);
    let zenith = vec3(0.045, 0.105, 0.27);
    let middle = vec3(0.22, 0.33, 0.52);
    let horizon = vec3(0.86, 0.50, 0.34).mixed(vec3(1.5, 0.78, 0.33), towards.powi(4));
    let sky = middle.mixed(zenith, smoothstep(0.10, 0.55, up));
    let sky = horizon.mixed(sky, smoothstep(-0.02, 0.30, up).powf(0.65));
    sky + vec3(1.0, 0.45, 0.14) * (0.55 * towards.powi(18)) + vec3(1.0, 0.62, 0.28) * (1.1 * towards.powi(180))
}

fn sun_disc(dir: Vec3) -> Vec3 {
    let angle = dir.dot(sun_direction());
    vec3(1.0, 0.72, 0.38) * (26.0 * smoothstep(0.99988, 0.99996, angle) + 2.2 * angle.max(0.0).powi(2400))
}

/// Cover 0..1 and the light of the cloud seen in direction `dir`.
fn clouds(dir: Vec3) -> (f32, Vec3) {
    if dir.y < 0.012 {
        return (0.0, Vec3::default());
    }
    let reach = CLOUD_HEIGHT / dir.y;
    let (x, z) = (dir.x * reach, dir.z * reach);
    let density = cloud_density(x, z);
    let cover = smoothstep(0.0, 0.42, density) * smoothstep(0.012, 0.075, dir.y);
    if cover <= 0.0 {
        return (0.0, Vec3::default());
    }
    // Thin edges that face the sun glow; the thick middle stays in its own shadow.
    let sun = sun_direction();
    let lit = smoothstep(-0.14, 0.22, density - cloud_density(x + sun.x * 420.0, z + sun.z * 420.0));
    let towards = dir.dot(sun).max(0.0);
    let glow = vec3(1.25, 0.50, 0.24).mixed(vec3(2.6, 1.25, 0.48), towards.powi(10));
    let shade = vec3(0.20, 0.20, 0.32).mixed(vec3(0.62, 0.30, 0.26), towards.powi(3));
    let thin = 1.0 - smoothstep(0.05, 0.55, density);
    (cover * 0.94, shade.mixed(glow, (0.75 * lit + 0.45 * thin).min(1.0)))
}

fn cloud_density(x: f32, z: f32) -> f32 {
    // Stretched across the view, as streets of altocumulus are; bent by a slower noise.
    let (u, v) = (x / 5200.0, z / 2900.0);
    let bend = 0.55 * noise::fractal(u * 0.7 + 9.1, v * 0.7 - 4.3, 3, 71);
    noise::fractal(u + bend + 3.7, v + bend * 0.6 + 1.9, 7, 83) * 1.25 - 0.06
        + 0.25 * noise::value(u * 0.45, v * 0.45, 97).value
}
