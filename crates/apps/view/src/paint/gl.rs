//! Paints with OpenGL 3.3.

use super::PaintError;
use super::PanelMesh;
use bytemuck::cast_slice;
use egui::epaint::{ImageDelta, Primitive, Vertex};
use egui::{ImageData, Mesh, TextureFilter, TextureId, TextureWrapMode};
use glow::HasContext as _;
use pixelferry::Display as _;
use pixelferry::api::gl::{GlDisplay, GlFunctions};
use std::collections::HashMap;
use std::mem::offset_of;
use std::rc::Rc;

/// Programs, buffers and textures of one context. If it is dropped while the context is not current, they are deleted
/// the next time the context is.
pub struct GlPainter {
    display: Rc<GlDisplay>,
    /// `None` only during the drop.
    objects: Option<Objects>,
}

struct Objects {
    gl: GlFunctions,
    program: glow::Program,
    screen: Option<glow::UniformLocation>,
    array: glow::VertexArray,
    vertices: glow::Buffer,
    indices: glow::Buffer,
    textures: HashMap<TextureId, glow::Texture>,
}

impl GlPainter {
    /// Makes the objects.
    ///
    /// # Errors
    /// Fails if the context is not current or the driver cannot make an object.
    pub fn new(display: &Rc<GlDisplay>) -> Result<Self, PaintError> {
        let made = display.timed("controls", || Objects::new(display.gl().clone()))?;
        Ok(Self { display: Rc::clone(display), objects: Some(made?) })
    }

    /// Blends the panels over the bound framebuffer, which is `size` pixels large.
    ///
    /// # Errors
    /// Fails if the context is not current or OpenGL reports an error.
    pub fn paint(&mut self, painted: &PanelMesh, size: (u32, u32)) -> Result<(), PaintError> {
        let Self { display, objects } = self;
        let Some(objects) = objects else { return Ok(()) };
        display.timed("controls", || objects.paint(painted, size))?
    }
}

impl Drop for GlPainter {
    fn drop(&mut self) {
        if let Some(objects) = self.objects.take() {
            self.display.drop_in_context(Box::new(objects));
        }
    }
}

impl Objects {
    /// The context must be current.
    fn new(gl: GlFunctions) -> Result<Self, PaintError> {
        // SAFETY: the context is current, as the caller checked; all objects belong to it and live as long as `Self`.
        // The attributes are within a `Vertex`.
        unsafe {
            let program = build(&gl)?;
            let array = gl.create_vertex_array().map_err(PaintError::Gl)?;
            let (vertices, indices) =
                (gl.create_buffer().map_err(PaintError::Gl)?, gl.create_buffer().map_err(PaintError::Gl)?);
            gl.bind_vertex_array(Some(array));
            gl.bind_buffer(glow::ARRAY_BUFFER, Some(vertices));
            gl.bind_buffer(glow::ELEMENT_ARRAY_BUFFER, Some(indices));
            let stride = size_of::<Vertex>() as i32;
            gl.vertex_attrib_pointer_f32(0, 2, glow::FLOAT, false, stride, offset_of!(Vertex, pos) as i32);
            gl.vertex_attrib_pointer_f32(1, 2, glow::FLOAT, false, stride, offset_of!(Vertex, uv) as i32);
            gl.vertex_attrib_pointer_f32(2, 4, glow::UNSIGNED_BYTE, true, stride, offset_of!(Vertex, color) as i32);
            (0..3).for_each(|attribute| gl.enable_vertex_attrib_array(attribute));
            gl.bind_vertex_array(None);
            gl.bind_buffer(glow::ARRAY_BUFFER, None);
            let screen = gl.get_uniform_location(program, "screen");
            Ok(Self { gl, program, screen, array, vertices, indices, textures: HashMap::new() })
        }
    }

