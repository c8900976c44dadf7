//! Bounds checks in texts, independent of the driver.
//!
//! naga's SPIR-V, HLSL and MSL writers check indices; its GLSL writer does not (30.0). It leaves that to the driver,
//! but drivers check only in contexts created for it, and never check arrays in registers. Therefore this module
//! inserts the checks into the program.

use crate::guard::{TextError, parsed, weighed, with_room};
use crate::rebuild::{Index, IndexLimit, Last, rebuilt};
use naga::proc::IndexableLength;
use naga::valid::{Capabilities, FunctionInfo, ModuleInfo, ValidationFlags, Validator};
use naga::{Expression, Function, Handle, Module, ScalarKind};

/// Capabilities that every device has: halves are read and written as floats. Code that binds a storage texture must
/// check the capabilities of such textures itself.
pub const CAPABILITIES: Capabilities =
    Capabilities::SHADER_FLOAT16_IN_FLOAT32.union(Capabilities::STORAGE_TEXTURE_16BIT_NORM_FORMATS);

/// Parses a whole text and limits each index of an array, vector or matrix to the last element. A memory that ends in a
/// runtime-sized array must have at least that array's first element. The entry point begins with a loop that writes
/// the zeros which WGSL guarantees in workgroup memory, so the backend need not write them.
///
/// # Errors
/// The error in the text, with its line; a limit of [`crate::TextLimit`] that it exceeds.
pub fn bounded(text: &str, entry: &str) -> Result<(Module, ModuleInfo), TextError> {
    with_room(|| {
        let (module, info) = weighed(&parsed(text)?, text, entry, &[])?;
        let mut bounded = module.clone();
        for (handle, function) in module.functions.iter() {
            *bounded.functions.get_mut(handle) = limited(&module, function, &info[handle])?;
        }
        for (at, entry) in module.entry_points.iter().enumerate() {
            bounded.entry_points[at].function = limited(&module, &entry.function, info.get_entry_point(at))?;
        }
        let info = Validator::new(ValidationFlags::all(), CAPABILITIES).validate(&bounded);
        let info = info.map_err(|error| error.emit_to_string(text))?;
        Ok((bounded, info))
    })?
}

fn limited(module: &Module, function: &Function, info: &FunctionInfo) -> Result<Function, String> {
    let inner = |expression: Handle<Expression>| info[expression].ty.inner_with(&module.types);
    let last = |base| match inner(base).indexable_length(module) {
        Ok(IndexableLength::Known(length)) => Ok(Last::Known(length.saturating_sub(1))),
        Ok(IndexableLength::Dynamic) => Ok(Last::Asked),
        Err(error) => Err(error.to_string()),
    };
    let mut limits = Vec::with_capacity(function.expressions.len());
    for (_, expression) in function.expressions.iter() {
        limits.push(match *expression {
            Expression::Access { base, index } => {
                let signed = inner(index).scalar_kind() == Some(ScalarKind::Sint);
                let index = if signed { Index::Signed(index) } else { Index::Unsigned(index) };
                Some(IndexLimit { base, index, last: last(base)? })
            }
            // The validator checks constant indices of arrays with a known length.
            Expression::AccessIndex { base, index } if index > 0 => match last(base) {
                Ok(last @ Last::Asked) => Some(IndexLimit { base, index: Index::Constant(index), last }),
                // A structure's member has no length.
                Ok(Last::Known(_)) | Err(_) => None,
            },
            _ => None,
        });
    }
    rebuilt(function, &limits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Indices of the bounded program that are not the lesser of two numbers.
    fn unbounded(text: &str) -> usize {
        let (module, info) = bounded(text, "k").unwrap();
        let of = |function: &Function, info: &FunctionInfo| {
            let bare = function.expressions.iter().filter(|(_, expression)| match expression {
                Expression::Access { index, .. } => {
                    !matches!(function.expressions[*index], Expression::Math { fun: naga::MathFunction::Min, .. })
                }
                Expression::AccessIndex { base, index } => {
                    let inner = info[*base].ty.inner_with(&module.types);
                    let dynamic = inner.indexable_length(&module);
                    *index > 0 && matches!(dynamic, Ok(naga::proc::IndexableLength::Dynamic))
                }
                _ => false,
            });
            bare.count()
        };
        let functions = module.functions.iter().map(|(handle, function)| of(function, &info[handle]));
        let entries = module.entry_points.iter().enumerate();
        functions.sum::<usize>()
            + entries.map(|(at, entry)| of(&entry.function, info.get_entry_point(at))).sum::<usize>()
    }

    #[test]
    fn every_index_is_limited_wherever_it_stands() {
        let text = "
struct Many { head: u32, rest: array<vec4<f32>> }
@group(1) @binding(0) var<storage, read> many: Many;
@group(0) @binding(0) var<storage, read_write> all: array<atomic<u32>>;
@group(1) @binding(1) var<storage, read> whole: array<u32>;
var<workgroup> shared_: array<array<u32, 4>, 8>;
override factor = 3;
fn pick(p: ptr<function, array<i32, 5>>, at: i32) -> i32 { return (*p)[at] + factor; }
@compute @workgroup_size(8)
fn k(@builtin(global_invocation_id) id: vec3<u32>) {
  var local = array<i32, 5>();
  var m = mat4x4<f32>();
  let v = many.rest[id.x];
  for (var i = 0; i < 9; i++) {
    switch i { case 1: { local[i] = i; } case 2, 3: { local[i - 9] += 1; } default: { continue; } }
    if local[i] > 3 { break; } else { m[i][id.y] = v[i]; }
  }
  shared_[id.x][whole[id.y]] = whole[7];
  workgroupBarrier();
  let loaded = workgroupUniformLoad(&shared_[0][id.z]);
  let was = atomicAdd(&all[id.x + loaded], u32(pick(&local, i32(id.x))));
  let swapped = atomicCompareExchangeWeak(&all[1000], was, u32(m[2][3]));
  loop { continuing { break if swapped.exchanged || id.x / whole[id.x] > 0; } }
  return;
}";
        assert_eq!(unbounded(text), 0);
        let parsed = naga::front::wgsl::parse_str(text).unwrap();
        let accesses = |module: &Module| {
            let of =
                |f: &Function| f.expressions.iter().filter(|(_, e)| matches!(e, Expression::Access { .. })).count();
            module.functions.iter().map(|(_, f)| of(f)).sum::<usize>() + of(&module.entry_points[0].function)
        };
        // Those of before, constant indices of arrays whose length the text does not say, and two of the loop that writes zeroes.
        assert_eq!(accesses(&bounded(text, "k").unwrap().0), accesses(&parsed) + 2 + 2);
    }

    #[test]
    fn what_is_wrong_is_told_by_line() {
        let wrong = "@compute @workgroup_size(1)\nfn k() {\n  let a: u32 = 1.5;\n}";
        assert!(bounded(wrong, "k").unwrap_err().to_string().contains("3:"));
        let image = "@group(0) @binding(0) var t: texture_2d<f32>;
                     @compute @workgroup_size(1) fn k() { let a = textureLoad(t, vec2<i32>(0, 0), 0); }";
        assert!(bounded(image, "k").unwrap_err().to_string().contains("images"));
    }
}
