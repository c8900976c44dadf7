//! Converts CUDA's error codes to errors with names and hints.

use crate::ffi::{Failure, MissingApi};
use interop_core::{DriverError, Error};

const INSTALL_DRIVER: &str =
    "Install NVIDIA's driver, version 525 or later, or use another backend: OpenCL or the CPU.";

/// Hint for errors that every later call on the device returns, until the context is destroyed.
const LOST: &str = "The device's context is lost, usually for the rest of the process: use another backend, or \
                    restart the program.";

impl Failure {
    /// Converts the failure to the caller's error.
    pub(crate) fn on(self, device: &str) -> Error {
        // The suffix belongs to the library's symbol, not to the documented name.
        let operation = self.operation.trim_end_matches("_v2");
        let compiler = operation.starts_with("nvrtc");
        let (name, hint) = if compiler { (nvrtc_name(self.code), "") } else { (name(self.code), hint(self.code)) };
        DriverError::new(operation, device, i64::from(self.code), name).with_hint(hint).into()
    }

    /// Converts the failure to an error that says that the driver could not be started.
    pub(crate) fn unavailable(self) -> Error {
        let reason = format!("{} returned {} ({})", self.operation.trim_end_matches("_v2"), name(self.code), self.code);
        unavailable(reason, if hint(self.code).is_empty() { INSTALL_DRIVER } else { hint(self.code) })
    }
}

impl From<MissingApi> for Error {
    fn from(missing: MissingApi) -> Self {
        match missing {
            MissingApi::Library(said) => {
                unavailable(format!("the driver library could not be loaded: {said}"), INSTALL_DRIVER)
            }
            MissingApi::Symbol(name) => unavailable(
                format!("the driver library has no {name}: it is older than CUDA 12.0"),
                "Update NVIDIA's driver to version 525 or later.",
            ),
        }
    }
}

/// Error for a driver that works, but cannot run anything.
pub(crate) fn unavailable(reason: impl std::fmt::Display, hint: &str) -> Error {
    Error::unavailable("CUDA", reason, hint)
}

/// Error for a missing compiler of CUDA C++.
pub(crate) fn no_compiler(missing: &str) -> Error {
    Error::unavailable(
        "NVRTC, the compiler for CUDA C++",
        missing,
        "Install it (the CUDA toolkit, or the Python package nvidia-cuda-nvrtc; its folder must be on the loader's \
         path or in CUDA_HOME), or provide the kernel as PTX as well.",
    )
}

