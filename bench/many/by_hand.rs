//! The frames of many links by hand, on OpenGL: the host fills a picture for each, which is uploaded and drawn.

use glow::HasContext as _;
use measure::gl_program;
use pixelferry::Result;
use pixelferry::api::gl::{GlDisplay, HeadlessOptions, OffscreenTarget, glow};
use std::sync::Arc;
use std::time::Instant;

const VERTICES: &str = "#version 330 core
    out vec2 at;
    void main() {
      at = vec2((gl_VertexID & 1) * 2, (gl_VertexID >> 1) * 2);
      gl_Position = vec4(at * 2 - 1, 0, 1);
    }";
const FRAGMENTS: &str = "#version 330 core
    in vec2 at;
    out vec4 colour;
    uniform sampler2D picture;
    void main() { colour = texture(picture, at); }";

/// Pictures, textures, and the target that all of them are drawn to.
pub struct ByHand {
    pub context: Arc<GlDisplay>,
    target: OffscreenTarget,
    pictures: Vec<Vec<u8>>,
    textures: Vec<glow::Texture>,
    size: (u32, u32),
}

impl ByHand {
    pub fn new(count: usize, (width, height): (u32, u32)) -> Result<Self> {
        let context = GlDisplay::headless(HeadlessOptions::default())?;
        context.make_current()?;
        let target = context.create_offscreen_target(width, height)?;
        let gl: &glow::Context = context.gl();
        let pictures = vec![vec![0; (width * height * 4) as usize]; count];
        let program = gl_program(&context, &[(glow::VERTEX_SHADER, VERTICES), (glow::FRAGMENT_SHADER, FRAGMENTS)]);
        // SAFETY: the context is current on this thread; the names are of it, and sizes are positive.
        let textures = unsafe {
            gl.use_program(Some(program));
            gl.bind_vertex_array(Some(gl.create_vertex_array().expect("a vertex array")));
            let texture = || {
                let texture = gl.create_texture().expect("a texture");
                gl.bind_texture(glow::TEXTURE_2D, Some(texture));
                gl.tex_storage_2d(glow::TEXTURE_2D, 1, glow::RGBA8, width as i32, height as i32);
                for filter in [glow::TEXTURE_MIN_FILTER, glow::TEXTURE_MAG_FILTER] {
                    gl.tex_parameter_i32(glow::TEXTURE_2D, filter, glow::NEAREST as i32);
                }
                texture
            };
            (0..count).map(|_| texture()).collect()
        };
        target.bind()?;
        Ok(Self { context, target, pictures, textures, size: (width, height) })
    }

    /// Fills, uploads and draws every picture, and waits once. Returns the time in milliseconds.
    pub fn frames(&mut self, nonce: u32) -> f64 {
        let start = Instant::now();
        let gl: &glow::Context = self.context.gl();
        let (width, height) = (self.size.0 as i32, self.size.1 as i32);
        for (picture, texture) in self.pictures.iter_mut().zip(&self.textures) {
            picture.fill(nonce as u8);
            let data = glow::PixelUnpackData::Slice(Some(picture));
            // SAFETY: as above; the picture has a byte for each channel of each pixel, in tight rows.
            unsafe {
                gl.bind_texture(glow::TEXTURE_2D, Some(*texture));
                gl.tex_sub_image_2d(glow::TEXTURE_2D, 0, 0, 0, width, height, glow::RGBA, glow::UNSIGNED_BYTE, data);
                gl.viewport(0, 0, width, height);
                gl.draw_arrays(glow::TRIANGLES, 0, 3);
            }
        }
        // SAFETY: as above.
        unsafe { gl.finish() }
        start.elapsed().as_secs_f64() * 1e3
    }

    /// Panics where the last frame is not in the target.
    pub fn check(&self, nonce: u32) {
        let pixels = self.target.read_pixels().expect("pixels");
        assert!(pixels.iter().all(|byte| *byte == nonce as u8), "the pictures by hand are wrong");
    }
}
