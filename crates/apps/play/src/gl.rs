//! OpenGL for fragment shaders: programs, textures and draws. All of this crate's calls to OpenGL are here.

use crate::error::PlayError;
use glow::HasContext as _;
use pixelferry::api::gl::{EngineTexture, GlDisplay, OffscreenTarget, OwnedObject};
use pixelferry::driver::SurfacePart;
use pixelferry::{Display as _, Error, Extent, ImageView, PixelFormat, Surface, View};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::iter::repeat;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Prefix of the names that replace reserved words; it is no part of the user's name.
pub const RENAMED: &str = "isf_";

/// The context of a display.
#[derive(Clone)]
pub struct Gl(pub Arc<GlDisplay>);

/// What shaders see in a texture's pixels, with OpenGL's target of such textures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[repr(u32)]
pub enum TextureShape {
    Flat = glow::TEXTURE_2D,
    /// Six square faces side by side.
    Cube = glow::TEXTURE_CUBE_MAP,
    /// Square slices side by side.
    Volume = glow::TEXTURE_3D,
}

/// How a texture is read between and beyond its pixels.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SamplerState {
    pub shape: TextureShape,
    /// Interpolate colours between pixels.
    pub is_linear: bool,
    /// Use smaller copies of the texture where it is seen small.
    pub has_levels: bool,
    /// Repeat the texture beyond its edges.
    pub repeats: bool,
}

/// A texture of four bytes or floats per pixel, bottom row first. Shaders can draw into it.
pub struct Texture {
    pub gl: Gl,
    /// The pixels of `target`; it is dropped before them.
    pub surface: Surface,
    target: Box<OffscreenTarget>,
    /// A copy with another shape or with smaller levels, once it was needed.
    copy: Option<OwnedObject<glow::Texture>>,
}

impl Texture {
    /// Returns every pixel, top row first.
    pub fn read_pixels(&self) -> Result<Vec<u8>, PlayError> {
        Ok(self.target.read_pixels()?)
    }

    /// Replaces all pixels, bottom row first.
    pub fn fill(&mut self, pixels: &[u8]) -> Result<(), PlayError> {
        let (width, height) = self.target.size();
        let view = ImageView::packed(Extent::new(width, height), self.target.format(), 1, 0, false)?;
        let whole = SurfacePart::full(self.surface.desc());
        Ok(self.surface.upload(&whole, pixels, &View::Image(view))?)
    }

    /// Copies the pixels to a texture of this shape with smaller levels, from which shaders read them.
    pub fn make_copy(&mut self, shape: TextureShape) -> Result<(), PlayError> {
        let (gl, to, (width, height)) = (self.gl.0.gl(), shape as u32, self.target.size());
        let (width, side) = (width as i32, height as i32);
        let (format, kind) = match self.target.format() {
            PixelFormat::Rgba8 => (glow::RGBA8, glow::UNSIGNED_BYTE),
            _ => (glow::RGBA32F, glow::FLOAT),
        };
        self.target.bind()?;
        let copied = self.gl.0.checked("shader", || {
            // SAFETY: the context is current, and the texture's framebuffer is bound for reading.
            unsafe {
                if self.copy.is_none() {
                    self.copy = Some(self.gl.0.own(gl.create_texture().map_err(PlayError::OpenGl)?));
                }
                gl.bind_texture(to, self.copy.as_ref().map(OwnedObject::get));
                match shape {
                    TextureShape::Flat => gl.copy_tex_image_2d(to, 0, format, 0, 0, width, side, 0),
                    TextureShape::Cube => (0..6).for_each(|face| {
                        let to = glow::TEXTURE_CUBE_MAP_POSITIVE_X + face;
                        gl.copy_tex_image_2d(to, 0, format, face as i32 * side, 0, side, side, 0);
                    }),
                    TextureShape::Volume => {
                        gl.bind_buffer(glow::PIXEL_UNPACK_BUFFER, None);
                        let (depth, none) = (width / side, glow::PixelUnpackData::Slice(None));
                        gl.tex_image_3d(to, 0, format as i32, side, side, depth, 0, glow::RGBA, kind, none);
                        (0..depth).for_each(|z| gl.copy_tex_sub_image_3d(to, 0, 0, 0, z, z * side, 0, side, side));
                    }
                }
                gl.generate_mipmap(to);
                gl.bind_texture(to, None);
                Ok(())
            }
        });
        self.target.unbind()?;
        copied?
    }
}

