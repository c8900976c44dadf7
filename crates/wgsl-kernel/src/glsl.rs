//! Texts as GLSL, for compute shaders of OpenGL 4.3.

use crate::bounded::{CAPABILITIES, bounded};
use crate::text::KernelText;
use interop_core::PixelFormat;
use naga::back::glsl::{Options, PipelineOptions, Version, Writer, WriterFlags};
use naga::proc::BoundsCheckPolicies;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{AddressSpace, ResourceBinding, ShaderStage};

/// Of the numbers of a launch in what [`glsl`] writes: naga's name for such data of a compute shader.
pub const GLSL_NUMBERS: &str = "_immediates_binding_cs";

/// A whole text, whose bindings are those of the crate, as GLSL 4.30 in which every index is inside what it indexes.
///
/// Storage block 0 is the target; n + 1 is the n-th memory among the arguments. The launch's numbers are the array of `uvec4` named
/// [`GLSL_NUMBERS`]: setting a uniform needs no buffer, which would have to wait for the launch before.
///
/// # Errors
/// What is wrong in the text, by line.
pub fn glsl(text: &str, entry: &str) -> Result<String, String> {
    let (mut module, _) = bounded(text, entry)?;
    for (_, variable) in module.global_variables.iter_mut().filter(|(_, v)| v.space == AddressSpace::Uniform) {
        (variable.space, variable.binding) = (AddressSpace::Immediate, None);
    }
    let info = Validator::new(ValidationFlags::all(), CAPABILITIES | Capabilities::IMMEDIATES)
        .validate(&module)
        .map_err(|error| error.emit_to_string(text))?;
    let mut options = Options {
        version: Version::Desktop(430),
        writer_flags: WriterFlags::empty(),
        zero_initialize_workgroup_memory: true,
        ..Options::default()
    };
    for (_, variable) in module.global_variables.iter() {
        let Some(binding) = variable.binding else { continue };
        let ResourceBinding { group, binding: place } = binding;
        let block = group.saturating_add(place);
        let block = u8::try_from(block).map_err(|_| format!("binding {place} of group {group} is too large"))?;
        options.binding_map.insert(binding, block);
    }
    let pipeline =
        PipelineOptions { shader_stage: ShaderStage::Compute, entry_point: entry.to_owned(), multiview: None };
    let mut written = String::new();
    // The writer has no checks of its own: they are in the module.
    Writer::new(&mut written, &module, &info, &options, &pipeline, BoundsCheckPolicies::default())
        .and_then(|mut writer| writer.write())
        .map_err(|error| error.to_string())?;
    Ok(written)
}

impl KernelText {
    /// The kernel as [`glsl`] for targets of this format.
    ///
    /// # Errors
    /// What is wrong in the text, by line.
    pub fn glsl(&self, format: PixelFormat) -> Result<String, String> {
        glsl(&self.whole(format), self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Limits, PATTERN, PatternEntry};
    use interop_core::KernelSource;

    #[test]
    fn every_format_has_its_text() {
        let text = "@group(1) @binding(0) var<storage, read> a: array<u32>;
                    @compute @workgroup_size(8, 8) fn paint(@builtin(global_invocation_id) id: vec3<u32>) {
                      pf_store(id.xy, vec4<f32>(f32(a[id.x]), pf_arg_f32(0), 0.0, 1.0)); }";
        let limits = Limits { device: "d".into(), memories: 8, groups: 100 };
        let kernel = KernelText::of(&KernelSource::new("paint").wgsl(text), &limits).unwrap();
        for format in PixelFormat::ALL {
            let text = kernel.glsl(format).unwrap();
            assert!(text.contains("local_size_x = 8"), "{text}");
            for block in ["uniform uvec4 _immediates_binding_cs[10]", "std430, binding = 0", "std430, binding = 1"] {
                assert!(text.contains(block), "{format}: {text}");
            }
            assert!(text.contains(".length()"), "{text}");
        }
        for entry in [PatternEntry::Words, PatternEntry::Flat, PatternEntry::Bytes] {
            assert!(glsl(PATTERN, entry.name()).unwrap().contains("min("));
        }
    }
}
