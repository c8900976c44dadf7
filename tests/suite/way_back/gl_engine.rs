//! An engine in OpenGL.

use super::engine::{BYTES, Engine, HEIGHT, Scene, WIDTH, filling};
use pixelferry::api::gl::glow::{self, HasContext as _};
use pixelferry::api::gl::{EngineTexture, GlDisplay};
use pixelferry::{Display, Extent, PixelFormat, Surface};
use std::sync::Arc;

/// The engine: a texture and a buffer of its own.
pub struct GlEngine {
    pub display: Arc<GlDisplay>,
    pub texture: glow::Texture,
    pub buffer: glow::Buffer,
}

impl GlEngine {
    pub fn new(display: Arc<GlDisplay>) -> Self {
        let gl = display.gl();
        // SAFETY: the display's context is current, here and below.
        let (texture, buffer) = unsafe {
            let texture = gl.create_texture().unwrap();
            gl.bind_texture(glow::TEXTURE_2D, Some(texture));
            gl.tex_storage_2d(glow::TEXTURE_2D, 1, glow::RGBA8, WIDTH, HEIGHT);
            let buffer = gl.create_buffer().unwrap();
            gl.bind_buffer(glow::ARRAY_BUFFER, Some(buffer));
            gl.buffer_data_size(glow::ARRAY_BUFFER, BYTES as i32 + 24, glow::DYNAMIC_DRAW);
            (texture, buffer)
        };
        Self { display, texture, buffer }
    }
}

impl Engine for GlEngine {
    fn display(&self) -> Arc<dyn Display> {
        Arc::clone(&self.display) as _
    }

    fn render(&self, n: u32) -> Vec<u8> {
        let gl = self.display.gl();
        let scene = Scene::new(n);
        let [x, y, width, height] = scene.at;
        let float = |colour: [u8; 4]| colour.map(|c| f32::from(c) / 255.0);
        let clear = |[r, g, b, a]: [f32; 4]| {
            // SAFETY: as above.
            unsafe {
                gl.clear_color(r, g, b, a);
                gl.clear(glow::COLOR_BUFFER_BIT);
            }
        };
        // SAFETY: as above.
        unsafe {
            let framebuffer = gl.create_framebuffer().unwrap();
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
            let (to, at) = (glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0);
            gl.framebuffer_texture_2d(to, at, glow::TEXTURE_2D, Some(self.texture), 0);
            clear(float(scene.background));
            gl.enable(glow::SCISSOR_TEST);
            gl.scissor(x, y, width, height);
            clear(float(scene.square));
            gl.disable(glow::SCISSOR_TEST);
            gl.bind_framebuffer(glow::FRAMEBUFFER, None);
            gl.delete_framebuffer(framebuffer);
        }
        scene.rows()
    }

    fn fill(&self, n: u8) -> Vec<u8> {
        let bytes = filling(n);
        let gl = self.display.gl();
        // SAFETY: as above; the buffer is larger.
        unsafe {
            gl.bind_buffer(glow::ARRAY_BUFFER, Some(self.buffer));
            gl.buffer_sub_data_u8_slice(glow::ARRAY_BUFFER, 0, &bytes);
        }
        bytes
    }

    fn image(&self) -> Surface {
        let named = EngineTexture::new(self.texture.0.get(), Extent::new(WIDTH as u32, HEIGHT as u32));
        // SAFETY: the engine's own, which outlives the surface.
        unsafe { self.display.engine_image(named, PixelFormat::Rgba8) }.unwrap()
    }

    fn bytes(&self) -> Surface {
        // SAFETY: as above.
        unsafe { self.display.engine_buffer(self.buffer.0.get(), BYTES) }.unwrap()
    }

    fn pixels(&self) -> Vec<u8> {
        let mut pixels = vec![0; (WIDTH * HEIGHT * 4) as usize];
        let gl = self.display.gl();
        // SAFETY: the context is current, and `pixels` as large as the texture.
        unsafe {
            gl.bind_texture(glow::TEXTURE_2D, Some(self.texture));
            let into = glow::PixelPackData::Slice(Some(&mut pixels));
            gl.get_tex_image(glow::TEXTURE_2D, 0, glow::RGBA, glow::UNSIGNED_BYTE, into);
        }
        pixels
    }

    fn contents(&self) -> Vec<u8> {
        let mut bytes = vec![0; BYTES as usize];
        let gl = self.display.gl();
        // SAFETY: the context is current, and the buffer is larger.
        unsafe {
            gl.bind_buffer(glow::ARRAY_BUFFER, Some(self.buffer));
            gl.get_buffer_sub_data(glow::ARRAY_BUFFER, 0, &mut bytes);
        }
        bytes
    }

    fn check_is_there(&self) {
        let gl = self.display.gl();
        // SAFETY: the context is current.
        assert!(unsafe { gl.is_texture(self.texture) && gl.is_buffer(self.buffer) });
    }
}