/// Name of a `CUresult` (CUDA driver API, "Data types used by CUDA driver").
fn name(code: u32) -> &'static str {
    match code {
        1 => "CUDA_ERROR_INVALID_VALUE",
        2 => "CUDA_ERROR_OUT_OF_MEMORY",
        3 => "CUDA_ERROR_NOT_INITIALIZED",
        4 => "CUDA_ERROR_DEINITIALIZED",
        34 => "CUDA_ERROR_STUB_LIBRARY",
        // A code of the runtime API, which some libraries that replace the driver return.
        35 => "cudaErrorInsufficientDriver",
        46 => "CUDA_ERROR_DEVICE_UNAVAILABLE",
        100 => "CUDA_ERROR_NO_DEVICE",
        101 => "CUDA_ERROR_INVALID_DEVICE",
        102 => "CUDA_ERROR_DEVICE_NOT_LICENSED",
        200 => "CUDA_ERROR_INVALID_IMAGE",
        201 => "CUDA_ERROR_INVALID_CONTEXT",
        205 => "CUDA_ERROR_MAP_FAILED",
        206 => "CUDA_ERROR_UNMAP_FAILED",
        207 => "CUDA_ERROR_ARRAY_IS_MAPPED",
        208 => "CUDA_ERROR_ALREADY_MAPPED",
        209 => "CUDA_ERROR_NO_BINARY_FOR_GPU",
        210 => "CUDA_ERROR_ALREADY_ACQUIRED",
        211 => "CUDA_ERROR_NOT_MAPPED",
        212 => "CUDA_ERROR_NOT_MAPPED_AS_ARRAY",
        213 => "CUDA_ERROR_NOT_MAPPED_AS_POINTER",
        214 => "CUDA_ERROR_ECC_UNCORRECTABLE",
        215 => "CUDA_ERROR_UNSUPPORTED_LIMIT",
        216 => "CUDA_ERROR_CONTEXT_ALREADY_IN_USE",
        217 => "CUDA_ERROR_PEER_ACCESS_UNSUPPORTED",
        218 => "CUDA_ERROR_INVALID_PTX",
        219 => "CUDA_ERROR_INVALID_GRAPHICS_CONTEXT",
        220 => "CUDA_ERROR_NVLINK_UNCORRECTABLE",
        221 => "CUDA_ERROR_JIT_COMPILER_NOT_FOUND",
        222 => "CUDA_ERROR_UNSUPPORTED_PTX_VERSION",
        223 => "CUDA_ERROR_JIT_COMPILATION_DISABLED",
        226 => "CUDA_ERROR_CONTAINED",
        300 => "CUDA_ERROR_INVALID_SOURCE",
        301 => "CUDA_ERROR_FILE_NOT_FOUND",
        302 => "CUDA_ERROR_SHARED_OBJECT_SYMBOL_NOT_FOUND",
        303 => "CUDA_ERROR_SHARED_OBJECT_INIT_FAILED",
        304 => "CUDA_ERROR_OPERATING_SYSTEM",
        400 => "CUDA_ERROR_INVALID_HANDLE",
        401 => "CUDA_ERROR_ILLEGAL_STATE",
        500 => "CUDA_ERROR_NOT_FOUND",
        600 => "CUDA_ERROR_NOT_READY",
        700 => "CUDA_ERROR_ILLEGAL_ADDRESS",
        701 => "CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES",
        702 => "CUDA_ERROR_LAUNCH_TIMEOUT",
        708 => "CUDA_ERROR_PRIMARY_CONTEXT_ACTIVE",
        709 => "CUDA_ERROR_CONTEXT_IS_DESTROYED",
        710 => "CUDA_ERROR_ASSERT",
        712 => "CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED",
        713 => "CUDA_ERROR_HOST_MEMORY_NOT_REGISTERED",
        714 => "CUDA_ERROR_HARDWARE_STACK_ERROR",
        715 => "CUDA_ERROR_ILLEGAL_INSTRUCTION",
        716 => "CUDA_ERROR_MISALIGNED_ADDRESS",
        717 => "CUDA_ERROR_INVALID_ADDRESS_SPACE",
        718 => "CUDA_ERROR_INVALID_PC",
        719 => "CUDA_ERROR_LAUNCH_FAILED",
        800 => "CUDA_ERROR_NOT_PERMITTED",
        801 => "CUDA_ERROR_NOT_SUPPORTED",
        802 => "CUDA_ERROR_SYSTEM_NOT_READY",
        803 => "CUDA_ERROR_SYSTEM_DRIVER_MISMATCH",
        804 => "CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE",
        805..=810 => "CUDA_ERROR_MPS",
        900..=908 => "CUDA_ERROR_STREAM_CAPTURE",
        909 => "CUDA_ERROR_TIMEOUT",
        911 => "CUDA_ERROR_EXTERNAL_DEVICE",
        999 => "CUDA_ERROR_UNKNOWN",
        _ => "an unknown code",
    }
}

/// Name of an `nvrtcResult`.
fn nvrtc_name(code: u32) -> &'static str {
    const NAMES: [&str; 12] = [
        "NVRTC_SUCCESS",
        "NVRTC_ERROR_OUT_OF_MEMORY",
        "NVRTC_ERROR_PROGRAM_CREATION_FAILURE",
        "NVRTC_ERROR_INVALID_INPUT",
        "NVRTC_ERROR_INVALID_PROGRAM",
        "NVRTC_ERROR_INVALID_OPTION",
        "NVRTC_ERROR_COMPILATION",
        "NVRTC_ERROR_BUILTIN_OPERATION_FAILURE",
        "NVRTC_ERROR_NO_NAME_EXPRESSIONS_AFTER_COMPILATION",
        "NVRTC_ERROR_NO_LOWERED_NAMES_BEFORE_COMPILATION",
        "NVRTC_ERROR_NAME_EXPRESSION_NOT_VALID",
        "NVRTC_ERROR_INTERNAL_ERROR",
    ];
    NAMES.get(code as usize).copied().unwrap_or("an unknown code")
}

