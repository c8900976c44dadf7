//! [`Program`]: kernels, built; [`Object`]: parts of one, compiled.

use super::flags::{InfoValue, choices};
use super::sealed::{Opened, open_binary, seal_binary};
use super::{BinaryCache, Context, Device, Kernel, Param};
use crate::ffi;
use cl3::error_codes as codes;
use cl3::program as p;
use interop_core::{Error, Result};
use std::collections::HashMap;
use std::ffi::CString;
use std::fmt;
use std::sync::Arc;

choices! {
    /// What was built (`CL_PROGRAM_BINARY_TYPE`).
    BinaryType {
        /// Nothing.
        None = p::CL_PROGRAM_BINARY_TYPE_NONE;
        /// An object, to be linked.
        CompiledObject = p::CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
        /// A library, to be linked.
        Library = p::CL_PROGRAM_BINARY_TYPE_LIBRARY;
        /// A program with kernels.
        Executable = p::CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    }
}

choices! {
    /// How a build ended (`CL_PROGRAM_BUILD_STATUS`).
    BuildStatus {
        /// Well.
        Success = p::CL_BUILD_SUCCESS;
        /// There was none.
        None = p::CL_BUILD_NONE;
        /// With an error.
        Error = p::CL_BUILD_ERROR;
        /// It has not.
        InProgress = p::CL_BUILD_IN_PROGRESS;
    }
}

/// Kernels that were built for all devices of a context (OpenCL 3.0 API, 5.8). Cheap to clone; any thread may use it.
///
/// Kernels are code that the caller supplies, like a library linked in: that they stay inside their memory is the caller's
/// promise, and that binaries are what they should be, too.
#[derive(Clone)]
pub struct Program {
    raw: ffi::Program,
    context: Context,
    /// Parameters by kernel, from the cache.
    known: Arc<HashMap<String, Vec<Param>>>,
}

/// A source compiled but not linked (`clCompileProgram`), or several linked to a library. Cheap to clone.
#[derive(Clone)]
pub struct Object {
    raw: ffi::Program,
    context: Context,
}

/// Lets kernels tell of their parameters.
const ARG_INFO: &str = "-cl-kernel-arg-info";

fn c_options(options: &str, operation: &'static str) -> Result<CString> {
    CString::new(options).map_err(|_| Error::invalid(operation, format!("the options {options:?} contain a NUL")))
}

fn check_source(source: &str, operation: &'static str) -> Result<()> {
    if source.contains('\0') { Err(Error::invalid(operation, "the source contains a NUL")) } else { Ok(()) }
}

/// The error of a build: with the log where the program itself is wrong.
fn outcome(
    built: Result<(), ffi::Failure>,
    program: &ffi::Program,
    context: &Context,
    devices: &[Device],
) -> Result<()> {
    let Err(failure) = built else { return Ok(()) };
    let logs = devices.iter().map(|device| (device.name(), program.log(&device.raw)));
    let log = logs.filter(|(_, log)| !log.is_empty()).map(|(name, log)| format!("{name}:\n{log}")).collect::<Vec<_>>();
    let of_program =
        [codes::CL_BUILD_PROGRAM_FAILURE, codes::CL_COMPILE_PROGRAM_FAILURE, codes::CL_LINK_PROGRAM_FAILURE];
    if log.is_empty() && !of_program.contains(&failure.code) {
        return Err(context.error(failure));
    }
    let log = if log.is_empty() { "the driver gave no log".into() } else { log.join("\n") };
    Err(Error::KernelBuild { kernel: failure.operation.to_owned(), device: context.name().to_owned(), log })
}

fn raw_devices(devices: &[Device]) -> Vec<ffi::Device> {
    devices.iter().map(|device| device.raw.clone()).collect()
}

impl Program {
    fn of(raw: ffi::Program, context: &Context) -> Self {
        Self { raw, context: context.clone(), known: Arc::default() }
    }

