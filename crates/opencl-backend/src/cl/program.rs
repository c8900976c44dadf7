//! [`Program`]: kernels, built; [`Object`]: parts of one, compiled.

use super::flags::{InfoValue, choices};
use super::sealed::{Opened, open_binary, seal_binary};
use super::{BinaryCache, Context, Device, Kernel, Param};
use crate::ffi;
use crate::kernel::no_kernel;
use crate::params::{Sort, sort, type_size};
use crate::plain::{Text, Types};
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

/// Kernels that were built for devices of a context (OpenCL 3.0 API, 5.8). Cheap to clone; any thread may use it.
///
/// # What the caller vouches for
/// Kernels are code, like a library that is linked in. Making a program is `unsafe`; launching its kernels is safe, and
/// relies on what the caller vouches for where the program is made. In every launch that the host program makes, a kernel
///
/// - reads and writes only the memory that its arguments name, and local and private memory of its own; it makes no
///   address from a number;
/// - has no undefined behaviour of its language, such as a write that races with another work item, or a barrier that
///   some items of a group do not reach;
/// - comes to an end;
/// - has parameters whose types keep their names to the end of the source, with no macro that gives one another meaning.
///
/// A launch checks each argument against what is known of the parameter: objects are passed for objects, and values have
/// its size. It passes any value, buffers of any length, and any number of work items. So the kernel itself checks an
/// index that comes from an argument or a work item, or the module that makes the program keeps it, and launches its
/// kernels only with arguments and work items for which the above holds.
///
/// ```compile_fail,E0133
/// use opencl_backend::cl::{Context, Program};
///
/// fn run(context: &Context, text: &str) -> interop_core::Result<Program> {
///     Program::build(context, text, "") // nobody vouches for it
/// }
/// ```
///
/// ```compile_fail,E0133
/// use opencl_backend::cl::{Context, Device, Program};
///
/// fn load(context: &Context, device: Device, bytes: Vec<u8>) -> interop_core::Result<Program> {
///     Program::from_binaries(context, &[(device, bytes)], "") // from wherever they come
/// }
/// ```
#[derive(Clone)]
pub struct Program {
    pub(super) raw: ffi::Program,
    context: Context,
    devices: Arc<[Device]>,
    /// Parameters by kernel, from the cache or from sealed binaries.
    known: Arc<HashMap<String, Vec<Param>>>,
    types: Arc<Types>,
}

/// A source compiled but not linked (`clCompileProgram`), or several linked to a library. Cheap to clone. It has no
/// kernels before [`Program::link`], which is where the caller vouches for them.
#[derive(Clone)]
pub struct Object {
    raw: ffi::Program,
    context: Context,
    texts: Vec<Arc<Text>>,
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
    Err(Error::KernelBuild { kernel: String::new(), device: context.name().to_owned(), log })
}

fn text_of(devices: &[Device], text: &str, options: CString, headers: Vec<(CString, ffi::Program)>) -> Arc<Text> {
    Arc::new(Text { text: text.to_owned(), options, headers, devices: raw_devices(devices) })
}

fn raw_devices(devices: &[Device]) -> Vec<ffi::Device> {
    devices.iter().map(|device| device.raw.clone()).collect()
}

impl Program {
    pub(super) fn of(raw: ffi::Program, context: &Context, devices: &[Device]) -> Self {
        let (known, types) = (Arc::default(), Arc::default());
        Self { raw, context: context.clone(), devices: devices.into(), known, types }
    }

    fn with_texts(self, texts: Vec<Arc<Text>>) -> Self {
        Self { types: Arc::new(Types::new(texts)), ..self }
    }

    /// Whether a type of the program's own takes so many bytes; `Err` says how many, where it takes any.
    pub(super) fn fits(&self, type_name: &str, bytes: usize) -> Result<(), Option<usize>> {
        self.types.fits(&self.context.raw, type_name, bytes)
    }

    /// Builds OpenCL C for all devices of the context (`clCreateProgramWithSource`, `clBuildProgram`), with
    /// `-cl-kernel-arg-info` before the options. Blocks.
    ///
    /// # Safety
    /// [`Program`] says what the caller vouches for.
    ///
    /// # Errors
    /// [`Error::KernelBuild`] with the logs, [`Error::InvalidInput`] for a NUL in the source or the options.
    pub unsafe fn build(context: &Context, source: &str, options: &str) -> Result<Self> {
        // SAFETY: the caller vouches for the kernels.
        unsafe { Self::build_for(context, context.devices(), source, options) }
    }

