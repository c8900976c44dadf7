//! Texts in GLSL as WGSL.

use crate::by_copy::copy_components;
use crate::depth::depth;
use crate::guard::{TextError, TextLimit, with_room};
use crate::sized::size_arrays;
use naga::back::wgsl::{WriterFlags, write_string};
use naga::front::glsl::{Frontend, Options};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{Module, ShaderStage};

/// The functions and variables of a compute shader in GLSL (`#version 450 core`), as WGSL without its entry point: another follows, in
/// WGSL. Variables of set 1 are memories among the arguments, with the bindings that [`crate`] describes. Names that end in a digit, or
/// stand for several functions, come with more behind them.
///
/// The translator is younger than the rest of naga, and may panic: whoever reads texts of others calls it where that harms nobody.
///
/// # Errors
/// What naga does not read, by line; [`TextLimit::Bytes`] and [`TextLimit::Depth`].
pub fn from_glsl(text: &str) -> Result<String, TextError> {
    TextLimit::Bytes.check(text.len() as u64)?;
    TextLimit::Depth.check(depth(text))?;
    with_room(|| {
        let mut module = Frontend::default()
            .parse(&Options::from(ShaderStage::Compute), text)
            .map_err(|errors| errors.emit_to_string(text))?;
        module.entry_points.clear();
        size_arrays(&mut module);
        let validate = |module: &Module| {
            let info = Validator::new(ValidationFlags::all(), Capabilities::all()).validate(module);
            info.map_err(|error| error.emit_to_string(text))
        };
        let mut info = validate(&module)?;
        if copy_components(&mut module, &info) {
            info = validate(&module)?;
        }
        write_string(&module, &info, WriterFlags::empty()).map_err(|error| TextError::from(error.to_string()))
    })?
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Dialect, glsl};

    #[test]
    fn what_is_translated_is_a_text_again() {
        let text = "#version 450 core
layout(std430, set = 1, binding = 0) readonly buffer Table { vec4 table[]; };
#define TWICE(x) (2.0 * (x))
float time;
vec4 at(int n) { return table[n]; }
vec4 paint(vec2 place, float now) { time = now; return at(int(place.x)) * TWICE(time); }
void main() {}";
        let wgsl = from_glsl(text).unwrap();
        let entry = "@compute @workgroup_size(1) fn k(@builtin(global_invocation_id) id: vec3<u32>) {
            let c = paint(vec2<f32>(id.xy), 2.0); }";
        glsl(&format!("{wgsl}{entry}"), "k", Dialect::Desktop).unwrap();
        let error = from_glsl("#version 450 core\nvoid main() {\n  x = 1;\n}").unwrap_err().to_string();
        assert!(error.contains("glsl:3:"), "{error}");
        let deep = format!("#version 450 core\nvoid main() {{ {}1{}; }}", "(".repeat(9999), ")".repeat(9999));
        assert!(matches!(from_glsl(&deep), Err(TextError::Beyond { .. })));
    }
}
