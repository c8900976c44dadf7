//! The functions behind the layer, at their positions in the loader's table (`cl_icd.h`).

use crate::codes::{INVALID_VALUE, OUT_OF_HOST_MEMORY};
use crate::edge::Raw;
use crate::function_table::function_table;
use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::OnceLock;

/// `pfn_notify` of a context, which the layer only passes on.
pub type NotifyCallback = *const c_void;
/// `clSetMemObjectDestructorCallback` or `clSetContextDestructorCallback`.
pub type SetDestructor = unsafe extern "C" fn(Raw, unsafe extern "C" fn(Raw, Raw), Raw) -> i32;
pub type EventCallback = unsafe extern "C" fn(Raw, i32, Raw);

function_table! {
    pub struct Driver by usize {
        get_platform_ids = 0(u32, *mut Raw, *mut u32) -> i32;
        get_platform_info = 1(Raw, u32, usize, Raw, *mut usize) -> i32;
        get_device_ids = 2(Raw, u64, u32, *mut Raw, *mut u32) -> i32;
        get_device_info = 3(Raw, u32, usize, Raw, *mut usize) -> i32;
        create_context = 4(*const isize, u32, *const Raw, NotifyCallback, Raw, *mut i32) -> Raw;
        create_context_from_type = 5(*const isize, u64, NotifyCallback, Raw, *mut i32) -> Raw;
        retain_context = 6(Raw) -> i32;
        release_context = 7(Raw) -> i32;
        get_context_info = 8(Raw, u32, usize, Raw, *mut usize) -> i32;
        create_command_queue = 9(Raw, Raw, u64, *mut i32) -> Raw;
        release_command_queue = 11(Raw) -> i32;
        get_command_queue_info = 12(Raw, u32, usize, Raw, *mut usize) -> i32;
        create_buffer = 14(Raw, u64, usize, Raw, *mut i32) -> Raw;
        retain_mem_object = 17(Raw) -> i32;
        release_mem_object = 18(Raw) -> i32;
        get_mem_object_info = 20(Raw, u32, usize, Raw, *mut usize) -> i32;
        wait_for_events = 41(u32, *const Raw) -> i32;
        get_event_info = 42(Raw, u32, usize, Raw, *mut usize) -> i32;
        retain_event = 43(Raw) -> i32;
        release_event = 44(Raw) -> i32;
        flush = 46(Raw) -> i32;
        enqueue_read_image = 51(Raw, Raw, u32, *const usize, *const usize, usize, usize, Raw, u32, *const Raw,
        *mut Raw) -> i32;
        enqueue_write_image = 52(Raw, Raw, u32, *const usize, *const usize, usize, usize, Raw, u32, *const Raw,
        *mut Raw) -> i32;
        enqueue_map_buffer = 56(Raw, Raw, u32, u64, usize, usize, u32, *const Raw, *mut Raw, *mut i32) -> Raw;
        enqueue_map_image = 57(Raw, Raw, u32, u64, *const usize, *const usize, *mut usize, *mut usize, u32, *const Raw,
        *mut Raw, *mut i32) -> Raw;
        enqueue_unmap = 58(Raw, Raw, Raw, u32, *const Raw, *mut Raw) -> i32;
        get_function = 65(*const c_char) -> Raw;
        create_from_gl_buffer = 66(Raw, u64, u32, *mut i32) -> Raw;
        create_from_gl_renderbuffer = 69(Raw, u64, u32, *mut i32) -> Raw;
        get_gl_object_info = 70(Raw, *mut u32, *mut u32) -> i32;
        get_gl_texture_info = 71(Raw, u32, usize, Raw, *mut usize) -> i32;
        acquire_gl_objects = 72(Raw, u32, *const Raw, u32, *const Raw, *mut Raw) -> i32;
        release_gl_objects = 73(Raw, u32, *const Raw, u32, *const Raw, *mut Raw) -> i32;
        get_gl_context_info = 74(*const isize, u32, usize, Raw, *mut usize) -> i32;
        set_event_callback = 81(Raw, i32, EventCallback, Raw) -> i32;
        set_memory_destructor = 83(Raw, unsafe extern "C" fn(Raw, Raw), Raw) -> i32;
        create_user_event = 84(Raw, *mut i32) -> Raw;
        set_user_event_status = 85(Raw, i32) -> i32;
        create_event_from_gl_sync = 92(Raw, Raw, *mut i32) -> Raw;
        create_image = 96(Raw, u64, *const [u32; 2], *const ImageShape, Raw, *mut i32) -> Raw;
        enqueue_marker = 105(Raw, u32, *const Raw, *mut Raw) -> i32;
        enqueue_barrier = 106(Raw, u32, *const Raw, *mut Raw) -> i32;
        get_function_of_platform = 107(Raw, *const c_char) -> Raw;
        create_from_gl_texture = 108(Raw, u64, u32, i32, u32, *mut i32) -> Raw;
        set_context_destructor = 148(Raw, unsafe extern "C" fn(Raw, Raw), Raw) -> i32;
    }
}

/// `cl_image_desc`.
#[repr(C)]
#[derive(Default)]
pub struct ImageShape {
    pub kind: u32,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub layers: usize,
    /// Pitches, and numbers of levels and samples.
    pub rest: [usize; 3],
    pub buffer: usize,
}

static DRIVER: OnceLock<Driver> = OnceLock::new();

impl Driver {
    /// Stores a loader's table, or refuses one that lacks a function. A second loader in the process has the same drivers
    /// behind it, so the first table is enough.
    ///
    /// # Safety
    /// Every entry of the table is null or the function that OpenCL's table has there.
    pub unsafe fn install(table: &[*const c_void]) -> Result<(), i32> {
        // SAFETY: the caller's promise.
        let driver = unsafe { Self::load(|place: usize| table.get(place).copied().unwrap_or(ptr::null())) };
        let driver = driver.ok_or(INVALID_VALUE)?;
        DRIVER.get_or_init(|| driver);
        Ok(())
    }
}

/// The functions behind the layer.
pub fn driver() -> Result<&'static Driver, i32> {
    DRIVER.get().ok_or(OUT_OF_HOST_MEMORY)
}
