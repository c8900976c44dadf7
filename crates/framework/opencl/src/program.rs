//! [`Program`]: built kernels; [`Object`]: compiled parts of a program.

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
        /// No binary.
        None = p::CL_PROGRAM_BINARY_TYPE_NONE;
        /// An object, for linking.
        CompiledObject = p::CL_PROGRAM_BINARY_TYPE_COMPILED_OBJECT;
        /// A library, for linking.
        Library = p::CL_PROGRAM_BINARY_TYPE_LIBRARY;
        /// A program with kernels.
        Executable = p::CL_PROGRAM_BINARY_TYPE_EXECUTABLE;
    }
}

choices! {
    /// Status of a build (`CL_PROGRAM_BUILD_STATUS`).
    BuildStatus {
        /// The build succeeded.
        Success = p::CL_BUILD_SUCCESS;
        /// The program was not built for the device.
        None = p::CL_BUILD_NONE;
        /// The build failed.
        Error = p::CL_BUILD_ERROR;
        /// The build is in progress.
        InProgress = p::CL_BUILD_IN_PROGRESS;
    }
}

/// Kernels that were built for devices of a context (OpenCL 3.0 API, 5.8). Cheap to clone; any thread may use it.
///
/// # What the caller vouches for
/// Kernels are code, like a library that is linked. Creating a program is `unsafe`; launching its kernels is safe, and
/// relies on what the caller vouches for when the program is created. In every launch that the host program makes, a
/// kernel
///
/// - reads and writes only the memory that its arguments name, and local and private memory of its own; it makes no
///   address from a number;
/// - has no undefined behaviour of its language, such as a write that races with another work item, or a barrier that
///   some items of a group do not reach;
/// - ends;
/// - has parameters whose types keep the meaning of their names to the end of the source; no macro redefines them.
///
/// A launch checks each argument against the known properties of the parameter: objects must be passed for objects, and
/// values must have its size. Any value, buffers of any length, and any number of work items are allowed. Therefore the
/// kernel itself must check indices that come from an argument or a work item, or the module that creates the program
/// keeps it private and launches its kernels only with arguments and work items for which the conditions above hold.
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
    /// Parameters of the kernels, from the cache or from sealed binaries.
    known: Arc<HashMap<String, Vec<Param>>>,
    types: Arc<Types>,
}

/// A source that was compiled but not linked (`clCompileProgram`), or several linked to a library. Cheap to clone. It
/// has no kernels before [`Program::link`], which is where the caller vouches for them.
#[derive(Clone)]
pub struct Object {
    raw: ffi::Program,
    context: Context,
    texts: Vec<Arc<Text>>,
}

/// Makes kernels report their parameters.
pub(super) const ARG_INFO: &str = "-cl-kernel-arg-info";

pub(super) fn c_options(options: &str, operation: &'static str) -> Result<CString> {
    CString::new(options).map_err(|_| Error::invalid(operation, format!("the options {options:?} contain a NUL")))
}

fn check_source(source: &str, operation: &'static str) -> Result<()> {
    if source.contains('\0') { Err(Error::invalid(operation, "the source contains a NUL")) } else { Ok(()) }
}

