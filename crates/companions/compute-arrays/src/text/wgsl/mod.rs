//! Kernels in WGSL. It has no preprocessor: kernels differ in types, constants and functions, which WGSL allows in any
//! order, so texts are composed of whole functions.

mod operator;
mod parts;

use super::narrow::{MOST_NUMBERS, place};
use super::parameters::{Parameter, ordered};
use crate::cpu::CpuProgram;
use crate::element::{Constant, ElementType};
use crate::expr::{Access, BoundProgram, Program, ProgramStep};
pub(crate) use parts::TextPart;
use std::collections::BTreeSet;
use std::fmt::Write as _;

pub(crate) const ELEMENTWISE: &str = include_str!("elementwise.wgsl");
pub(crate) const REDUCE: &str = include_str!("reduce.wgsl");
pub(crate) const REDUCE_VALUES: &str = include_str!("reduce_values.wgsl");
pub(crate) const REDUCE_PLACES: &str = include_str!("reduce_places.wgsl");
pub(crate) const SCAN: &str = include_str!("scan.wgsl");
pub(crate) const SCAN_TILES: &str = include_str!("scan_tiles.wgsl");
pub(crate) const SCAN_ITEMS: &str = include_str!("scan_items.wgsl");
pub(crate) const SCAN_OWN: &str = include_str!("scan_own.wgsl");
pub(crate) const SCAN_STARTS: &str = include_str!("scan_starts.wgsl");
pub(crate) const SCAN_TOTALS: &str = include_str!("scan_totals.wgsl");
pub(crate) const SCAN_OUT: &str = include_str!("scan_out.wgsl");
pub(crate) const HISTOGRAM: &str = include_str!("histogram.wgsl");
pub(crate) const PHILOX: &str = include_str!("philox.wgsl");
pub(crate) const UNIFORM: &str = include_str!("uniform.wgsl");
pub(crate) const NORMAL: &str = include_str!("normal.wgsl");

/// Returns the WGSL type; an index, which has 64 bits elsewhere, has the type of counts.
const fn type_name(kind: ElementType) -> &'static str {
    match kind {
        ElementType::F32 => "f32",
        ElementType::I32 => "i32",
        ElementType::Bool => "bool",
        ElementType::U32 | ElementType::F64 | ElementType::I64 | ElementType::U64 => "u32",
    }
}

/// Returns a constant, exact to the bit. Compilers must not see the number: they reject overflow, infinity and NaN in
/// constants.
fn literal(constant: Constant) -> String {
    let bits = constant.bits as u32;
    match constant.kind {
        ElementType::F32 => format!("pf_float({bits:#x}u)"),
        ElementType::I32 => format!("bitcast<i32>({bits:#x}u ^ pf_zero())"),
        ElementType::Bool => format!("({bits:#x}u != pf_zero())"),
        _ => format!("({bits:#x}u ^ pf_zero())"),
    }
}

/// Returns a number of the launch.
fn argument(kind: ElementType, at: usize) -> String {
    match kind {
        ElementType::F32 => format!("pf_arg_f32({at}u)"),
        ElementType::I32 => format!("pf_arg_i32({at}u)"),
        ElementType::Bool => format!("(pf_arg_i32({at}u) != 0)"),
        _ => format!("pf_arg_u32({at}u)"),
    }
}

/// A text under construction. Writing to a string cannot fail, so results of `write!` are ignored.
pub(crate) struct Wgsl {
    text: String,
    parts: BTreeSet<TextPart>,
}

impl Wgsl {
    /// Creates a text with `PfT`, a value's bits (`pf_bits`) and a value from bits (`pf_of_bits`).
    pub fn new(result: ElementType) -> Self {
        let name = type_name(result);
        let mut text = String::new();
        let _ = writeln!(text, "alias PfT = {name};");
        let _ = writeln!(text, "fn pf_bits(value: PfT) -> u32 {{ return bitcast<u32>(value); }}");
        let _ = writeln!(text, "fn pf_of_bits(bits: u32) -> PfT {{ return bitcast<{name}>(bits); }}");
        Self { text, parts: BTreeSet::from([TextPart::Common]) }
    }

    pub fn define(mut self, name: &str, value: usize) -> Self {
        let _ = writeln!(self.text, "const {name} = {value}u;");
        self
    }

    pub fn append(mut self, text: &str) -> Self {
        self.text += text;
        self
    }

    pub fn need(mut self, part: TextPart) -> Self {
        part.with_its_own(&mut self.parts);
        self
    }

    pub fn finish(mut self) -> String {
        for part in self.parts {
            self.text += part.text();
        }
        self.text
    }

