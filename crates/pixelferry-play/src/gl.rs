//! OpenGL as fragment shaders need it: textures, programs, and a draw into a texture. All that calls it is here.

use crate::error::PlayError;
use glow::HasContext as _;
use pixelferry::api::gl::{EngineTexture, GlDisplay, GlFunctions};
use pixelferry::{Display as _, Extent, PixelFormat, Surface};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;
use std::rc::Rc;

/// Begin of the texts that are compiled as OpenGL ES 3.00, and of those that are compiled as OpenGL 3.30.
const ES: &str = "#version 300 es\n";
const DESKTOP: &str = "#version 330\n";

/// What stands before a name that a program may not have, and is no part of it.
pub const RENAMED: &str = "isf_";
/// Manner of what nothing is said of.
pub const PLAIN: Sampling = Sampling { is_linear: true, has_levels: false, repeats: false };

/// The context of a display.
#[derive(Clone)]
pub struct Gl(Rc<Context>);

struct Context {
    display: Rc<GlDisplay>,
    /// Without attributes, and to draw into a texture.
    array: Owned,
    frame: Owned,
    /// The context takes texts of OpenGL ES 3.00.
    takes_es: bool,
}

/// An object of the context, which goes when it is dropped, or once the context is current again.
struct Owned {
    display: Rc<GlDisplay>,
    object: Option<Object>,
}

struct Object {
    gl: GlFunctions,
    name: Name,
}

#[derive(Clone, Copy)]
enum Name {
    Texture(glow::Texture),
    Program(glow::Program),
    Frame(glow::Framebuffer),
    Array(glow::VertexArray),
}

impl Drop for Object {
    fn drop(&mut self) {
        // SAFETY: objects are dropped by `Display::drop_in_context`, with their context current.
        unsafe {
            match self.name {
                Name::Texture(name) => self.gl.delete_texture(name),
                Name::Program(name) => self.gl.delete_program(name),
                Name::Frame(name) => self.gl.delete_framebuffer(name),
                Name::Array(name) => self.gl.delete_vertex_array(name),
            }
        }
    }
}

impl Drop for Owned {
    fn drop(&mut self) {
        if let Some(object) = self.object.take() {
            self.display.drop_in_context(Box::new(object));
        }
    }
}

/// Numbers of a texture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Four bytes a pixel.
    Bytes,
    /// Four floats a pixel.
    Floats,
}

/// A texture, row 0 at the bottom.
pub struct Texture {
    _owned: Owned,
    name: glow::Texture,
    pub size: Extent,
    depth: Depth,
}

/// Manner of reading a texture between and beyond its pixels.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sampling {
    /// Between pixels colours are mixed.
    pub is_linear: bool,
    /// Smaller pictures of it are made, for where it is seen small.
    pub has_levels: bool,
    /// Beyond its edge the picture comes again.
    pub repeats: bool,
}

/// A program that was linked.
pub struct Program {
    _owned: Owned,
    name: glow::Program,
    uniforms: HashMap<String, Number>,
}

/// A number of a program: how many there are, and of what kind.
struct Number {
    at: glow::UniformLocation,
    count: usize,
    kind: u32,
}

/// One draw over all of a texture.
pub struct Draw<'a> {
    pub program: &'a Program,
    pub into: &'a Texture,
    pub textures: Vec<(&'a str, &'a Texture, Sampling)>,
    /// Those that the program does not have are left out, and all are turned to the kind that it has.
    pub uniforms: Vec<(&'a str, Vec<f32>)>,
    /// The four corners are drawn, instead of a triangle around them.
    pub has_corners: bool,
    /// Nothing of what was there stays, and nothing is seen through.
    pub is_picture: bool,
}

/// Reason why there is no program.
pub enum BuildError {
    /// A text is wrong, as the compiler's log says: that of the vertices, or of the pixels.
    Vertex(String),
    Fragment(String),
    Other(PlayError),
}