/// True for codes after which the context returns nothing but errors.
pub(crate) const fn is_lost(code: u32) -> bool {
    matches!(code, 214 | 220 | 226 | 700 | 702 | 709 | 710 | 714..=719)
}

fn hint(code: u32) -> &'static str {
    match code {
        2 => "Free device memory, or use a smaller surface or fewer frames.",
        34 => {
            "The library found is the toolkit's stub; take its folder off the loader's path, or install NVIDIA's driver."
        }
        35 | 803 => "The driver and the kernel module do not match; update NVIDIA's driver, then restart the machine.",
        46 => "Another program holds the device exclusively; close it, or use another device.",
        100 => "No NVIDIA GPU is visible; check nvidia-smi, and that CUDA_VISIBLE_DEVICES is not empty.",
        201 => "Drop the objects of this backend before the program shuts CUDA down.",
        209 | 218 | 222 | 300 => {
            "The PTX does not suit this driver: compile it for an older PTX version and for this device or an older \
             one, or update NVIDIA's driver."
        }
        219 => "Make the OpenGL context current on this thread; it must belong to this GPU.",
        221 => "The driver's PTX compiler (libnvidia-ptxjitcompiler) is missing; install NVIDIA's driver completely.",
        500 => "The kernel's name must be the name of an entry in the PTX; in C++ write extern \"C\".",
        701 => "The kernel needs more registers or shared memory than a block may have; make it smaller.",
        712 => "Two owners cannot register the same pages; drop the other registration, or allocate whole pages.",
        800 | 801 => "This system does not allow it (virtual machine, container or device); use another path.",
        802 => "The system's GPU services are still starting (nvidia-fabricmanager); try again.",
        700 | 716..=718 => {
            "A kernel accessed memory out of bounds: check its indices. The device's context is lost, usually for the \
             rest of the process: continue with another backend, or restart the program."
        }
        code if is_lost(code) => LOST,
        _ => "",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn driver_errors_name_call_device_code_and_hint() {
        let text = Failure { operation: "cuMemAlloc_v2", code: 2 }.on("CUDA device X").to_string();
        for part in ["cuMemAlloc failed", "CUDA device X", "CUDA_ERROR_OUT_OF_MEMORY", "(2)", "smaller surface"] {
            assert!(text.contains(part), "{part} not in: {text}");
        }
        let text = Failure { operation: "nvrtcGetPTX", code: 6 }.on("x").to_string();
        assert!(text.contains("NVRTC_ERROR_COMPILATION"), "{text}");
        let text = Failure { operation: "cuInit", code: 31_337 }.on("x").to_string();
        assert!(text.contains("31337"), "{text}");
    }

    #[test]
    fn errors_after_which_the_context_is_lost_say_so() {
        for code in [214, 700, 702, 709, 710, 714, 715, 716, 717, 718, 719] {
            let text = Failure { operation: "cuStreamSynchronize", code }.on("x").to_string();
            assert!(is_lost(code) && text.contains("context is lost"), "{text}");
        }
        assert!(!is_lost(2) && !is_lost(712));
    }

    #[test]
    fn what_is_missing_is_unavailable_with_a_hint() {
        let missing =
            [MissingApi::Library("libcuda.so.1: no such file".into()).into(), MissingApi::Symbol("cuMemCreate").into()];
        let refused = [3, 35, 100, 804, 999].map(|code| Failure { operation: "cuInit", code }.unavailable());
        for error in missing.into_iter().chain(refused).chain([no_compiler("not found")]) {
            let Error::Unavailable { reason, hint, .. } = &error else { panic!("{error}") };
            assert!(!reason.is_empty() && !hint.is_empty(), "{error}");
        }
        assert!(Failure { operation: "cuInit", code: 100 }.unavailable().to_string().contains("CUDA_VISIBLE_DEVICES"));
    }
}
