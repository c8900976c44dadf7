//! nvJPEG, which encodes JPEG on the GPU that has the pixels. It is opened at run time, so that building needs nothing.
//! Functions are declared as in `nvjpeg.h` of CUDA 12 and 13, and those for a thread's context as in `cuda.h`.

use interop_core::{ComputeBackend, ComputeMemory, RawMemory, Target};
use libloading::Library;
use std::ffi::{c_int, c_uchar, c_void};
use std::ptr;
use std::sync::{Arc, OnceLock};

/// Newest first. A library of the same name that the process has already opened, as PyTorch's packages do, is used
/// here, too.
const NAMES: &[&str] = if cfg!(windows) {
    &["nvjpeg64_13.dll", "nvjpeg64_12.dll"]
} else {
    &["libnvjpeg.so.13", "libnvjpeg.so.12", "libnvjpeg.so"]
};
const DRIVER: &[&str] = if cfg!(windows) { &["nvcuda.dll"] } else { &["libcuda.so.1", "libcuda.so"] };

/// `NVJPEG_INPUT_RGBI`.
const INTERLEAVED_RGB: c_int = 5;
/// `NVJPEG_CSS_444` and `NVJPEG_CSS_420`.
const FULL: c_int = 0;
const HALVED: c_int = 2;

/// Names of `nvjpegStatus_t`, from 0.
const STATUS: [&str; 11] = [
    "success",
    "not initialized",
    "invalid parameter",
    "bad JPEG",
    "JPEG not supported",
    "no memory",
    "execution failed",
    "architecture mismatch",
    "internal error",
    "not supported by this implementation",
    "incomplete bitstream",
];

/// `nvjpegHandle_t`, `nvjpegEncoderState_t`, `nvjpegEncoderParams_t`, `CUstream` or `CUcontext`.
type Object = *mut c_void;

/// `nvjpegImage_t`.
#[repr(C)]
struct Image {
    channel: [*mut c_uchar; 4],
    pitch: [usize; 4],
}

type Encode = unsafe extern "C" fn(Object, Object, Object, *const Image, c_int, c_int, c_int, Object) -> c_int;
type Retrieve = unsafe extern "C" fn(Object, Object, *mut c_uchar, *mut usize, Object) -> c_int;
type Create = unsafe extern "C" fn(Object, *mut Object, Object) -> c_int;
type SetParam = unsafe extern "C" fn(Object, c_int, Object) -> c_int;
type Destroy = unsafe extern "C" fn(Object) -> c_int;
type CreateSimple = unsafe extern "C" fn(*mut Object) -> c_int;

/// Functions of both libraries.
pub struct NvJpeg {
    create: CreateSimple,
    destroy: Destroy,
    create_state: Create,
    destroy_state: Destroy,
    create_params: Create,
    destroy_params: Destroy,
    set_quality: SetParam,
    set_sampling: SetParam,
    encode: Encode,
    retrieve: Retrieve,
    push: Destroy,
    pop: CreateSimple,
    wait: Destroy,
    name: &'static str,
    _libraries: [Library; 2],
}

/// Reason why the GPU cannot encode a picture; the host then encodes it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum GpuJpegError {
    /// nvJPEG or CUDA's driver is missing or too old.
    #[error(
        "nvJPEG is not available: {0}; install the CUDA toolkit or run pip install nvidia-nvjpeg-cu12 (libcuda comes \
         with the driver)"
    )]
    Absent(String),
    /// A call of nvJPEG failed.
    #[error("{call} returned {code} ({}) on {device}; the host encodes instead", status(*code))]
    NvJpeg {
        /// The failed function.
        call: &'static str,
        /// Its status, an `nvjpegStatus_t`.
        code: i32,
        /// Name of the device.
        device: String,
    },
    /// A call of CUDA's driver failed.
    #[error("{call} returned {code} (CUresult) on {device}; the host encodes instead")]
    Cuda {
        /// The failed function.
        call: &'static str,
        /// Its status, a `CUresult`.
        code: i32,
        /// Name of the device.
        device: String,
    },
    /// The memory or the picture's size is unsupported.
    #[error("nvJPEG needs {needed}, not {found}")]
    Pixels {
        /// What nvJPEG needs.
        needed: &'static str,
        /// What was given.
        found: String,
    },
    /// The GPU's JPEG differs more from its source than the host's JPEG does.
    #[error("wrong picture from nvJPEG on {device}: mean square error {found:.1}, the host's JPEG has {expected:.1}")]
    Wrong {
        /// Name of the device.
        device: String,
        /// Mean square error of the GPU's JPEG.
        found: f64,
        /// Mean square error of the host's JPEG.
        expected: f64,
    },
    /// The compute device failed.
    #[error(transparent)]
    Compute(#[from] interop_core::Error),
}

