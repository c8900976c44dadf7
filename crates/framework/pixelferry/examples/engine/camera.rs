//! The position of the viewer.

use bytemuck::{Pod, Zeroable};

/// The values of a frame that both engines' shaders read, as a uniform buffer.
#[derive(Debug, Clone, Copy, Pod, Zeroable)]
#[repr(C)]
pub struct View {
    /// The matrix from the world to the screen, in column-major order.
    pub camera: [[f32; 4]; 4],
    /// The position of the viewer, and the time in seconds.
    pub eye: [f32; 4],
    /// The lower left corner of the radar and its size, in units of half the screen.
    pub panel: [f32; 4],
}

impl View {
    /// Returns the view at a time, which circles the planet. `nearest` is the depth of the nearest plane: -1 in OpenGL
    /// and 0 in wgpu.
    pub fn new((width, height): (u32, u32), radar: u32, seconds: f32, nearest: f32) -> Self {
        let (w, h) = (width.max(1) as f32, height.max(1) as f32);
        let angle = 0.5 + 0.12 * seconds;
        let eye = [6.2 * angle.sin(), 1.5 + 0.25 * (0.3 * seconds).sin(), 6.2 * angle.cos()];
        let back = unit([eye[0], eye[1] - 1.35, eye[2]]);
        let right = unit([back[2], 0.0, -back[0]]);
        let up = cross(back, right);
        let (near, far, focal) = (0.1, 60.0, 1.9_f32);
        let depth = [(far - nearest * near) / (near - far), (1.0 - nearest) * far * near / (near - far)];
        let column = |i: usize| [focal * h / w * right[i], focal * up[i], depth[0] * back[i], -back[i]];
        let moved = |axis: [f32; 3]| -(axis[0] * eye[0] + axis[1] * eye[1] + axis[2] * eye[2]);
        let last = [focal * h / w * moved(right), focal * moved(up), depth[0] * moved(back) + depth[1], -moved(back)];
        let (panel_w, panel_h, margin) = (2.0 * radar as f32 / w, 2.0 * radar as f32 / h, 0.06);
        Self {
            camera: [column(0), column(1), column(2), last],
            eye: [eye[0], eye[1], eye[2], seconds],
            panel: [1.0 - panel_w - margin * h / w, margin - 1.0, panel_w, panel_h],
        }
    }
}

fn unit(v: [f32; 3]) -> [f32; 3] {
    let length = (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]).sqrt();
    v.map(|n| n / length)
}

fn cross(a: [f32; 3], b: [f32; 3]) -> [f32; 3] {
    [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
}
