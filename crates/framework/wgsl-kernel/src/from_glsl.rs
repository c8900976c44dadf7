//! Translation of GLSL texts to WGSL.

use crate::array_sizes::size_arrays;
use crate::by_copy::copy_components;
use crate::depth::depth;
use crate::guard::{TextError, TextLimit, with_room};
use naga::back::wgsl::{WriterFlags, write_string};
use naga::front::glsl::{Frontend, Options};
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{Module, ShaderStage};

/// Translates the functions and variables of a compute shader in GLSL (`#version 450 core`) to WGSL, without its entry
/// point: the caller appends one in WGSL. Variables of set 1 are memories among the arguments, with the bindings that
/// [`crate`] describes. Names that end in a digit, and overloaded names, get a suffix.
///
/// naga's GLSL front end is less mature than the rest of naga, and may panic: call this for untrusted texts only where
/// a panic is contained.
///
/// # Errors
/// A construct that naga cannot read, with its line; [`TextLimit::Bytes`] and [`TextLimit::Depth`].
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

    #[test]
    fn functions_write_components_and_arrays_have_the_size_of_their_values() {
        let text = "#version 450 core
const float steps[] = float[](0.5, 0.25);
float more[] = float[](1.0, 2.0, 3.0);
float cut(inout float p, float by) { float c = floor(p / by); p = mod(p, by); return c; }
void both(out float a, inout float b) { a = b; b *= 2.0; }
vec3 paint(vec3 q, int n) {
    int last[] = int[](1, 2);
    vec4 four[2] = vec4[2](vec4(1.0), vec4(2.0));
    for (int i = 0; i < 3; i++) { if (i < n) cut(q[i], steps[n]); }
    both(q.z, q.x);
    cut(four[1].w, more[n]);
    return q + four[1].w + float(last[n]);
}
void main() {}";
        let wgsl = from_glsl(text).unwrap();
        let entry = "@compute @workgroup_size(1) fn k(@builtin(global_invocation_id) id: vec3<u32>) {
            let c = paint(vec3<f32>(id), 1); }";
        glsl(&format!("{wgsl}{entry}"), "k", Dialect::Desktop).unwrap();
        for sized in ["steps: array<f32, 2>", "more: array<f32, 3>", "last: array<i32, 2>"] {
            assert!(wgsl.contains(sized), "{wgsl}");
        }
    }
}
