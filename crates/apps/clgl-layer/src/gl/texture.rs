//! Textures of the program.

use super::buffer::SharedBuffer;
use super::functions::Gl;
use super::pixels::{PixelRows, Shape};
use super::storage::GlStorage;
use super::work::WorkContext;
use crate::codes::{INVALID_GL_OBJECT, INVALID_MIP_LEVEL, INVALID_OPERATION};
use crate::explain::refuse;
use crate::target::{Layout, Target};

const TEXTURE0: u32 = 0x84C0;
const WIDTH: u32 = 0x1000;
const HEIGHT: u32 = 0x1001;
const DEPTH: u32 = 0x8071;
const INTERNAL_FORMAT: u32 = 0x1003;
const BORDER: u32 = 0x1005;
const MAX_LEVEL: u32 = 0x813D;
const BUFFER_OF_TEXTURE: u32 = 0x8C2D;
const BUFFER_OFFSET: u32 = 0x919D;
const BUFFER_SIZE: u32 = 0x919E;

/// A level of a texture that is shared as an OpenCL object.
pub struct SharedTexture {
    name: u32,
    target: &'static Target,
    level: i32,
    /// `None` if all units were in use: the storage is then freed with the name.
    unit: Option<u32>,
    /// The buffer of a buffer texture.
    buffer: Option<SharedBuffer>,
}

impl SharedTexture {
    pub fn open(work: &mut WorkContext, target: &'static Target, level: i32, name: u32) -> Result<(Self, Shape), i32> {
        if level < 0 {
            return Err(refuse(INVALID_MIP_LEVEL, "a negative level"));
        }
        // SAFETY: any name may be asked for.
        if unsafe { (work.gl.is_texture)(name) } == 0 {
            return Err(refuse(INVALID_GL_OBJECT, format_args!("unknown texture {name}")));
        }
        work.gl.error();
        let unit = work.units.take(target.binding);
        let mut texture = Self { name, target, level, unit, buffer: None };
        // SAFETY: a texture of the share group; OpenGL refuses one of another target.
        unsafe {
            (work.gl.active_texture)(TEXTURE0 + unit.unwrap_or(0));
            (work.gl.bind_texture)(target.binding, name);
        }
        let opened = match work.gl.error() {
            Some(_) => Err(refuse(INVALID_GL_OBJECT, format_args!("texture {name} has another target"))),
            None => texture.opened_shape(work),
        };
        match opened {
            Ok(shape) => {
                if target.layout == Layout::BufferTexels {
                    texture.buffer = SharedBuffer::open(work, shape.buffer.0).ok().map(|(buffer, _)| buffer);
                }
                Ok((texture, shape))
            }
            Err(code) => {
                texture.close(work);
                Err(code)
            }
        }
    }

    /// Returns the shape, or why the texture cannot be shared.
    fn opened_shape(&self, work: &WorkContext) -> Result<Shape, i32> {
        let gl = &work.gl;
        if let Some(shape) = self.level_shape(work) {
            if self.level_parameter(gl, self.level, BORDER) > 0 {
                return Err(refuse(INVALID_OPERATION, "textures with borders are unsupported"));
            }
            return Ok(shape);
        }
        // The level may exceed the texture's range, or be missing.
        let base = [WIDTH, HEIGHT, DEPTH].map(|side| self.level_parameter(gl, 0, side)).into_iter().max().unwrap_or(0);
        let mut most = 0;
        // SAFETY: one number is written.
        unsafe { (gl.get_tex_parameter)(self.target.binding, MAX_LEVEL, &raw mut most) };
        gl.error();
        let last = most.min(base.checked_ilog2().unwrap_or(0).cast_signed());
        let code = if self.level > last { INVALID_MIP_LEVEL } else { INVALID_GL_OBJECT };
        Err(refuse(code, format_args!("texture {} has no storage in level {}", self.name, self.level)))
    }

    fn level_parameter(&self, gl: &Gl, level: i32, parameter: u32) -> i32 {
        let mut value = 0;
        // SAFETY: one number is written.
        unsafe { (gl.get_tex_level_parameter)(self.target.name, level, parameter, &raw mut value) };
        value
    }

