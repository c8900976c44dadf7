//! OpenCL's codes as errors with names and hints.

use crate::ffi::{
    ACQUIRED, FOREIGN, Failure, GL_FUNCTION_MISSING, NO_GL_OBJECT, NOT_ACQUIRED, OVERLAP, WRONG_CONTEXT, holder_of,
    of_user_event, why_no_library,
};
use interop_core::devices::borrows::BorrowConflict;
use interop_core::{DriverError, Error};
use opencl3::error_codes as cl;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// The package names are Debian's and Ubuntu's; other distributions use much the same.
const INSTALL_LOADER: &str = "Install the OpenCL loader (Debian: ocl-icd-libopencl1; Windows: it comes with the GPU \
                              driver), or name the library in OPENCL_DYLIB_PATH.";
const INSTALL_DRIVER: &str = "Install an OpenCL driver: your GPU vendor's, or pocl-opencl-icd (Debian) for the CPU; \
                              Mesa's rusticl needs RUSTICL_ENABLE=<driver>, e.g. iris, radeonsi or llvmpipe. If \
                              OCL_ICD_VENDORS is set, it must name a folder with .icd files.";

impl Failure {
    /// Converts to the error that the caller receives.
    pub fn on(self, device: &str) -> Error {
        if let Some(own) = of_user_event(self.code) {
            let reason = own.map_or_else(
                || "the user event that it stands for or waits for was dropped before it was completed".to_owned(),
                |own| format!("the user event that it stands for or waits for was set to the error code {own}"),
            );
            return Error::EventFailed { reason };
        }
        if let Some(holder) = holder_of(self.code) {
            return BorrowConflict(holder).refuse().of(self.operation);
        }
        match self.code {
            cl::DLOPEN_RUNTIME_LOAD_FAILED => {
                let why = why_no_library().map_or_else(String::new, |why| format!(": {why}"));
                unavailable(format!("the library libOpenCL could not be loaded{why}"), INSTALL_LOADER)
            }
            cl::DLOPEN_FUNCTION_NOT_AVAILABLE => {
                unavailable(format!("the library loaded as libOpenCL has no {}", self.operation), INSTALL_LOADER)
            }
            cl::CL_PLATFORM_NOT_FOUND_KHR => {
                unavailable("libOpenCL found no driver (CL_PLATFORM_NOT_FOUND_KHR)", INSTALL_DRIVER)
            }
            WRONG_CONTEXT => Error::WrongContext { operation: self.operation, device: device.to_owned() },
            NOT_ACQUIRED => Error::invalid(self.operation, "acquire it first, and release it before OpenGL uses it"),
            FOREIGN => Error::Foreign { operation: self.operation, object: "object", device: device.to_owned() },
            ACQUIRED => Error::invalid(self.operation, "it is acquired already; release it first"),
            NO_GL_OBJECT => Error::invalid(self.operation, "the memory was not created from an OpenGL object"),
            GL_FUNCTION_MISSING => Error::Unsupported {
                operation: "sharing with OpenGL",
                device: device.to_owned(),
                reason: "the OpenGL context lacks functions of OpenGL 3.2".into(),
            },
            OVERLAP => Error::invalid(self.operation, "the command needs exclusive memory, but its memories overlap"),
            code => {
                DriverError::new(self.operation, device, i64::from(code), code_name(code)).with_hint(hint(code)).into()
            }
        }
    }
}

/// Returns the error of a program that cannot use any of the devices that `clGetDeviceIDs` returned, with a hint.
/// `seen` has one text for each platform or device.
pub fn no_device(seen: &[String]) -> Error {
    let names = if seen.is_empty() { "no platform".to_owned() } else { seen.join("; ") };
    let cache = cache_folder(|name| std::env::var_os(name).filter(|value| !value.is_empty()));
    // An installed driver need not be installed again.
    let hint = match cache.filter(|cache| seen.iter().any(|one| one.starts_with(POCL)) && !can_be_written(cache)) {
        Some(cache) => format!(
            "The installed PoCL needs a cache folder, and {} is not writable: set POCL_CACHE_DIR, \
             XDG_CACHE_HOME or HOME to a writable folder, for example POCL_CACHE_DIR=/tmp/pocl",
            cache.display()
        ),
        None => INSTALL_DRIVER.into(),
    };
    unavailable(format!("no usable device ({names})"), &hint)
}

/// The name of its platform begins with this.
const POCL: &str = "Portable Computing Language";

/// Returns the folder in which PoCL keeps kernels; `None` where it falls back to a folder that is always writable.
fn cache_folder(variable: impl Fn(&str) -> Option<OsString>) -> Option<PathBuf> {
    let cache = || Some(PathBuf::from(variable("HOME")?).join(".cache"));
    let below = || Some(variable("XDG_CACHE_HOME").map(PathBuf::from).or_else(cache)?.join("pocl"));
    variable("POCL_CACHE_DIR").map(PathBuf::from).or_else(below)
}

/// Returns true where a folder is writable, or can be created.
#[cfg(unix)]
fn can_be_written(folder: &Path) -> bool {
    use rustix::fs::{Access, access};
    let there = folder.ancestors().find(|folder| folder.exists());
    there.is_some_and(|folder| access(folder, Access::WRITE_OK | Access::EXEC_OK).is_ok())
}