impl From<pixelferry::Error> for BuildError {
    fn from(error: pixelferry::Error) -> Self {
        Self::Other(error.into())
    }
}

impl From<PlayError> for BuildError {
    fn from(error: PlayError) -> Self {
        Self::Other(error)
    }
}

impl Gl {
    /// The context of a display, which is current.
    pub fn of(display: &Rc<GlDisplay>) -> Result<Self, PlayError> {
        let gl = display.gl();
        let own = |name: Name| Owned { display: Rc::clone(display), object: Some(Object { gl: gl.clone(), name }) };
        let made = display.timed("shader", || {
            // SAFETY: the context is current, as `timed` checked.
            unsafe {
                let array = own(Name::Array(gl.create_vertex_array().map_err(PlayError::OpenGl)?));
                let frame = own(Name::Frame(gl.create_framebuffer().map_err(PlayError::OpenGl)?));
                let text = format!("{ES}precision highp float; out vec4 pixel; void main() {{ pixel = vec4(0.0); }}");
                let takes_es = shader(gl, glow::FRAGMENT_SHADER, &text)?.map(|made| gl.delete_shader(made)).is_ok();
                Ok::<_, PlayError>((array, frame, takes_es))
            }
        });
        let (array, frame, takes_es) = made??;
        Ok(Self(Rc::new(Context { display: Rc::clone(display), array, frame, takes_es })))
    }

    pub fn display(&self) -> &Rc<GlDisplay> {
        &self.0.display
    }

