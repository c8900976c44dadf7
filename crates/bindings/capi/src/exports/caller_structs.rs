//! Converts callers' structs and names to values of pixelferry.

use crate::abi::*;
use crate::boundary::{array, optional_structure, optional_text, structure, text};
use crate::failure::{Failure, Result};
use crate::handles::Handle as _;
use crate::sources::HostFunction;
use pixelferry::{
    BackendChoice, DisplayChoice, InitialContent, KernelSource, Language, LinkBuilder, Policy, Scratch,
    command::ApiChoice as _,
};
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

/// An argument to measure a kernel by.
///
/// # Safety
/// The header's promises for `pf_launch.args`.
unsafe fn scratch(at: usize, arg: &pf_arg) -> Result<Scratch> {
    // SAFETY: the kind says which member the caller set, and every bit pattern is a number.
    unsafe {
        Ok(match arg.kind {
            PIXELFERRY_ARG_I32 => Scratch::I32(arg.value.i32),
            PIXELFERRY_ARG_U32 => Scratch::U32(arg.value.u32),
            PIXELFERRY_ARG_F32 => Scratch::F32(arg.value.f32),
            PIXELFERRY_ARG_I64 => Scratch::I64(arg.value.i64),
            PIXELFERRY_ARG_U64 => Scratch::U64(arg.value.u64),
            PIXELFERRY_ARG_F64 => Scratch::F64(arg.value.f64),
            PIXELFERRY_ARG_MEMORY => {
                let bytes = usize::try_from(arg.bytes)
                    .map_err(|_| Failure::argument(format!("args[{at}].bytes is {}, which is too large", arg.bytes)))?;
                match arg.value.host.cast::<u8>() {
                    nothing if nothing.is_null() => Scratch::Memory(InitialContent::Zeros(bytes)),
                    content => {
                        Scratch::Memory(InitialContent::Bytes(array(content, bytes, "pf_arg.value.host")?.to_vec()))
                    }
                }
            }
            kind => {
                return Err(Failure::argument(format!(
                    "args[{at}].kind is {kind}, which is not a PIXELFERRY_ARG_ value"
                )));
            }
        })
    }
}

/// Converts the caller's description of its frames.
///
/// # Safety
/// The header's promises for `pf_frames`.
pub unsafe fn builder(given: &pf_frames) -> Result<LinkBuilder> {
    // SAFETY: the caller's promise.
    unsafe {
        let policy = policy(given.options)?;
        let mut builder = LinkBuilder::new(structure(given.surface)?.desc()?)
            .backend(backend_choice(given.backend)?)
            .display(display_choice(given.display)?)
            .policy(policy);
        for launch in array(given.launches, given.launch_count, "pf_frames.launches")? {
            let args = array(launch.args, launch.arg_count, "pf_launch.args")?.iter().enumerate();
            let args = args.map(|(at, arg)| scratch(at, arg)).collect::<Result<Vec<_>>>()?;
            builder = builder.launch(&source(launch.source)?, args);
        }
        Ok(if given.shown_by.is_null() {
            builder
        } else {
            builder.shown_by(&pf_display::get(given.shown_by)?.display())
        })
    }
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

/// Reads the options for choosing a path; null means the default.
///
/// # Safety
/// The header's promises for `pf_link_options`.
pub unsafe fn policy(options: *const pf_link_options) -> Result<Policy> {
    // SAFETY: the caller's promise.
    unsafe {
        let options = optional_structure(options)?;
        let path = optional_text(options.path, "pf_link_options.path")?;
        let prefer = optional_text(options.prefer, "pf_link_options.prefer")?;
        options.policy([path, prefer], optional_text(options.profiles, "pf_link_options.profiles")?)
    }
}