    /// Builds OpenCL C for all devices of the context (`clCreateProgramWithSource`, `clBuildProgram`), with
    /// `-cl-kernel-arg-info` before the options. Blocks.
    ///
    /// # Errors
    /// [`Error::KernelBuild`] with the logs, [`Error::InvalidInput`] for a NUL in the source or the options.
    pub fn build(context: &Context, source: &str, options: &str) -> Result<Self> {
        const OP: &str = "clBuildProgram";
        check_source(source, OP)?;
        let options = c_options(&format!("{ARG_INFO} {options}"), OP)?;
        let raw = ffi::Program::source(&context.raw, source).map_err(|f| context.error(f))?;
        let built = raw.build(&raw_devices(context.devices()), &options);
        outcome(built, &raw, context, context.devices())?;
        Ok(Self::of(raw, context))
    }

    /// As [`Program::build`], from the cache (`clCreateProgramWithBinary`) where it holds the same source, options,
    /// devices and driver versions.
    ///
    /// # Errors
    /// As [`Program::build`]; what is wrong with the cache is never an error.
    pub fn build_cached(context: &Context, source: &str, options: &str, cache: &BinaryCache) -> Result<Self> {
        let Some(entry) = cache.entry(context, source, options) else {
            return Self::build(context, source, options);
        };
        if let Some((binaries, known)) = entry.load() {
            let binaries: Vec<_> = binaries.iter().map(Vec::as_slice).collect();
            match Self::of_binaries(context, context.devices(), &binaries, "") {
                Ok(program) => return Ok(Self { known: Arc::new(known), ..program }),
                Err(error) => tracing::debug!("a cached program is not taken: {error}"),
            }
        }
        let program = Self::build(context, source, options)?;
        match program.raw.built_binaries() {
            Ok(binaries) if binaries.iter().all(|binary| !binary.is_empty()) => {
                entry.store(&binaries, &program.all_params()?);
            }
            Ok(_) => tracing::debug!("{} gives no binaries to cache", context.name()),
            Err(failure) => tracing::debug!("no binaries to cache: {}", context.error(failure)),
        }
        Ok(program)
    }

    fn all_params(&self) -> Result<HashMap<String, Vec<Param>>> {
        let kernels = self.kernels()?;
        let params = kernels.iter().filter_map(|kernel| Some((kernel.name().to_owned(), kernel.params()?.to_vec())));
        Ok(params.collect())
    }

    /// Makes a program of what [`Program::binaries`] gave, for devices of the context, and builds it
    /// (`clCreateProgramWithBinary`). A driver's own bytes, as other tools have them, are taken too, where the driver bears
    /// damaged ones.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for none, or one that is empty, damaged, or of another device or driver;
    /// [`Error::Unsupported`] for bytes from elsewhere on rusticl, which ends the process on what it does not know.
    pub fn from_binaries(context: &Context, binaries: &[(Device, Vec<u8>)], options: &str) -> Result<Self> {
        const OP: &str = "clCreateProgramWithBinary";
        let mut devices = Vec::new();
        let mut opened = Vec::new();
        for (device, binary) in binaries {
            opened.push(match open_binary(device, binary)? {
                Opened::Own(binary) => binary,
                Opened::Wrong => {
                    return Err(Error::invalid(OP, "a binary is damaged, or of another device or driver; build again"));
                }
                Opened::Foreign(_) if device.platform().is_rusticl()? => {
                    return Err(
                        device.unsupported(OP, "this driver ends the process on binaries that it does not know")
                    );
                }
                Opened::Foreign(binary) => binary,
            });
            devices.push(device.clone());
        }
        Self::of_binaries(context, &devices, &opened, options)
    }

    fn of_binaries(context: &Context, devices: &[Device], binaries: &[&[u8]], options: &str) -> Result<Self> {
        const OP: &str = "clCreateProgramWithBinary";
        if binaries.is_empty() || binaries.iter().any(|binary| binary.is_empty()) {
            return Err(Error::invalid(OP, "no binary, or an empty one, was given"));
        }
        for device in devices {
            context.check_device(device, OP)?;
        }
        let options = c_options(options, OP)?;
        let ids = raw_devices(devices);
        let raw = ffi::Program::binaries(&context.raw, &ids, binaries).map_err(|f| context.error(f))?;
        outcome(raw.build(&ids, &options), &raw, context, devices)?;
        Ok(Self::of(raw, context))
    }