    /// The first line of texts: of OpenGL ES 3.00 where the context takes it and it `is_strict`, or takes no other.
    pub fn version(&self, is_strict: bool) -> &'static str {
        if self.display().is_es() || is_strict && self.0.takes_es { ES } else { DESKTOP }
    }

    fn own(&self, name: Name) -> Owned {
        let object = Object { gl: self.display().gl().clone(), name };
        Owned { display: Rc::clone(self.display()), object: Some(object) }
    }

    /// Runs calls while the context is current, and says what OpenGL has against them.
    fn calls<R>(&self, calls: impl FnOnce(&GlFunctions) -> Result<R, PlayError>) -> Result<R, PlayError> {
        let display = self.display();
        display.timed("shader", || {
            let gl = display.gl();
            // Earlier errors are not ours. A lost context reports them without end.
            // SAFETY: the context is current, as `timed` checked.
            let error = || unsafe { gl.get_error() };
            (0..8).find(|_| error() == glow::NO_ERROR);
            let done = calls(gl)?;
            match error() {
                glow::NO_ERROR => Ok(done),
                glow::OUT_OF_MEMORY => Err(PlayError::OpenGl("the memory of the device does not suffice".into())),
                code => Err(PlayError::OpenGl(format!("error 0x{code:04x}"))),
            }
        })?
    }

    /// A texture with these pixels, rows from the bottom; zeroes where there are none.
    pub fn texture(&self, size: Extent, depth: Depth, pixels: Option<&[u8]>) -> Result<Texture, PlayError> {
        let made = self.calls(|gl| {
            // SAFETY: the context is current.
            unsafe {
                let name = gl.create_texture().map_err(PlayError::OpenGl)?;
                gl.bind_texture(glow::TEXTURE_2D, Some(name));
                gl.tex_parameter_i32(glow::TEXTURE_2D, glow::TEXTURE_MIN_FILTER, glow::NEAREST as i32);
                gl.bind_texture(glow::TEXTURE_2D, None);
                Ok(name)
            }
        })?;
        let mut texture = Texture { _owned: self.own(Name::Texture(made)), name: made, size: Extent::new(0, 0), depth };
        match pixels {
            Some(pixels) => self.fill(&mut texture, size, depth, pixels)?,
            None => self.fill(&mut texture, size, depth, &vec![0; size.pixels() as usize * depth.bytes()])?,
        }
        Ok(texture)
    }

    /// Gives a texture other pixels, and another size.
    pub fn fill(&self, texture: &mut Texture, size: Extent, depth: Depth, pixels: &[u8]) -> Result<(), PlayError> {
        if size.pixels() as usize * depth.bytes() != pixels.len() {
            return Err(PlayError::OpenGl(format!("{} bytes are no {size} pixels", pixels.len())));
        }
        let most = self.display().caps().max_image_side;
        if size.width.max(size.height) > most {
            return Err(PlayError::OpenGl(format!("{size} pixels: the device takes {most} a side")));
        }
        self.calls(|gl| {
            let (format, kind) = match depth {
                Depth::Bytes => (glow::RGBA8, glow::UNSIGNED_BYTE),
                Depth::Floats => (glow::RGBA32F, glow::FLOAT),
            };
            // SAFETY: the context is current, and there are as many bytes as pixels of this kind have.
            unsafe {
                gl.bind_texture(glow::TEXTURE_2D, Some(texture.name));
                gl.bind_buffer(glow::PIXEL_UNPACK_BUFFER, None);
                gl.pixel_store_i32(glow::UNPACK_ALIGNMENT, 1);
                gl.pixel_store_i32(glow::UNPACK_ROW_LENGTH, 0);
                let (width, height) = (size.width as i32, size.height as i32);
                let pixels = glow::PixelUnpackData::Slice(Some(pixels));
                if (texture.size, texture.depth) == (size, depth) {
                    gl.tex_sub_image_2d(glow::TEXTURE_2D, 0, 0, 0, width, height, glow::RGBA, kind, pixels);
                } else {
                    let format = format as i32;
                    gl.tex_image_2d(glow::TEXTURE_2D, 0, format, width, height, 0, glow::RGBA, kind, pixels);
                }
                gl.bind_texture(glow::TEXTURE_2D, None);
            }
            Ok(())
        })?;
        (texture.size, texture.depth) = (size, depth);
        Ok(())
    }

    /// Makes the smaller levels of a texture from its pixels.
    pub fn level(&self, texture: &Texture) -> Result<(), PlayError> {
        self.calls(|gl| {
            // SAFETY: the context is current, and the texture has its first level.
            unsafe {
                gl.bind_texture(glow::TEXTURE_2D, Some(texture.name));
                gl.generate_mipmap(glow::TEXTURE_2D);
                gl.bind_texture(glow::TEXTURE_2D, None);
            }
            Ok(())
        })
    }

    /// A program of both stages; each text has its version.
    pub fn program(&self, vertex: &str, fragment: &str) -> Result<Program, BuildError> {
        let display = self.display();
        display.timed("shader", || {
            let gl = display.gl();
            // SAFETY: the context is current, as `timed` checked, and the objects are of it. Whoever made a `Vouched` answers for the
            // text.
            unsafe {
                let name = gl.create_program().map_err(PlayError::OpenGl)?;
                let mut program = Program { _owned: self.own(Name::Program(name)), name, uniforms: HashMap::new() };
                for (stage, text, wrong) in [
                    (glow::VERTEX_SHADER, vertex, BuildError::Vertex as fn(_) -> _),
                    (glow::FRAGMENT_SHADER, fragment, BuildError::Fragment),
                ] {
                    let made = shader(gl, stage, text)?.map_err(wrong)?;
                    gl.attach_shader(name, made);
                    // It goes with the program.
                    gl.delete_shader(made);
                }
                gl.link_program(name);
                if !gl.get_program_link_status(name) {
                    return Err(BuildError::Fragment(gl.get_program_info_log(name)));
                }
                for active in (0..gl.get_active_uniforms(name)).filter_map(|at| gl.get_active_uniform(name, at)) {
                    let Some(at) = gl.get_uniform_location(name, &active.name) else { continue };
                    let own = active.name.trim_end_matches("[0]");
                    let own = own.strip_prefix(RENAMED).unwrap_or(own).to_owned();
                    program.uniforms.insert(own, Number { at, count: active.size as usize, kind: active.utype });
                }
                Ok(program)
            }
        })?
    }

    /// Draws. The rest of the context is as its display leaves it between its calls.
    pub fn draw(&self, draw: &Draw<'_>) -> Result<(), PlayError> {
        self.calls(|gl| {
            let (Some(Name::Array(array)), Some(Name::Frame(frame))) = (self.0.array.name(), self.0.frame.name())
            else {
                return Ok(());
            };
            let Extent { width, height } = draw.into.size;
            // SAFETY: the context is current, all objects are of it, and the vertex shader reads no attributes.
            unsafe {
                gl.bind_framebuffer(glow::FRAMEBUFFER, Some(frame));
                let into = Some(draw.into.name);
                gl.framebuffer_texture_2d(glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0, glow::TEXTURE_2D, into, 0);
                let is_complete = gl.check_framebuffer_status(glow::FRAMEBUFFER) == glow::FRAMEBUFFER_COMPLETE;
                if is_complete {
                    for switch in [glow::BLEND, glow::SCISSOR_TEST, glow::DEPTH_TEST, glow::CULL_FACE, glow::DITHER] {
                        gl.disable(switch);
                    }
                    gl.viewport(0, 0, width as i32, height as i32);
                    gl.clear_color(0.0, 0.0, 0.0, 1.0);
                    if draw.is_picture {
                        gl.clear(glow::COLOR_BUFFER_BIT);
                    }
                    gl.use_program(Some(draw.program.name));
                    gl.bind_vertex_array(Some(array));
                    for (unit, (name, texture, sampling)) in (0..).zip(&draw.textures) {
                        gl.active_texture(glow::TEXTURE0 + unit);
                        gl.bind_texture(glow::TEXTURE_2D, Some(texture.name));
                        for (what, value) in sampling.parameters() {
                            gl.tex_parameter_i32(glow::TEXTURE_2D, what, value as i32);
                        }
                        draw.program.set(gl, name, &[unit as f32]);
                    }
                    draw.uniforms.iter().for_each(|(name, values)| draw.program.set(gl, name, values));
                    if draw.has_corners {
                        gl.draw_arrays(glow::TRIANGLE_STRIP, 0, 4);
                    } else {
                        gl.draw_arrays(glow::TRIANGLES, 0, 3);
                    }
                    if draw.is_picture {
                        gl.color_mask(false, false, false, true);
                        gl.clear(glow::COLOR_BUFFER_BIT);
                        gl.color_mask(true, true, true, true);
                    }
                    for unit in (0..draw.textures.len() as u32).rev() {
                        gl.active_texture(glow::TEXTURE0 + unit);
                        gl.bind_texture(glow::TEXTURE_2D, None);
                    }
                    gl.bind_vertex_array(None);
                    gl.use_program(None);
                }
                gl.framebuffer_texture_2d(glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0, glow::TEXTURE_2D, None, 0);
                gl.bind_framebuffer(glow::FRAMEBUFFER, None);
                if is_complete {
                    return Ok(());
                }
            }
            Err(PlayError::OpenGl("it does not draw into textures of floats, which buffers are".into()))
        })
    }

    /// The bytes of a texture of bytes, rows from the bottom.
    pub fn read(&self, texture: &Texture) -> Result<Vec<u8>, PlayError> {
        let mut bytes = vec![0; texture.size.pixels() as usize * Depth::Bytes.bytes()];
        self.calls(|gl| {
            let Some(Name::Frame(frame)) = self.0.frame.name() else { return Ok(()) };
            let Extent { width, height } = texture.size;
            // SAFETY: the context is current, and there is room for all pixels.
            unsafe {
                gl.bind_framebuffer(glow::FRAMEBUFFER, Some(frame));
                let name = Some(texture.name);
                gl.framebuffer_texture_2d(glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0, glow::TEXTURE_2D, name, 0);
                gl.bind_buffer(glow::PIXEL_PACK_BUFFER, None);
                gl.pixel_store_i32(glow::PACK_ALIGNMENT, 1);
                gl.pixel_store_i32(glow::PACK_ROW_LENGTH, 0);
                let into = glow::PixelPackData::Slice(Some(&mut bytes));
                gl.read_pixels(0, 0, width as i32, height as i32, glow::RGBA, glow::UNSIGNED_BYTE, into);
                gl.framebuffer_texture_2d(glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0, glow::TEXTURE_2D, None, 0);
                gl.bind_framebuffer(glow::FRAMEBUFFER, None);
            }
            Ok(())
        })?;
        Ok(bytes)
    }

    /// A texture of bytes as a surface of the display's, which goes before the texture.
    pub fn surface(&self, texture: &Texture) -> Result<Surface, PlayError> {
        let named = EngineTexture::new(texture.name.0.get(), texture.size);
        // SAFETY: the texture is ours alone, and `Canvas` drops the surface first.
        Ok(unsafe { self.display().engine_image(named, PixelFormat::Rgba8) }?)
    }
}