fn status(code: i32) -> &'static str {
    usize::try_from(code).ok().and_then(|code| STATUS.get(code)).copied().unwrap_or("unknown status")
}

fn library(names: &[&'static str]) -> Result<(&'static str, Library), String> {
    for name in names {
        // SAFETY: the initialisers of NVIDIA's libraries have no requirements.
        if let Ok(library) = unsafe { Library::new(*name) } {
            return Ok((name, library));
        }
    }
    Err(format!("cannot open {}", names.join(" or ")))
}

impl NvJpeg {
    /// Returns the library.
    ///
    /// # Errors
    /// [`GpuJpegError::Absent`].
    pub fn get() -> Result<&'static Self, GpuJpegError> {
        static NVJPEG: OnceLock<Result<NvJpeg, String>> = OnceLock::new();
        NVJPEG.get_or_init(Self::open).as_ref().map_err(|error| GpuJpegError::Absent(error.clone()))
    }

    fn open() -> Result<Self, String> {
        let ((name, jpeg), (_, driver)) = (library(NAMES)?, library(DRIVER)?);
        // SAFETY: the types are those of nvjpeg.h and cuda.h, equal in all versions with these file names. The
        // libraries stay open as long as their functions are held.
        let found = unsafe {
            (|| {
                Ok::<_, libloading::Error>(Self {
                    create: *jpeg.get(b"nvjpegCreateSimple\0")?,
                    destroy: *jpeg.get(b"nvjpegDestroy\0")?,
                    create_state: *jpeg.get(b"nvjpegEncoderStateCreate\0")?,
                    destroy_state: *jpeg.get(b"nvjpegEncoderStateDestroy\0")?,
                    create_params: *jpeg.get(b"nvjpegEncoderParamsCreate\0")?,
                    destroy_params: *jpeg.get(b"nvjpegEncoderParamsDestroy\0")?,
                    set_quality: *jpeg.get(b"nvjpegEncoderParamsSetQuality\0")?,
                    set_sampling: *jpeg.get(b"nvjpegEncoderParamsSetSamplingFactors\0")?,
                    encode: *jpeg.get(b"nvjpegEncodeImage\0")?,
                    retrieve: *jpeg.get(b"nvjpegEncodeRetrieveBitstream\0")?,
                    push: *driver.get(b"cuCtxPushCurrent_v2\0")?,
                    pop: *driver.get(b"cuCtxPopCurrent_v2\0")?,
                    wait: *driver.get(b"cuStreamSynchronize\0")?,
                    name,
                    _libraries: [jpeg, driver],
                })
            })()
        };
        found.map_err(|error| format!("{name}: {error}"))
    }

    /// File name of the library.
    pub fn name(&self) -> &'static str {
        self.name
    }
}

/// An encoder in a backend's context. It stays on the thread that made it.
pub struct Session {
    api: &'static NvJpeg,
    handle: Object,
    state: Object,
    params: Object,
    context: Object,
    // Keeps the context alive.
    backend: Arc<dyn ComputeBackend>,
}

