//! Languages that kernels are written in.

use serde::Serialize;
use std::fmt;

/// Language of a kernel's source.
///
/// ```
/// use interop_core::Language;
///
/// assert_eq!(Language::OpenClC.to_string(), "OpenCL C");
/// assert_eq!(Language::Other("SPIR-V").to_string(), "SPIR-V");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Language {
    /// OpenCL C 1.2 or later, compiled by the driver.
    OpenClC,
    /// CUDA C++, compiled by NVRTC.
    CudaCpp,
    /// PTX assembly text.
    Ptx,
    /// WGSL. Its backend bounds-checks every memory access.
    Wgsl,
    /// GLSL of compute shaders, compiled by the driver of an OpenGL context.
    Glsl,
    /// A host function of the program, run on the CPU: a Rust closure (see the crate `cpu-fallback`), or C's
    /// `pf_kernel_source.host`.
    Rust,
    /// A language that this library does not know, under the name that its backend gives.
    #[serde(untagged)]
    Other(&'static str),
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::OpenClC => "OpenCL C",
            Self::CudaCpp => "CUDA C++",
            Self::Ptx => "PTX",
            Self::Wgsl => "WGSL",
            Self::Glsl => "GLSL",
            // The program may be written in any language.
            Self::Rust => "host functions",
            Self::Other(name) => name,
        })
    }
}