    /// Appends `pf_map(i)`. `memories` and `numbers`: how many of each the kernel has before those of the expression.
    pub fn map(mut self, bound: &BoundProgram<'_>, memories: usize, numbers: usize) -> Self {
        let program = &bound.program;
        for (at, (kind, _)) in program.leaves.iter().enumerate() {
            let (binding, name) = (memories + at, type_name(*kind));
            let _ = writeln!(self.text, "@group(1) @binding({binding}) var<storage, read> a{at}: array<{name}>;");
        }
        let numbers: Vec<String> = ordered(bound, place)
            .into_iter()
            .filter_map(|parameter| match parameter {
                Parameter::Leaf(_) => None,
                Parameter::Number(constant) => Some(constant),
            })
            .enumerate()
            .map(|(at, constant)| match numbers + at {
                at if at < MOST_NUMBERS => argument(constant.kind, at),
                _ => literal(constant),
            })
            .collect();
        let mut numbers = numbers.into_iter();
        let mut next = || numbers.next().unwrap_or_default();
        let mut places = Vec::new();
        let _ = writeln!(self.text, "fn pf_map(i: u32) -> PfT {{");
        for (at, (_, access)) in program.leaves.iter().enumerate() {
            places.push(element(at, access, &mut next, &mut self.text));
        }
        let constants: Vec<String> = bound.constants.iter().map(|_| next()).collect();
        let last = self.body(program, &|leaf| places[leaf].clone(), &|at| constants[at].clone());
        let _ = writeln!(self.text, "  return r{last};\n}}");
        self
    }

    /// Appends `pf_identity()` and `pf_combine(a, b)`.
    pub fn monoid(mut self, (identity, definition): (Constant, &CpuProgram)) -> Self {
        let _ = writeln!(self.text, "fn pf_identity() -> PfT {{ return {}; }}", literal(identity));
        self.text += "fn pf_combine(a: PfT, b: PfT) -> PfT {\n";
        let side = |leaf| if leaf == 0 { "a".to_owned() } else { "b".to_owned() };
        let last = self.body(&definition.program, &side, &|at| literal(definition.constants[at]));
        let _ = writeln!(self.text, "  return r{last};\n}}");
        self
    }

    /// Appends `pf_same(v, w)` and `pf_better(v, w)`: the smaller (`<`) or the larger value is better, and a number is
    /// better than a NaN.
    pub fn better(mut self, kind: ElementType, sign: &str) -> Self {
        let (same, first) = match kind {
            ElementType::F32 => (
                "select(pf_equal(v, w), pf_is_nan(w), pf_is_nan(v))",
                "  if (pf_is_nan(w)) { return true; }\n  if (pf_is_nan(v)) { return false; }\n",
            ),
            _ => ("v == w", ""),
        };
        let _ = writeln!(self.text, "fn pf_same(v: PfT, w: PfT) -> bool {{ return {same}; }}");
        let _ = writeln!(self.text, "fn pf_better(v: PfT, w: PfT) -> bool {{\n{first}  return v {sign} w;\n}}");
        self.need(TextPart::Floats)
    }

    /// Appends the steps; returns the number of the last.
    fn body(&mut self, program: &Program, load: &dyn Fn(usize) -> String, constant: &dyn Fn(usize) -> String) -> usize {
        let r = |reg: &usize| format!("r{reg}");
        // An index has 32 bits here, and takes the type to which it is cast.
        let kind_of = |reg: usize| match program.kind_of(reg) {
            ElementType::U64 => ElementType::U32,
            kind => kind,
        };
        for (at, (step, kind)) in program.steps.iter().enumerate() {
            let (value, part) = match step {
                ProgramStep::Load(leaf) => (load(*leaf), TextPart::Common),
                ProgramStep::Constant(number) => (constant(*number), TextPart::Common),
                ProgramStep::Index => ("i".to_owned(), TextPart::Common),
                ProgramStep::Old => ("pf_of_bits(pf_get(i))".to_owned(), TextPart::Common),
                ProgramStep::Unary(op, a) => operator::unary(*op, *kind, &r(a)),
                ProgramStep::Binary(op, a, b) => operator::binary(*op, kind_of(*a), &r(a), &r(b)),
                ProgramStep::Select(a, b, c) => (format!("select({}, {}, {})", r(c), r(b), r(a)), TextPart::Common),
                ProgramStep::MulAdd(a, b, c) => (format!("pf_fma({}, {}, {})", r(a), r(b), r(c)), TextPart::Fma),
                ProgramStep::Cast(a) => operator::cast(kind_of(*a), *kind, &r(a)),
            };
            part.with_its_own(&mut self.parts);
            let _ = writeln!(self.text, "  let r{at} = {value};");
        }
        program.steps.len().saturating_sub(1)
    }
}

/// Returns the element of a leaf; statements that compute its position are appended before.
fn element(leaf: usize, access: &Access, next: &mut dyn FnMut() -> String, text: &mut String) -> String {
    let first = next();
    let Access::Strided(axes) = access else { return format!("a{leaf}[{first} + i]") };
    let sides: Vec<String> = (1..*axes).map(|_| next()).collect();
    let strides: Vec<String> = (0..*axes).map(|_| next()).collect();
    let _ = writeln!(text, "  var p{leaf} = {first};\n  var q{leaf} = i;");
    for (side, stride) in sides.iter().zip(strides.iter().skip(1)).rev() {
        let _ = writeln!(text, "  p{leaf} += q{leaf} % {side} * {stride};\n  q{leaf} /= {side};");
    }
    let outer = strides.first().map_or("0u", String::as_str);
    format!("a{leaf}[p{leaf} + q{leaf} * {outer}]")
}