    /// Builds OpenCL C for some of the context's devices (`clCreateProgramWithSource`, `clBuildProgram` with a device list).
    /// Kernels can be launched on their queues only. Blocks.
    ///
    /// # Safety
    /// [`Program`] says what the caller vouches for.
    ///
    /// # Errors
    /// Those of [`Program::build`]; [`Error::InvalidInput`] for no device, [`Error::Foreign`] for one of another context.
    pub unsafe fn build_for(context: &Context, devices: &[Device], source: &str, options: &str) -> Result<Self> {
        const OP: &str = "clBuildProgram";
        if devices.is_empty() {
            return Err(Error::invalid(OP, "no device was given; give some of the context's"));
        }
        for device in devices {
            context.check_device(device, OP)?;
        }
        check_source(source, OP)?;
        let options = c_options(&format!("{ARG_INFO} {options}"), OP)?;
        // SAFETY: the caller vouches for the kernels.
        let raw = unsafe { ffi::Program::source(&context.raw, source) }.map_err(|f| context.error(f))?;
        outcome(raw.build(&raw_devices(devices), &options), &raw, context, devices)?;
        Ok(Self::of(raw, context, devices).with_texts(vec![text_of(devices, source, options, Vec::new())]))
    }

    /// As [`Program::build`], from the cache (`clCreateProgramWithBinary`) where it holds the same source, options,
    /// devices and driver versions.
    ///
    /// # Safety
    /// [`Program`] says what the caller vouches for. The cache takes care of its files on Unix; elsewhere nobody else
    /// writes the folder ([`BinaryCache`]).
    ///
    /// # Errors
    /// As [`Program::build`]; what is wrong with the cache is never an error.
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
                    return Ok(Self { known: Arc::new(known), ..program }.with_texts(vec![text]));
                }
                Err(error) => tracing::debug!("a cached program is not taken: {error}"),
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
            let ask = sort(&param.raw) == Sort::Value && type_size(param.type_name()).is_none();
            let asked = || self.types.size_of(&self.context.raw, param.type_name());
            Param { bytes: param.bytes.or_else(|| if ask { asked() } else { None }), ..param.clone() }
        };
        let kernels = self.kernels()?;
        let params = kernels
            .iter()
            .filter_map(|kernel| Some((kernel.name().to_owned(), kernel.params()?.iter().map(with_bytes).collect())));
        Ok(params.collect())
    }

    /// Makes a program of what [`Program::binaries`] gave, for devices of the context, and builds it
    /// (`clCreateProgramWithBinary`). A driver's own bytes, as [`Program::driver_binaries`] gives them, are taken too.
    ///
    /// # Safety
    /// The binaries are those of one program, and nobody could change them since [`Program::binaries`] or the driver gave
    /// them. Drivers do not check them: PoCL 3.1 writes out of its memory on damaged ones. The SHA-256 sum of
    /// [`Program::binaries`] finds damage, and binaries of another device or driver; it has no key, so that it does not
    /// find what somebody changed on purpose. Besides, [`Program`] says what the caller vouches for.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for none, or one that is empty, damaged, or of another device or driver;
    /// [`Error::Unsupported`] for bytes from elsewhere on rusticl, which ends the process on what it does not know.
    pub unsafe fn from_binaries(context: &Context, binaries: &[(Device, Vec<u8>)], options: &str) -> Result<Self> {
        const OP: &str = "clCreateProgramWithBinary";
        let (mut devices, mut opened, mut known) = (Vec::new(), Vec::new(), HashMap::new());
        for (device, binary) in binaries {
            opened.push(match open_binary(device, binary)? {
                Opened::Own(binary, params) => {
                    known.extend(params);
                    binary
                }
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
        // SAFETY: the caller vouches for the binaries.
        let program = unsafe { Self::of_binaries(context, &devices, &opened, options) }?;
        Ok(Self { known: Arc::new(known), ..program })
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
        let ids = raw_devices(devices);
        // SAFETY: the caller vouches for the binaries.
        let raw = unsafe { ffi::Program::binaries(&context.raw, &ids, binaries) }.map_err(|f| context.error(f))?;
        outcome(raw.build(&ids, &options), &raw, context, devices)?;
        Ok(Self::of(raw, context, devices))
    }

    /// Builds an intermediate language such as SPIR-V (`clCreateProgramWithIL`).
    ///
    /// # Safety
    /// The bytes are a whole module of the language, which drivers do not all check, and [`Program`] says what the caller
    /// vouches for besides.
    ///
    /// # Errors
    /// [`Error::Unsupported`] where a device has no OpenCL 2.1 or `CL_DEVICE_IL_VERSION` is empty.
    pub unsafe fn from_il(context: &Context, il: &[u8], options: &str) -> Result<Self> {
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
        // SAFETY: the caller vouches for module and kernels.
        let raw = unsafe { ffi::Program::il(&context.raw, il) }.map_err(|f| context.error(f))?;
        outcome(raw.build(&raw_devices(context.devices()), &options), &raw, context, context.devices())?;
        Ok(Self::of(raw, context, context.devices()))
    }

    /// Takes kernels that the devices bring along, of `CL_DEVICE_BUILT_IN_KERNELS` (`clCreateProgramWithBuiltInKernels`).
    ///
    /// # Safety
    /// [`Program`] says what the caller vouches for: what a kernel does with its arguments stands in the device's manual.
    ///
    /// # Errors
    /// [`Error::Unsupported`] for a name that a device does not list.
    pub unsafe fn built_in(context: &Context, names: &[&str]) -> Result<Self> {
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
        // SAFETY: the caller vouches for the kernels.
        let raw = unsafe { ffi::Program::built_in(&context.raw, &devices, &names) }.map_err(|f| context.error(f))?;
        Ok(Self::of(raw, context, context.devices()))
    }

    /// Links objects and libraries (`clLinkProgram`).
    ///
    /// # Safety
    /// [`Program`] says what the caller vouches for, and functions are declared in one object as another defines them.
    ///
    /// # Errors
    /// [`Error::KernelBuild`] with the logs, [`Error::InvalidInput`] for no object.
    pub unsafe fn link(context: &Context, objects: &[&Object], options: &str) -> Result<Self> {
        let texts = objects.iter().flat_map(|object| object.texts.iter().cloned()).collect();
        Ok(Self::of(link(context, objects, options)?, context, context.devices()).with_texts(texts))
    }

    /// Its context (`CL_PROGRAM_CONTEXT`).
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// The devices that it was built for, on whose queues its kernels can be launched (`device_list` of `clBuildProgram`).
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// What the compiler said (`CL_PROGRAM_BUILD_LOG`); empty where nothing.
    pub fn log(&self, device: &Device) -> String {
        self.raw.log(&device.raw)
    }

    /// How the build for a device ended (`CL_PROGRAM_BUILD_STATUS`); [`BuildStatus::None`] for a status of a later
    /// version, and for a device that the program was not built for.
    pub fn status(&self, device: &Device) -> Result<BuildStatus> {
        if !self.devices.iter().any(|built| built.is(device)) {
            return Ok(BuildStatus::None);
        }
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

    /// What was built (`CL_PROGRAM_BINARIES`), for [`Program::from_binaries`], with the kernels' parameters and with what
    /// tells damage and other devices. Devices without one are left out.
    pub fn binaries(&self) -> Result<Vec<(Device, Vec<u8>)>> {
        let params = self.all_params()?;
        let seal = |(device, binary): (Device, Vec<u8>)| Ok((device.clone(), seal_binary(&device, &binary, &params)?));
        self.driver_binaries()?.into_iter().map(seal).collect()
    }

    /// What was built, as the driver has it (`CL_PROGRAM_BINARIES`), for other tools. Devices without one are left out.
    pub fn driver_binaries(&self) -> Result<Vec<(Device, Vec<u8>)>> {
        let binaries = self.raw.built_binaries().map_err(|f| self.context.error(f))?;
        let listed = self.raw.devices().map_err(|f| self.context.error(f))?;
        // In the order of the driver's list, which has only the devices of the binaries where it was made of such. PoCL 3.1
        // lists a device in the place of its parts.
        let of = |device: &Device| {
            let mut above = std::iter::successors(Some(device), |device| device.parent());
            above.find_map(|device| listed.iter().position(|raw| *raw == device.raw()))
        };
        let binary = |device: &Device| binaries.get(of(device)?).filter(|binary| !binary.is_empty()).cloned();
        Ok(self.devices.iter().filter_map(|device| Some((device.clone(), binary(device)?))).collect())
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
            return Err(Error::invalid("clCreateKernel", no_kernel(name, &present.join(";"))));
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
        // SAFETY: an object's kernels are made when it is linked, for which `Program::link` has the caller's word.
        let program = |text: &str| unsafe { ffi::Program::source(&context.raw, text) }.map_err(|f| context.error(f));
        let mut names = Vec::new();
        for (name, text) in headers {
            check_source(text, OP)?;
            names.push((c_options(name, OP)?, program(text)?));
        }
        let raw = program(source)?;
        let headers: Vec<_> = names.iter().map(|(name, header)| (name.as_c_str(), header)).collect();
        let compiled = raw.compile(&raw_devices(context.devices()), &options, &headers);
        outcome(compiled, &raw, context, context.devices())?;
        let texts = vec![text_of(context.devices(), source, options, names)];
        Ok(Self { raw, context: context.clone(), texts })
    }

    /// Links objects to a library (`clLinkProgram`, `-create-library`).
    ///
    /// # Errors
    /// As [`Program::link`].
    pub fn library(context: &Context, objects: &[&Self], options: &str) -> Result<Self> {
        let raw = link(context, objects, &format!("-create-library {options}"))?;
        let texts = objects.iter().flat_map(|object| object.texts.iter().cloned()).collect();
        Ok(Self { raw, context: context.clone(), texts })
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
    let raw: Vec<_> = objects.iter().map(|object| object.raw.clone()).collect();
    let devices = raw_devices(context.devices());
    let link = |options: &str| {
        let options = c_options(options.trim_end(), OP)?;
        Ok::<_, Error>(ffi::Program::link(&context.raw, &devices, &options, &raw))
    };
    // PoCL 3.1 tells of parameters only if it is asked here, too; for other drivers this is no option of the linker.
    let linked = match link(&format!("{ARG_INFO} {options}"))? {
        Err(failure) | Ok((_, Err(failure))) if failure.code == codes::CL_INVALID_LINKER_OPTIONS => link(options)?,
        linked => linked,
    };
    let (program, linked) = linked.map_err(|f| context.error(f))?;
    outcome(linked, &program, context, context.devices())?;
    Ok(program)
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Program({:?})", self.kernel_names().unwrap_or_default())
    }
}