/// Returns the error of a build: with the log where the program itself is wrong.
pub(super) fn outcome(
    built: Result<(), ffi::Failure>,
    program: &ffi::Program,
    context: &Context,
    devices: &[Device],
) -> Result<()> {
    let Err(failure) = built else { return Ok(()) };
    let logs = devices.iter().map(|device| (device.name(), program.log(device)));
    // With one device, the error already names it.
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

    /// Sets the recorded parameters.
    pub(super) fn with_known(self, known: HashMap<String, Vec<Param>>) -> Self {
        Self { known: Arc::new(known), ..self }
    }

    /// Returns a kernel's recorded parameters, if there are any.
    pub(super) fn known(&self, kernel: &str) -> Option<&[Param]> {
        self.known.get(kernel).map(Vec::as_slice)
    }

    /// Returns the bytes of a type that the program defines, if it is a plain value.
    pub(super) fn size_of(&self, type_name: &str) -> Option<usize> {
        self.types.size_of(&self.context, type_name)
    }

    /// Checks whether a plain type that the program defines has this number of bytes, as `clSetKernelArg` counts them;
    /// the error is its number of bytes, if it has a size. The compiler is queried once for each type
    /// (`clCompileProgram`).
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
    /// [`Error::KernelBuild`] with the logs; [`Error::InvalidInput`] for a NUL in the source or the options.
    pub unsafe fn build(context: &Context, source: &str, options: &str) -> Result<Self> {
        // SAFETY: the caller vouches for the kernels.
        unsafe { Self::build_for(context, context.devices(), source, options) }
    }

    /// Builds OpenCL C for some of the context's devices (`clCreateProgramWithSource`, `clBuildProgram` with a device
    /// list). Kernels can be launched only on their queues. Blocks.
    ///
    /// # Safety
    /// [`Program`] says what the caller vouches for.
    ///
    /// # Errors
    /// Those of [`Program::build`]; [`Error::InvalidInput`] for an empty list; [`Error::Foreign`] for a device of
    /// another context.
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
    /// The bytes are a valid module of the language, which not all drivers check, and the caller vouches for what
    /// [`Program`] states.
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

    /// Creates a program of built-in kernels in `CL_DEVICE_BUILT_IN_KERNELS` (`clCreateProgramWithBuiltInKernels`).
    ///
    /// # Safety
    /// [`Program`] states what the caller vouches for; the device's manual describes what a kernel does with its
    /// arguments.
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
    /// [`Program`] states what the caller vouches for; functions must also be declared in one object as another defines
    /// them.
    ///
    /// # Errors
    /// [`Error::KernelBuild`] with the logs; [`Error::InvalidInput`] for an empty list.
    pub unsafe fn link(context: &Context, objects: &[&Object], options: &str) -> Result<Self> {
        let texts = objects.iter().flat_map(|object| object.texts.iter().cloned()).collect();
        Ok(Self::of(link(context, objects, options)?, context, context.devices()).with_texts(texts))
    }

    /// Returns its context (`CL_PROGRAM_CONTEXT`).
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Returns the devices for which it was built, on whose queues its kernels can be launched (`device_list` of
    /// `clBuildProgram`).
    pub fn devices(&self) -> &[Device] {
        &self.devices
    }

    /// Returns the compiler's log (`CL_PROGRAM_BUILD_LOG`); it may be empty.
    pub fn log(&self, device: &Device) -> String {
        self.raw.log(device)
    }

    /// Returns the status of the build for a device (`CL_PROGRAM_BUILD_STATUS`); [`BuildStatus::None`] for a status of
    /// a later version, and for a device for which the program was not built.
    pub fn status(&self, device: &Device) -> Result<BuildStatus> {
        if !self.devices.iter().any(|built| built.is(device)) {
            return Ok(BuildStatus::None);
        }
        let code = self.raw.status(device).map_err(|f| self.context.error(f))?;
        Ok(BuildStatus::from_code(code as u32).unwrap_or(BuildStatus::None))
    }

    /// Returns the options of the build (`CL_PROGRAM_BUILD_OPTIONS`).
    pub fn options(&self, device: &Device) -> Result<String> {
        self.raw.options(device).map_err(|f| self.context.error(f))
    }

    /// Returns the type of the binary for a device (`CL_PROGRAM_BINARY_TYPE`).
    pub fn binary_type(&self, device: &Device) -> Result<BinaryType> {
        let code = self.raw.binary_type(device).map_err(|f| self.context.error(f))?;
        Ok(BinaryType::from_code(code).unwrap_or(BinaryType::None))
    }

    /// Returns the source (`CL_PROGRAM_SOURCE`); empty if the program has none.
    pub fn source(&self) -> Result<String> {
        self.raw.text().map_err(|f| self.context.error(f))
    }

    /// Returns the names of its kernels (`CL_PROGRAM_KERNEL_NAMES`).
    pub fn kernel_names(&self) -> Result<Vec<String>> {
        let names = self.raw.kernel_names().map_err(|f| self.context.error(f))?;
        Ok(names.split(';').filter(|name| !name.is_empty()).map(str::to_owned).collect())
    }
}

impl Object {
    /// Compiles OpenCL C; `headers` are the names and texts of included files (`clCompileProgram`).
    ///
    /// # Errors
    /// [`Error::KernelBuild`] with the logs; [`Error::InvalidInput`] for a NUL.
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

    /// Returns the type of the binary for a device (`CL_PROGRAM_BINARY_TYPE`).
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
    // PoCL 3.1 reports parameters only if the linker has this option, too; other drivers reject it there.
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
