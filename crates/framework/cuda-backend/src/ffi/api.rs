//! The driver's entry points, as a table of function pointers.
//!
//! cudarc's own functions end the program where a symbol is missing, and return the result as a Rust `enum`, which
//! cannot represent codes of newer drivers. So every name is looked up once in the library that cudarc finds, before
//! anything is called, and results are numbers. Tests replace the table with a double that fails on purpose.

use cudarc::driver::sys as cu;
use interop_core::devices::library;
use interop_core::devices::os_handle::RawOsHandle;
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

/// Result of `cuArray3DGetDescriptor`. The format is a number because drivers may return formats unknown to this
/// program.
#[repr(C)]
#[derive(Debug, Default, Clone, Copy)]
pub struct ArrayDescriptor {
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub format: c_uint,
    pub channels: c_uint,
    pub flags: c_uint,
}

/// The union in the descriptions below.
#[repr(C)]
pub union Opaque {
    /// A file descriptor, or the first pointer of `win32`.
    pub os: RawOsHandle,
    /// An NT handle, and the name of an object, which is null.
    pub win32: [*const c_void; 2],
}

impl Opaque {
    pub fn new(handle: RawOsHandle) -> Self {
        // Null in all other bytes.
        let mut this = Self { win32: [std::ptr::null(); 2] };
        this.os = handle;
        this
    }
}

