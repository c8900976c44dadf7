//! Translation of texts to GLSL, for compute shaders of OpenGL 4.3 and OpenGL ES 3.1.

use crate::guard::{TextError, with_room};
use crate::index_bounds::{CAPABILITIES, bounded};
use crate::limits::Limits;
use crate::prelude::{BluePosition, with_prelude, with_texture};
use crate::text::KernelText;
use interop_core::{KernelSource, Language, PixelFormat};
use naga::back::glsl::{Options, PipelineOptions, Version, Writer, WriterFlags};
use naga::proc::BoundsCheckPolicies;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{AddressSpace, ResourceBinding, ShaderStage};

/// Name of a launch's numbers in the output of [`glsl`]: naga's name for the immediates of a compute shader.
pub const GLSL_NUMBERS: &str = "_immediates_binding_cs";

/// The GLSL dialect of the output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// OpenGL 4.3: `430 core`.
    Desktop,
    /// OpenGL ES 3.1: `310 es`.
    Es,
}

impl Dialect {
    /// Returns the version and profile for `#version`.
    pub const fn version(self) -> &'static str {
        match self {
            Self::Desktop => "430 core",
            Self::Es => "310 es",
        }
    }

    const fn of_naga(self) -> Version {
        match self {
            Self::Desktop => Version::Desktop(430),
            Self::Es => Version::new_gles(310),
        }
    }
}

/// Translates a whole text, whose bindings are those of the crate, to GLSL of this dialect, with every index checked.
///
/// Storage block 0 is the target; block n + 1 is memory n among the arguments. The launch's numbers are the array of
/// `uvec4` named [`GLSL_NUMBERS`]: setting a uniform needs no buffer, which would have to wait for the previous launch.
///
/// # Errors
/// The error in the text, with its line; a limit of [`crate::TextLimit`] that it exceeds.
pub fn glsl(text: &str, entry: &str, dialect: Dialect) -> Result<String, TextError> {
    with_room(|| written(text, entry, dialect))?
}

fn written(text: &str, entry: &str, dialect: Dialect) -> Result<String, TextError> {
    let (mut module, _) = bounded(text, entry)?;
    for (_, variable) in module.global_variables.iter_mut().filter(|(_, v)| v.space == AddressSpace::Uniform) {
        (variable.space, variable.binding) = (AddressSpace::Immediate, None);
    }
    let info = Validator::new(ValidationFlags::all(), CAPABILITIES | Capabilities::IMMEDIATES)
        .validate(&module)
        .map_err(|error| error.emit_to_string(text))?;
    let mut options = Options {
        version: dialect.of_naga(),
        writer_flags: WriterFlags::empty(),
        // The module already writes the zeros.
        zero_initialize_workgroup_memory: false,
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
    // The GLSL writer has no bounds checks; the module contains them.
    Writer::new(&mut written, &module, &info, &options, &pipeline, BoundsCheckPolicies::default())
        .and_then(|mut writer| writer.write())
        .map_err(|error| error.to_string())?;
    Ok(written)
}

/// A kernel that uses everything of the launch and the target: naga omits functions that its entry point cannot call.
const USER: &str = "@compute @workgroup_size(1) fn pf_none() {
  pf_store(vec2<u32>(0u), vec4<f32>(pf_arg_f32(0)));
  pf_put(0u, pf_get(0u));
}";

/// Functions whose names naga writes with a trailing underscore, because they end in a digit. OpenGL ES does not
/// convert `int` to `uint` implicitly.
const NUMBERED: &str = "#define pf_arg_u32(n) pf_arg_u32_(uint(n))
#define pf_arg_i32(n) pf_arg_i32_(uint(n))
#define pf_arg_f32(n) pf_arg_f32_(uint(n))
#define pf_get_f32(n) pf_get_f32_(uint(n))
#define pf_put_f32(n, value) pf_put_f32_(uint(n), value)
";

/// Returns the text that must precede a compute shader written by the user in GLSL: version, target, numbers, and the
/// functions of [`crate::PRELUDE`] with the same names, for targets of this format. The user's lines are counted from
/// 1.
///
/// # Errors
/// naga's message if it rejects them.
pub fn glsl_prelude(format: PixelFormat, dialect: Dialect) -> Result<String, TextError> {
    functions(&glsl(&with_prelude(USER, format), "pf_none", dialect)?)
}

/// Like [`glsl_prelude`], for targets that are textures of this format.
///
/// # Errors
/// The errors of [`glsl_prelude`].
pub fn glsl_texture_prelude(format: PixelFormat, dialect: Dialect) -> Result<String, TextError> {
    let user = USER.replace("pf_put(0u, pf_get(0u));", "");
    functions(&glsl(&with_texture(&user, format, BluePosition::Third), "pf_none", dialect)?)
}

/// Returns a text without its entry point.
fn functions(written: &str) -> Result<String, TextError> {
    let functions = written.split("void main()").next().unwrap_or_default();
    let is_group = |line: &&str| line.starts_with("layout(local_size_x");
    let mut text = String::with_capacity(written.len() + 256);
    for line in functions.lines().filter(|line| !is_group(line)) {
        text.push_str(line);
        text.push('\n');
    }
    Ok(text + NUMBERED + "#line 1\n")
}

