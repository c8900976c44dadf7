//! The functions behind the layer, at their positions in the loader's table (`cl_icd.h`).

use crate::codes::{INVALID_OPERATION, OUT_OF_HOST_MEMORY};
use crate::edge::Raw;
use std::ffi::{c_char, c_void};
use std::ptr;
use std::sync::OnceLock;

/// `pfn_notify` of a context, which the layer only passes on.
pub type NotifyCallback = *const c_void;
pub type DestructorCallback = unsafe extern "C" fn(Raw, Raw);
pub type EventCallback = unsafe extern "C" fn(Raw, i32, Raw);

/// What a missing function returns.
trait DefaultAnswer {
    fn default_answer() -> Self;
}

impl DefaultAnswer for i32 {
    fn default_answer() -> Self {
        INVALID_OPERATION
    }
}

impl DefaultAnswer for Raw {
    fn default_answer() -> Self {
        ptr::null_mut()
    }
}

macro_rules! functions {
    ($($name:ident = $place:literal ($($arg:ident: $kind:ty),* $(,)?) -> $result:ty;)*) => {
        pub struct Driver {
            $($name: Option<unsafe extern "C" fn($($kind),*) -> $result>,)*
        }

        impl Driver {
            /// Reads the functions from a table.
            ///
            /// # Safety
            /// Every entry of the table is null or the function that OpenCL's table has there.
            unsafe fn new(table: &[*const c_void]) -> Self {
                // A null entry is a missing function. SAFETY: the caller's promise; an optional function is as large as
                // an address.
                unsafe {
                    Self {
                        $($name: {
                            let address = table.get($place).copied().unwrap_or(ptr::null());
                            std::mem::transmute::<*const c_void, Option<unsafe extern "C" fn($($kind),*) -> $result>>(address)
                        },)*
                    }
                }
            }

            $(
                /// The function of that name.
                ///
                /// # Safety
                /// What OpenCL asks of the caller of it.
                #[allow(clippy::too_many_arguments, reason = "OpenCL's own lists")]
                pub unsafe fn $name(&self, $($arg: $kind),*) -> $result {
                    // SAFETY: the caller's promise.
                    self.$name.map_or_else(DefaultAnswer::default_answer, |function| unsafe { function($($arg),*) })
                }
            )*
        }
    };
}