    /// The context must be current.
    fn paint(&mut self, painted: &PanelMesh, (width, height): (u32, u32)) -> Result<(), PaintError> {
        self.drain_errors();
        for (id, delta) in &painted.textures.set {
            self.set_texture(*id, delta)?;
        }
        let gl = &self.gl;
        // SAFETY: the context is current and owns the objects.
        unsafe {
            gl.viewport(0, 0, width as i32, height as i32);
            gl.enable(glow::SCISSOR_TEST);
            gl.enable(glow::BLEND);
            gl.blend_equation(glow::FUNC_ADD);
            // Colours are premultiplied.
            gl.blend_func(glow::ONE, glow::ONE_MINUS_SRC_ALPHA);
            gl.use_program(Some(self.program));
            gl.uniform_2_f32(self.screen.as_ref(), width as f32 / painted.scale, height as f32 / painted.scale);
            gl.active_texture(glow::TEXTURE0);
            gl.bind_vertex_array(Some(self.array));
            gl.bind_buffer(glow::ARRAY_BUFFER, Some(self.vertices));
        }
        for primitive in &painted.primitives {
            let [left, top, right, bottom] = painted.pixels(primitive.clip_rect, (width, height));
            if let (Primitive::Mesh(mesh), true) = (&primitive.primitive, right > left && bottom > top) {
                // SAFETY: as above.
                unsafe { gl.scissor(left, height as i32 - bottom, right - left, bottom - top) };
                self.draw(mesh);
            }
        }
        // SAFETY: as above. This restores what the display's own calls expect of its context.
        let error = unsafe {
            gl.bind_buffer(glow::ARRAY_BUFFER, None);
            gl.bind_vertex_array(None);
            gl.bind_texture(glow::TEXTURE_2D, None);
            gl.use_program(None);
            gl.disable(glow::BLEND);
            gl.disable(glow::SCISSOR_TEST);
            for id in &painted.textures.free {
                if let Some(texture) = self.textures.remove(id) {
                    gl.delete_texture(texture);
                }
            }
            gl.get_error()
        };
        if error == glow::NO_ERROR { Ok(()) } else { Err(PaintError::Gl(format!("error 0x{error:04x} while drawing"))) }
    }

    /// Discards earlier errors, which have other causes. A lost context reports errors forever, so the number is
    /// limited.
    fn drain_errors(&self) {
        // SAFETY: the context is current.
        let next = || unsafe { self.gl.get_error() };
        (0..8).find(|_| next() == glow::NO_ERROR);
    }

    fn draw(&self, mesh: &Mesh) {
        let Some(texture) = self.textures.get(&mesh.texture_id) else { return };
        let gl = &self.gl;
        // SAFETY: the context is current, the vertex array with its two buffers is bound, and the tessellator's indices
        // are within the vertices.
        unsafe {
            gl.bind_texture(glow::TEXTURE_2D, Some(*texture));
            gl.buffer_data_u8_slice(glow::ARRAY_BUFFER, cast_slice(&mesh.vertices), glow::STREAM_DRAW);
            gl.buffer_data_u8_slice(glow::ELEMENT_ARRAY_BUFFER, cast_slice(&mesh.indices), glow::STREAM_DRAW);
            gl.draw_elements(glow::TRIANGLES, mesh.indices.len() as i32, glow::UNSIGNED_INT, 0);
        }
    }

