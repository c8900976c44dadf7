//! A framebuffer over a texture, as an engine would make it.

use crate::suite::manner_rules::{Board, PixelRect};
use glow::HasContext as _;
use interop_core::display::{Display, Surface};
use pixelferry_gl::{DrawOptions, GlDisplay, Viewport};

/// It is bound until it goes.
pub struct Canvas<'a> {
    display: &'a GlDisplay,
    pub framebuffer: glow::Framebuffer,
    pub texture: glow::Texture,
    size: (u32, u32),
    /// Between two numbers that red, green, blue and alpha can be, in bytes; 0 where those are finer.
    pub steps: [u8; 4],
}

impl<'a> Canvas<'a> {
    /// `attach` gives storage and attaches it; the texture is of `kind` and bound.
    pub fn over(
        display: &'a GlDisplay,
        size: (u32, u32),
        kind: u32,
        attach: impl FnOnce(&glow::Context, glow::Texture),
    ) -> Self {
        let gl: &glow::Context = display.gl();
        // SAFETY: the context is current; names are made and used here.
        unsafe {
            let (framebuffer, texture) = (gl.create_framebuffer().unwrap(), gl.create_texture().unwrap());
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
            gl.bind_texture(kind, Some(texture));
            attach(gl, texture);
            gl.bind_texture(kind, None);
            assert_eq!(gl.get_error(), glow::NO_ERROR);
            assert_eq!(gl.check_framebuffer_status(glow::FRAMEBUFFER), glow::FRAMEBUFFER_COMPLETE);
            Self { display, framebuffer, texture, size, steps: [0; 4] }
        }
    }

    /// Over one level of an internal format.
    pub fn new(display: &'a GlDisplay, size: (u32, u32), format: u32) -> Self {
        Self::over(display, size, glow::TEXTURE_2D, |gl, texture| {
            // SAFETY: the context is current and the texture bound.
            unsafe {
                gl.tex_storage_2d(glow::TEXTURE_2D, 1, format, size.0 as i32, size.1 as i32);
                let at = glow::COLOR_ATTACHMENT0;
                gl.framebuffer_texture_2d(glow::FRAMEBUFFER, at, glow::TEXTURE_2D, Some(texture), 0);
            }
        })
    }
}

/// A part of the framebuffer that is bound, as bytes of RGBA, bottom row first.
pub fn read(gl: &glow::Context, (x, y, width, height): PixelRect) -> Vec<u8> {
    let mut bytes = vec![0; (width * height * 4) as usize];
    let data = glow::PixelPackData::Slice(Some(&mut bytes));
    // SAFETY: the context is current; rows of 4-byte pixels are aligned as they are tight.
    unsafe { gl.read_pixels(x, y, width as i32, height as i32, glow::RGBA, glow::UNSIGNED_BYTE, data) };
    bytes
}

impl Board for Canvas<'_> {
    fn display(&self) -> &dyn Display {
        self.display
    }

    fn size(&self) -> (u32, u32) {
        self.size
    }

    fn draw(&self, surface: &Surface, (x, y, width, height): PixelRect, options: DrawOptions) {
        self.clear();
        self.display.draw(surface, Viewport { x, y, width, height }, options).unwrap();
    }

    fn clear(&self) {
        self.display.clear([0.25, 0.5, 0.75, 0.5]).unwrap();
    }

    fn read(&self) -> Vec<u8> {
        read(self.display.gl(), (0, 0, self.size.0, self.size.1))
    }

    fn steps(&self) -> [u8; 4] {
        self.steps.map(|step| step.max(2))
    }
}

impl Drop for Canvas<'_> {
    fn drop(&mut self) {
        let gl = self.display.gl();
        // SAFETY: the context is current and the names are of it.
        unsafe {
            gl.bind_framebuffer(glow::FRAMEBUFFER, None);
            gl.delete_framebuffer(self.framebuffer);
            gl.delete_texture(self.texture);
        }
    }
}
