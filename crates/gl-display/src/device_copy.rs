//! Copies from device memory into textures by a compute shader.
//!
//! For memory that lies on the device already, `glTexSubImage2D` from a buffer is a detour: on an NVIDIA H200 (driver
//! 580.159) it took ten times as long as a shader that reads the buffer and stores into the texture.

use crate::checks::Texels;
use crate::gl_format::GlFormat;
use crate::owned::Owned;
use crate::program::link;
use crate::shared::Shared;
use crate::state::Reading;
use glow::HasContext as _;
use interop_core::{Region, Result};
use std::num::NonZeroU32;
use std::rc::Rc;

const SHADER: &str = include_str!("copy.comp");
/// As the shader declares it. The largest texture (2^15 texels) needs 2^12 groups a side; 65535 are always there.
const GROUP: (u32, u32) = (32, 8);

/// The program that copies pixels of every format. The formats are those of the buffer texture and of the image unit:
/// an image that is only written needs none in the shader (GLSL 4.60, section 4.4.7).
pub(crate) struct DeviceCopy {
    program: Owned<glow::Program>,
    layout: Option<glow::UniformLocation>,
    region: Option<glow::UniformLocation>,
}

impl DeviceCopy {
    /// The context must be current and have [`Features::compute`](crate::features::Features::compute).
    pub(crate) fn new(shared: &Rc<Shared>) -> Result<Self> {
        let header = if shared.features.version >= (4, 3) {
            "#version 430 core\n"
        } else {
            "#version 420 core\n#extension GL_ARB_compute_shader : require\n"
        };
        let program = link(shared, &[(glow::COMPUTE_SHADER, &format!("{header}{SHADER}"))])?;
        // SAFETY: the context is current and the program is of it and linked.
        let at = |uniform| unsafe { shared.gl.get_uniform_location(program.get(), uniform) };
        // The sampler and the image start as unit 0, the ones we use.
        Ok(Self { layout: at("layout_"), region: at("region"), program })
    }

    /// Copies the pixels that lie at `from` in the buffer texture `source`, which is of the format's integers, to `at`
    /// in level 0 of `texture`, which is of the format. Both were checked to lie inside.
    pub(crate) fn copy(
        &self,
        shared: &Shared,
        source: glow::Texture,
        from: Texels,
        texture: glow::Texture,
        at: Region,
        format: GlFormat,
    ) {
        let gl = &shared.gl;
        let _reading = Reading::set(shared, false, self.program.get(), glow::TEXTURE_BUFFER, source);
        let _image = ImageUnit::write(shared, texture, format.integers);
        // SAFETY: the context is current and has compute shaders; our program is in use with its texture and image, and
        // every access lies inside them. The integers are of the same size and class as the texture's format, as
        // formats must match (OpenGL 4.6 core, section 8.26).
        unsafe {
            gl.uniform_2_i32(self.layout.as_ref(), from.base, from.pitch);
            gl.uniform_4_i32(self.region.as_ref(), at.x as i32, at.y as i32, at.width as i32, at.height as i32);
            // Stores are not ordered with what came before: draws that still sample the texture, shaders that wrote
            // the buffer.
            gl.memory_barrier(glow::SHADER_IMAGE_ACCESS_BARRIER_BIT | glow::TEXTURE_FETCH_BARRIER_BIT);
            gl.dispatch_compute(at.width.div_ceil(GROUP.0), at.height.div_ceil(GROUP.1), 1);
            gl.memory_barrier(STORED);
        }
    }
}

/// Sampling, drawing into, uploading to and reading of the texture see what was stored, as do shaders that load or
/// store it themselves.
const STORED: u32 = glow::TEXTURE_FETCH_BARRIER_BIT
    | glow::FRAMEBUFFER_BARRIER_BIT
    | glow::TEXTURE_UPDATE_BARRIER_BIT
    | glow::SHADER_IMAGE_ACCESS_BARRIER_BIT;

/// Image unit 0, put back in an engine's context.
struct ImageUnit<'a> {
    shared: &'a Shared,
    saved: Option<SavedUnit>,
}

struct SavedUnit {
    texture: Option<glow::Texture>,
    level: i32,
    layered: bool,
    layer: i32,
    access: u32,
    format: u32,
}

impl<'a> ImageUnit<'a> {
    /// Level 0 of a 2-D texture, to be written as `format`.
    fn write(shared: &'a Shared, texture: glow::Texture, format: u32) -> Self {
        let gl = &shared.gl;
        // SAFETY: the context is current and has image units, whose state is single integers; the texture is of it.
        unsafe {
            let get = |parameter| gl.get_parameter_indexed_i32(parameter, 0);
            let unsigned = |parameter| u32::try_from(get(parameter)).unwrap_or(0);
            let saved = shared.is_engine().then(|| SavedUnit {
                texture: NonZeroU32::new(unsigned(glow::IMAGE_BINDING_NAME)).map(glow::NativeTexture),
                level: get(glow::IMAGE_BINDING_LEVEL),
                layered: get(glow::IMAGE_BINDING_LAYERED) != 0,
                layer: get(glow::IMAGE_BINDING_LAYER),
                access: unsigned(glow::IMAGE_BINDING_ACCESS),
                format: unsigned(glow::IMAGE_BINDING_FORMAT),
            });
            gl.bind_image_texture(0, Some(texture), 0, false, 0, glow::WRITE_ONLY, format);
            Self { shared, saved }
        }
    }
}

impl Drop for ImageUnit<'_> {
    fn drop(&mut self) {
        if let Some(s) = &self.saved {
            let gl = &self.shared.gl;
            // SAFETY: the context is still current; the values came from it.
            unsafe { gl.bind_image_texture(0, s.texture, s.level, s.layered, s.layer, s.access, s.format) }
        }
    }
}