/// A text as a fragment shader, and perhaps as a compute shader.
pub struct Program {
    drawn: LinkedProgram,
    /// Without attributes.
    array: OwnedObject<glow::VertexArray>,
    has_corners: bool,
    pub(crate) rival: Option<Box<RivalProgram>>,
}

pub(crate) struct LinkedProgram {
    program: OwnedObject<glow::Program>,
    uniforms: Vec<Uniform>,
}

/// The same text as a compute shader, with the comparison of each pass that runs it. GPUs for data centres have few raster
/// units: an H200 takes up to 27 times as long for a fragment shader.
pub(crate) struct RivalProgram {
    pub(crate) stores: LinkedProgram,
    /// Stages of the fragment shader whose colour is `precise`.
    precise: [String; 2],
    pub(crate) rounds: RefCell<BTreeMap<usize, RivalRounds>>,
}

/// Frames that both shaders computed, and the shortest times, that of the compute shader first.
pub(crate) struct RivalRounds {
    pub(crate) count: u32,
    pub(crate) took: [Duration; 2],
}

/// Frames that both shaders compute. In the first and the last one, their pixels are compared.
const ROUNDS: u32 = 4;
/// Mean difference of bytes up to which two pictures are the same, and relative and absolute difference of floats.
const SAME_BYTES: f64 = 0.2;
const SAME_FLOATS: [f32; 2] = [1e-2, 1e-5];
/// Side of a group of a compute shader.
pub const GROUP: u32 = 8;

type Uniform = (glow::UniformLocation, glow::ActiveUniform);