impl Owned {
    fn name(&self) -> Option<Name> {
        self.object.as_ref().map(|object| object.name)
    }
}

impl Depth {
    const fn bytes(self) -> usize {
        match self {
            Self::Bytes => 4,
            Self::Floats => 16,
        }
    }
}

/// A shader, or the compiler's log.
///
/// # Safety
/// The context of `gl` is current.
unsafe fn shader(gl: &glow::Context, stage: u32, text: &str) -> Result<Result<glow::Shader, String>, PlayError> {
    // SAFETY: the caller's promise.
    unsafe {
        let made = gl.create_shader(stage).map_err(PlayError::OpenGl)?;
        gl.shader_source(made, text);
        gl.compile_shader(made);
        if gl.get_shader_compile_status(made) {
            return Ok(Ok(made));
        }
        let log = gl.get_shader_info_log(made);
        gl.delete_shader(made);
        Ok(Err(log))
    }
}

impl Sampling {
    const fn parameters(self) -> [(u32, u32); 4] {
        let most = if self.is_linear { glow::LINEAR } else { glow::NEAREST };
        let least = if self.has_levels { glow::LINEAR_MIPMAP_LINEAR } else { most };
        let wrap = if self.repeats { glow::REPEAT } else { glow::CLAMP_TO_EDGE };
        [
            (glow::TEXTURE_MIN_FILTER, least),
            (glow::TEXTURE_MAG_FILTER, most),
            (glow::TEXTURE_WRAP_S, wrap),
            (glow::TEXTURE_WRAP_T, wrap),
        ]
    }
}

impl Program {
    /// # Safety
    /// The context of `gl` is current, and the program is in use.
    unsafe fn set(&self, gl: &glow::Context, name: &str, values: &[f32]) {
        let Some(Number { at, count, kind }) = self.uniforms.get(name) else { return };
        let values = |parts: usize| {
            let mut values = values.to_vec();
            values.resize(parts * count, 0.0);
            values
        };
        let at = Some(at);
        // SAFETY: the caller's promise.
        unsafe {
            match *kind {
                glow::FLOAT => gl.uniform_1_f32_slice(at, &values(1)),
                glow::FLOAT_VEC2 => gl.uniform_2_f32_slice(at, &values(2)),
                glow::FLOAT_VEC3 => gl.uniform_3_f32_slice(at, &values(3)),
                glow::FLOAT_VEC4 => gl.uniform_4_f32_slice(at, &values(4)),
                glow::INT | glow::BOOL | glow::SAMPLER_2D => {
                    gl.uniform_1_i32_slice(at, &values(1).iter().map(|value| *value as i32).collect::<Vec<_>>());
                }
                _ => {}
            }
        }
    }
}
