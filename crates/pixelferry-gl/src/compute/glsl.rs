//! Compute shaders of the user's own.

use crate::compute::device::GlShaders;
use crate::queue::program::ComputeProgram;
use crate::queue::shape::ProgramShape;
use interop_core::{KernelSource, Language, PixelFormat, Result};
use std::sync::Arc;
use wgsl_kernel::shader::Writes;
use wgsl_kernel::{Dialect, GLSL_NUMBERS, KernelText, TextError, glsl_prelude, glsl_texture_prelude};

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

/// Returns what a source's GLSL says of the kernel, and its program for RGBA8.
pub fn read(
    shaders: &GlShaders,
    source: &KernelSource,
) -> Result<Option<(KernelText, (), Option<Arc<ComputeProgram>>)>> {
    let Some(text) = source.text(Language::Glsl)? else { return Ok(None) };
    let limits = &shaders.session.limits;
    let whole = whole(text, PixelFormat::Rgba8, Writes::Memory, shaders.dialect());
    let whole = whole.map_err(|error| limits.refused(source.name(), error))?;
    let (shape, program) = shaders.program(source.name(), whole, |program| program.shape(GLSL_NUMBERS))?;
    let memories = memories(&shape).map_err(|log| limits.refused(source.name(), log))?;
    let text = KernelText::told(source, Some(text), memories, shape.group, limits)?;
    Ok(Some((text, (), Some(program))))
}

/// Bytes of each memory among the arguments; the reason where a launch binds less than the program uses.
fn memories(shape: &ProgramShape) -> Result<Vec<u64>, String> {
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