/// Everything that one draw reads.
pub struct DrawInputs<'a> {
    /// Channels; the place of one is its texture unit. One without a source is black.
    pub textures: Vec<Option<(&'a Texture, SamplerState)>>,
    /// Numbers by the names of uniforms, and units of textures. Those that the program lacks are ignored, and all are
    /// converted to its types.
    pub numbers: Vec<(&'a str, Vec<f32>)>,
    /// Clear the target to opaque black before, and keep its alpha.
    pub is_picture: bool,
    /// Index of the pass, because passes may share a program.
    pub pass: usize,
}

impl Gl {
    /// Returns the first lines that a shader can have in this context, the best first: that of GLSL ES, which WebGL2
    /// takes, for one that `is_strict`. GLSL 4.30 converts more types and reserves more names, so it is the last.
    pub fn versions(&self, is_strict: bool) -> impl Iterator<Item = &'static str> {
        let is_new = self.0.version() >= (4, 3);
        let takes_es = is_new || self.0.gl().supported_extensions().contains("GL_ARB_ES3_compatibility");
        let is_es = self.0.is_es();
        let versions = [
            ("#version 300 es\n", is_es || is_strict && takes_es),
            ("#version 330\n", !is_es),
            ("#version 430\n", !is_es && is_new),
        ];
        versions.into_iter().filter(|(_, is_taken)| *is_taken).map(|(version, _)| version)
    }

    /// Creates a texture of zeroes.
    pub fn texture(&self, size: Extent, is_float: bool) -> Result<Texture, PlayError> {
        let format = if is_float { PixelFormat::Rgba32F } else { PixelFormat::Rgba8 };
        let target = Box::new(self.0.create_offscreen_target_of(size.width, size.height, format)?);
        let named = EngineTexture::new(target.texture().0.get(), size);
        // SAFETY: the texture belongs to this crate alone, and its surface is dropped before it.
        let surface = unsafe { self.0.engine_image(named, format) }?;
        Ok(Texture { gl: self.clone(), surface, target, copy: None })
    }

    /// Compiles and links a program, whose stages are given by their whole texts. `has_corners` says that the vertex
    /// shader places the four corners of the picture instead of a triangle around it. `fault` converts the log of a
    /// stage; its flag is true for the vertices.
    pub fn program(
        &self,
        [vertex, fragment]: [&str; 2],
        has_corners: bool,
        fault: impl Fn(bool, String) -> PlayError,
    ) -> Result<Program, PlayError> {
        let stages = [(glow::VERTEX_SHADER, vertex), (glow::FRAGMENT_SHADER, fragment)];
        let drawn = self.linked(&stages).map_err(|error| match error {
            PlayError::Driver(Error::Driver(error)) if error.code_name == "GL_FALSE" => {
                fault(error.code == i64::from(glow::VERTEX_SHADER), error.hint)
            }
            other => other,
        })?;
        // SAFETY: the context is current, as the call above has checked, and the name belongs to it.
        let array = unsafe { self.0.own(self.0.gl().create_vertex_array().map_err(PlayError::OpenGl)?) };
        Ok(Program { drawn, array, has_corners, rival: None })
    }

    /// Adds the same text as a compute shader, if it compiles as one. It is used if it is faster and has the same pixels as
    /// the fragment shader of these stages, or as that with a precise colour.
    pub fn add_rival(&self, program: &mut Program, text: &str, stages: [&str; 2]) {
        let stores = self.linked(&[(glow::COMPUTE_SHADER, text)]);
        // Of the fragment shader, the first output is the colour.
        let precise =
            stages.map(|text| format!("#version 430\n{}", text.replacen("out vec4 ", "precise out vec4 ", 1)));
        let rival = |stores| Box::new(RivalProgram { stores, precise, rounds: RefCell::default() });
        program.rival = stores.ok().map(rival);
    }

    /// Returns whether texts may also run as compute shaders: on a GPU, and with derivatives if they read textures with
    /// smaller levels.
    pub fn has_rivals(&self, has_levels: bool) -> bool {
        let has = self.0.gl().supported_extensions().contains("GL_NV_compute_shader_derivatives") || !has_levels;
        has && self.0.version() >= (4, 5) && !self.0.is_es() && !self.0.device().software
    }

    fn linked(&self, stages: &[(u32, &str)]) -> Result<LinkedProgram, PlayError> {
        let program = self.0.link_program(stages)?;
        let (gl, name) = (self.0.gl(), program.get());
        // SAFETY: the context is current, as the call above has checked, and the name belongs to it.
        let uniforms = unsafe {
            let active = (0..gl.get_active_uniforms(name)).filter_map(|at| gl.get_active_uniform(name, at));
            let uniform = |mut active: glow::ActiveUniform| {
                let at = gl.get_uniform_location(name, &active.name)?;
                let own = active.name.trim_end_matches("[0]");
                active.name = own.strip_prefix(RENAMED).unwrap_or(own).to_owned();
                Some((at, active))
            };
            active.filter_map(uniform).collect()
        };
        Ok(LinkedProgram { program, uniforms })
    }

    /// Computes a whole texture.
    pub fn draw(&self, program: &Program, into: &Texture, inputs: &DrawInputs<'_>) -> Result<(), PlayError> {
        let run = |shader: (&LinkedProgram, bool)| self.run(program, shader, into, inputs);
        let Some(rival) = &program.rival else { return run((&program.drawn, false)) };
        let shaders = [(&rival.stores, true), (&program.drawn, false)];
        let new = RivalRounds { count: 0, took: [Duration::MAX; 2] };
        let mut rounds = rival.rounds.borrow_mut();
        let RivalRounds { count, took } = rounds.entry(inputs.pass).or_insert(new);
        if *count < ROUNDS {
            let mut timed = |at: usize| {
                self.0.finish()?;
                let begun = Instant::now();
                run(shaders[at])?;
                self.0.finish()?;
                took[at] = took[at].min(begun.elapsed());
                if [0, ROUNDS - 1].contains(count) { into.read_pixels() } else { Ok(Vec::new()) }
            };
            let (stored, drawn) = (timed(0), timed(1)?);
            let is_stored =
                |pixels: &Vec<u8>| stored.as_ref().is_ok_and(|stored| is_same(stored, pixels, into.target.format()));
            // `precise` fixes how operations are rounded (GLSL 4.60, section 4.9). A compute shader with those pixels
            // computes the same text, and the other fragment shader differs by what GLSL leaves to compilers.
            let precise = || {
                let [vertex, fragment] = &rival.precise;
                run((&self.linked(&[(glow::VERTEX_SHADER, vertex), (glow::FRAGMENT_SHADER, fragment)])?, false))?;
                into.read_pixels()
            };
            if is_stored(&drawn) {
                *count += 1;
                if *count < ROUNDS {
                    // The fragment shader ran last, so its pixels remain.
                    return Ok(());
                }
            } else if *count == 0 && precise().is_ok_and(|pixels: Vec<u8>| is_stored(&pixels)) {
                // The first frame already has the picture that remains.
                (1..ROUNDS).try_for_each(|_| timed(1).and_then(|_| timed(0)).map(drop))?;
                *count = ROUNDS;
            } else {
                (*count, *took) = (ROUNDS, [Duration::MAX; 2]);
            }
        }
        let [stored, drawn] = took;
        run(shaders[usize::from(stored >= drawn)])
    }

    /// Draws over a whole texture, or stores all of it if the shader is a compute shader.
    pub(crate) fn run(
        &self,
        program: &Program,
        (shader, is_stored): (&LinkedProgram, bool),
        into: &Texture,
        inputs: &DrawInputs<'_>,
    ) -> Result<(), PlayError> {
        into.target.bind()?;
        let drawn = self.0.checked("shader", || {
            let (gl, (width, height)) = (self.0.gl(), into.target.size());
            // SAFETY: the context is current, all objects belong to it, and no vertex shader reads attributes.
            unsafe {
                for switch in [glow::BLEND, glow::SCISSOR_TEST, glow::DEPTH_TEST, glow::CULL_FACE, glow::DITHER] {
                    gl.disable(switch);
                }
                gl.viewport(0, 0, width as i32, height as i32);
                if inputs.is_picture && !is_stored {
                    gl.clear_color(0.0, 0.0, 0.0, 1.0);
                    gl.clear(glow::COLOR_BUFFER_BIT);
                    gl.color_mask(true, true, true, false);
                }
                gl.use_program(Some(shader.program.get()));
                gl.bind_vertex_array(Some(program.array.get()));
                for (unit, channel) in (glow::TEXTURE0..).zip(&inputs.textures) {
                    let Some((texture, sampling)) = channel else { continue };
                    gl.active_texture(unit);
                    let copy = texture.copy.as_ref().filter(|_| sampling.needs_copy()).map(OwnedObject::get);
                    let from = sampling.shape as u32;
                    gl.bind_texture(from, Some(copy.unwrap_or_else(|| texture.target.texture())));
                    for (parameter, value) in sampling.parameters() {
                        gl.tex_parameter_i32(from, parameter, value as i32);
                    }
                }
                shader.uniforms.iter().for_each(|uniform| set_uniform(gl, uniform, inputs));
                if is_stored {
                    let format = if into.target.format() == PixelFormat::Rgba8 { glow::RGBA8 } else { glow::RGBA32F };
                    gl.bind_image_texture(0, Some(into.target.texture()), 0, false, 0, glow::WRITE_ONLY, format);
                    gl.dispatch_compute(width.div_ceil(GROUP), height.div_ceil(GROUP), 1);
                    gl.memory_barrier(glow::ALL_BARRIER_BITS);
                    gl.bind_image_texture(0, None, 0, false, 0, glow::WRITE_ONLY, format);
                } else {
                    let shape = if program.has_corners { glow::TRIANGLE_STRIP } else { glow::TRIANGLES };
                    gl.draw_arrays(shape, 0, 3 + i32::from(program.has_corners));
                }
                gl.color_mask(true, true, true, true);
                gl.bind_vertex_array(None);
                gl.use_program(None);
            }
        });
        into.target.unbind()?;
        Ok(drawn?)
    }
}