/// `CUDA_EXTERNAL_MEMORY_HANDLE_DESC`, and (without `size`) `CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC` below. The kind is a
/// number for the same reason.
#[repr(C)]
pub struct MemoryHandle {
    pub kind: c_uint,
    pub handle: Opaque,
    pub size: u64,
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

/// `CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC`; its kind is a number like that of [`MemoryHandle`].
#[repr(C)]
pub struct SemaphoreHandle {
    pub kind: c_uint,
    pub handle: Opaque,
    pub flags: c_uint,
    pub reserved: [c_uint; 16],
}

/// `CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC`.
#[repr(C)]
pub struct LevelsInMemory {
    pub offset: u64,
    pub array: ArrayDescriptor,
    pub levels: c_uint,
    pub reserved: [c_uint; 16],
}

// The offsets are those of the driver's header.
const _: () = {
    use std::mem::offset_of;
    type Memory = cu::CUDA_EXTERNAL_MEMORY_HANDLE_DESC;
    assert!(size_of::<MemoryHandle>() == size_of::<Memory>());
    assert!(offset_of!(MemoryHandle, handle) == offset_of!(Memory, handle));
    assert!(offset_of!(MemoryHandle, size) == offset_of!(Memory, size));
    assert!(offset_of!(MemoryHandle, flags) == offset_of!(Memory, flags));
    type Semaphore = cu::CUDA_EXTERNAL_SEMAPHORE_HANDLE_DESC;
    assert!(size_of::<SemaphoreHandle>() == size_of::<Semaphore>());
    assert!(offset_of!(SemaphoreHandle, handle) == offset_of!(Semaphore, handle));
    assert!(offset_of!(SemaphoreHandle, flags) == offset_of!(Semaphore, flags));
    type Levels = cu::CUDA_EXTERNAL_MEMORY_MIPMAPPED_ARRAY_DESC;
    assert!(size_of::<LevelsInMemory>() == size_of::<Levels>());
    assert!(offset_of!(LevelsInMemory, array) == offset_of!(Levels, arrayDesc));
    assert!(offset_of!(LevelsInMemory, levels) == offset_of!(Levels, numLevels));
    assert!(size_of::<ArrayDescriptor>() == size_of::<cu::CUDA_ARRAY3D_DESCRIPTOR>());
};

macro_rules! table {
    ($(#[$meta:meta])* $table:ident { $($name:ident($($arg:ty),*);)* }) => {
        $(#[$meta])*
        #[allow(non_snake_case)] // the driver's names
        pub struct $table {
            $(pub $name: unsafe extern "C" fn($($arg),*) -> c_uint,)*
        }

        impl $table {
            /// Returns every entry point, or the name of the first that is missing.
            fn load(library: &libloading::Library) -> Result<Self, &'static str> {
                Ok(Self {$(
                    $name: {
                        // SAFETY: the symbol is the driver's function of that name, whose signature in cuda.h or
                        // cudaGL.h is the one given below.
                        let symbol = unsafe {
                            library.get::<unsafe extern "C" fn($($arg),*) -> c_uint>(
                                stringify!($name),
                            )
                        };
                        *symbol.map_err(|_| stringify!($name))?
                    },
                )*})
            }

            /// The double for tests.
            #[cfg(test)]
            pub const fn double() -> Self {
                Self { $($name: super::double::$name,)* }
            }
        }
    };
}

table! {
    /// Functions of every driver for CUDA 12.0 or later.
    Driver {
        cuInit(c_uint);
        cuDriverGetVersion(*mut c_int);
        cuDeviceGetCount(*mut c_int);
        cuDeviceGet(*mut cu::CUdevice, c_int);
        cuDeviceGetName(*mut c_char, c_int, cu::CUdevice);
        cuDeviceGetUuid_v2(*mut cu::CUuuid, cu::CUdevice);
        cuDeviceGetPCIBusId(*mut c_char, c_int, cu::CUdevice);
        cuDeviceGetAttribute(*mut c_int, c_uint, cu::CUdevice);
        cuDeviceCanAccessPeer(*mut c_int, cu::CUdevice, cu::CUdevice);
        cuDeviceTotalMem_v2(*mut usize, cu::CUdevice);
        cuDevicePrimaryCtxRetain(*mut cu::CUcontext, cu::CUdevice);
        cuDevicePrimaryCtxRelease_v2(cu::CUdevice);
        cuCtxPushCurrent_v2(cu::CUcontext);
        cuCtxPopCurrent_v2(*mut cu::CUcontext);
        cuCtxSynchronize();
        cuCtxGetStreamPriorityRange(*mut c_int, *mut c_int);
        cuStreamCreateWithPriority(*mut cu::CUstream, c_uint, c_int);
        cuStreamDestroy_v2(cu::CUstream);
        cuStreamSynchronize(cu::CUstream);
        cuEventCreate(*mut cu::CUevent, c_uint);
        cuEventDestroy_v2(cu::CUevent);
        cuEventRecord(cu::CUevent, cu::CUstream);
        cuEventSynchronize(cu::CUevent);
        cuEventQuery(cu::CUevent);
        cuEventElapsedTime(*mut f32, cu::CUevent, cu::CUevent);
        cuStreamWaitEvent(cu::CUstream, cu::CUevent, c_uint);
        cuStreamWaitValue32_v2(cu::CUstream, cu::CUdeviceptr, u32, c_uint);
        cuMemGetInfo_v2(*mut usize, *mut usize);
        cuPointerGetAttribute(*mut c_void, c_uint, cu::CUdeviceptr);
        cuMemAlloc_v2(*mut cu::CUdeviceptr, usize);
        cuMemFree_v2(cu::CUdeviceptr);
        cuMemHostAlloc(*mut *mut c_void, usize, c_uint);
        cuMemFreeHost(*mut c_void);
        cuMemHostRegister_v2(*mut c_void, usize, c_uint);
        cuMemHostUnregister(*mut c_void);
        cuMemHostGetDevicePointer_v2(*mut cu::CUdeviceptr, *mut c_void, c_uint);
        cuMemcpyDtoHAsync_v2(*mut c_void, cu::CUdeviceptr, usize, cu::CUstream);
        cuMemcpyHtoDAsync_v2(cu::CUdeviceptr, *const c_void, usize, cu::CUstream);
        cuMemcpyDtoDAsync_v2(cu::CUdeviceptr, cu::CUdeviceptr, usize, cu::CUstream);
        cuMemsetD8Async(cu::CUdeviceptr, u8, usize, cu::CUstream);
        cuMemsetD16Async(cu::CUdeviceptr, u16, usize, cu::CUstream);
        cuMemsetD32Async(cu::CUdeviceptr, c_uint, usize, cu::CUstream);
        cuMemsetD2D32Async(cu::CUdeviceptr, usize, c_uint, usize, usize, cu::CUstream);
        cuMemcpy2DAsync_v2(*const cu::CUDA_MEMCPY2D, cu::CUstream);
        cuModuleLoadDataEx(*mut cu::CUmodule, *const c_void, c_uint, *mut cu::CUjit_option, *mut *mut c_void);
        cuModuleUnload(cu::CUmodule);
        cuModuleGetFunction(*mut cu::CUfunction, cu::CUmodule, *const c_char);
        cuFuncGetAttribute(*mut c_int, c_uint, cu::CUfunction);
        cuLaunchKernel(
            cu::CUfunction, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, cu::CUstream, *mut *mut c_void,
            *mut *mut c_void
        );
        cuMemGetAllocationGranularity(*mut usize, *const cu::CUmemAllocationProp, c_uint);
        cuMemCreate(*mut cu::CUmemGenericAllocationHandle, usize, *const cu::CUmemAllocationProp, u64);
        cuMemRelease(cu::CUmemGenericAllocationHandle);
        cuMemExportToShareableHandle(*mut c_void, cu::CUmemGenericAllocationHandle, c_uint, u64);
        cuMemAddressReserve(*mut cu::CUdeviceptr, usize, usize, cu::CUdeviceptr, u64);
        cuMemAddressFree(cu::CUdeviceptr, usize);
        cuMemMap(cu::CUdeviceptr, usize, usize, cu::CUmemGenericAllocationHandle, u64);
        cuMemUnmap(cu::CUdeviceptr, usize);
        cuMemSetAccess(cu::CUdeviceptr, usize, *const cu::CUmemAccessDesc, usize);
        cuGraphicsMapResources(c_uint, *mut cu::CUgraphicsResource, cu::CUstream);
        cuGraphicsUnmapResources(c_uint, *mut cu::CUgraphicsResource, cu::CUstream);
        cuGraphicsUnregisterResource(cu::CUgraphicsResource);
        cuGraphicsResourceGetMappedPointer_v2(*mut cu::CUdeviceptr, *mut usize, cu::CUgraphicsResource);
        cuGraphicsSubResourceGetMappedArray(*mut cu::CUarray, cu::CUgraphicsResource, c_uint, c_uint);
        cuArray3DGetDescriptor_v2(*mut ArrayDescriptor, cu::CUarray);
        cuImportExternalMemory(*mut cu::CUexternalMemory, *const MemoryHandle);
        cuDestroyExternalMemory(cu::CUexternalMemory);
        cuExternalMemoryGetMappedBuffer(
            *mut cu::CUdeviceptr, cu::CUexternalMemory, *const cu::CUDA_EXTERNAL_MEMORY_BUFFER_DESC
        );
        cuExternalMemoryGetMappedMipmappedArray(*mut cu::CUmipmappedArray, cu::CUexternalMemory, *const LevelsInMemory);
        cuMipmappedArrayGetLevel(*mut cu::CUarray, cu::CUmipmappedArray, c_uint);
        cuMipmappedArrayDestroy(cu::CUmipmappedArray);
        cuImportExternalSemaphore(*mut cu::CUexternalSemaphore, *const SemaphoreHandle);
        cuDestroyExternalSemaphore(cu::CUexternalSemaphore);
        cuSignalExternalSemaphoresAsync(
            *const cu::CUexternalSemaphore, *const cu::CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS, c_uint, cu::CUstream
        );
        cuWaitExternalSemaphoresAsync(
            *const cu::CUexternalSemaphore, *const cu::CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS, c_uint, cu::CUstream
        );
        cuSurfObjectCreate(*mut cu::CUsurfObject, *const cu::CUDA_RESOURCE_DESC);
        cuSurfObjectDestroy(cu::CUsurfObject);
    }
}

table! {
    /// Entry points of cudaGL.h, which drivers without OpenGL (compute-only installations) may lack.
    GlDriver {
        cuGraphicsGLRegisterBuffer(*mut cu::CUgraphicsResource, c_uint, c_uint);
        cuGraphicsGLRegisterImage(*mut cu::CUgraphicsResource, c_uint, c_uint, c_uint);
        cuGLGetDevices_v2(*mut c_uint, *mut cu::CUdevice, c_uint, c_uint);
    }
}

/// All entry points that were found.
pub struct Api {
    pub driver: Driver,
    /// The OpenGL functions, or the name of the one that is missing.
    pub gl: Result<GlDriver, &'static str>,
}

/// Reason why there is no table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MissingApi {
    /// The library cannot be loaded, with the loader's message.
    Library(String),
    Symbol(&'static str),
}

impl Api {
    /// Returns the driver's table. It is looked up once; no driver function is called.
    pub fn get() -> Result<&'static Self, MissingApi> {
        static API: OnceLock<Result<Api, MissingApi>> = OnceLock::new();
        API.get_or_init(|| {
            // SAFETY: opening the driver's library runs its initialisers, as every CUDA program does.
            if !unsafe { cu::is_culib_present() } {
                let names: &[&str] = if cfg!(windows) { &["nvcuda.dll"] } else { &["libcuda.so.1", "libcuda.so"] };
                // SAFETY: as above.
                let said = unsafe { library::open(names) };
                return Err(MissingApi::Library(said.err().unwrap_or_default()));
            }
            // SAFETY: the library was found just now, so this does not panic; it is never closed.
            let library = unsafe { cu::culib() };
            let driver = Driver::load(library).map_err(MissingApi::Symbol)?;
            Ok(Self { driver, gl: GlDriver::load(library) })
        })
        .as_ref()
        .map_err(Clone::clone)
    }
}

/// Calls one entry point of a table: `call!(driver.cuInit(0))` is a `Result<(), Failure>`.
macro_rules! call {
    ($table:expr, $name:ident($($arg:expr),* $(,)?)) => {
        $crate::ffi::Failure::check(stringify!($name), ($table.$name)($($arg),*))
    };
}
pub(crate) use call;