/// Keeps the session's context current on this thread.
struct Current(&'static NvJpeg);

impl Drop for Current {
    fn drop(&mut self) {
        let mut popped = ptr::null_mut();
        // SAFETY: pops what was pushed on this thread when this was made; these guards nest. The result changes nothing
        // here.
        unsafe { (self.0.pop)(&raw mut popped) };
    }
}

impl Session {
    /// Opens an encoder for memory of this backend, with colours at half resolution (4:2:0) if `halved`.
    ///
    /// # Errors
    /// Those of [`NvJpeg::get`] and of the calls, and [`GpuJpegError::Pixels`] if the memory is not CUDA's.
    pub fn open(
        backend: &Arc<dyn ComputeBackend>,
        memory: &mut dyn ComputeMemory,
        quality: u8,
        halved: bool,
    ) -> Result<Self, GpuJpegError> {
        let api = NvJpeg::get()?;
        let (_, stream, context) = named(backend, memory)?;
        let (null, backend) = (ptr::null_mut(), Arc::clone(backend));
        // Dropping this destroys earlier objects if a later call fails.
        let mut made = Self { api, handle: null, state: null, params: null, context, backend };
        let _current = made.enter()?;
        let _blocked = interop_core::describe::threads::SignalMaskGuard::new();
        // SAFETY: each call writes one handle to the given place and uses handles made before. Context and stream
        // belong together.
        unsafe {
            let code = (api.create)(&raw mut made.handle);
            made.nvjpeg("nvjpegCreateSimple", code)?;
            let code = (api.create_state)(made.handle, &raw mut made.state, stream);
            made.nvjpeg("nvjpegEncoderStateCreate", code)?;
            let code = (api.create_params)(made.handle, &raw mut made.params, stream);
            made.nvjpeg("nvjpegEncoderParamsCreate", code)?;
            let (quality, sampling) = (c_int::from(quality.clamp(1, 100)), if halved { HALVED } else { FULL });
            made.nvjpeg("nvjpegEncoderParamsSetQuality", (api.set_quality)(made.params, quality, stream))?;
            made.nvjpeg("nvjpegEncoderParamsSetSamplingFactors", (api.set_sampling)(made.params, sampling, stream))?;
        }
        Ok(made)
    }

    /// Encodes tight rows of RGB, three bytes per pixel from byte 0, after the earlier work of the backend's stream.
    /// Waits for the result.
    ///
    /// # Errors
    /// Those of the calls, and [`GpuJpegError::Pixels`] for too few bytes.
    pub fn pack(&mut self, rgb: &mut dyn ComputeMemory, (width, height): (u16, u16)) -> Result<Vec<u8>, GpuJpegError> {
        let (pitch, there) = (3 * usize::from(width), rgb.len());
        if width == 0 || height == 0 || there < pitch * usize::from(height) {
            let found = format!("{there} bytes for {width}x{height}");
            return Err(GpuJpegError::Pixels { needed: "three bytes per pixel", found });
        }
        let (api, (address, stream, _)) = (self.api, named(&self.backend, rgb)?);
        let mut image = Image { channel: [ptr::null_mut(); 4], pitch: [0; 4] };
        // CUDA supports 64-bit hosts only.
        (image.channel[0], image.pitch[0]) = (ptr::with_exposed_provenance_mut(address as usize), pitch);
        let (width, height) = (c_int::from(width), c_int::from(height));
        let _current = self.enter()?;
        let (mut packed, mut length) = (Vec::new(), 0);
        // SAFETY: `rgb` has as many bytes as the picture, checked above, and is borrowed until the stream has been
        // waited for. Handles are the session's own. The first retrieval only returns the JPEG's length. The second
        // writes that many bytes into `packed`, which does not move until the stream has been waited for. After an
        // error, too, nothing is freed before that.
        unsafe {
            let (handle, state) = (self.handle, self.state);
            let encode =
                (api.encode)(handle, state, self.params, &raw const image, INTERLEAVED_RGB, width, height, stream);
            let asked =
                if encode == 0 { (api.retrieve)(handle, state, ptr::null_mut(), &raw mut length, stream) } else { 0 };
            self.cuda("cuStreamSynchronize", (api.wait)(stream))?;
            self.nvjpeg("nvjpegEncodeImage", encode)?;
            self.nvjpeg("nvjpegEncodeRetrieveBitstream", asked)?;
            packed.resize(length, 0_u8);
            let taken = (api.retrieve)(handle, state, packed.as_mut_ptr(), &raw mut length, stream);
            self.cuda("cuStreamSynchronize", (api.wait)(stream))?;
            self.nvjpeg("nvjpegEncodeRetrieveBitstream", taken)?;
        }
        packed.truncate(length);
        Ok(packed)
    }

    fn enter(&self) -> Result<Current, GpuJpegError> {
        // SAFETY: the backend keeps its context.
        self.cuda("cuCtxPushCurrent", unsafe { (self.api.push)(self.context) })?;
        Ok(Current(self.api))
    }

    fn nvjpeg(&self, call: &'static str, code: c_int) -> Result<(), GpuJpegError> {
        let device = || self.backend.device().to_string();
        if code == 0 { Ok(()) } else { Err(GpuJpegError::NvJpeg { call, code, device: device() }) }
    }

    fn cuda(&self, call: &'static str, code: c_int) -> Result<(), GpuJpegError> {
        let device = || self.backend.device().to_string();
        if code == 0 { Ok(()) } else { Err(GpuJpegError::Cuda { call, code, device: device() }) }
    }
}

/// Returns address, stream and context of a backend's linear memory.
fn named(
    backend: &Arc<dyn ComputeBackend>,
    memory: &mut dyn ComputeMemory,
) -> Result<(u64, Object, Object), GpuJpegError> {
    match backend.raw(Target::buffer(memory))?.memory() {
        RawMemory::Cuda { address, stream, context } => Ok((address, stream, context)),
        other => Err(GpuJpegError::Pixels { needed: "linear CUDA memory", found: format!("{other:?}") }),
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let api = self.api;
        // Without the context nothing can be destroyed; destroying the context destroys everything.
        let Ok(_current) = self.enter() else { return };
        // SAFETY: each handle was made once, or is null and skipped, and is no longer used, because `pack` has waited.
        // The results change nothing here.
        unsafe {
            let all = [(api.destroy_params, self.params), (api.destroy_state, self.state), (api.destroy, self.handle)];
            for (destroy, object) in all.into_iter().filter(|(_, object)| !object.is_null()) {
                destroy(object);
            }
        }
    }
}
