//! [`Program`]: kernels, built; [`Object`]: parts of one, compiled.

use super::flags::{InfoValue, choices};
use super::{Context, Device, Param};
use crate::ffi;
use crate::plain::{Text, Types};
use cl3::error_codes as codes;
use cl3::program as p;
use interop_core::{Error, Result};
use std::collections::HashMap;
use std::ffi::CString;
use std::fmt;
use std::sync::Arc;

choices! {
    /// Type of a built binary (`CL_PROGRAM_BINARY_TYPE`).
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
    /// Status of a build (`CL_PROGRAM_BUILD_STATUS`).
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
/// A launch checks each argument against what is known of the parameter: objects are passed for objects, and values
/// have its size. It passes any value, buffers of any length, and any number of work items. So the kernel itself checks
/// an index that comes from an argument or a work item. Or the module that makes the program keeps it, and launches its
/// kernels only with arguments and work items for which the above holds.
///
/// ```compile_fail,E0133
/// use pixelferry_opencl::{Context, Program};
///
/// fn run(context: &Context, text: &str) -> interop_core::Result<Program> {
///     Program::build(context, text, "") // nobody vouches for it
/// }
/// ```
///
/// ```compile_fail,E0133
/// use pixelferry_opencl::{Context, Device, Program};
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
pub(super) const ARG_INFO: &str = "-cl-kernel-arg-info";

pub(super) fn c_options(options: &str, operation: &'static str) -> Result<CString> {
    CString::new(options).map_err(|_| Error::invalid(operation, format!("the options {options:?} contain a NUL")))
}

fn check_source(source: &str, operation: &'static str) -> Result<()> {
    if source.contains('\0') { Err(Error::invalid(operation, "the source contains a NUL")) } else { Ok(()) }
}

/// The error of a build: with the log where the program itself is wrong.
pub(super) fn outcome(
    built: Result<(), ffi::Failure>,
    program: &ffi::Program,
    context: &Context,
    devices: &[Device],
) -> Result<()> {
    let Err(failure) = built else { return Ok(()) };
    let logs = devices.iter().map(|device| (device.name(), program.log(device)));
    // The error names the device where it is one.
    let named = |(name, log)| if devices.len() == 1 { log } else { format!("{name}:\n{log}") };
    let log = logs.filter(|(_, log)| !log.is_empty()).map(named).collect::<Vec<_>>();
    let of_program =
        [codes::CL_BUILD_PROGRAM_FAILURE, codes::CL_COMPILE_PROGRAM_FAILURE, codes::CL_LINK_PROGRAM_FAILURE];
    if log.is_empty() && !of_program.contains(&failure.code) {
        return Err(context.error(failure));
    }
    let log = if log.is_empty() { "the driver gave no log".into() } else { log.join("\n") };
    Err(Error::KernelBuild { kernel: String::new(), device: context.name().to_owned(), log })
}

pub(super) fn text_of(
    devices: &[Device],
    text: &str,
    options: CString,
    headers: Vec<(CString, ffi::Program)>,
) -> Arc<Text> {
    Arc::new(Text { text: text.to_owned(), options, headers, devices: devices.to_vec() })
}

impl Program {
    pub(super) fn of(raw: ffi::Program, context: &Context, devices: &[Device]) -> Self {
        let (known, types) = (Arc::default(), Arc::default());
        Self { raw, context: context.clone(), devices: devices.into(), known, types }
    }

    pub(super) fn with_texts(self, texts: Vec<Arc<Text>>) -> Self {
        Self { types: Arc::new(Types::new(texts)), ..self }
    }

    /// Sets the parameters that were kept.
    pub(super) fn with_known(self, known: HashMap<String, Vec<Param>>) -> Self {
        Self { known: Arc::new(known), ..self }
    }

    /// A kernel's parameters, where they were kept.
    pub(super) fn known(&self, kernel: &str) -> Option<&[Param]> {
        self.known.get(kernel).map(Vec::as_slice)
    }

    /// Bytes of a type of the program's own, where it is a plain value.
    pub(super) fn size_of(&self, type_name: &str) -> Option<usize> {
        self.types.size_of(&self.context, type_name)
    }

    /// Tells whether a plain type of the program's own takes so many bytes, as `clSetKernelArg` counts them; `Err` says how many,
    /// where it takes any. The compiler is asked, once for each type (`clCompileProgram`).
    pub fn fits(&self, type_name: &str, bytes: usize) -> Result<(), Option<usize>> {
        self.types.fits(&self.context, type_name, bytes)
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
            return Err(Error::invalid(OP, "no device was given; give devices of the context"));
        }
        for device in devices {
            context.check_device(device, OP)?;
        }
        check_source(source, OP)?;
        let options = c_options(&format!("{ARG_INFO} {options}"), OP)?;
        // SAFETY: the caller vouches for the kernels.
        let raw = unsafe { ffi::Program::source(context, source) }.map_err(|f| context.error(f))?;
        outcome(raw.build(devices, &options), &raw, context, devices)?;
        Ok(Self::of(raw, context, devices).with_texts(vec![text_of(devices, source, options, Vec::new())]))
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
        let raw = unsafe { ffi::Program::il(context, il) }.map_err(|f| context.error(f))?;
        outcome(raw.build(context.devices(), &options), &raw, context, context.devices())?;
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
        // SAFETY: the caller vouches for the kernels.
        let raw =
            unsafe { ffi::Program::built_in(context, context.devices(), &names) }.map_err(|f| context.error(f))?;
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

    /// Returns what the compiler said (`CL_PROGRAM_BUILD_LOG`); empty where nothing.
    pub fn log(&self, device: &Device) -> String {
        self.raw.log(device)
    }

    /// Tells how the build for a device ended (`CL_PROGRAM_BUILD_STATUS`). [`BuildStatus::None`] for a status of a later
    /// version, and for a device that the program was not built for.
    pub fn status(&self, device: &Device) -> Result<BuildStatus> {
        if !self.devices.iter().any(|built| built.is(device)) {
            return Ok(BuildStatus::None);
        }
        let code = self.raw.status(device).map_err(|f| self.context.error(f))?;
        Ok(BuildStatus::from_code(code as u32).unwrap_or(BuildStatus::None))
    }

    /// The options of the build (`CL_PROGRAM_BUILD_OPTIONS`).
    pub fn options(&self, device: &Device) -> Result<String> {
        self.raw.options(device).map_err(|f| self.context.error(f))
    }

    /// Returns what there is for a device (`CL_PROGRAM_BINARY_TYPE`).
    pub fn binary_type(&self, device: &Device) -> Result<BinaryType> {
        let code = self.raw.binary_type(device).map_err(|f| self.context.error(f))?;
        Ok(BinaryType::from_code(code).unwrap_or(BinaryType::None))
    }

    /// The source; empty where there is none (`CL_PROGRAM_SOURCE`).
    pub fn source(&self) -> Result<String> {
        self.raw.text().map_err(|f| self.context.error(f))
    }

    /// Names of its kernels (`CL_PROGRAM_KERNEL_NAMES`).
    pub fn kernel_names(&self) -> Result<Vec<String>> {
        let names = self.raw.kernel_names().map_err(|f| self.context.error(f))?;
        Ok(names.split(';').filter(|name| !name.is_empty()).map(str::to_owned).collect())
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
        let program = |text: &str| unsafe { ffi::Program::source(context, text) }.map_err(|f| context.error(f));
        let mut names = Vec::new();
        for (name, text) in headers {
            check_source(text, OP)?;
            names.push((c_options(name, OP)?, program(text)?));
        }
        let raw = program(source)?;
        let headers: Vec<_> = names.iter().map(|(name, header)| (name.as_c_str(), header)).collect();
        let compiled = raw.compile(context.devices(), &options, &headers);
        outcome(compiled, &raw, context, context.devices())?;
        let texts = vec![text_of(context.devices(), source, options, names)];
        Ok(Self { raw, context: context.clone(), texts })
    }

    /// Links objects to a library (`clLinkProgram`, `-create-library`).
    ///
    /// # Errors
    /// The errors of [`Program::link`].
    pub fn library(context: &Context, objects: &[&Self], options: &str) -> Result<Self> {
        let raw = link(context, objects, &format!("-create-library {options}"))?;
        let texts = objects.iter().flat_map(|object| object.texts.iter().cloned()).collect();
        Ok(Self { raw, context: context.clone(), texts })
    }

    /// Returns what there is for a device (`CL_PROGRAM_BINARY_TYPE`).
    pub fn binary_type(&self, device: &Device) -> Result<BinaryType> {
        let code = self.raw.binary_type(device).map_err(|f| self.context.error(f))?;
        Ok(BinaryType::from_code(code).unwrap_or(BinaryType::None))
    }
}

fn check_linker(context: &Context, operation: &'static str) -> Result<()> {
    for device in context.devices() {
        if !device.linker_available()? {
            return Err(device.unsupported(operation, "CL_DEVICE_LINKER_AVAILABLE is false"));
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
    let link = |options: &str| {
        let options = c_options(options.trim_end(), OP)?;
        Ok::<_, Error>(ffi::Program::link(context, context.devices(), &options, &raw))
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
