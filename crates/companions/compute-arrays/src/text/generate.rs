//! Generates a C function from a program, and the macros by which the kernels' texts use it.

use super::{C, COMMON, literal, operator, type_name};
use crate::cpu::CpuProgram;
use crate::element::{Constant, ElementType};
use crate::expr::{Access, BoundProgram, Program, ProgramStep};
use std::fmt::Write as _;

/// Maximum number of elements for 32-bit indices: offsets that are added to an index stay below 2^31.
const NARROW: usize = 1 << 30;

/// A text under construction. Writing to a string cannot fail, so results of `write!` are ignored.
pub(crate) struct Text {
    dialect: C,
    text: String,
}

impl Text {
    /// Creates the macros for `len` elements of `result`, computed by `bound`.
    pub fn new(dialect: C, bound: &BoundProgram<'_>, result: ElementType, len: usize) -> Self {
        let furthest = bound.leaves.iter().filter_map(|leaf| leaf.layout.reach()).map(|(_, high)| high).max();
        Self::with(dialect, result, len.max(furthest.unwrap_or(0)), bound.program.uses(ElementType::F64))
    }

    /// Creates only the macros.
    pub fn with(dialect: C, result: ElementType, furthest: usize, doubles: bool) -> Self {
        let mut text = String::new();
        if doubles || result == ElementType::F64 {
            text += "#define PF_DOUBLES\n";
        }
        if furthest >= NARROW {
            text += "#define PF_WIDE\n";
        }
        text += COMMON;
        let _ = writeln!(text, "#define PF_T {}", type_name(result));
        Self { dialect, text }
    }

    pub fn define(mut self, name: &str, value: impl std::fmt::Display) -> Self {
        let _ = writeln!(self.text, "#define {name} {value}");
        self
    }

    pub fn append(mut self, text: &str) -> Self {
        self.text += text;
        self
    }

    pub fn finish(self) -> String {
        self.text
    }

    /// Appends `pf_map(i, ...)`, with `PF_PARAMS` and `PF_ARGS` (each begins with a comma) and `PF_MAP(i)` for
    /// elementwise kernels, whose target is `out`.
    pub fn map(mut self, bound: &BoundProgram<'_>) -> Self {
        let (program, constants) = (&bound.program, &bound.constants);
        let (mut params, mut args) = (String::new(), String::new());
        let mut param = |of_type: &str, name: String| {
            let _ = write!(params, ", {of_type} {name}");
            let _ = write!(args, ", {name}");
        };
        for (at, (kind, access)) in program.leaves.iter().enumerate() {
            param(&format!("PF_GLOBAL const {} *restrict", type_name(*kind)), format!("a{at}"));
            param("pf_i64", format!("a{at}_at"));
            if let Access::Strided(axes) = access {
                (1..*axes).for_each(|axis| param("pf_i64", format!("a{at}_n{axis}")));
                (0..*axes).for_each(|axis| param("pf_i64", format!("a{at}_s{axis}")));
            }
        }
        for (at, constant) in constants.iter().enumerate() {
            param(&type_name(constant.kind), format!("c{at}"));
        }
        let (old, old_value) = if program.uses_old() { (", const PF_T old", ", PF_ITEM(out, i)") } else { ("", "") };
        let _ = writeln!(self.text, "#define PF_PARAMS {params}\n#define PF_ARGS {args}");
        let _ = writeln!(self.text, "static PF_T pf_map(const pf_index i{old} PF_PARAMS) {{");
        let load = |leaf: usize, text: &mut String| {
            let (_, access) = &program.leaves[leaf];
            place(leaf, access, text)
        };
        let last = self.body(program, &load, &|at| format!("c{at}"));
        let _ = writeln!(self.text, "  return r{last};\n}}");
        let _ = writeln!(self.text, "#define PF_MAP(i) pf_map((i){old_value} PF_ARGS)");
        self
    }

    /// Appends the identity and the function of two values.
    pub fn monoid(mut self, (identity, definition): (Constant, &CpuProgram)) -> Self {
        let _ = writeln!(self.text, "static PF_T pf_identity(void) {{ return {}; }}", literal(identity));
        self.text += "static PF_T pf_combine(const PF_T a, const PF_T b) {\n";
        let load = |leaf: usize, _: &mut String| if leaf == 0 { "a".to_owned() } else { "b".to_owned() };
        let last = self.body(&definition.program, &load, &|at| literal(definition.constants[at]));
        let _ = writeln!(self.text, "  return r{last};\n}}");
        self
    }

    /// Appends `PF_WORD_OF(v)` and `PF_OF_WORD(w)`: a value's bits as the low ones of 64, and the reverse.
    pub fn words(self, kind: ElementType) -> Self {
        let (word_of, of_word) = match kind {
            ElementType::F32 => ("PF_OF_F32(v)", "PF_F32_OF(w)"),
            ElementType::F64 => ("PF_OF_F64(v)", "PF_F64_OF(w)"),
            _ => ("((pf_u64)(v))", "((PF_T)(w))"),
        };
        self.define("PF_WORD_OF(v)", word_of).define("PF_OF_WORD(w)", of_word)
    }

    /// Appends the steps; returns the number of the last.
    fn body(
        &mut self,
        program: &Program,
        load: &dyn Fn(usize, &mut String) -> String,
        constant: &dyn Fn(usize) -> String,
    ) -> usize {
        let dialect = self.dialect;
        let r = |reg: &usize| format!("r{reg}");
        for (at, (step, kind)) in program.steps.iter().enumerate() {
            let value = match step {
                ProgramStep::Load(leaf) => load(*leaf, &mut self.text),
                ProgramStep::Constant(number) => constant(*number),
                ProgramStep::Index => "(pf_u64)i".to_owned(),
                ProgramStep::Old => "old".to_owned(),
                ProgramStep::Unary(op, a) => operator::unary(dialect, *op, *kind, &r(a)),
                ProgramStep::Binary(op, a, b) => operator::binary(dialect, *op, program.kind_of(*a), &r(a), &r(b)),
                ProgramStep::Select(a, b, c) => format!("({} ? {} : {})", r(a), r(b), r(c)),
                ProgramStep::MulAdd(a, b, c) => operator::mul_add(dialect, *kind, &r(a), &r(b), &r(c)),
                ProgramStep::Cast(a) => operator::cast(program.kind_of(*a), *kind, &r(a)),
            };
            let _ = writeln!(self.text, "  const {} r{at} = {value};", type_name(*kind));
        }
        program.steps.len().saturating_sub(1)
    }
}

/// Returns the element of a leaf; statements that compute its position are appended before.
fn place(leaf: usize, access: &Access, text: &mut String) -> String {
    let Access::Strided(axes) = access else { return format!("a{leaf}[(pf_index)a{leaf}_at + i]") };
    let _ = writeln!(text, "  pf_index p{leaf} = (pf_index)a{leaf}_at, q{leaf} = i;");
    for axis in (1..*axes).rev() {
        let _ = writeln!(
            text,
            "  p{leaf} += q{leaf} % (pf_index)a{leaf}_n{axis} * (pf_index)a{leaf}_s{axis}; \
             q{leaf} /= (pf_index)a{leaf}_n{axis};"
        );
    }
    format!("a{leaf}[p{leaf} + q{leaf} * (pf_index)a{leaf}_s0]")
}