/// Returns whether two pictures are the same, apart from rounding. What a buffer of floats holds may matter in any pixel.
fn is_same(one: &[u8], other: &[u8], format: PixelFormat) -> bool {
    if format == PixelFormat::Rgba8 {
        let sum: u64 = one.iter().zip(other).map(|(one, other)| u64::from(one.abs_diff(*other))).sum();
        return sum as f64 <= SAME_BYTES * one.len() as f64;
    }
    let float = |bytes: &[u8]| bytemuck::pod_read_unaligned::<f32>(bytes);
    let is_near = |(one, other): (f32, f32)| {
        one.to_bits() == other.to_bits()
            || (one - other).abs() <= SAME_FLOATS[0] * one.abs().max(other.abs()) + SAME_FLOATS[1]
    };
    one.chunks_exact(4).map(float).zip(other.chunks_exact(4).map(float)).all(is_near)
}

impl SamplerState {
    /// The default of sources other than pictures.
    pub const PLAIN: Self = Self { shape: TextureShape::Flat, is_linear: true, has_levels: false, repeats: false };

    /// Returns whether shaders read a copy of the texture.
    pub fn needs_copy(self) -> bool {
        self.has_levels || self.shape != TextureShape::Flat
    }

    const fn parameters(self) -> [(u32, u32); 5] {
        let large = if self.is_linear { glow::LINEAR } else { glow::NEAREST };
        let small = if self.has_levels { glow::LINEAR_MIPMAP_LINEAR } else { large };
        let wrap = if self.repeats { glow::REPEAT } else { glow::CLAMP_TO_EDGE };
        [
            (glow::TEXTURE_MIN_FILTER, small),
            (glow::TEXTURE_MAG_FILTER, large),
            (glow::TEXTURE_WRAP_S, wrap),
            (glow::TEXTURE_WRAP_T, wrap),
            (glow::TEXTURE_WRAP_R, wrap),
        ]
    }
}

