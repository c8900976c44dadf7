//! A double of the driver, for tests on machines without one: it counts live objects and fails on request. Its memory
//! is host memory. Each thread has its own.

#![allow(non_snake_case, clippy::missing_safety_doc)]

use super::api::{Api, ArrayDescriptor, Driver, GlDriver, LevelsInMemory, MemoryHandle, Opaque, SemaphoreHandle};
use super::os;
use cudarc::driver::sys as cu;
use interop_core::describe::PlainMutex;
use interop_core::devices::os_handle::{self, ImportedHandle, RawOsHandle};
use std::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{c_char, c_int, c_uint, c_void};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// The table with which tests open a backend.
pub static DOUBLE: Api = Api { driver: Driver::double(), gl: Ok(GlDriver::double()) };

#[derive(Default)]
pub struct DriverState {
    /// Names of the calls so far.
    pub calls: Vec<&'static str>,
    /// Number (from 0) of the call that fails, and its error code.
    pub failing: Option<(usize, u32)>,
    /// The call that fails on threads that were started, and its error code.
    pub failing_elsewhere: Option<(&'static str, u32)>,
    /// Live objects: (kind, handle).
    live: BTreeSet<(&'static str, u64)>,
    /// Memory by address.
    memory: BTreeMap<u64, Box<[u64]>>,
    contexts: usize,
    /// The handle of the primary context, different from that of every other double.
    context: u64,
    next: u64,
    pub devices: c_int,
    pub version: c_int,
}

/// A thread's double, shared with the threads that it starts.
#[derive(Clone, Default)]
pub struct ThreadDouble(Arc<PlainMutex<DriverState>>);

thread_local! {
    static STATE: RefCell<ThreadDouble> = RefCell::default();
    /// True on threads that were started. Their calls come in a random order, so they are not counted.
    static ADOPTED: Cell<bool> = const { Cell::new(false) };
}

/// Resets the double to one device with CUDA 12.0.
pub fn reset(failing: Option<(usize, u32)>) {
    static CONTEXTS: AtomicU64 = AtomicU64::new(1);
    let context = CONTEXTS.fetch_add(1, Ordering::Relaxed);
    let state = DriverState { failing, devices: 1, version: 12_000, context, ..DriverState::default() };
    STATE.set(ThreadDouble(Arc::new(PlainMutex::new(state))));
}

pub fn with<R>(f: impl FnOnce(&mut DriverState) -> R) -> R {
    let ThreadDouble(state) = STATE.with_borrow(ThreadDouble::clone);
    let mut state = state.lock();
    f(&mut state)
}

/// Returns the double for a thread that is about to be started.
pub fn shared() -> ThreadDouble {
    STATE.with_borrow(ThreadDouble::clone)
}

/// True where all threads that adopted it have ended and dropped their objects.
pub fn is_mine_alone() -> bool {
    STATE.with_borrow(|ThreadDouble(state)| Arc::strong_count(state) == 1)
}

/// Adopts the double on a started thread.
pub fn adopt(shared: ThreadDouble) {
    STATE.set(shared);
    ADOPTED.set(true);
}

impl DriverState {
    /// Returns the kinds of the live objects.
    pub fn live(&self) -> Vec<&'static str> {
        self.live.iter().map(|(kind, _)| *kind).collect()
    }

    pub fn contexts_pushed(&self) -> usize {
        self.contexts
    }

    fn make(&mut self, kind: &'static str) -> u64 {
        self.next += 1;
        self.live.insert((kind, self.next));
        self.next
    }

    fn end(&mut self, kind: &'static str, handle: u64) -> u32 {
        // An object that does not live cannot be destroyed: 400 is CUDA_ERROR_INVALID_HANDLE.
        if self.live.remove(&(kind, handle)) { 0 } else { 400 }
    }

    fn allocate(&mut self, kind: &'static str, len: usize) -> u64 {
        let mut memory = vec![0u64; len.div_ceil(8).max(1)].into_boxed_slice();
        let address = memory.as_mut_ptr().expose_provenance() as u64;
        self.memory.insert(address, memory);
        self.live.insert((kind, address));
        address
    }

    fn holds(&self, address: u64) -> bool {
        let before = self.memory.range(..=address).next_back();
        before.is_some_and(|(start, memory)| address - start < 8 * memory.len() as u64)
    }

    fn free(&mut self, kind: &'static str, address: u64) -> u32 {
        self.memory.remove(&address);
        self.end(kind, address)
    }
}

/// Counts the call. Fails before anything happens if this call is selected, otherwise runs `f`.
fn step(name: &'static str, f: impl FnOnce(&mut DriverState) -> u32) -> u32 {
    with(|state| {
        if ADOPTED.get() {
            return match state.failing_elsewhere {
                Some((call, code)) if call == name => code,
                _ => f(state),
            };
        }
        let index = state.calls.len();
        state.calls.push(name);
        match state.failing {
            Some((at, code)) if at == index => code,
            _ => f(state),
        }
    })
}

fn put<T>(at: *mut T, value: T) -> u32 {
    // SAFETY: callers of the driver pass a valid place for the result.
    unsafe { at.write(value) };
    0
}

fn handle<T>(value: u64) -> *mut T {
    std::ptr::without_provenance_mut(value as usize)
}

macro_rules! double {
    ($($name:ident($($arg:ident: $ty:ty),*) |$state:ident| $body:expr;)*) => {
        $(pub unsafe extern "C" fn $name($($arg: $ty),*) -> c_uint {
            step(stringify!($name), |$state| { $(let _ = &$arg;)* $body })
        })*
    };
}

double! {
    cuInit(flags: c_uint) |_s| 0;
    cuDriverGetVersion(version: *mut c_int) |s| put(version, s.version);
    cuDeviceGetCount(count: *mut c_int) |s| put(count, s.devices);
    cuDeviceGet(device: *mut cu::CUdevice, ordinal: c_int) |_s| put(device, ordinal);
    cuDeviceGetName(name: *mut c_char, len: c_int, device: cu::CUdevice) |_s| put(name.cast(), *b"Double\0");
    cuDeviceGetUuid_v2(uuid: *mut cu::CUuuid, device: cu::CUdevice) |_s| put(uuid.cast(), [7 + device as u8; 16]);
    cuDeviceGetPCIBusId(id: *mut c_char, len: c_int, device: cu::CUdevice) |_s| put(id.cast(), *b"0000:0A:00.0\0");
    cuDeviceGetAttribute(value: *mut c_int, attribute: c_uint, device: cu::CUdevice) |_s|
        put(value, if attribute == 18 { 0 } else { 9 });
    cuDeviceCanAccessPeer(can: *mut c_int, device: cu::CUdevice, peer: cu::CUdevice) |_s| put(can, c_int::from(peer == 1));
    cuDeviceTotalMem_v2(bytes: *mut usize, device: cu::CUdevice) |_s| put(bytes, 1 << 30);
    cuDevicePrimaryCtxRetain(context: *mut cu::CUcontext, device: cu::CUdevice) |s| {
        s.live.insert(("context", 1));
        put(context, handle(s.context))
    };
    cuDevicePrimaryCtxRelease_v2(device: cu::CUdevice) |s| s.end("context", 1);
    cuCtxPushCurrent_v2(context: cu::CUcontext) |s| { s.contexts += 1; 0 };
    cuCtxPopCurrent_v2(context: *mut cu::CUcontext) |s| { s.contexts -= 1; 0 };
    cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) |_s| put(least, 0) + put(greatest, -5);
    cuStreamCreateWithPriority(stream: *mut cu::CUstream, flags: c_uint, priority: c_int) |s|
        put(stream, handle(s.make("stream")));
    cuStreamDestroy_v2(stream: cu::CUstream) |s| s.end("stream", stream.addr() as u64);
    cuCtxSynchronize() |_s| 0;
    cuStreamSynchronize(stream: cu::CUstream) |_s| 0;
    cuEventCreate(event: *mut cu::CUevent, flags: c_uint) |s| put(event, handle(s.make("event")));
    cuEventDestroy_v2(event: cu::CUevent) |s| s.end("event", event.addr() as u64);
    cuEventRecord(event: cu::CUevent, stream: cu::CUstream) |_s| 0;
    cuEventSynchronize(event: cu::CUevent) |_s| 0;
    cuEventQuery(event: cu::CUevent) |_s| 0;
    cuEventElapsedTime(milliseconds: *mut f32, start: cu::CUevent, end: cu::CUevent) |_s| put(milliseconds, 0.25);
    cuStreamWaitEvent(stream: cu::CUstream, event: cu::CUevent, flags: c_uint) |_s| 0;
    cuStreamWaitValue32_v2(stream: cu::CUstream, word: u64, value: u32, flags: c_uint) |_s| 0;
    cuMemGetInfo_v2(free: *mut usize, total: *mut usize) |_s| put(free, 1 << 29) + put(total, 1 << 30);
    cuPointerGetAttribute(value: *mut c_void, attribute: c_uint, address: u64) |s|
        if s.holds(address) { put(value.cast::<c_int>(), 0) } else { 1 };
    cuMemAlloc_v2(address: *mut u64, len: usize) |s| put(address, s.allocate("memory", len));
    cuMemFree_v2(address: u64) |s| s.free("memory", address);
    cuMemHostAlloc(address: *mut *mut c_void, len: usize, flags: c_uint) |s|
        put(address, std::ptr::with_exposed_provenance_mut(s.allocate("pinned memory", len) as usize));
    cuMemFreeHost(address: *mut c_void) |s| s.free("pinned memory", address.addr() as u64);
    cuMemHostRegister_v2(address: *mut c_void, len: usize, flags: c_uint) |s| {
        // 712: CUDA_ERROR_HOST_MEMORY_ALREADY_REGISTERED.
        if s.live.insert(("registration", address.addr() as u64)) { 0 } else { 712 }
    };
    cuMemHostUnregister(address: *mut c_void) |s| s.end("registration", address.addr() as u64);
    cuMemHostGetDevicePointer_v2(device: *mut u64, address: *mut c_void, flags: c_uint) |_s|
        put(device, address.addr() as u64);
    cuMemcpyDtoHAsync_v2(to: *mut c_void, from: u64, len: usize, stream: cu::CUstream) |_s|
        copy(std::ptr::with_exposed_provenance(from as usize), to, len);
    cuMemcpyHtoDAsync_v2(to: u64, from: *const c_void, len: usize, stream: cu::CUstream) |_s|
        copy(from, std::ptr::with_exposed_provenance_mut(to as usize), len);
    cuMemcpyDtoDAsync_v2(to: u64, from: u64, len: usize, stream: cu::CUstream) |_s| copy(
        std::ptr::with_exposed_provenance(from as usize),
        std::ptr::with_exposed_provenance_mut(to as usize),
        len,
    );
    cuMemsetD8Async(to: u64, value: u8, count: usize, stream: cu::CUstream) |_s| set(to, 1, value, count);
    cuMemsetD16Async(to: u64, value: u16, count: usize, stream: cu::CUstream) |_s| set(to, 2, value, count);
    cuMemsetD32Async(to: u64, value: c_uint, count: usize, stream: cu::CUstream) |_s| set(to, 4, value, count);
    cuMemsetD2D32Async(to: u64, pitch: usize, value: c_uint, width: usize, rows: usize, stream: cu::CUstream) |_s|
        if width == 1 { set(to, pitch, value, rows) } else { 1 };
    cuMemcpy2DAsync_v2(copy: *const cu::CUDA_MEMCPY2D, stream: cu::CUstream) |_s| 0;
    cuModuleLoadDataEx(
        module: *mut cu::CUmodule, text: *const c_void, count: c_uint, options: *mut cu::CUjit_option,
        values: *mut *mut c_void
    ) |s| put(module, handle(s.make("module")));
    cuModuleUnload(module: cu::CUmodule) |s| s.end("module", module.addr() as u64);
    cuModuleGetFunction(function: *mut cu::CUfunction, module: cu::CUmodule, name: *const c_char) |_s|
        put(function, handle(1));
    cuFuncGetAttribute(value: *mut c_int, attribute: c_uint, function: cu::CUfunction) |_s| put(value, 1024);
    cuLaunchKernel(
        function: cu::CUfunction, gx: c_uint, gy: c_uint, gz: c_uint, bx: c_uint, by: c_uint, bz: c_uint,
        shared: c_uint, stream: cu::CUstream, values: *mut *mut c_void, extra: *mut *mut c_void
    ) |_s| 0;
    cuMemGetAllocationGranularity(bytes: *mut usize, of: *const cu::CUmemAllocationProp, which: c_uint) |_s|
        put(bytes, 1 << 16);
    cuMemCreate(
        memory: *mut cu::CUmemGenericAllocationHandle, len: usize, of: *const cu::CUmemAllocationProp, flags: u64
    ) |s| put(memory, s.make("physical memory"));
    cuMemRelease(memory: cu::CUmemGenericAllocationHandle) |s| s.end("physical memory", memory);
    cuMemExportToShareableHandle(
        exported: *mut c_void, memory: cu::CUmemGenericAllocationHandle, kind: c_uint, flags: u64
    ) |_s| some_handle().map_or(1, |handle| put(exported.cast(), handle));
    cuMemAddressReserve(address: *mut u64, len: usize, alignment: usize, wish: u64, flags: u64) |s|
        put(address, s.allocate("addresses", len));
    cuMemAddressFree(address: u64, len: usize) |s| s.free("addresses", address);
    cuMemMap(address: u64, len: usize, offset: usize, memory: cu::CUmemGenericAllocationHandle, flags: u64) |s| {
        s.live.insert(("mapping", address));
        0
    };
    cuMemUnmap(address: u64, len: usize) |s| s.end("mapping", address);
    cuMemSetAccess(address: u64, len: usize, access: *const cu::CUmemAccessDesc, count: usize) |_s| 0;
    cuGraphicsMapResources(count: c_uint, list: *mut cu::CUgraphicsResource, stream: cu::CUstream) |s| {
        each(count, list, |resource| s.live.insert(("mapped resource", resource)))
    };
    cuGraphicsUnmapResources(count: c_uint, list: *mut cu::CUgraphicsResource, stream: cu::CUstream) |s| {
        each(count, list, |resource| s.live.remove(&("mapped resource", resource)))
    };
    cuGraphicsUnregisterResource(resource: cu::CUgraphicsResource) |s| {
        // As the driver does: what is still mapped is unmapped.
        s.live.remove(&("mapped resource", resource.addr() as u64));
        s.end("resource", resource.addr() as u64)
    };
    cuGraphicsResourceGetMappedPointer_v2(address: *mut u64, len: *mut usize, resource: cu::CUgraphicsResource) |_s|
        put(address, 0x1000) + put(len, 1000);
    cuGraphicsSubResourceGetMappedArray(
        array: *mut cu::CUarray, resource: cu::CUgraphicsResource, layer: c_uint, level: c_uint
    ) |_s| put(array, handle(0x2000));
    cuArray3DGetDescriptor_v2(descriptor: *mut ArrayDescriptor, array: cu::CUarray) |_s|
        put(descriptor, ArrayDescriptor { width: 16, height: 16, depth: 0, format: 1, channels: 4, flags: 0 });
    cuImportExternalMemory(memory: *mut cu::CUexternalMemory, handle: *const MemoryHandle) |s| {
        open(|h| (h.kind == os::MEMORY).then_some(&h.handle), handle)
            .map_or(1, |()| put(memory, self::handle(s.make("external memory"))))
    };
    cuDestroyExternalMemory(memory: cu::CUexternalMemory) |s| s.end("external memory", memory.addr() as u64);
    cuExternalMemoryGetMappedBuffer(
        address: *mut u64, memory: cu::CUexternalMemory, of: *const cu::CUDA_EXTERNAL_MEMORY_BUFFER_DESC
    ) |s| put(address, s.allocate("memory", 1 << 16));
    cuExternalMemoryGetMappedMipmappedArray(
        levels: *mut cu::CUmipmappedArray, memory: cu::CUexternalMemory, layout: *const LevelsInMemory
    ) |s| put(levels, handle(s.make("levels")));
    cuMipmappedArrayGetLevel(array: *mut cu::CUarray, levels: cu::CUmipmappedArray, level: c_uint) |_s|
        put(array, handle(0x2000));
    cuMipmappedArrayDestroy(levels: cu::CUmipmappedArray) |s| s.end("levels", levels.addr() as u64);
    cuImportExternalSemaphore(semaphore: *mut cu::CUexternalSemaphore, handle: *const SemaphoreHandle) |s| {
        open(|h| matches!(h.kind, os::SEMAPHORE | os::TIMELINE).then_some(&h.handle), handle)
            .map_or(1, |()| put(semaphore, self::handle(s.make("semaphore"))))
    };
    cuDestroyExternalSemaphore(semaphore: cu::CUexternalSemaphore) |s| s.end("semaphore", semaphore.addr() as u64);
    cuSignalExternalSemaphoresAsync(
        list: *const cu::CUexternalSemaphore, params: *const cu::CUDA_EXTERNAL_SEMAPHORE_SIGNAL_PARAMS,
        count: c_uint, stream: cu::CUstream
    ) |_s| 0;
    cuWaitExternalSemaphoresAsync(
        list: *const cu::CUexternalSemaphore, params: *const cu::CUDA_EXTERNAL_SEMAPHORE_WAIT_PARAMS,
        count: c_uint, stream: cu::CUstream
    ) |_s| 0;
    cuSurfObjectCreate(surface: *mut cu::CUsurfObject, of: *const cu::CUDA_RESOURCE_DESC) |s|
        put(surface, s.make("surface object"));
    cuSurfObjectDestroy(surface: cu::CUsurfObject) |s| s.end("surface object", surface);
    cuGraphicsGLRegisterBuffer(resource: *mut cu::CUgraphicsResource, name: c_uint, flags: c_uint) |s|
        put(resource, handle(s.make("resource")));
    cuGraphicsGLRegisterImage(resource: *mut cu::CUgraphicsResource, name: c_uint, target: c_uint, flags: c_uint) |s|
        put(resource, handle(s.make("resource")));
    cuGLGetDevices_v2(count: *mut c_uint, list: *mut cu::CUdevice, room: c_uint, which: c_uint) |_s|
        put(count, 1) + put(list, 0);
}

