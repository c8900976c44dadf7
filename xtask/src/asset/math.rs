//! Three-component vectors (metres, directions, linear light) and the usual blends.

use std::ops::{Add, AddAssign, Mul, Sub};

/// A point, a direction, or linear red, green and blue.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Vec3 {
    pub x: f32,
    pub y: f32,
    pub z: f32,
}

pub const fn vec3(x: f32, y: f32, z: f32) -> Vec3 {
    Vec3 { x, y, z }
}

impl Vec3 {
    pub fn dot(self, o: Self) -> f32 {
        self.x * o.x + self.y * o.y + self.z * o.z
    }

    pub fn normalised(self) -> Self {
        self * (1.0 / self.dot(self).sqrt().max(1e-12))
    }

    /// Mirror of a direction in the plane with the unit normal `n`.
    pub fn reflected(self, n: Self) -> Self {
        self - n * (2.0 * self.dot(n))
    }

    /// Product by component: light times albedo.
    pub fn tinted(self, o: Self) -> Self {
        vec3(self.x * o.x, self.y * o.y, self.z * o.z)
    }

    pub fn mixed(self, o: Self, t: f32) -> Self {
        self * (1.0 - t) + o * t
    }

    pub fn map(self, f: impl Fn(f32) -> f32) -> Self {
        vec3(f(self.x), f(self.y), f(self.z))
    }

    /// Relative luminance of linear Rec. 709 light.
    pub fn luminance(self) -> f32 {
        self.dot(vec3(0.2126, 0.7152, 0.0722))
    }
}

impl Add for Vec3 {
    type Output = Self;
    fn add(self, o: Self) -> Self {
        vec3(self.x + o.x, self.y + o.y, self.z + o.z)
    }
}

impl Sub for Vec3 {
    type Output = Self;
    fn sub(self, o: Self) -> Self {
        vec3(self.x - o.x, self.y - o.y, self.z - o.z)
    }
}

impl Mul<f32> for Vec3 {
    type Output = Self;
    fn mul(self, k: f32) -> Self {
        vec3(self.x * k, self.y * k, self.z * k)
    }
}

impl AddAssign for Vec3 {
    fn add_assign(&mut self, o: Self) {
        *self = *self + o;
    }
}

pub fn smoothstep(from: f32, to: f32, x: f32) -> f32 {
    let t = ((x - from) / (to - from)).clamp(0.0, 1.0);
    t * t * (3.0 - 2.0 * t)
}
