//! Compute shaders of the user.

use crate::queue::shape::ProgramShape;
use interop_core::PixelFormat;
use wgsl_kernel::shader::Writes;
use wgsl_kernel::{Dialect, TextError, glsl_prelude, glsl_texture_prelude};

/// Returns the whole text for targets of this kind.
pub fn whole(text: &str, format: PixelFormat, writes: Writes, dialect: Dialect) -> Result<String, TextError> {
    if text.lines().any(|line| line.trim_start().starts_with("#version")) {
        let version = dialect.version();
        return Err(format!("it has a '#version'; remove it: the backend writes '{version}'").into());
    }
    let prelude = match writes {
        Writes::Memory => glsl_prelude(format, dialect),
        Writes::Texture => glsl_texture_prelude(format, dialect),
    };
    Ok(prelude? + text)
}

/// Returns the bytes of each memory among the arguments, or the reason why a launch cannot bind all that the program
/// uses.
pub fn memories(shape: &ProgramShape) -> Result<Vec<u64>, String> {
    if !shape.uniforms.is_empty() {
        let names = shape.uniforms.join("', '");
        return Err(format!(
            "'{names}' cannot be bound: kernels have no samplers, images, counters or uniforms of their own; numbers \
             are read with pf_arg_f32(0) and similar functions, memory with storage blocks"
        ));
    }
    // The prelude's own block is the target.
    let own: Vec<_> = shape.storage.iter().filter(|(name, ..)| !is_target(name)).collect();
    if let Some((name, ..)) = own.iter().find(|(_, binding, _)| *binding == 0) {
        return Err(format!(
            "'{name}' has binding 0, which belongs to the target; memory n of the arguments, counted from 0, has \
             binding n + 1"
        ));
    }
    let mut places: Vec<_> = own.iter().map(|(_, binding, bytes)| (*binding, *bytes)).collect();
    places.sort_unstable();
    if (1..).zip(&places).any(|(expected, (binding, _))| expected != *binding) {
        let places: Vec<_> = places.iter().map(|(binding, _)| binding).collect();
        return Err(format!(
            "its storage blocks have the bindings {places:?}; number the used ones from 1 without gaps"
        ));
    }
    Ok(places.into_iter().map(|(_, bytes)| bytes).collect())
}

/// True where a block is the prelude's: naga names blocks by number, binding and stage.
fn is_target(name: &str) -> bool {
    name.starts_with("type_") && name.ends_with("_block_0Compute")
}