    /// Builds an intermediate language such as SPIR-V (`clCreateProgramWithIL`).
    ///
    /// # Errors
    /// [`Error::Unsupported`] where a device has no OpenCL 2.1 or `CL_DEVICE_IL_VERSION` is empty.
    pub fn from_il(context: &Context, il: &[u8], options: &str) -> Result<Self> {
        const OP: &str = "clCreateProgramWithIL";
        for device in context.devices() {
            device.require_version((2, 1), OP)?;
            if device.il_version()?.is_empty() {
                return Err(device.unsupported(OP, "CL_DEVICE_IL_VERSION is empty"));
            }
        }
        if il.is_empty() {
            return Err(Error::invalid(OP, "0 bytes were given"));
        }
        let options = c_options(options, OP)?;
        let raw = ffi::Program::il(&context.raw, il).map_err(|f| context.error(f))?;
        outcome(raw.build(&raw_devices(context.devices()), &options), &raw, context, context.devices())?;
        Ok(Self::of(raw, context))
    }

    /// Takes kernels that the devices bring along, of `CL_DEVICE_BUILT_IN_KERNELS` (`clCreateProgramWithBuiltInKernels`).
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a name that a device does not list.
    pub fn built_in(context: &Context, names: &[&str]) -> Result<Self> {
        const OP: &str = "clCreateProgramWithBuiltInKernels";
        for device in context.devices() {
            let listed = device.built_in_kernels()?;
            if let Some(name) = names.iter().find(|name| !listed.split(';').any(|own| own == **name)) {
                let reason = format!("CL_DEVICE_BUILT_IN_KERNELS lists {listed:?}, not {name:?}");
                return Err(device.unsupported(OP, reason));
            }
        }
        let names = c_options(&names.join(";"), OP)?;
        let devices = raw_devices(context.devices());
        let raw = ffi::Program::built_in(&context.raw, &devices, &names).map_err(|f| context.error(f))?;
        Ok(Self::of(raw, context))
    }

    /// Links objects and libraries (`clLinkProgram`).
    ///
    /// # Errors
    /// [`Error::KernelBuild`] with the logs, [`Error::InvalidInput`] for no object.
    pub fn link(context: &Context, objects: &[&Object], options: &str) -> Result<Self> {
        Ok(Self::of(link(context, objects, options)?, context))
    }

    /// Its context (`CL_PROGRAM_CONTEXT`).
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// What the compiler said (`CL_PROGRAM_BUILD_LOG`); empty where nothing.
    pub fn log(&self, device: &Device) -> String {
        self.raw.log(&device.raw)
    }

    /// How the build for a device ended (`CL_PROGRAM_BUILD_STATUS`); [`BuildStatus::None`] for a status of a later
    /// version.
    pub fn status(&self, device: &Device) -> Result<BuildStatus> {
        let code = self.raw.status(&device.raw).map_err(|f| self.context.error(f))?;
        Ok(BuildStatus::from_code(code as u32).unwrap_or(BuildStatus::None))
    }

    /// The options of the build (`CL_PROGRAM_BUILD_OPTIONS`).
    pub fn options(&self, device: &Device) -> Result<String> {
        self.raw.options(&device.raw).map_err(|f| self.context.error(f))
    }

    /// What there is for a device (`CL_PROGRAM_BINARY_TYPE`).
    pub fn binary_type(&self, device: &Device) -> Result<BinaryType> {
        let code = self.raw.binary_type(&device.raw).map_err(|f| self.context.error(f))?;
        Ok(BinaryType::from_code(code).unwrap_or(BinaryType::None))
    }

    /// The source; empty where there is none (`CL_PROGRAM_SOURCE`).
    pub fn source(&self) -> Result<String> {
        self.raw.text().map_err(|f| self.context.error(f))
    }

    /// What was built (`CL_PROGRAM_BINARIES`), for [`Program::from_binaries`], with what tells damage and other
    /// devices. Devices without one are left out.
    pub fn binaries(&self) -> Result<Vec<(Device, Vec<u8>)>> {
        let seal = |(device, binary): (Device, Vec<u8>)| seal_binary(&device, &binary).map(|sealed| (device, sealed));
        self.driver_binaries()?.into_iter().map(seal).collect()
    }

    /// What was built, as the driver has it (`CL_PROGRAM_BINARIES`), for other tools. Devices without one are left out.
    pub fn driver_binaries(&self) -> Result<Vec<(Device, Vec<u8>)>> {
        let binaries = self.raw.built_binaries().map_err(|f| self.context.error(f))?;
        let all = self.context.devices().iter().cloned().zip(binaries);
        Ok(all.filter(|(_, binary)| !binary.is_empty()).collect())
    }