    fn bind(&self, gl: &Gl) {
        // SAFETY: a unit of the context. Its texture stays bound; only the first unit is rebound each time.
        unsafe {
            (gl.active_texture)(TEXTURE0 + self.unit.unwrap_or(0));
            if self.unit.is_none() {
                (gl.bind_texture)(self.target.binding, self.name);
            }
        }
    }

    /// Returns the current shape of the level's storage; `None` without storage.
    fn level_shape(&self, work: &WorkContext) -> Option<Shape> {
        let gl = &work.gl;
        // SAFETY: any name may be passed. Check first, because binding a deleted name would create a texture.
        if self.unit.is_none() && unsafe { (gl.is_texture)(self.name) } == 0 {
            return None;
        }
        self.bind(gl);
        let internal = self.level_parameter(gl, self.level, INTERNAL_FORMAT).cast_unsigned();
        let shape = if self.target.layout == Layout::BufferTexels {
            self.buffer_shape(gl, internal)
        } else {
            let sides = [WIDTH, HEIGHT, DEPTH].map(|side| self.level_parameter(gl, self.level, side));
            let size = sides.map(|side| usize::try_from(side.max(1)).unwrap_or(1));
            (sides[0] > 0).then_some(Shape { size, internal, buffer: (0, 0) })
        };
        // An invalid level leaves an error behind.
        gl.error();
        shape
    }

    fn buffer_shape(&self, gl: &Gl, internal: u32) -> Option<Shape> {
        let name = gl.integer(BUFFER_OF_TEXTURE).cast_unsigned();
        let (offset, bytes) = (self.level_parameter(gl, 0, BUFFER_OFFSET), self.level_parameter(gl, 0, BUFFER_SIZE));
        let pixel = crate::format::of(internal)?.bytes;
        let width = usize::try_from(bytes).unwrap_or(0) / pixel;
        let buffer = (name, usize::try_from(offset).unwrap_or(0));
        (name != 0 && width > 0).then_some(Shape { size: [width, 1, 1], internal, buffer })
    }
}

impl GlStorage for SharedTexture {
    fn shape(&self, work: &WorkContext, before: Shape) -> Option<Shape> {
        if let Some(buffer) = &self.buffer {
            let end = before.buffer.1 + before.size[0] * crate::format::of(before.internal)?.bytes;
            (buffer.size(work) >= end).then_some(())?;
        }
        self.level_shape(work)
    }

    fn copy(&self, work: &WorkContext, rows: &mut PixelRows<'_>, read: bool) -> Result<(), i32> {
        if let Some(buffer) = &self.buffer {
            return buffer.copy(work, rows, read);
        }
        work.describe(rows)?;
        self.bind(&work.gl);
        let (gl, address) = (&work.gl, rows.bytes.as_mut_ptr().cast());
        let ((format, ty), [width, height, depth]) = (rows.format.pixels, rows.shape.size.map(|side| side as i32));
        let (target, level) = (self.target.name, self.level);
        // SAFETY: `describe` has seen that the rows hold pixels of that size; OpenGL checks it against the level when it
        // reads them, and the level's size was compared just now.
        unsafe {
            match (self.target.layout, &work.robust) {
                // If a thread of the program reallocates the storage at the same time, this call fails.
                (_, Some(robust)) if read => {
                    let room = i32::try_from(rows.bytes.len()).unwrap_or(i32::MAX);
                    (robust.get_n_tex_image)(target, level, format, ty, room, address);
                }
                (_, None) if read => (gl.get_tex_image)(target, level, format, ty, address),
                (Layout::Line, _) => (gl.tex_sub_image_1d)(target, level, 0, width, format, ty, address),
                (Layout::Volume | Layout::Planes, _) => {
                    (gl.tex_sub_image_3d)(target, level, 0, 0, 0, width, height, depth, format, ty, address);
                }
                _ => {
                    (gl.tex_sub_image_2d)(target, level, 0, 0, width, height, format, ty, address);
                }
            }
        }
        work.check("reading or writing a texture")
    }

    fn close(&self, work: &mut WorkContext) {
        // SAFETY: a unit of the context holds nothing afterwards.
        unsafe {
            (work.gl.active_texture)(TEXTURE0 + self.unit.unwrap_or(0));
            (work.gl.bind_texture)(self.target.binding, 0);
        }
        if let Some(unit) = self.unit {
            work.units.give_back(self.target.binding, unit);
        }
        if let Some(buffer) = &self.buffer {
            buffer.close(work);
        }
    }
}
