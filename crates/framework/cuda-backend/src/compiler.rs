//! Compiles CUDA C++ to PTX.

use crate::error::no_compiler;
use crate::ffi::nvrtc::{Nvrtc, Outcome};
use interop_core::describe::words::c_text;
use interop_core::{Error, Result};

/// Kind of memory that kernels write. It selects the prelude's macros through a definition among the options of
/// `nvrtcCompileProgram`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Variant {
    /// Linear memory: buffers, and images with a row pitch. Adds no option.
    Linear,
    /// A texture's own memory, through a surface object (`cuSurfObjectCreate`). `PF_AT` is undefined.
    Surface,
}

/// PTX text (`nvrtcGetPTX`), and the name of its entry (C++ mangles names that are not `extern "C"`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ptx {
    /// The PTX text, for `cuModuleLoadDataEx`.
    pub text: String,
    /// Name of the kernel's entry in the PTX, from `nvrtcGetLoweredName`.
    pub entry: String,
}

/// Returns the text for `nvrtcCreateProgram`: the macros of [`interop_core::KernelSource`], the conversions of
/// [`interop_core::compute::CONVERT_SOURCE`], then `text` with its lines counted from 1.
pub fn translation_unit(text: &str) -> String {
    let (macros, conversions) = (include_str!("prelude.cuh"), interop_core::compute::CONVERT_SOURCE);
    format!("#line 1 \"pixelferry.cuh\"\n{macros}\n{conversions}\n#line 1 \"kernel.cu\"\n{text}\n")
}

/// Compiles the CUDA C++ kernel `name` to PTX for compute capability `architecture` (e.g. 90), or for the nearest older
/// one that the compiler supports (`nvrtcGetSupportedArchs`, `nvrtcCompileProgram`). Needs neither a GPU nor a driver.
/// [`translation_unit`] documents the text around `text`.
///
/// # Errors
/// [`Error::Unavailable`] where NVRTC is not installed; [`Error::KernelBuild`] with its log; [`Error::InvalidInput`]
/// for a zero byte in text or name; [`Error::Unsupported`] for a device older than all that the compiler supports.
pub fn compile_ptx(name: &str, text: &str, architecture: i32, variant: Variant) -> Result<Ptx> {
    let (unit, entry) = (c_text(&translation_unit(text))?, c_text(name)?);
    let nvrtc = Nvrtc::get().map_err(no_compiler)?;
    let device = || match nvrtc.version() {
        Ok((major, minor)) => format!("NVRTC {major}.{minor}"),
        Err(_) => "NVRTC".into(),
    };
    let known = nvrtc.architectures().map_err(|f| f.on(&device()))?;
    let target = known.iter().copied().filter(|a| *a <= architecture).max().ok_or_else(|| {
        Error::unsupported(
            device(),
            format!(
                "it compiles for compute capability {} and later, not {architecture}; use an older compiler, or PTX",
                known.first().copied().unwrap_or_default()
            ),
        )
    })?;
    let mut options = vec![
        format!("--gpu-architecture=compute_{target}"),
        "--device-as-default-execution-space".into(),
        // Suppresses the warning about unused functions: most kernels use few of the conversions.
        "--diag-suppress=177".into(),
    ];
    if variant == Variant::Surface {
        options.push("-DPF_SURFACE".into());
    }
    let options = options.into_iter().map(|option| c_text(&option)).collect::<Result<Vec<_>>>()?;
    match nvrtc.compile(&unit, &entry, &options).map_err(|f| f.on(&device()))? {
        Outcome::Ptx { text, entry } => Ok(Ptx { text, entry }),
        Outcome::Refused(log) => Err(Error::KernelBuild { kernel: name.to_owned(), device: device(), log }),
    }
}
