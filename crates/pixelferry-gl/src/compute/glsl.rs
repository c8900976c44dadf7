//! Compute shaders of the user's own.

use crate::queue::shape::ProgramShape;
use interop_core::PixelFormat;
use wgsl_kernel::shader::Writes;
use wgsl_kernel::{Dialect, TextError, glsl_prelude, glsl_texture_prelude};

/// All of the text, for such targets.
pub fn whole(text: &str, format: PixelFormat, writes: Writes, dialect: Dialect) -> Result<String, TextError> {
    if text.lines().any(|line| line.trim_start().starts_with("#version")) {
        let version = dialect.version();
        return Err(format!("it has a '#version'; leave it out: the backend writes it, '{version}'").into());
    }
    let prelude = match writes {
        Writes::Memory => glsl_prelude(format, dialect),
        Writes::Texture => glsl_texture_prelude(format, dialect),
    };
    Ok(prelude? + text)
}

/// Bytes of each memory among the arguments; the reason where a launch binds less than the program uses.
pub fn memories(shape: &ProgramShape) -> Result<Vec<u64>, String> {
    if !shape.uniforms.is_empty() {
        let names = shape.uniforms.join("', '");
        return Err(format!(
            "nothing is bound to '{names}': kernels have no samplers, images, counters or uniforms of their own; numbers are \
             read by pf_arg_f32(0) and its like, memory by storage blocks"
        ));
    }
    // The prelude's own block is the target.
    let own: Vec<_> = shape.storage.iter().filter(|(name, ..)| !is_target(name)).collect();
    if let Some((name, ..)) = own.iter().find(|(_, binding, _)| *binding == 0) {
        return Err(format!(
            "'{name}' has binding 0, which is the target's; memory n among the arguments, counted from 0, has binding n + 1"
        ));
    }
    let mut places: Vec<_> = own.iter().map(|(_, binding, bytes)| (*binding, *bytes)).collect();
    places.sort_unstable();
    if (1..).zip(&places).any(|(expected, (binding, _))| expected != *binding) {
        let places: Vec<_> = places.iter().map(|(binding, _)| binding).collect();
        return Err(format!(
            "its storage blocks have the bindings {places:?}; number those that it uses from 1 without gaps"
        ));
    }
    Ok(places.into_iter().map(|(_, bytes)| bytes).collect())
}

/// True where a block is the prelude's: naga names blocks by number, group's binding and stage.
fn is_target(name: &str) -> bool {
    name.starts_with("type_") && name.ends_with("_block_0Compute")
}
