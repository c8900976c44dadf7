//! Conversion of callers' structs and names into values of pixelferry.

use crate::abi::*;
use crate::boundary::{array, optional_text, structure, text};
use crate::convert::OptionTexts;
use crate::failure::Result;
use crate::sources::HostFunction;
use pixelferry::{BackendChoice, Choice as _, DisplayChoice, KernelSource, Language};
use std::ffi::c_char;

/// A kernel's texts and function.
///
/// # Safety
/// The header's promises for `pf_kernel_source`.
pub unsafe fn source(given: *const pf_kernel_source) -> Result<KernelSource> {
    // SAFETY: the caller's promise, here and below.
    unsafe {
        let given = structure(given)?;
        let mut source = KernelSource::new(text(given.name, "pf_kernel_source.name")?.to_owned());
        let texts = [
            (Language::OpenClC, given.opencl_c, "pf_kernel_source.opencl_c"),
            (Language::CudaCpp, given.cuda_cpp, "pf_kernel_source.cuda_cpp"),
            (Language::Ptx, given.ptx, "pf_kernel_source.ptx"),
            (Language::Wgsl, given.wgsl, "pf_kernel_source.wgsl"),
            (Language::Glsl, given.glsl, "pf_kernel_source.glsl"),
        ];
        for (language, text, what) in texts {
            if let Some(text) = optional_text(text, what)? {
                source = source.with_text(language, text.to_owned());
            }
        }
        if let Some(host) = HostFunction::new(given.host, given.host_user) {
            source = host.add_to(source);
        }
        Ok(if given.items == 0 { source } else { source.with_items(given.items) })
    }
}

/// The sources of all the kernels that C names.
///
/// # Safety
/// The header's promises for arrays of `pf_kernel_source`.
pub unsafe fn sources(first: *const *const pf_kernel_source, count: usize) -> Result<Vec<KernelSource>> {
    // SAFETY: the caller's promise.
    unsafe { array(first, count, "kernels")?.iter().map(|given| source(*given)).collect() }
}

/// A name, or null for `auto`.
///
/// # Safety
/// The header's promise for texts.
pub unsafe fn backend_choice(name: *const c_char) -> Result<BackendChoice> {
    // SAFETY: the caller's promise.
    let name = unsafe { optional_text(name, "backend") }?;
    Ok(name.map(BackendChoice::parse).transpose()?.unwrap_or_default())
}

/// A name, or null for `auto`.
///
/// # Safety
/// The header's promise for texts.
pub unsafe fn display_choice(name: *const c_char) -> Result<DisplayChoice> {
    // SAFETY: the caller's promise.
    let name = unsafe { optional_text(name, "display") }?;
    Ok(name.map(DisplayChoice::parse).transpose()?.unwrap_or_default())
}

/// Returns what is named in options.
///
/// # Safety
/// The header's promise for the texts of `pf_link_options`.
pub unsafe fn option_texts<'a>(options: &pf_link_options) -> Result<OptionTexts<'a>> {
    // SAFETY: the caller's promise.
    unsafe {
        Ok(OptionTexts {
            path: optional_text(options.path, "pf_link_options.path")?,
            prefer: optional_text(options.prefer, "pf_link_options.prefer")?,
            profiles: optional_text(options.profiles, "pf_link_options.profiles")?,
        })
    }
}