    /// Names of its kernels (`CL_PROGRAM_KERNEL_NAMES`).
    pub fn kernel_names(&self) -> Result<Vec<String>> {
        let names = self.raw.kernel_names().map_err(|f| self.context.error(f))?;
        Ok(names.split(';').filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }

    /// A kernel by name (`clCreateKernel`).
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where there is none of that name, with those that there are.
    pub fn kernel(&self, name: &str) -> Result<Kernel> {
        let present = self.kernel_names()?;
        // Asked first: drivers differ in what they answer to a name that does not exist.
        let (true, Ok(c_name)) = (present.iter().any(|n| n == name), CString::new(name)) else {
            let problem = format!("the program has no kernel '{name}'; it has: {}", present.join(", "));
            return Err(Error::invalid("clCreateKernel", problem));
        };
        let raw = self.raw.kernel(&c_name).map_err(|f| self.context.error(f))?;
        Kernel::new(raw, self, name, self.known.get(name).map(Vec::as_slice))
    }

    /// All its kernels (`clCreateKernel` for each name).
    pub fn kernels(&self) -> Result<Vec<Kernel>> {
        self.kernel_names()?.iter().map(|name| self.kernel(name)).collect()
    }
}

impl Object {
    /// Compiles OpenCL C; `headers` are names and texts of what it includes (`clCompileProgram`).
    ///
    /// # Errors
    /// [`Error::KernelBuild`] with the logs, [`Error::InvalidInput`] for a NUL.
    pub fn compile(context: &Context, source: &str, options: &str, headers: &[(&str, &str)]) -> Result<Self> {
        const OP: &str = "clCompileProgram";
        check_linker(context, OP)?;
        check_source(source, OP)?;
        let options = c_options(&format!("{ARG_INFO} {options}"), OP)?;
        let program = |text: &str| ffi::Program::source(&context.raw, text).map_err(|f| context.error(f));
        let mut names = Vec::new();
        for (name, text) in headers {
            check_source(text, OP)?;
            names.push((c_options(name, OP)?, program(text)?));
        }
        let raw = program(source)?;
        let headers: Vec<_> = names.iter().map(|(name, header)| (name.as_c_str(), header)).collect();
        let compiled = raw.compile(&raw_devices(context.devices()), &options, &headers);
        outcome(compiled, &raw, context, context.devices())?;
        Ok(Self { raw, context: context.clone() })
    }

    /// Links objects to a library (`clLinkProgram`, `-create-library`).
    ///
    /// # Errors
    /// As [`Program::link`].
    pub fn library(context: &Context, objects: &[&Self], options: &str) -> Result<Self> {
        let raw = link(context, objects, &format!("-create-library {options}"))?;
        Ok(Self { raw, context: context.clone() })
    }

    /// What there is for a device (`CL_PROGRAM_BINARY_TYPE`).
    pub fn binary_type(&self, device: &Device) -> Result<BinaryType> {
        let code = self.raw.binary_type(&device.raw).map_err(|f| self.context.error(f))?;
        Ok(BinaryType::from_code(code).unwrap_or(BinaryType::None))
    }
}

fn check_linker(context: &Context, operation: &'static str) -> Result<()> {
    for device in context.devices() {
        if !device.linker_available()? {
            return Err(device.unsupported(operation, "CL_DEVICE_LINKER_AVAILABLE says no"));
        }
    }
    Ok(())
}

fn link(context: &Context, objects: &[&Object], options: &str) -> Result<ffi::Program> {
    const OP: &str = "clLinkProgram";
    check_linker(context, OP)?;
    if objects.is_empty() {
        return Err(Error::invalid(OP, "no object was given"));
    }
    for object in objects {
        context.check_same(&object.context, OP, "program")?;
    }
    let options = c_options(options.trim_end(), OP)?;
    let raw: Vec<_> = objects.iter().map(|object| object.raw.clone()).collect();
    let devices = raw_devices(context.devices());
    let (program, linked) = ffi::Program::link(&context.raw, &devices, &options, &raw).map_err(|f| context.error(f))?;
    outcome(linked, &program, context, context.devices())?;
    Ok(program)
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Program({:?})", self.kernel_names().unwrap_or_default())
    }
}
