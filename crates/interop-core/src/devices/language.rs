//! Languages that kernels are written in.

use serde::Serialize;
use std::fmt;

/// The language of one source of a kernel.
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
    /// PTX text.
    Ptx,
    /// WGSL, whose every access to memory its backend checks.
    Wgsl,
    /// GLSL of compute shaders, compiled by the driver of an OpenGL context.
    Glsl,
    /// A function of the program's own, run on the CPU: a Rust closure (see the crate `cpu-fallback`), or C's `pf_kernel_source.host`.
    Rust,
    /// One that this library does not know, by the name that its backend gives it.
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
            // Whatever the program is written in.
            Self::Rust => "host functions",
            Self::Other(name) => name,
        })
    }
}
