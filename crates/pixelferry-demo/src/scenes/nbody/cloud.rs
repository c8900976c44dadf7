//! Drawing of the bodies: soft points whose light adds up, over a faint glow of some of them.

use crate::gl_program::GlProgram;
use crate::scene::SceneError;
use glow::HasContext as _;
use pixelferry::api::gl::{GlBuffer, GlDisplay, Viewport};

/// Bodies that glow: enough for a smooth mist, and few enough for large points.
const GLOWING: u32 = 1_024;

/// The program's own OpenGL.
pub struct Cloud {
    program: GlProgram,
    turn: Option<glow::UniformLocation>,
    aspect: Option<glow::UniformLocation>,
    size: Option<glow::UniformLocation>,
    light: Option<glow::UniformLocation>,
}

impl Cloud {
    pub fn new(gl: &GlDisplay) -> Result<Self, SceneError> {
        let program = GlProgram::new(gl, VERTEX, FRAGMENT)?;
        let [turn, aspect, size, light] = ["turn", "aspect", "size", "light"].map(|name| program.uniform(name));
        Ok(Self { program, turn, aspect, size, light })
    }

    /// Draws `count` vertices of (x, y, z, speed), seen from a camera that goes round them slowly.
    pub fn draw(&self, viewport: Viewport, buffer: GlBuffer, count: u32, seconds: f32) {
        let height = viewport.height as f32;
        // The more bodies, the smaller and fainter each.
        let crowd = (count as f32 / 4096.0).max(0.25);
        let star = (height * 0.009 * crowd.powf(-0.25), 0.6 * crowd.powf(-0.4));
        let glowing = count.min(GLOWING);
        let glow = (height * 0.13, 0.034);
        self.program.with(viewport, buffer, 4, |gl| {
            // SAFETY: the context is current and the buffer holds `count` vectors of 4 floats.
            unsafe {
                gl.clear_color(0.006, 0.007, 0.016, 1.0);
                gl.clear(glow::COLOR_BUFFER_BIT);
                gl.enable(glow::PROGRAM_POINT_SIZE);
                gl.enable(glow::BLEND);
                gl.blend_equation(glow::FUNC_ADD);
                gl.blend_func(glow::ONE, glow::ONE);
                gl.uniform_2_f32(self.turn.as_ref(), 0.3 + 0.05 * seconds, 0.8);
                gl.uniform_1_f32(self.aspect.as_ref(), viewport.width as f32 / height.max(1.0));
                for ((size, light), points) in [(glow, glowing), (star, count)] {
                    gl.uniform_1_f32(self.size.as_ref(), size);
                    gl.uniform_1_f32(self.light.as_ref(), light);
                    gl.draw_arrays(glow::POINTS, 0, points as i32);
                }
                gl.disable(glow::BLEND);
                gl.disable(glow::PROGRAM_POINT_SIZE);
            }
        });
    }
}

/// `turn`: the camera's angles round the z axis and from it. `size`: diameter in pixels at the centre's distance.
const VERTEX: &str = "#version 330 core
    layout(location = 0) in vec4 body;
    uniform vec2 turn;
    uniform float aspect, size, light;
    out vec3 colour;
    const float DISTANCE = 4.0, ZOOM = 3.0;
    void main() {
        vec2 c = cos(turn), s = sin(turn);
        vec3 p = vec3(c.x * body.x - s.x * body.y, s.x * body.x + c.x * body.y, body.z);
        p = vec3(p.x, c.y * p.y + s.y * p.z, c.y * p.z - s.y * p.y);
        float depth = DISTANCE - p.z;
        gl_Position = vec4(ZOOM * p.x / aspect, ZOOM * p.y, 0.0, depth);
        float near = DISTANCE / max(depth, 0.2);
        gl_PointSize = clamp(size * near, 1.0, 255.0);
        // Slow is ember, fast is blue.
        float speed = body.w;
        vec3 warm = mix(vec3(0.85, 0.16, 0.10), vec3(1.0, 0.62, 0.30), smoothstep(0.2, 0.8, speed));
        vec3 hue = mix(warm, vec3(0.32, 0.55, 1.0), smoothstep(0.7, 1.5, speed));
        colour = light * hue;
    }";
const FRAGMENT: &str = "#version 330 core
    in vec3 colour;
    out vec4 pixel;
    void main() {
        vec2 d = 2.0 * gl_PointCoord - 1.0;
        float r2 = dot(d, d);
        if (r2 >= 1.0) discard;
        float soft = (1.0 - r2) * (1.0 - r2);
        pixel = vec4(colour * soft * soft, 1.0);
    }";