    fn set_texture(&mut self, id: TextureId, delta: &ImageDelta) -> Result<(), PaintError> {
        let ImageData::Color(image) = &delta.image;
        let [width, height] = image.size.map(|n| n as i32);
        let gl = &self.gl;
        // SAFETY: the context is current; there are four bytes for each pixel.
        unsafe {
            let texture = match self.textures.get(&id) {
                Some(texture) => *texture,
                None => {
                    let texture = gl.create_texture().map_err(PaintError::Gl)?;
                    self.textures.insert(id, texture);
                    texture
                }
            };
            gl.active_texture(glow::TEXTURE0);
            gl.bind_texture(glow::TEXTURE_2D, Some(texture));
            gl.bind_buffer(glow::PIXEL_UNPACK_BUFFER, None);
            gl.pixel_store_i32(glow::UNPACK_ALIGNMENT, 1);
            gl.pixel_store_i32(glow::UNPACK_ROW_LENGTH, 0);
            let (target, layout, kind) = (glow::TEXTURE_2D, glow::RGBA, glow::UNSIGNED_BYTE);
            let pixels = glow::PixelUnpackData::Slice(Some(cast_slice(&image.pixels)));
            match delta.pos {
                Some([x, y]) => {
                    let (x, y) = (x as i32, y as i32);
                    gl.tex_sub_image_2d(target, 0, x, y, width, height, layout, kind, pixels);
                }
                None => {
                    let filter = |f| if f == TextureFilter::Nearest { glow::NEAREST } else { glow::LINEAR } as i32;
                    let wrap = match delta.options.wrap_mode {
                        TextureWrapMode::ClampToEdge => glow::CLAMP_TO_EDGE,
                        TextureWrapMode::Repeat => glow::REPEAT,
                        TextureWrapMode::MirroredRepeat => glow::MIRRORED_REPEAT,
                    } as i32;
                    for (name, value) in [
                        (glow::TEXTURE_MIN_FILTER, filter(delta.options.minification)),
                        (glow::TEXTURE_MAG_FILTER, filter(delta.options.magnification)),
                        (glow::TEXTURE_WRAP_S, wrap),
                        (glow::TEXTURE_WRAP_T, wrap),
                    ] {
                        gl.tex_parameter_i32(glow::TEXTURE_2D, name, value);
                    }
                    let format = glow::RGBA8 as i32;
                    gl.tex_image_2d(target, 0, format, width, height, 0, layout, kind, pixels);
                }
            }
            gl.bind_texture(glow::TEXTURE_2D, None);
        }
        Ok(())
    }
}

impl Drop for Objects {
    fn drop(&mut self) {
        let gl = &self.gl;
        // SAFETY: `Display::drop_in_context` drops the objects with their context current.
        unsafe {
            self.textures.values().for_each(|texture| gl.delete_texture(*texture));
            gl.delete_buffer(self.indices);
            gl.delete_buffer(self.vertices);
            gl.delete_vertex_array(self.array);
            gl.delete_program(self.program);
        }
    }
}

/// Builds the shaders.
///
/// # Safety
/// The context of `gl` must be current.
unsafe fn build(gl: &glow::Context) -> Result<glow::Program, PaintError> {
    // SAFETY: the caller keeps the context current; it owns every object.
    unsafe {
        let program = gl.create_program().map_err(PaintError::Gl)?;
        for (kind, text) in [(glow::VERTEX_SHADER, VERTEX), (glow::FRAGMENT_SHADER, FRAGMENT)] {
            let shader = gl.create_shader(kind).map_err(PaintError::Gl)?;
            gl.shader_source(shader, text);
            gl.compile_shader(shader);
            gl.attach_shader(program, shader);
            // The shader is deleted with the program.
            gl.delete_shader(shader);
            if !gl.get_shader_compile_status(shader) {
                let log = gl.get_shader_info_log(shader);
                gl.delete_program(program);
                return Err(PaintError::Gl(log));
            }
        }
        gl.link_program(program);
        if !gl.get_program_link_status(program) {
            let log = gl.get_program_info_log(program);
            gl.delete_program(program);
            return Err(PaintError::Gl(log));
        }
        Ok(program)
    }
}

/// Positions are in points from the top left; colours are as the screen shows them.
const VERTEX: &str = "#version 330 core
    layout(location = 0) in vec2 place;
    layout(location = 1) in vec2 texel;
    layout(location = 2) in vec4 tint;
    uniform vec2 screen;
    out vec2 at;
    out vec4 colour;
    void main() {
        gl_Position = vec4(2.0 * place.x / screen.x - 1.0, 1.0 - 2.0 * place.y / screen.y, 0.0, 1.0);
        at = texel;
        colour = tint;
    }";
const FRAGMENT: &str = "#version 330 core
    uniform sampler2D atlas;
    in vec2 at;
    in vec4 colour;
    out vec4 pixel;
    void main() { pixel = colour * texture(atlas, at); }";