/// Checks the WGSL of a source, if it has any, without a device.
///
/// # Errors
/// [`interop_core::Error::KernelBuild`] with the error in the text and its line.
pub fn check(source: &KernelSource) -> interop_core::Result<()> {
    if source.source(Language::Wgsl).is_none() {
        return Ok(());
    }
    let limits = Limits { device: "any device".into(), memories: usize::MAX, groups: u32::MAX, items: u32::MAX };
    let text = KernelText::of(source, &limits)?;
    text.glsl(PixelFormat::Rgba8, Dialect::Desktop).map(drop).map_err(|error| limits.refused(text.name(), error))
}

impl KernelText {
    /// Translates the kernel like [`glsl`], for targets of this format.
    ///
    /// # Errors
    /// The error in the text, with its line; a limit of [`crate::TextLimit`] that it exceeds.
    pub fn glsl(&self, format: PixelFormat, dialect: Dialect) -> Result<String, TextError> {
        glsl(&self.whole(format), self.name(), dialect)
    }

    /// Translates the kernel like [`glsl`], for targets that are textures of this format: image unit 0 replaces storage
    /// block 0.
    ///
    /// # Errors
    /// The errors of [`KernelText::glsl`].
    pub fn glsl_of_texture(&self, format: PixelFormat, dialect: Dialect) -> Result<String, TextError> {
        glsl(&self.of_texture(format, BluePosition::Third), self.name(), dialect)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{PATTERN, PatternEntry};

    #[test]
    fn every_format_has_its_text() {
        let text = "@group(1) @binding(0) var<storage, read> a: array<u32>;
                    @compute @workgroup_size(8, 8) fn paint(@builtin(global_invocation_id) id: vec3<u32>) {
                      pf_store(id.xy, vec4<f32>(f32(a[id.x]), pf_arg_f32(0), 0.0, 1.0)); }";
        let limits = Limits { device: "d".into(), memories: 8, groups: 100, items: 256 };
        let kernel = KernelText::of(&KernelSource::new("paint").wgsl(text), &limits).unwrap();
        for format in PixelFormat::ALL {
            let text = kernel.glsl(format, Dialect::Desktop).unwrap();
            assert!(text.contains("local_size_x = 8"), "{text}");
            for block in ["uniform uvec4 _immediates_binding_cs[10]", "std430, binding = 0", "std430, binding = 1"] {
                assert!(text.contains(block), "{format}: {text}");
            }
            assert!(text.contains(".length()"), "{text}");
        }
        for entry in [PatternEntry::Words, PatternEntry::Flat, PatternEntry::Bytes] {
            assert!(glsl(PATTERN, entry.name(), Dialect::Es).unwrap().contains("min("));
        }
    }

    #[test]
    fn a_text_is_read_without_a_device() {
        let source = |text: &'static str| KernelSource::new("k").wgsl(text);
        check(&source("@compute @workgroup_size(8) fn k() { pf_put(0u, 1u); }")).unwrap();
        check(&KernelSource::new("k")).unwrap();
        let error = check(&source("@compute @workgroup_size(8) fn k() { let a = 1 }")).unwrap_err().to_string();
        assert!(error.contains("any device") && error.contains("expected"), "{error}");
        let named = check(&source("@compute @workgroup_size(8) fn other() {}")).unwrap_err().to_string();
        assert!(named.contains("other"), "{named}");
    }

    #[test]
    fn textures_are_stored_to_by_texts_that_name_no_words() {
        let limits = Limits { device: "d".into(), memories: 8, groups: 100, items: 256 };
        let kernel = |body: &str| {
            let text = format!(
                "@compute @workgroup_size(8, 8) fn k(@builtin(global_invocation_id) id: vec3<u32>) {{ {body} }}"
            );
            KernelText::of(&KernelSource::new("k").wgsl(text), &limits).unwrap()
        };
        let paint = kernel("pf_store(id.xy, vec4<f32>(pf_arg_f32(0))); /* no pf_put */");
        for format in PixelFormat::ALL {
            for text in [
                paint.glsl_of_texture(format, Dialect::Desktop).unwrap(),
                glsl_texture_prelude(format, Dialect::Desktop).unwrap(),
            ] {
                assert!(text.contains(") writeonly uniform image2D") && text.contains("imageStore("), "{text}");
                assert!(!text.contains("buffer ") && !text.contains("pf_put("), "{text}");
            }
        }
        let words = kernel("pf_put(0u, 1u);");
        assert!(words.names_words() && !paint.names_words());
        assert!(words.glsl_of_texture(PixelFormat::Rgba8, Dialect::Desktop).is_err());
    }

    #[test]
    fn functions_of_the_prelude_are_there_without_an_entry_point() {
        for (format, dialect) in PixelFormat::ALL.iter().flat_map(|f| [Dialect::Desktop, Dialect::Es].map(|d| (*f, d)))
        {
            let text = glsl_prelude(format, dialect).unwrap();
            let names =
                ["uvec2 pf_size()", "void pf_store(uvec2", "uint pf_index(uvec3", "uint pf_get(uint", "void pf_put("];
            for name in names.iter().chain(&[
                "float pf_arg_f32_(",
                "float pf_exact(",
                "bool pf_inside(",
                "uint pf_items()",
                "uint pf_words()",
            ]) {
                assert!(text.contains(name), "{format}: no {name} in {text}");
            }
            assert!(text.starts_with(&format!("#version {}\n", dialect.version())), "{text}");
            assert!(!text.contains("main") && !text.contains("local_size"), "{text}");
        }
    }
}
