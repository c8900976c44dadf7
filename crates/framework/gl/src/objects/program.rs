//! Shader programs.

use crate::api::features::{Features, Suffix};
use crate::context::context_state::ContextState;
use crate::context::owned_object::OwnedObject;
use glow::HasContext as _;
use interop_core::Result;
use std::sync::Arc;

/// Returns the first lines of a compute shader, in a context that supports them.
pub(crate) fn compute_version(features: &Features) -> &'static str {
    if features.version >= (4, 3) {
        "#version 430 core\n"
    } else {
        "#version 420 core\n#extension GL_ARB_compute_shader : require\n"
    }
}

/// Precisions for which OpenGL ES has no default, or a low one.
const PRECISIONS: &str = "precision highp float;\nprecision highp int;\nprecision highp sampler2D;\n";
const BUFFER_PRECISIONS: &str = "precision highp samplerBuffer;\nprecision highp usamplerBuffer;\n";

/// Returns the first lines of both stages of a draw; `buffers` says that they read buffer textures.
pub(crate) fn draw_version(features: &Features, buffers: bool) -> String {
    if !features.es {
        return "#version 330 core\n".into();
    }
    let (number, extension) = match (features.version, features.suffixed_buffer_textures) {
        ((3, 0), _) => (300, ""),
        ((3, 1), Some(Suffix::Ext)) if buffers => (310, "#extension GL_EXT_texture_buffer : require\n"),
        ((3, 1), Some(Suffix::Oes)) if buffers => (310, "#extension GL_OES_texture_buffer : require\n"),
        ((3, 1), _) => (310, ""),
        _ => (320, ""),
    };
    let more = if buffers { BUFFER_PRECISIONS } else { "" };
    format!("#version {number} es\n{extension}{PRECISIONS}{more}")
}

/// Compiles and links stages, each given by its type and whole text. The context must be current and support them.
pub(crate) fn link(shared: &Arc<ContextState>, stages: &[(u32, &str)]) -> Result<OwnedObject<glow::Program>> {
    let gl = &shared.gl;
    // SAFETY: the context is current; names are made, used and deleted here.
    unsafe {
        let name = gl.create_program().map_err(|e| shared.no_name("glCreateProgram", &e))?;
        let program = OwnedObject::new(shared, name);
        for (ty, text) in stages {
            let shader = gl.create_shader(*ty).map_err(|e| shared.no_name("glCreateShader", &e))?;
            gl.shader_source(shader, text);
            gl.compile_shader(shader);
            if !gl.get_shader_compile_status(shader) {
                let log = gl.get_shader_info_log(shader);
                gl.delete_shader(shader);
                return Err(shared.failure("glCompileShader", i64::from(*ty), "GL_FALSE", &log));
            }
            gl.attach_shader(name, shader);
            // The shader lives until the program is deleted.
            gl.delete_shader(shader);
        }
        gl.link_program(name);
        if !gl.get_program_link_status(name) {
            return Err(shared.failure("glLinkProgram", 0, "GL_FALSE", &gl.get_program_info_log(name)));
        }
        Ok(program)
    }
}