functions! {
    get_platform_ids = 0(count: u32, platforms: *mut Raw, found: *mut u32) -> i32;
    get_platform_info = 1(platform: Raw, parameter: u32, bytes: usize, value: Raw, found: *mut usize) -> i32;
    get_device_ids = 2(platform: Raw, kind: u64, count: u32, devices: *mut Raw, found: *mut u32) -> i32;
    get_device_info = 3(device: Raw, parameter: u32, bytes: usize, value: Raw, found: *mut usize) -> i32;
    create_context = 4(properties: *const isize, count: u32, devices: *const Raw, notify: NotifyCallback, user: Raw,
        code: *mut i32) -> Raw;
    create_context_from_type = 5(properties: *const isize, kind: u64, notify: NotifyCallback, user: Raw,
        code: *mut i32) -> Raw;
    retain_context = 6(context: Raw) -> i32;
    release_context = 7(context: Raw) -> i32;
    get_context_info = 8(context: Raw, parameter: u32, bytes: usize, value: Raw, found: *mut usize) -> i32;
    create_command_queue = 9(context: Raw, device: Raw, properties: u64, code: *mut i32) -> Raw;
    release_command_queue = 11(queue: Raw) -> i32;
    get_command_queue_info = 12(queue: Raw, parameter: u32, bytes: usize, value: Raw, found: *mut usize) -> i32;
    create_buffer = 14(context: Raw, flags: u64, bytes: usize, host: Raw, code: *mut i32) -> Raw;
    retain_mem_object = 17(object: Raw) -> i32;
    release_mem_object = 18(object: Raw) -> i32;
    get_mem_object_info = 20(object: Raw, parameter: u32, bytes: usize, value: Raw, found: *mut usize) -> i32;
    wait_for_events = 41(count: u32, events: *const Raw) -> i32;
    get_event_info = 42(event: Raw, parameter: u32, bytes: usize, value: Raw, found: *mut usize) -> i32;
    retain_event = 43(event: Raw) -> i32;
    release_event = 44(event: Raw) -> i32;
    flush = 46(queue: Raw) -> i32;
    enqueue_map_buffer = 56(queue: Raw, buffer: Raw, blocking: u32, flags: u64, offset: usize, bytes: usize, count: u32,
        events: *const Raw, event: *mut Raw, code: *mut i32) -> Raw;
    enqueue_map_image = 57(queue: Raw, image: Raw, blocking: u32, flags: u64, origin: *const usize,
        region: *const usize,
        row: *mut usize, slice: *mut usize, count: u32, events: *const Raw, event: *mut Raw, code: *mut i32) -> Raw;
    enqueue_unmap = 58(queue: Raw, object: Raw, address: Raw, count: u32, events: *const Raw, event: *mut Raw) -> i32;
    get_function = 65(name: *const c_char) -> Raw;
    create_from_gl_buffer = 66(context: Raw, flags: u64, name: u32, code: *mut i32) -> Raw;
    create_from_gl_renderbuffer = 69(context: Raw, flags: u64, name: u32, code: *mut i32) -> Raw;
    get_gl_object_info = 70(object: Raw, kind: *mut u32, name: *mut u32) -> i32;
    get_gl_texture_info = 71(object: Raw, parameter: u32, bytes: usize, value: Raw, found: *mut usize) -> i32;
    acquire_gl_objects = 72(queue: Raw, count: u32, objects: *const Raw, waits: u32, events: *const Raw,
        event: *mut Raw) -> i32;
    release_gl_objects = 73(queue: Raw, count: u32, objects: *const Raw, waits: u32, events: *const Raw,
        event: *mut Raw) -> i32;
    get_gl_context_info = 74(properties: *const isize, parameter: u32, bytes: usize, value: Raw,
        found: *mut usize) -> i32;
    set_event_callback = 81(event: Raw, status: i32, done: EventCallback, user: Raw) -> i32;
    set_destructor_callback = 83(object: Raw, gone: DestructorCallback, user: Raw) -> i32;
    create_user_event = 84(context: Raw, code: *mut i32) -> Raw;
    set_user_event_status = 85(event: Raw, status: i32) -> i32;
    create_event_from_gl_sync = 92(context: Raw, sync: Raw, code: *mut i32) -> Raw;
    create_image = 96(context: Raw, flags: u64, format: *const [u32; 2], shape: *const ImageShape, host: Raw,
        code: *mut i32) -> Raw;
    enqueue_marker = 105(queue: Raw, count: u32, events: *const Raw, event: *mut Raw) -> i32;
    enqueue_barrier = 106(queue: Raw, count: u32, events: *const Raw, event: *mut Raw) -> i32;
    get_function_of_platform = 107(platform: Raw, name: *const c_char) -> Raw;
    create_from_gl_texture = 108(context: Raw, flags: u64, target: u32, level: i32, name: u32, code: *mut i32) -> Raw;
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
    /// Stores a loader's table. A second loader in the process has the same drivers behind it, so the first table is
    /// enough.
    ///
    /// # Safety
    /// Every entry of the table is null or the function that OpenCL's table has there.
    pub unsafe fn install(table: &[*const c_void]) {
        // SAFETY: the caller's promise.
        DRIVER.get_or_init(|| unsafe { Self::new(table) });
    }
}

/// The functions behind the layer.
pub fn driver() -> Result<&'static Driver, i32> {
    DRIVER.get().ok_or(OUT_OF_HOST_MEMORY)
}
