//! Renderbuffers of the program.

use super::pixels::{PixelRows, Shape};
use super::storage::GlStorage;
use super::work::WorkContext;
use crate::codes::{INVALID_GL_OBJECT, INVALID_OPERATION};
use crate::explain::refuse;

const RENDERBUFFER: u32 = 0x8D41;
const READ_FRAMEBUFFER: u32 = 0x8CA8;
const DRAW_FRAMEBUFFER: u32 = 0x8CA9;
const COLOR: u32 = 0x8CE0;
const COMPLETE: u32 = 0x8CD5;
const TEXTURE_2D: u32 = 0x0DE1;
const TEXTURE0: u32 = 0x84C0;
const WIDTH: u32 = 0x8D42;
const HEIGHT: u32 = 0x8D43;
const INTERNAL_FORMAT: u32 = 0x8D44;
const SAMPLES: u32 = 0x8CAB;

/// A renderbuffer that is shared as an OpenCL object. A framebuffer of the layer's own references it, so that its
/// storage survives when the program deletes the name.
#[derive(Debug)]
pub struct SharedRenderbuffer {
    name: u32,
    framebuffer: u32,
}

impl SharedRenderbuffer {
    pub fn open(work: &WorkContext, name: u32) -> Result<(Self, Shape), i32> {
        let gl = &work.gl;
        let none = || refuse(INVALID_GL_OBJECT, format_args!("renderbuffer {name} does not exist or has no storage"));
        let mut renderbuffer = Self { name, framebuffer: 0 };
        let shape = renderbuffer.named_shape(work).ok_or_else(none)?;
        // SAFETY: seen just now.
        unsafe { (gl.bind_renderbuffer)(RENDERBUFFER, name) };
        if renderbuffer.parameter(work, SAMPLES) > 0 {
            return Err(refuse(INVALID_OPERATION, "multisampled renderbuffers are unsupported"));
        }
        // SAFETY: names of the layer's own context; one is written.
        unsafe {
            (gl.gen_framebuffers)(1, &raw mut renderbuffer.framebuffer);
            (gl.bind_framebuffer)(READ_FRAMEBUFFER, renderbuffer.framebuffer);
            (gl.framebuffer_renderbuffer)(READ_FRAMEBUFFER, COLOR, RENDERBUFFER, name);
        }
        Ok((renderbuffer, shape))
    }

    fn parameter(&self, work: &WorkContext, parameter: u32) -> i32 {
        let mut value = 0;
        // SAFETY: one number is written.
        unsafe { (work.gl.get_renderbuffer_parameter)(RENDERBUFFER, parameter, &raw mut value) };
        value
    }

    fn named_shape(&self, work: &WorkContext) -> Option<Shape> {
        // SAFETY: any name may be asked for.
        unsafe {
            if (work.gl.is_renderbuffer)(self.name) == 0 {
                return None;
            }
            (work.gl.bind_renderbuffer)(RENDERBUFFER, self.name);
        }
        let [width, height] = [WIDTH, HEIGHT].map(|side| self.parameter(work, side));
        let internal = self.parameter(work, INTERNAL_FORMAT).cast_unsigned();
        // SAFETY: nothing is bound.
        unsafe { (work.gl.bind_renderbuffer)(RENDERBUFFER, 0) };
        let size = [usize::try_from(width).unwrap_or(0), usize::try_from(height).unwrap_or(0), 1];
        (width > 0 && height > 0).then_some(Shape { size, internal, buffer: (0, 0) })
    }

    fn bind(&self, work: &WorkContext, target: u32) -> Result<(), i32> {
        // SAFETY: a framebuffer of the layer's own context.
        let answer = unsafe {
            (work.gl.bind_framebuffer)(target, self.framebuffer);
            (work.gl.check_framebuffer)(target)
        };
        if answer == COMPLETE {
            return Ok(());
        }
        Err(refuse(INVALID_GL_OBJECT, format_args!("a renderbuffer cannot be read or drawn into ({answer:#x})")))
    }

    fn read(&self, work: &WorkContext, rows: &mut PixelRows<'_>) -> Result<(), i32> {
        self.bind(work, READ_FRAMEBUFFER)?;
        let ((format, ty), [width, height, _]) = (rows.format.pixels, rows.shape.size.map(|side| side as i32));
        // SAFETY: `describe` has seen that the rows hold pixels of that size; no more are written.
        unsafe {
            (work.gl.read_buffer)(COLOR);
            (work.gl.read_pixels)(0, 0, width, height, format, ty, rows.bytes.as_mut_ptr().cast());
        }
        work.check("reading a renderbuffer")
    }

    /// Writes via a texture of the same format: OpenGL can write renderbuffers only by drawing.
    fn write(&self, work: &WorkContext, rows: &PixelRows<'_>) -> Result<(), i32> {
        self.bind(work, DRAW_FRAMEBUFFER)?;
        let gl = &work.gl;
        let ((format, ty), [width, height, _]) = (rows.format.pixels, rows.shape.size.map(|side| side as i32));
        let (mut texture, mut framebuffer) = (0u32, 0u32);
        // SAFETY: names of the layer's own context; `describe` has seen that the rows hold pixels of that size.
        unsafe {
            (gl.gen_textures)(1, &raw mut texture);
            (gl.gen_framebuffers)(1, &raw mut framebuffer);
            (gl.active_texture)(TEXTURE0);
            (gl.bind_texture)(TEXTURE_2D, texture);
            let address = rows.bytes.as_ptr().cast();
            (gl.tex_image_2d)(TEXTURE_2D, 0, rows.shape.internal.cast_signed(), width, height, 0, format, ty, address);
            (gl.bind_framebuffer)(READ_FRAMEBUFFER, framebuffer);
            (gl.framebuffer_texture_2d)(READ_FRAMEBUFFER, COLOR, TEXTURE_2D, texture, 0);
            (gl.read_buffer)(COLOR);
            (gl.blit_framebuffer)(0, 0, width, height, 0, 0, width, height, 0x4000, 0x2600);
            (gl.bind_texture)(TEXTURE_2D, 0);
            (gl.delete_framebuffers)(1, &raw const framebuffer);
            (gl.delete_textures)(1, &raw const texture);
        }
        work.check("writing a renderbuffer")
    }
}

impl GlStorage for SharedRenderbuffer {
    /// A deleted name cannot get other storage, so it keeps the previous shape.
    fn shape(&self, work: &WorkContext, before: Shape) -> Option<Shape> {
        // SAFETY: any name may be asked for.
        if unsafe { (work.gl.is_renderbuffer)(self.name) } == 0 { Some(before) } else { self.named_shape(work) }
    }

    fn copy(&self, work: &WorkContext, rows: &mut PixelRows<'_>, read: bool) -> Result<(), i32> {
        work.describe(rows)?;
        if read { self.read(work, rows) } else { self.write(work, rows) }
    }

    fn close(&self, work: &mut WorkContext) {
        // SAFETY: the layer's own framebuffer.
        unsafe { (work.gl.delete_framebuffers)(1, &raw const self.framebuffer) };
    }
}
