//! Paints with OpenGL 3.3.

use super::PaintError;
use super::PanelMesh;
use bytemuck::cast_slice;
use egui::epaint::{ImageDelta, Primitive, Vertex};
use egui::{ImageData, Mesh, TextureFilter, TextureId, TextureWrapMode};
use glow::HasContext as _;
use pixelferry::api::gl::{GlDisplay, OwnedObject};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::mem::offset_of;
use std::sync::Arc;

/// Programs, buffers and textures of one context.
pub struct GlPainter {
    display: Arc<GlDisplay>,
    program: OwnedObject<glow::Program>,
    screen: Option<glow::UniformLocation>,
    array: OwnedObject<glow::VertexArray>,
    vertices: OwnedObject<glow::Buffer>,
    /// Bound to the array.
    _indices: OwnedObject<glow::Buffer>,
    textures: HashMap<TextureId, OwnedObject<glow::Texture>>,
}

impl GlPainter {
    /// Makes the objects.
    ///
    /// # Errors
    /// Fails if the context is not current or the driver cannot make an object.
    pub fn new(display: &Arc<GlDisplay>) -> Result<Self, PaintError> {
        let program = display.link_program(&[(glow::VERTEX_SHADER, VERTEX), (glow::FRAGMENT_SHADER, FRAGMENT)])?;
        let gl = display.gl();
        // SAFETY: the context is current, as the call above checked; all objects belong to it and live as long as
        // `Self`. The attributes are within a `Vertex`.
        unsafe {
            let array = display.own(gl.create_vertex_array().map_err(PaintError::Gl)?);
            let vertices = display.own(gl.create_buffer().map_err(PaintError::Gl)?);
            let indices = display.own(gl.create_buffer().map_err(PaintError::Gl)?);
            gl.bind_vertex_array(Some(array.get()));
            gl.bind_buffer(glow::ARRAY_BUFFER, Some(vertices.get()));
            gl.bind_buffer(glow::ELEMENT_ARRAY_BUFFER, Some(indices.get()));
            let stride = size_of::<Vertex>() as i32;
            gl.vertex_attrib_pointer_f32(0, 2, glow::FLOAT, false, stride, offset_of!(Vertex, pos) as i32);
            gl.vertex_attrib_pointer_f32(1, 2, glow::FLOAT, false, stride, offset_of!(Vertex, uv) as i32);
            gl.vertex_attrib_pointer_f32(2, 4, glow::UNSIGNED_BYTE, true, stride, offset_of!(Vertex, color) as i32);
            (0..3).for_each(|attribute| gl.enable_vertex_attrib_array(attribute));
            gl.bind_vertex_array(None);
            gl.bind_buffer(glow::ARRAY_BUFFER, None);
            let screen = gl.get_uniform_location(program.get(), "screen");
            let (display, textures) = (Arc::clone(display), HashMap::new());
            Ok(Self { display, program, screen, array, vertices, _indices: indices, textures })
        }
    }

    /// Blends the panels over the bound framebuffer, which is `size` pixels large.
    ///
    /// # Errors
    /// Fails if the context is not current or OpenGL reports an error.
    pub fn paint(&mut self, painted: &PanelMesh, size: (u32, u32)) -> Result<(), PaintError> {
        let display = Arc::clone(&self.display);
        display.checked("controls", || self.blend(painted, size))?
    }

    /// The context must be current.
    fn blend(&mut self, painted: &PanelMesh, (width, height): (u32, u32)) -> Result<(), PaintError> {
        for (id, delta) in &painted.textures.set {
            self.set_texture(*id, delta)?;
        }
        let gl = self.display.gl();
        // SAFETY: the context is current and owns the objects.
        unsafe {
            gl.viewport(0, 0, width as i32, height as i32);
            gl.enable(glow::SCISSOR_TEST);
            gl.enable(glow::BLEND);
            gl.blend_equation(glow::FUNC_ADD);
            // Colours are premultiplied.
            gl.blend_func(glow::ONE, glow::ONE_MINUS_SRC_ALPHA);
            gl.use_program(Some(self.program.get()));
            gl.uniform_2_f32(self.screen.as_ref(), width as f32 / painted.scale, height as f32 / painted.scale);
            gl.active_texture(glow::TEXTURE0);
            gl.bind_vertex_array(Some(self.array.get()));
            gl.bind_buffer(glow::ARRAY_BUFFER, Some(self.vertices.get()));
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
        unsafe {
            gl.bind_buffer(glow::ARRAY_BUFFER, None);
            gl.bind_vertex_array(None);
            gl.bind_texture(glow::TEXTURE_2D, None);
            gl.use_program(None);
            gl.disable(glow::BLEND);
            gl.disable(glow::SCISSOR_TEST);
        }
        painted.textures.free.iter().for_each(|id| drop(self.textures.remove(id)));
        Ok(())
    }

    fn draw(&self, mesh: &Mesh) {
        let Some(texture) = self.textures.get(&mesh.texture_id) else { return };
        let gl = self.display.gl();
        // SAFETY: the context is current, the vertex array with its two buffers is bound, and the tessellator's indices
        // are within the vertices.
        unsafe {
            gl.bind_texture(glow::TEXTURE_2D, Some(texture.get()));
            gl.buffer_data_u8_slice(glow::ARRAY_BUFFER, cast_slice(&mesh.vertices), glow::STREAM_DRAW);
            gl.buffer_data_u8_slice(glow::ELEMENT_ARRAY_BUFFER, cast_slice(&mesh.indices), glow::STREAM_DRAW);
            gl.draw_elements(glow::TRIANGLES, mesh.indices.len() as i32, glow::UNSIGNED_INT, 0);
        }
    }

    fn set_texture(&mut self, id: TextureId, delta: &ImageDelta) -> Result<(), PaintError> {
        let ImageData::Color(image) = &delta.image;
        let [width, height] = image.size.map(|n| n as i32);
        let gl = self.display.gl();
        // SAFETY: the context is current; there are four bytes for each pixel.
        unsafe {
            let texture = match self.textures.entry(id) {
                Entry::Occupied(texture) => texture.get().get(),
                Entry::Vacant(place) => {
                    let texture = gl.create_texture().map_err(PaintError::Gl)?;
                    place.insert(self.display.own(texture)).get()
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
