//! Initial positions of the bodies: two disc galaxies about to meet. The gravitational constant is 1, and so is the
//! whole mass.

use super::kernels::SOFTENING;
use std::f64::consts::TAU;

/// All bodies at one time.
#[derive(Debug, Clone, PartialEq)]
pub struct Bodies {
    /// x, y, z and mass of each.
    pub bodies: Vec<[f32; 4]>,
    /// Velocity of each; the fourth number means nothing.
    pub velocities: Vec<[f32; 4]>,
}

/// One disc with a heavy core.
struct Galaxy {
    /// Share of the whole mass.
    mass: f64,
    /// Length over which the disc's density falls to 1/e.
    scale: f64,
    centre: [f64; 3],
    velocity: [f64; 3],
    /// Rotation of the disc out of the x-y plane, about x and then about y, in radians.
    tilt: [f64; 2],
    /// Tightness of the arms.
    winding: f64,
}

/// Share of a galaxy's mass that its core has.
const CORE: f64 = 0.65;
/// Discs reach so many scales from the core ...
const OUTER: f64 = 4.5;
/// ... and begin where the motion is slow enough for the steps of time.
const INNER: f64 = 0.05;
/// The galaxies' distance and velocity at the beginning: nearly parabolic, passing at about the size of a disc.
const APART: [f64; 3] = [1.75, 0.35, 0.35];
const TOWARDS: [f64; 3] = [-0.85, 0.3, -0.12];

/// The bodies, the same for the same number. Of five in a row three are of the first galaxy, so that any beginning of
/// the list is a fair sample of both.
pub fn collision(count: u32) -> Bodies {
    let (first, second) = if count > 3 { (0.6, 0.4) } else { (1.0, 0.0) };
    let galaxies = [
        Galaxy {
            mass: first,
            scale: 0.26,
            centre: APART.map(|c| -c * second),
            velocity: TOWARDS.map(|v| -v * second),
            tilt: [0.3, 0.2],
            winding: 3.2,
        },
        Galaxy {
            mass: second,
            scale: 0.19,
            centre: APART.map(|c| c * first),
            velocity: TOWARDS.map(|v| v * first),
            tilt: [0.35, -0.55],
            winding: 2.6,
        },
    ];
    let (core, of) = ([0, 3], |i: u32| usize::from(i % 5 > 2));
    let mut members = [0_u32; 2];
    (0..count).for_each(|i| members[of(i)] += 1);

    let mut all = Bodies { bodies: Vec::new(), velocities: Vec::new() };
    let mut momentum = [0.0_f64; 3];
    for i in 0..count {
        let which = of(i);
        let galaxy = &galaxies[which];
        let others = f64::from(members[which] - 1);
        let (mass, place, velocity) = if i == core[which] {
            (if others > 0.0 { CORE * galaxy.mass } else { galaxy.mass }, galaxy.centre, galaxy.velocity)
        } else {
            let (place, velocity) = galaxy.place(&mut Dice::new(i));
            ((1.0 - CORE) * galaxy.mass / others, place, velocity)
        };
        (0..3).for_each(|axis| momentum[axis] += mass * velocity[axis]);
        all.bodies.push([place[0] as f32, place[1] as f32, place[2] as f32, mass as f32]);
        all.velocities.push([velocity[0] as f32, velocity[1] as f32, velocity[2] as f32, 0.0]);
    }
    // Dice leave a rest; the picture is not to wander off.
    for velocity in &mut all.velocities {
        (0..3).for_each(|axis| velocity[axis] -= momentum[axis] as f32);
    }
    all
}