/// Sets the number of this name, or a sampler's texture.
///
/// # Safety
/// The context is current, and the uniform's program is in use.
unsafe fn set_uniform(gl: &glow::Context, (at, uniform): &Uniform, inputs: &DrawInputs<'_>) {
    let Some((_, values)) = inputs.numbers.iter().find(|(name, _)| *name == uniform.name) else { return };
    let count = uniform.size as usize;
    let sized = |parts| values.iter().copied().chain(repeat(0.0)).take(parts * count).collect::<Vec<_>>();
    // SAFETY: the caller's promise; there are as many values as the uniform has.
    unsafe {
        match uniform.utype {
            glow::FLOAT => gl.uniform_1_f32_slice(Some(at), &sized(1)),
            glow::FLOAT_VEC2 => gl.uniform_2_f32_slice(Some(at), &sized(2)),
            glow::FLOAT_VEC3 => gl.uniform_3_f32_slice(Some(at), &sized(3)),
            glow::FLOAT_VEC4 => gl.uniform_4_f32_slice(Some(at), &sized(4)),
            glow::INT | glow::BOOL | glow::SAMPLER_2D | glow::SAMPLER_3D | glow::SAMPLER_CUBE => {
                gl.uniform_1_i32_slice(Some(at), &sized(1).iter().map(|value| *value as i32).collect::<Vec<_>>());
            }
            _ => {}
        }
    }
}
