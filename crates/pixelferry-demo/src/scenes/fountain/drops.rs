//! Drawing of the drops: points that fade, seen from a little above.

use crate::gl_program::GlProgram;
use crate::scene::SceneError;
use glow::HasContext as _;
use pixelferry::api::gl::{GlBuffer, GlDisplay, Viewport};

/// The program's own OpenGL.
pub struct Drops {
    program: GlProgram,
    aspect: Option<glow::UniformLocation>,
    size: Option<glow::UniformLocation>,
}

impl Drops {
    pub fn new(gl: &GlDisplay) -> Result<Self, SceneError> {
        let program = GlProgram::new(gl, VERTEX, FRAGMENT)?;
        let [aspect, size] = ["aspect", "size"].map(|name| program.uniform(name));
        Ok(Self { program, aspect, size })
    }

    /// Draws `count` vertices of (x, y, z, age).
    pub fn draw(&self, viewport: Viewport, buffer: GlBuffer, count: u32) {
        let height = viewport.height as f32;
        self.program.with(viewport, buffer, 4, |gl| {
            // SAFETY: the context is current and the buffer holds `count` vectors of 4 floats.
            unsafe {
                gl.clear_color(0.02, 0.03, 0.06, 1.0);
                gl.clear(glow::COLOR_BUFFER_BIT);
                gl.enable(glow::PROGRAM_POINT_SIZE);
                gl.enable(glow::BLEND);
                gl.blend_equation(glow::FUNC_ADD);
                gl.blend_func(glow::ONE, glow::ONE);
                gl.uniform_1_f32(self.aspect.as_ref(), viewport.width as f32 / height.max(1.0));
                gl.uniform_1_f32(self.size.as_ref(), height * 0.010);
                gl.draw_arrays(glow::POINTS, 0, count as i32);
                gl.disable(glow::BLEND);
                gl.disable(glow::PROGRAM_POINT_SIZE);
            }
        });
    }
}

const VERTEX: &str = "#version 330 core
    layout(location = 0) in vec4 drop;
    uniform float aspect, size;
    out vec3 colour;
    const float PITCH = 0.35, DISTANCE = 2.6, ZOOM = 2.7;
    void main() {
        vec3 p = vec3(drop.x, drop.y - 0.42, drop.z);
        p = vec3(p.x, cos(PITCH) * p.y - sin(PITCH) * p.z, sin(PITCH) * p.y + cos(PITCH) * p.z);
        float depth = DISTANCE - p.z;
        gl_Position = vec4(ZOOM * p.x / aspect, ZOOM * p.y, 0.0, depth);
        float age = drop.w, near = DISTANCE / max(depth, 0.2);
        gl_PointSize = clamp(size * near, 1.0, 64.0);
        vec3 young = vec3(0.55, 0.80, 1.0), old = vec3(0.10, 0.25, 0.85);
        colour = 0.30 * mix(young, old, smoothstep(0.1, 0.9, age)) * (1.0 - age * age);
    }";
const FRAGMENT: &str = "#version 330 core
    in vec3 colour;
    out vec4 pixel;
    void main() {
        vec2 d = 2.0 * gl_PointCoord - 1.0;
        float soft = max(1.0 - dot(d, d), 0.0);
        pixel = vec4(colour * soft * soft, 1.0);
    }";
