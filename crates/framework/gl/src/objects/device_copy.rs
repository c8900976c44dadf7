//! Copies from device memory into textures with a compute shader.
//!
//! For memory that is on the device already, `glTexSubImage2D` from a buffer is a detour: on an NVIDIA H200 (driver
//! 580.159) it took ten times as long as a shader that reads the buffer and stores into the texture.

use crate::api::gl_format::GlFormat;
use crate::api::host_state::STORES;
use crate::context::context_state::ContextState;
use crate::context::owned_object::OwnedObject;
use crate::objects::image_unit::{BoundImage, ImageUnit};
use crate::objects::program::{compute_version, link};
use crate::objects::state_guards::ReadProgram;
use crate::objects::transfer::Texels;
use glow::HasContext as _;
use interop_core::{Region, Result};
use std::sync::Arc;

const SHADER: &str = include_str!("copy.comp");

/// The program that copies pixels of every format. The buffer texture and the image unit determine the format: an image
/// that is only written needs none in the shader (GLSL 4.60, section 4.4.7).
pub(crate) struct DeviceCopy {
    program: OwnedObject<glow::Program>,
    layout: Option<glow::UniformLocation>,
    region: Option<glow::UniformLocation>,
}

impl DeviceCopy {
    /// Builds the program. The context must be current and have
    /// [`Features::compute`](crate::api::features::Features::compute).
    pub(crate) fn new(shared: &Arc<ContextState>) -> Result<Self> {
        let text = format!("{}{SHADER}", compute_version(&shared.features));
        let program = link(shared, &[(glow::COMPUTE_SHADER, &text)])?;
        // SAFETY: the context is current and the program is of it and linked.
        let at = |uniform| unsafe { shared.gl.get_uniform_location(program.get(), uniform) };
        // The sampler and the image are initially unit 0, which is used here.
        Ok(Self { layout: at("layout_"), region: at("region"), program })
    }

    /// Copies the pixels at `from` in the buffer texture `source`, which has the format's integers, to `at` in level 0
    /// of `texture`, which has the format. Both were checked to lie inside.
    pub(crate) fn copy(
        &self,
        shared: &ContextState,
        source: glow::Texture,
        from: Texels,
        texture: glow::Texture,
        at: Region,
        format: GlFormat,
    ) {
        let gl = &shared.gl;
        let _reading = ReadProgram::set(shared, (false, STORES), self.program.get(), glow::TEXTURE_BUFFER, source);
        let access = glow::WRITE_ONLY;
        let image =
            ImageUnit::bind(shared, false, BoundImage { texture, level: 0, layer: 0, access, format: format.integers });
        // SAFETY: the context is current and has compute shaders; our program is in use with its texture and image, and
        // every access lies inside them. The integers are of the same size and class as the texture's format, as
        // formats must match (OpenGL 4.6 core, section 8.26).
        unsafe {
            gl.uniform_2_i32(self.layout.as_ref(), from.base, from.pitch);
            gl.uniform_4_i32(self.region.as_ref(), at.x as i32, at.y as i32, at.width as i32, at.height as i32);
            image.run(at.width, at.height);
        }
    }
}