fn copy(from: *const c_void, to: *mut c_void, len: usize) -> u32 {
    // SAFETY: the backend checked the range against memory that the double or the test holds.
    unsafe { to.cast::<u8>().copy_from(from.cast(), len) };
    0
}

/// Items that begin every `pitch` bytes.
fn set<T: Copy>(to: u64, pitch: usize, value: T, count: usize) -> u32 {
    for row in 0..count {
        let at: *mut T = std::ptr::with_exposed_provenance_mut(to as usize + row * pitch);
        // SAFETY: as in `copy`.
        unsafe { at.write_unaligned(value) };
    }
    0
}

fn each(count: c_uint, list: *mut cu::CUgraphicsResource, mut f: impl FnMut(u64) -> bool) -> u32 {
    // SAFETY: the list is as long as said.
    let list = unsafe { std::slice::from_raw_parts(list, count as usize) };
    // 208 and 211 are "already mapped" and "not mapped".
    if list.iter().all(|r| f(r.addr() as u64)) { 0 } else { 208 }
}

/// Takes the handle from a description: the driver owns it and closes it.
fn open<T>(handle: impl Fn(&T) -> Option<&Opaque>, description: *const T) -> Option<()> {
    // SAFETY: the caller passes a valid description, whose handle is in use as such.
    let raw = unsafe { handle(&*description)?.os };
    if cfg!(unix) {
        // SAFETY: given to the driver, whose place this takes.
        drop(unsafe { os_handle::own(raw) });
    }
    Some(())
}

/// Returns a handle that can be closed.
fn some_handle() -> Option<RawOsHandle> {
    let (reader, _) = std::io::pipe().ok()?;
    // The caller of the driver owns it.
    let to_driver = std::mem::ManuallyDrop::new(ImportedHandle::new(reader.into()));
    Some(to_driver.number())
}
