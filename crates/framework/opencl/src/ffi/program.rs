//! Programs: made from source, binaries or others, and what became of them on each device.

use super::handle::{Handle, ProgramKind};
use super::kernel::Kernel;
use super::query::{array, sizes, text};
use super::{Failure, check};
use crate::{Context, Device};
use cl3::error_codes::{CL_INVALID_VALUE, CL_SUCCESS, DLOPEN_FUNCTION_NOT_AVAILABLE, DLOPEN_RUNTIME_LOAD_FAILED};
use cl3::kernel as k;
use cl3::program as p;
use interop_core::describe::threads::SignalMaskGuard;
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::Arc;

/// A program of a context; clones are the same program.
#[derive(Clone)]
pub struct Program(Arc<Handle<ProgramKind>>);

fn ids(devices: &[Device]) -> Vec<*mut c_void> {
    devices.iter().map(Device::raw).collect()
}

fn address<T>(list: &[T]) -> *const T {
    if list.is_empty() { ptr::null() } else { list.as_ptr() }
}

fn runtime(operation: &'static str) -> Result<&'static cl3::OpenClRuntime, Failure> {
    cl3::load_library().as_ref().map_err(|_| Failure { operation, code: DLOPEN_RUNTIME_LOAD_FAILED })
}

const fn absent(operation: &'static str) -> Failure {
    Failure { operation, code: DLOPEN_FUNCTION_NOT_AVAILABLE }
}

impl Program {
    /// # Safety
    /// The conditions of [`Handle::own`] hold.
    unsafe fn own(operation: &'static str, result: Result<*mut c_void, i32>) -> Result<Self, Failure> {
        // SAFETY: the caller's promise.
        unsafe { Handle::own(operation, result) }.map(|handle| Self(Arc::new(handle)))
    }

    pub(crate) fn of(handle: Handle<ProgramKind>) -> Self {
        Self(Arc::new(handle))
    }

    pub fn raw(&self) -> *mut c_void {
        self.0.raw()
    }

    pub fn references(&self) -> Result<u32, Failure> {
        self.0.references()
    }

    /// # Safety
    /// The caller vouches for what its kernels do when they are launched.
    pub unsafe fn source(context: &Context, source: &str) -> Result<Self, Failure> {
        // A length of 0 tells the driver to look for a NUL, which a Rust string does not have.
        let source = if source.is_empty() { " " } else { source };
        // One string only: cl3 takes the slice of strings for a slice of pointers.
        let raw = p::create_program_with_source(context.raw(), &[source]);
        // SAFETY: a program that was just created, whose one reference is ours.
        unsafe { Self::own("clCreateProgramWithSource", raw) }
    }

    /// One binary for each device; none may be empty.
    ///
    /// # Safety
    /// The caller vouches for the bytes, which drivers do not all check, and for what its kernels do when they are launched.
    pub unsafe fn binaries(context: &Context, devices: &[Device], binaries: &[&[u8]]) -> Result<Self, Failure> {
        const CALL: &str = "clCreateProgramWithBinary";
        if devices.len() != binaries.len() || binaries.iter().any(|binary| binary.is_empty()) {
            return Err(Failure { operation: CALL, code: CL_INVALID_VALUE });
        }
        let lens: Vec<usize> = binaries.iter().map(|binary| binary.len()).collect();
        // Called directly: cl3 takes the slice of slices for a slice of pointers.
        let mut addresses: Vec<*const u8> = binaries.iter().map(|binary| binary.as_ptr()).collect();
        let mut statuses = vec![CL_SUCCESS; devices.len()];
        let mut code = CL_INVALID_VALUE;
        let raw = runtime(CALL)?
            .clCreateProgramWithBinary(
                context.raw(),
                devices.len() as u32,
                ids(devices).as_ptr(),
                lens.as_ptr(),
                addresses.as_mut_ptr(),
                statuses.as_mut_ptr(),
                &mut code,
            )
            .ok_or(absent(CALL))?;
        // SAFETY: a program that was just created, whose one reference is ours.
        unsafe { Self::own(CALL, if code == CL_SUCCESS { Ok(raw) } else { Err(code) }) }
    }

    /// SPIR-V or what else the device takes (OpenCL 2.1).
    ///
    /// # Safety
    /// The caller vouches for the bytes, which drivers do not all check, and for what its kernels do when they are launched.
    pub unsafe fn il(context: &Context, il: &[u8]) -> Result<Self, Failure> {
        let raw = p::create_program_with_il(context.raw(), il);
        // SAFETY: a program that was just created, whose one reference is ours.
        unsafe { Self::own("clCreateProgramWithIL", raw) }
    }

    /// Kernels that the devices bring along; `names` are separated by semicolons.
    ///
    /// # Safety
    /// The caller vouches for what its kernels do when they are launched.
    pub unsafe fn built_in(context: &Context, devices: &[Device], names: &CStr) -> Result<Self, Failure> {
        // SAFETY: context and devices are live.
        let raw = unsafe { p::create_program_with_builtin_kernels(context.raw(), &ids(devices), names) };
        // SAFETY: a program that was just created, whose one reference is ours.
        unsafe { Self::own("clCreateProgramWithBuiltInKernels", raw) }
    }

    /// Compiles and links. See [`Program::log`] for what the compiler said.
    pub fn build(&self, devices: &[Device], options: &CStr) -> Result<(), Failure> {
        let _blocked = SignalMaskGuard::new();
        check("clBuildProgram", p::build_program(self.raw(), &ids(devices), options, None, ptr::null_mut()))
    }

    /// Compiles only; `headers` are what the source includes, by name.
    pub fn compile(&self, devices: &[Device], options: &CStr, headers: &[(&CStr, &Self)]) -> Result<(), Failure> {
        let (names, programs): (Vec<_>, Vec<_>) =
            headers.iter().map(|(name, header)| (name.as_ptr(), header.raw())).unzip();
        const CALL: &str = "clCompileProgram";
        // Called directly: cl3 takes the slice of names for a slice of pointers.
        let code = runtime(CALL)?
            .clCompileProgram(
                self.raw(),
                devices.len() as u32,
                ids(devices).as_ptr(),
                options.as_ptr(),
                headers.len() as u32,
                address(&programs),
                address(&names),
                None,
                ptr::null_mut(),
            )
            .ok_or(absent(CALL))?;
        check(CALL, if code == CL_SUCCESS { Ok(()) } else { Err(code) })
    }

    /// Links compiled programs and libraries, at least one. Where it fails, the program may be there for its log.
    pub fn link(
        context: &Context,
        devices: &[Device],
        options: &CStr,
        programs: &[Self],
    ) -> Result<(Self, Result<(), Failure>), Failure> {
        const CALL: &str = "clLinkProgram";
        let raw: Vec<_> = programs.iter().map(Self::raw).collect();
        let mut code = CL_INVALID_VALUE;
        // Called directly: cl3 ends the program for an empty list, and loses the log.
        let linked = runtime(CALL)?
            .clLinkProgram(
                context.raw(),
                devices.len() as u32,
                ids(devices).as_ptr(),
                options.as_ptr(),
                raw.len() as u32,
                address(&raw),
                None,
                ptr::null_mut(),
                &mut code,
            )
            .ok_or(absent(CALL))?;
        let failed = (code != CL_SUCCESS).then_some(Failure { operation: CALL, code });
        if let (true, Some(failure)) = (linked.is_null(), failed) {
            return Err(failure);
        }
        // SAFETY: a program that was just created, whose one reference is ours.
        Ok((unsafe { Self::own(CALL, Ok(linked)) }?, failed.map_or(Ok(()), Err)))
    }

    fn build_info(&self, device: &Device, param: u32) -> Result<Vec<u8>, Failure> {
        check("clGetProgramBuildInfo", p::get_program_build_data(self.raw(), device.raw(), param))
    }

    /// The compiler's output; empty where the driver gives none.
    pub fn log(&self, device: &Device) -> String {
        self.build_info(device, p::CL_PROGRAM_BUILD_LOG).map(|b| text(&b)).unwrap_or_default()
    }

    /// `CL_BUILD_*`.
    pub fn status(&self, device: &Device) -> Result<i32, Failure> {
        let bytes = self.build_info(device, p::CL_PROGRAM_BUILD_STATUS)?;
        array("clGetProgramBuildInfo", &bytes).map(i32::from_ne_bytes)
    }

    pub fn options(&self, device: &Device) -> Result<String, Failure> {
        self.build_info(device, p::CL_PROGRAM_BUILD_OPTIONS).map(|b| text(&b))
    }

    /// `CL_PROGRAM_BINARY_TYPE_*`.
    pub fn binary_type(&self, device: &Device) -> Result<u32, Failure> {
        let bytes = self.build_info(device, p::CL_PROGRAM_BINARY_TYPE)?;
        array("clGetProgramBuildInfo", &bytes).map(u32::from_ne_bytes)
    }

    /// The source; empty where it was made from binaries.
    pub fn text(&self) -> Result<String, Failure> {
        check("clGetProgramInfo", p::get_program_data(self.raw(), p::CL_PROGRAM_SOURCE)).map(|b| text(&b))
    }

    /// The devices that the program is associated with (`CL_PROGRAM_DEVICES`), in the order of its binaries.
    pub fn devices(&self) -> Result<Vec<*mut c_void>, Failure> {
        let devices = sizes(&self.0.info(p::CL_PROGRAM_DEVICES)?);
        Ok(devices.into_iter().map(ptr::with_exposed_provenance_mut).collect())
    }

    /// Returns what was built, one for each device of the program; empty for a device that it was not built for.
    pub fn built_binaries(&self) -> Result<Vec<Vec<u8>>, Failure> {
        const CALL: &str = "clGetProgramInfo";
        let lens = sizes(&check(CALL, p::get_program_data(self.raw(), p::CL_PROGRAM_BINARY_SIZES))?);
        let mut binaries: Vec<Vec<u8>> = lens.into_iter().map(|len| vec![0; len]).collect();
        // A null address leaves a binary out.
        let mut addresses: Vec<*mut u8> =
            binaries.iter_mut().map(|b| if b.is_empty() { ptr::null_mut() } else { b.as_mut_ptr() }).collect();
        let code = runtime(CALL)?
            .clGetProgramInfo(
                self.raw(),
                p::CL_PROGRAM_BINARIES,
                size_of_val(addresses.as_slice()),
                addresses.as_mut_ptr().cast(),
                ptr::null_mut(),
            )
            .ok_or(absent(CALL))?;
        check(CALL, if code == CL_SUCCESS { Ok(binaries) } else { Err(code) })
    }

    /// Names of the kernels, separated by semicolons.
    pub fn kernel_names(&self) -> Result<String, Failure> {
        let get = |param| check("clGetProgramInfo", p::get_program_data(self.raw(), param));
        // Asked for the names of none, NVIDIA's driver crashes, and PoCL leaves the answer uninitialised.
        if sizes(&get(p::CL_PROGRAM_NUM_KERNELS)?).first().is_none_or(|n| *n == 0) {
            return Ok(String::new());
        }
        get(p::CL_PROGRAM_KERNEL_NAMES).map(|b| text(&b))
    }

    pub fn kernel(&self, name: &CStr) -> Result<Kernel, Failure> {
        let raw = k::create_kernel(self.raw(), name);
        // SAFETY: a kernel that was just created, whose one reference is ours.
        unsafe { Handle::own("clCreateKernel", raw) }.map(Kernel::new)
    }
}
