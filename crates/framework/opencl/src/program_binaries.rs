//! Programs as bytes: returned after a build, kept in a cache, and loaded again.

use super::program::{ARG_INFO, c_options, outcome, text_of};
use super::sealed_binary::{OpenedBinary, open_binary, seal_binary};
use super::{BinaryCache, Context, Device, Param, Program};
use crate::ffi;
use crate::sorts::{ParamSort, type_size};
use interop_core::{Error, Result};
use std::collections::HashMap;

impl Program {
    /// Builds a program as [`Program::build`] does, or loads it from the cache (`clCreateProgramWithBinary`) if that
    /// holds the same source, options, devices and driver versions.
    ///
    /// # Safety
    /// [`Program`] states what the caller vouches for. On Unix the cache protects its files; elsewhere no other user
    /// may write the folder ([`BinaryCache`]).
    ///
    /// # Errors
    /// The errors of [`Program::build`]; problems with the cache are never errors.
    pub unsafe fn build_cached(context: &Context, source: &str, options: &str, cache: &BinaryCache) -> Result<Self> {
        // SAFETY: the caller vouches for the kernels.
        let build = || unsafe { Self::build(context, source, options) };
        let Some(entry) = cache.entry(context, source, options) else { return build() };
        if let Some((binaries, known)) = entry.load() {
            let binaries: Vec<_> = binaries.iter().map(Vec::as_slice).collect();
            // SAFETY: the caller vouches for the kernels of the source, and the cache keeps what was built of it.
            match unsafe { Self::of_binaries(context, context.devices(), &binaries, "") } {
                Ok(program) => {
                    let options = c_options(&format!("{ARG_INFO} {options}"), "clCompileProgram")?;
                    let text = text_of(context.devices(), source, options, Vec::new());
                    return Ok(program.with_known(known).with_texts(vec![text]));
                }
                Err(error) => tracing::debug!("a cached program is not used: {error}"),
            }
        }
        let program = build()?;
        match program.driver_binaries() {
            Ok(binaries) if binaries.len() == context.devices().len() => {
                let binaries: Vec<_> = binaries.into_iter().map(|(_, binary)| binary).collect();
                entry.store(&binaries, &program.all_params()?);
            }
            Ok(_) => tracing::debug!("{} gives no binaries to cache", context.name()),
            Err(error) => tracing::debug!("no binaries to cache: {error}"),
        }
        Ok(program)
    }

    fn all_params(&self) -> Result<HashMap<String, Vec<Param>>> {
        let with_bytes = |param: &Param| {
            let ask = param.sort() == ParamSort::Value && type_size(param.type_name()).is_none();
            let asked = || self.size_of(param.type_name());
            Param { bytes: param.bytes.or_else(|| if ask { asked() } else { None }), ..param.clone() }
        };
        let kernels = self.kernels()?;
        let params = kernels
            .iter()
            .filter_map(|kernel| Some((kernel.name().to_owned(), kernel.params()?.iter().map(with_bytes).collect())));
        Ok(params.collect())
    }

    /// Creates a program from the result of [`Program::binaries`], for devices of the context, and builds it
    /// (`clCreateProgramWithBinary`). A driver's own bytes from [`Program::driver_binaries`] are supported, too.
    ///
    /// # Safety
    /// The binaries are those of one program, and were not changed since [`Program::binaries`] or the driver returned
    /// them. Drivers do not check them: PoCL 3.1 writes outside its memory on damaged ones. The SHA-256 sum of
    /// [`Program::binaries`] detects damage, and binaries of another device or driver. It has no key, so it does not
    /// detect deliberate changes. Moreover, the caller vouches for what [`Program`] states.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for an empty list, and for a binary that is empty, damaged, or for another device or
    /// driver; [`Error::Unsupported`] for bytes of unknown origin on rusticl, which crashes on unknown binaries.
    pub unsafe fn from_binaries(context: &Context, binaries: &[(Device, Vec<u8>)], options: &str) -> Result<Self> {
        const OP: &str = "clCreateProgramWithBinary";
        let (mut devices, mut opened, mut known) = (Vec::new(), Vec::new(), HashMap::new());
        for (device, binary) in binaries {
            opened.push(match open_binary(device, binary)? {
                OpenedBinary::Own(binary, params) => {
                    known.extend(params);
                    binary
                }
                OpenedBinary::Wrong => {
                    return Err(Error::invalid(
                        OP,
                        "a binary is damaged, or for another device or driver; build again",
                    ));
                }
                OpenedBinary::Foreign(_) if device.platform().is_rusticl()? => {
                    return Err(device.unsupported(OP, "this driver crashes on unknown binaries"));
                }
                OpenedBinary::Foreign(binary) => binary,
            });
            devices.push(device.clone());
        }
        // SAFETY: the caller vouches for the binaries.
        let program = unsafe { Self::of_binaries(context, &devices, &opened, options) }?;
        Ok(program.with_known(known))
    }

    /// # Safety
    /// The caller vouches for the binaries.
    unsafe fn of_binaries(context: &Context, devices: &[Device], binaries: &[&[u8]], options: &str) -> Result<Self> {
        const OP: &str = "clCreateProgramWithBinary";
        if binaries.is_empty() || binaries.iter().any(|binary| binary.is_empty()) {
            return Err(Error::invalid(OP, "no binary, or an empty one, was given"));
        }
        for device in devices {
            context.check_device(device, OP)?;
        }
        let options = c_options(options, OP)?;
        // SAFETY: the caller vouches for the binaries.
        let raw = unsafe { ffi::Program::binaries(context, devices, binaries) }.map_err(|f| context.error(f))?;
        outcome(raw.build(devices, &options), &raw, context, devices)?;
        Ok(Self::of(raw, context, devices))
    }

    /// Returns the binaries (`CL_PROGRAM_BINARIES`) for [`Program::from_binaries`], with the kernels' parameters and
    /// data to detect damage and other devices. Devices without a binary are left out.
    pub fn binaries(&self) -> Result<Vec<(Device, Vec<u8>)>> {
        let params = self.all_params()?;
        let seal = |(device, binary): (Device, Vec<u8>)| Ok((device.clone(), seal_binary(&device, &binary, &params)?));
        self.driver_binaries()?.into_iter().map(seal).collect()
    }

    /// Returns the driver's own binaries (`CL_PROGRAM_BINARIES`), for other tools. Devices without a binary are left
    /// out.
    pub fn driver_binaries(&self) -> Result<Vec<(Device, Vec<u8>)>> {
        let binaries = self.raw.built_binaries().map_err(|f| self.context().error(f))?;
        let listed = self.raw.devices().map_err(|f| self.context().error(f))?;
        // In the order of the driver's list, which has only the devices of the binaries where it was made of such. PoCL 3.1
        // lists a device instead of its parts.
        let of = |device: &Device| {
            let mut above = std::iter::successors(Some(device), |device| device.parent());
            above.find_map(|device| listed.iter().position(|raw| *raw == device.raw()))
        };
        let binary = |device: &Device| binaries.get(of(device)?).filter(|binary| !binary.is_empty()).cloned();
        Ok(self.devices().iter().filter_map(|device| Some((device.clone(), binary(device)?))).collect())
    }
}