impl Galaxy {
    /// A body of an exponential disc on a nearly circular way.
    fn place(&self, dice: &mut Dice) -> ([f64; 3], [f64; 3]) {
        // The sum of two exponential variates has the density r exp(-r): what a ring holds.
        let r = loop {
            let r = -self.scale * (dice.unit() * dice.unit()).ln();
            if (INNER..OUTER * self.scale).contains(&r) {
                break r;
            }
        };
        let x = r / self.scale;
        let inside = self.mass * (CORE + (1.0 - CORE) * (1.0 - (1.0 + x) * (-x).exp()));
        let softened = r * r + f64::from(SOFTENING).powi(2);
        let speed = (inside * r * r / softened.powf(1.5)).sqrt();
        // Two arms: angles are drawn together along a logarithmic spiral.
        let angle = dice.unit() * TAU;
        let angle = angle - 0.42 * (2.0 * (angle + self.winding * x.ln())).sin();
        let (sin, cos) = angle.sin_cos();
        let mut loose = |scale: f64| scale * dice.bell();
        let place = [r * cos, r * sin, loose(0.06 * self.scale)];
        let velocity = [-speed * sin, speed * cos, 0.0].map(|v| v + loose(0.05 * speed));
        let turned = |v: [f64; 3], base: [f64; 3]| {
            let ((sa, ca), (sb, cb)) = (self.tilt[0].sin_cos(), self.tilt[1].sin_cos());
            let [x, y, z] = [v[0], ca * v[1] - sa * v[2], sa * v[1] + ca * v[2]];
            let v = [cb * x + sb * z, y, cb * z - sb * x];
            [0, 1, 2].map(|axis| base[axis] + v[axis])
        };
        (turned(place, self.centre), turned(velocity, self.velocity))
    }
}

/// Numbers that follow from a body's index alone: a counter, mixed until neighbours have nothing in common.
struct Dice(u64);

impl Dice {
    fn new(index: u32) -> Self {
        Self(u64::from(index) << 32)
    }

    /// In (0, 1].
    fn unit(&mut self) -> f64 {
        self.0 += 1;
        let mut bits = self.0;
        for odd in [0x9e37_79b9_7f4a_7c15_u64, 0xd1b5_4a32_d192_ed03, 0xaef1_7502_108e_f2d9] {
            bits = (bits ^ (bits >> 29)).wrapping_mul(odd);
        }
        bits ^= bits >> 32;
        ((bits >> 11) + 1) as f64 / (1_u64 << 53) as f64
    }

    /// About normal, with a deviation of 1.
    fn bell(&mut self) -> f64 {
        (0..12).map(|_| self.unit()).sum::<f64>() - 6.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_of_bodies_has_the_whole_mass_and_no_momentum() {
        for count in [1, 2, 3, 4, 5, 6, 7, 1000, 4096] {
            let all = collision(count);
            assert_eq!((all.bodies.len(), all.velocities.len()), (count as usize, count as usize));
            assert!(all.bodies.iter().chain(&all.velocities).flatten().all(|v| v.is_finite()), "{count}");
            let mass: f64 = all.bodies.iter().map(|b| f64::from(b[3])).sum();
            assert!((mass - 1.0).abs() < 1e-4, "{count} bodies have the mass {mass}");
            for axis in 0..3 {
                let sum: f64 =
                    all.bodies.iter().zip(&all.velocities).map(|(b, v)| f64::from(b[3]) * f64::from(v[axis])).sum();
                assert!(sum.abs() < 1e-5, "{count}: {sum}");
            }
            assert_eq!(all, collision(count), "not the same twice");
        }
    }

    #[test]
    fn the_dice_are_fair() {
        let mut dice = Dice::new(7);
        let rolls: Vec<f64> = (0..10_000).map(|_| dice.unit()).collect();
        let mean = rolls.iter().sum::<f64>() / 1e4;
        assert!((mean - 0.5).abs() < 0.02 && rolls.iter().all(|r| *r > 0.0 && *r <= 1.0), "{mean}");
        let first: f64 = (0..10_000).map(|i| Dice::new(i).unit()).sum::<f64>() / 1e4;
        assert!((first - 0.5).abs() < 0.02, "neighbours are alike: {first}");
    }
}
