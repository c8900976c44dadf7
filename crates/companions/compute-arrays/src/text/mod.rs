//! Kernels as text.
//!
//! In OpenCL C and CUDA C++, the steps of an expression are one function in a common dialect, inside common kernels;
//! all backends give the same bits, because integers wrap through unsigned types and floats are never contracted. WGSL
//! has separate kernels, because it has no preprocessor. Its compilers may fuse sums and products and assume that there
//! is no NaN, so `pf_exact` separates operations by a number that is unknown to the compiler.

mod generate;
pub(crate) mod narrow;
mod operator;
mod parameters;
pub(crate) mod wgsl;

pub(crate) use generate::Text;
pub(crate) use parameters::{Parameter, parameters};

use crate::element::{Constant, ElementType};
use interop_core::{Arg, Language};

/// Language of the kernels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Dialect {
    C(C),
    Wgsl,
}

/// The two C-like languages, which share one text with a few macros.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum C {
    OpenCl,
    Cuda,
}

impl Dialect {
    pub const fn language(self) -> Language {
        match self {
            Self::C(C::OpenCl) => Language::OpenClC,
            Self::C(C::Cuda) => Language::CudaCpp,
            Self::Wgsl => Language::Wgsl,
        }
    }

    /// Returns a number of elements as a kernel's argument. WGSL has no wider type, and [`Arrays::check_count`] rejects
    /// larger numbers.
    ///
    /// [`Arrays::check_count`]: crate::Arrays::check_count
    pub const fn count(self, elements: usize) -> Arg<'static> {
        match self {
            Self::C(_) => Arg::U64(elements as u64),
            Self::Wgsl => Arg::U32(elements as u32),
        }
    }
}

pub(crate) const COMMON: &str = include_str!("common.h");
pub(crate) const ELEMENTWISE: &str = include_str!("elementwise.h");
pub(crate) const TREE: &str = include_str!("tree.h");
pub(crate) const REDUCE: &str = include_str!("reduce.h");
pub(crate) const REDUCE_RUNS: &str = include_str!("reduce_runs.h");
pub(crate) const SCAN: &str = include_str!("scan.h");
pub(crate) const TILE: &str = include_str!("tile.h");
pub(crate) const SCAN_THREE: &str = include_str!("scan_three.h");
pub(crate) const SCAN_STARTS: &str = include_str!("scan_starts.h");
pub(crate) const SCAN_RUNS: &str = include_str!("scan_runs.h");
pub(crate) const WARP: &str = include_str!("warp.h");
pub(crate) const ONE_PASS: &str = include_str!("one_pass.h");
pub(crate) const HISTOGRAM: &str = include_str!("histogram.h");
pub(crate) const PHILOX: &str = include_str!("philox.h");

/// Returns the macro in `common.h` for this type.
pub(crate) fn type_name(kind: ElementType) -> String {
    format!("pf_{kind}")
}

/// Returns a constant, exact to the bit.
pub(crate) fn literal(constant: Constant) -> String {
    let (bits, low) = (constant.bits, constant.bits as u32);
    match constant.kind {
        ElementType::F32 => format!("PF_BITS_F32({low:#x})"),
        ElementType::F64 => format!("PF_BITS_F64({bits:#x})"),
        kind => format!("(({})(({}){bits:#x}))", type_name(kind), if kind.bits() == 64 { "pf_u64" } else { "pf_u32" }),
    }
}