#[cfg(not(unix))]
fn can_be_written(_: &Path) -> bool {
    true
}

fn unavailable(reason: impl std::fmt::Display, hint: &str) -> Error {
    Error::unavailable("OpenCL", reason, hint)
}

/// Code of NVIDIA's driver after a kernel has accessed memory outside its allocations; it is in no header.
const NV_ILLEGAL_ACCESS: i32 = -9999;

fn code_name(code: i32) -> &'static str {
    match code {
        NV_ILLEGAL_ACCESS => "illegal memory access (NVIDIA)",
        code => cl::error_text(code),
    }
}

fn hint(code: i32) -> &'static str {
    match code {
        NV_ILLEGAL_ACCESS => "A kernel read or wrote outside its memory; check its indices, then reopen the device.",
        cl::CL_OUT_OF_RESOURCES => {
            "Use a smaller surface, or check whether an earlier kernel wrote outside its memory or ran too long."
        }
        cl::CL_MEM_OBJECT_ALLOCATION_FAILURE => "Free device memory, or use a smaller surface or fewer frames.",
        cl::CL_OUT_OF_HOST_MEMORY => "Free host memory, or use a smaller surface or fewer frames.",
        cl::CL_DEVICE_NOT_AVAILABLE => "Another program may hold the device; close it, or use another device.",
        cl::CL_COMPILER_NOT_AVAILABLE => "This driver cannot compile at run time; use another device.",
        cl::CL_BUILD_PROGRAM_FAILURE => "Read the build log.",
        cl::CL_INVALID_WORK_GROUP_SIZE => {
            "The device does not support groups of this size for this kernel; reduce it, also in reqd_work_group_size."
        }
        cl::CL_INVALID_KERNEL_ARGS | cl::CL_INVALID_ARG_SIZE | cl::CL_INVALID_ARG_VALUE => {
            "Compare the kernel's parameters with the target and the arguments of the launch."
        }
        cl::CL_INVALID_HOST_PTR | cl::CL_MAP_FAILURE => {
            "This memory cannot be shared with the device; a path that copies will work."
        }
        cl::CL_INVALID_GL_OBJECT => {
            "The GL object must have storage, be complete, and belong to the context that the device was opened with."
        }
        cl::CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR => {
            "The driver cannot share with this GL context; create the context on the same device, or use another path."
        }
        cl::CL_INVALID_BUFFER_SIZE => "The size exceeds the device's largest allocation; use a smaller surface.",
        cl::CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST => {
            "An event that it waited for failed: an earlier command's, or a user event that was dropped or failed."
        }
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(code: i32) -> String {
        Failure { operation: "clFinish", code }.on("device X").to_string()
    }

    #[test]
    fn driver_errors_name_call_device_code_and_hint() {
        let text = text(-5);
        for part in ["clFinish", "device X", "CL_OUT_OF_RESOURCES", "(-5)", "smaller surface"] {
            assert!(text.contains(part), "{part} not in: {text}");
        }
    }

    #[test]
    fn every_standard_code_has_a_name() {
        // Core codes of cl.h; -20..=-29 and -73.. are not assigned.
        for code in (-19..=-1).chain(-72..=-30) {
            assert_ne!(code_name(code), "UNKNOWN_ERROR", "{code}");
        }
        assert!(code_name(NV_ILLEGAL_ACCESS).contains("NVIDIA"));
        assert!(text(-12345).contains("-12345"));
    }

    #[test]
    fn the_cache_is_where_the_first_variable_says() {
        let of = |set: &[(&str, &str)]| {
            let value = |name: &str| set.iter().find(|(one, _)| *one == name).map(|(_, value)| (*value).into());
            cache_folder(value).map(|path| path.to_string_lossy().into_owned())
        };
        let all = [("POCL_CACHE_DIR", "/a"), ("XDG_CACHE_HOME", "/b"), ("HOME", "/c")];
        let folders = [&all[..], &all[1..], &all[2..], &[]].map(of);
        assert_eq!(folders.map(Option::unwrap_or_default), ["/a", "/b/pocl", "/c/.cache/pocl", ""]);
    }

    #[cfg(unix)]
    #[test]
    fn a_cache_below_a_file_cannot_be_written() {
        assert!(can_be_written(&std::env::temp_dir().join("absent/folder")));
        assert!(!can_be_written(Path::new("/dev/null/none")));
    }

    #[test]
    fn what_is_missing_is_unavailable_with_a_hint() {
        for (code, hint) in [(-2000, "ocl-icd-libopencl1"), (-2001, "OPENCL_DYLIB_PATH"), (-1001, "pocl-opencl-icd")] {
            let error = Failure { operation: "clGetPlatformIDs", code }.on("x");
            assert!(matches!(&error, Error::Unavailable { hint: h, .. } if h.contains(hint)), "{error}");
        }
        let error = no_device(&["rusticl: 0 devices".into()]).to_string();
        assert!(error.contains("rusticl: 0 devices") && error.contains("RUSTICL_ENABLE"), "{error}");
    }
}
