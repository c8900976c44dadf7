//! OpenCL C as PTX, which NVIDIA's compiler makes of it, for another driver that loads such text.

use crate::cl::{Context, Device, Program};
use crate::device::OpenClDevice;
use crate::source::{for_addresses, users_log};
use interop_core::compute::SourceCode;
use interop_core::{DeviceIdentity, Error, KernelSource, Language, Result};
use std::borrow::Cow;

/// Compiles the OpenCL C of a source with the OpenCL driver of an NVIDIA GPU (`CL_PROGRAM_BINARIES`), for launches without
/// OpenCL: the source that comes back has PTX, whose first parameters are those that CUDA's `PF_IMAGE` and `PF_BUFFER` have.
/// Blocks, and makes a context for as long as it compiles.
///
/// Such a launch has no global offset: where the text reads one (`%envreg3` to `%envreg5`), it reads 0.
///
/// # Errors
/// [`Error::Unsupported`] where the source has no OpenCL C, no OpenCL driver drives this GPU, or the kernel asks for what only
/// an OpenCL launch sets (its number of dimensions, say); [`Error::KernelBuild`] with the log.
pub fn ptx(source: &KernelSource, gpu: &DeviceIdentity) -> Result<KernelSource> {
    let name = source.name().to_owned();
    let unsupported = |reason: String| Error::unsupported(gpu.to_string(), reason);
    let Some(SourceCode::Text(text)) = source.source(Language::OpenClC) else {
        return Err(unsupported(format!("kernel '{name}' has no OpenCL C (its languages: {})", source.languages())));
    };
    if text.contains("printf") {
        // It compiles, and what it prints is lost.
        return Err(unsupported(format!("kernel '{name}' calls printf, which only a launch of OpenCL prints")));
    }
    let device = device_of(gpu)?.ok_or_else(|| unsupported("no OpenCL driver that makes PTX drives it".into()))?;
    let context = Context::new(std::slice::from_ref(&device))?;
    // SAFETY: `KernelSource::with_text` had the caller's word for the text.
    let program = unsafe { Program::build(&context, &for_addresses(text), "") }.map_err(|error| match error {
        Error::KernelBuild { device, log, .. } => {
            Error::KernelBuild { kernel: name.clone(), device, log: users_log(log) }
        }
        other => other,
    })?;
    let binary = program.driver_binaries()?.into_iter().next().map(|(_, binary)| binary).unwrap_or_default();
    let text = String::from_utf8(binary).map_err(|_| unsupported("its OpenCL driver gives no text".into()))?;
    let text = without_offsets(text.trim_end_matches('\0')).map_err(unsupported)?;
    // SAFETY: the same kernel, for which the caller gave their word.
    let made = unsafe { KernelSource::new(name).ptx(text) };
    Ok(match source.items() {
        Some(items) => made.with_items(items),
        None => made,
    })
}

/// The source itself where it has PTX, CUDA C++ or no OpenCL C, else what [`ptx`] makes of it.
///
/// # Errors
/// Those of [`ptx`].
pub fn with_ptx<'s>(source: &'s KernelSource, gpu: &DeviceIdentity) -> Result<Cow<'s, KernelSource>> {
    let direct = [Language::Ptx, Language::CudaCpp].into_iter().any(|language| source.source(language).is_some());
    if direct || source.source(Language::OpenClC).is_none() {
        return Ok(Cow::Borrowed(source));
    }
    ptx(source, gpu).map(Cow::Owned)
}

/// NVIDIA's device that is this GPU.
fn device_of(gpu: &DeviceIdentity) -> Result<Option<Device>> {
    for device in Device::all()? {
        if !device.name().contains("NVIDIA") && !device.platform().name()?.contains("NVIDIA") {
            continue;
        }
        let same = OpenClDevice::try_from(&device).is_ok_and(|found| found.identity().same_device(gpu).is_yes());
        if same {
            return Ok(Some(device));
        }
    }
    Ok(None)
}

/// The text with 0 instead of global offsets. `Err` says what else it reads that only OpenCL sets.
fn without_offsets(text: &str) -> Result<String, String> {
    if !text.contains(".entry") {
        return Err("its OpenCL driver gives no PTX".into());
    }
    let text = ["%envreg3", "%envreg4", "%envreg5"].iter().fold(text.to_owned(), |text, register| {
        let mut replaced = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(at) = rest.find(register) {
            let after = &rest[at + register.len()..];
            replaced.push_str(&rest[..at]);
            // Not the beginning of `%envreg31`.
            replaced.push_str(if after.starts_with(|c: char| c.is_ascii_digit()) { register } else { "0" });
            rest = after;
        }
        replaced + rest
    });
    match text.find("%envreg") {
        None => Ok(text),
        Some(at) => {
            let register: String = text[at..].chars().take_while(|c| *c == '%' || c.is_ascii_alphanumeric()).collect();
            Err(format!("the kernel reads {register}, which only a launch of OpenCL sets (get_work_dim, say)"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interop_core::{Api, DeviceUuid, MemoryKind};

    #[test]
    fn offsets_are_none() {
        let text = ".entry k() { mov.u32 %r1, %envreg3; add.s32 %r2, %envreg4, %envreg5; }";
        assert_eq!(without_offsets(text).unwrap(), ".entry k() { mov.u32 %r1, 0; add.s32 %r2, 0, 0; }");
        for other in ["%envreg0", "%envreg31", "%envreg6"] {
            let error = without_offsets(&format!(".entry k() {{ mov.u32 %r1, {other}; }}")).unwrap_err();
            assert!(error.contains(&format!("{other},")), "{error}");
        }
        assert!(without_offsets("\u{7f}ELF").is_err());
    }

    #[test]
    fn only_nvidias_driver_is_asked() {
        let gpu = DeviceIdentity::new(Api::Wgpu, "no such GPU")
            .with_uuid(DeviceUuid([7; 16]))
            .with_memory(MemoryKind::Discrete);
        // SAFETY: it is never launched.
        let source = unsafe { KernelSource::new("k").opencl_c("__kernel void k(PF_IMAGE(uchar4, out)) {}") };
        let error = ptx(&source, &gpu).unwrap_err();
        assert!(matches!(error, Error::Unsupported { .. } | Error::Unavailable { .. }), "{error}");
        let error = ptx(&KernelSource::new("k"), &gpu).unwrap_err().to_string();
        assert!(error.contains("has no OpenCL C"), "{error}");
    }
}
