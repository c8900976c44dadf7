//! Translation of texts to SPIR-V, for Vulkan 1.1.

use crate::guard::{TextError, parsed, weighed, with_room};
use crate::index_bounds::CAPABILITIES;
use naga::ShaderStage;
use naga::back::spv::{self, PipelineOptions, WriterFlags, ZeroInitializeWorkgroupMemoryMode};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};
use naga::valid::{Capabilities, ValidationFlags, Validator};

/// Translates a whole text to SPIR-V with every index checked. Groups become descriptor sets with the bindings of the
/// crate; the numbers are a uniform block, or push constants ([`crate::KernelText::by_immediates`]).
///
/// # Errors
/// The error in the text, with its line; a limit of [`crate::TextLimit`] that it exceeds.
pub fn spirv(text: &str, entry: &str) -> Result<Vec<u32>, TextError> {
    with_room(|| written(text, entry, &[], BoundsCheckPolicy::Restrict))?
}

/// [`spirv`] without checks: code that launches it must ensure that each index is in bounds. `constants` are values of
/// the text's overrides, by name.
///
/// # Errors
/// Those of [`spirv`].
pub fn trusted_spirv(text: &str, entry: &str, constants: &[(&str, f64)]) -> Result<Vec<u32>, TextError> {
    with_room(|| written(text, entry, constants, BoundsCheckPolicy::Unchecked))?
}

fn written(
    text: &str,
    entry: &str,
    constants: &[(&str, f64)],
    inside: BoundsCheckPolicy,
) -> Result<Vec<u32>, TextError> {
    let (module, _) = weighed(&parsed(text)?, text, entry, constants)?;
    let info = Validator::new(ValidationFlags::all(), CAPABILITIES | Capabilities::IMMEDIATES)
        .validate(&module)
        .map_err(|error| error.emit_to_string(text))?;
    let options = spv::Options {
        lang_version: (1, 3),
        flags: WriterFlags::empty(),
        bounds_check_policies: BoundsCheckPolicies {
            index: inside,
            buffer: inside,
            image_load: inside,
            binding_array: inside,
        },
        // The module already writes the zeros.
        zero_initialize_workgroup_memory: ZeroInitializeWorkgroupMemoryMode::None,
        ..spv::Options::default()
    };
    let pipeline = PipelineOptions { shader_stage: ShaderStage::Compute, entry_point: entry.to_owned() };
    let words = spv::write_vec(&module, &info, &options, Some(&pipeline));
    Ok(words.map_err(|error| error.to_string())?)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::prelude::{BluePosition, by_immediates, with_prelude, with_texture};
    use interop_core::PixelFormat;

    #[test]
    fn every_format_is_written_for_memory_and_for_textures() {
        let text = "@compute @workgroup_size(8) fn k() { pf_store(vec2<u32>(0u), vec4<f32>(pf_arg_f32(0))); }";
        for format in PixelFormat::ALL {
            let whole = [with_prelude(text, format), with_texture(text, format, BluePosition::Third)];
            let pushed = whole.each_ref().map(|whole| by_immediates(whole, 3));
            for whole in whole.into_iter().chain(pushed) {
                let words = spirv(&whole, "k").unwrap();
                assert_eq!(words[..2], [0x0723_0203, 0x0001_0300], "{format}");
            }
        }
        let wrong =
            spirv("@compute @workgroup_size(1)\nfn k() {\n  let a: u32 = 1.5;\n}", "k").unwrap_err().to_string();
        assert!(wrong.contains("3:"), "{wrong}");
    }
}
