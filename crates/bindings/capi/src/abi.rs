//! Types of the C interface, as declared in `include/pixelferry.h`: constants, structs, function types.
//!
//! The header documents each. In `tests/suite/header.rs`, a C compiler compares every item of this file with the
//! header.

// The header contains everything, whatever features are enabled.
#![allow(dead_code)]

use std::ffi::{c_char, c_void};
use std::mem::MaybeUninit;

/// Status that a call returns.
pub type pf_status = i32;

pub const PIXELFERRY_OK: i32 = 0;
pub const PIXELFERRY_ERROR_ARGUMENT: i32 = 1;
pub const PIXELFERRY_ERROR_HANDLE: i32 = 2;
pub const PIXELFERRY_ERROR_THREAD: i32 = 3;
pub const PIXELFERRY_ERROR_BUSY: i32 = 4;
pub const PIXELFERRY_ERROR_CALLBACK: i32 = 5;
pub const PIXELFERRY_ERROR_UNAVAILABLE: i32 = 6;
pub const PIXELFERRY_ERROR_UNSUPPORTED: i32 = 7;
pub const PIXELFERRY_ERROR_DRIVER: i32 = 8;
pub const PIXELFERRY_ERROR_KERNEL_BUILD: i32 = 9;
pub const PIXELFERRY_ERROR_KERNEL_FAILED: i32 = 10;
pub const PIXELFERRY_ERROR_FOREIGN: i32 = 11;
pub const PIXELFERRY_ERROR_CONTEXT: i32 = 12;
pub const PIXELFERRY_ERROR_REJECTED: i32 = 13;
pub const PIXELFERRY_ERROR_NOTHING_SHOWN: i32 = 14;
pub const PIXELFERRY_ERROR_PAUSED: i32 = 15;
pub const PIXELFERRY_ERROR_NO_PATH: i32 = 16;
pub const PIXELFERRY_ERROR_FILE: i32 = 17;
pub const PIXELFERRY_ERROR_PANIC: i32 = 18;
pub const PIXELFERRY_ERROR_OTHER: i32 = 19;
pub const PIXELFERRY_ERROR_IN_TARGET: i32 = 20;

pub const PIXELFERRY_LOAD_KEEP: u32 = 0;
pub const PIXELFERRY_LOAD_CLEAR: u32 = 1;
pub const PIXELFERRY_LOAD_OVERWRITE: u32 = 2;

pub const PIXELFERRY_ACCESS_TEXTURE: u32 = 0;
pub const PIXELFERRY_ACCESS_ANY: u32 = 1;

pub const PIXELFERRY_ROWS_TOP_DOWN: u32 = 0;
pub const PIXELFERRY_ROWS_BOTTOM_UP: u32 = 1;

pub const PIXELFERRY_OUTLET_ROWS_STORED: u32 = 0;
pub const PIXELFERRY_OUTLET_ROWS_BOTTOM_UP: u32 = 1;
pub const PIXELFERRY_OUTLET_ROWS_TOP_DOWN: u32 = 2;

pub const PIXELFERRY_ENCODING_UNMANAGED: u32 = 0;
pub const PIXELFERRY_ENCODING_SRGB: u32 = 1;
pub const PIXELFERRY_ENCODING_LINEAR: u32 = 2;
pub const PIXELFERRY_ENCODING_GAMMA22: u32 = 3;

pub const PIXELFERRY_ALPHA_STORED: u32 = 0;
pub const PIXELFERRY_ALPHA_OPAQUE: u32 = 1;
pub const PIXELFERRY_ALPHA_PREMULTIPLIED: u32 = 2;
pub const PIXELFERRY_ALPHA_STRAIGHT: u32 = 3;

pub const PIXELFERRY_ARG_I32: u32 = 1;
pub const PIXELFERRY_ARG_U32: u32 = 2;
pub const PIXELFERRY_ARG_F32: u32 = 3;
pub const PIXELFERRY_ARG_I64: u32 = 4;
pub const PIXELFERRY_ARG_U64: u32 = 5;
pub const PIXELFERRY_ARG_F64: u32 = 6;
pub const PIXELFERRY_ARG_MEMORY: u32 = 7;

pub const PIXELFERRY_BUDGET_NONE: u32 = u32::MAX;
pub const PIXELFERRY_AUDIT_OFF: u32 = u32::MAX;

pub const PIXELFERRY_MODE_FRAMES_BEHIND: u32 = 0;
pub const PIXELFERRY_MODE_THROUGHPUT: u32 = 1;

pub const PIXELFERRY_SHOWED_STRAIGHT: u32 = 1;
pub const PIXELFERRY_SHOWED_DRAWN: u32 = 2;
pub const PIXELFERRY_SHOWED_PAUSED: u32 = 3;

pub const PIXELFERRY_NEXT_NOTHING: u32 = 0;
pub const PIXELFERRY_NEXT_FRAME: u32 = 1;
pub const PIXELFERRY_NEXT_ENDED: u32 = 2;

pub const PIXELFERRY_FILTER_NEAREST: u32 = 0;
pub const PIXELFERRY_FILTER_LINEAR: u32 = 1;

pub const PIXELFERRY_FIT_STRETCH: u32 = 0;
pub const PIXELFERRY_FIT_CONTAIN: u32 = 1;
pub const PIXELFERRY_FIT_COVER: u32 = 2;
pub const PIXELFERRY_FIT_INTEGER: u32 = 3;
pub const PIXELFERRY_FIT_NONE: u32 = 4;
pub const PIXELFERRY_FIT_AT: u32 = 5;

pub const PIXELFERRY_TONE_MAP_NONE: u32 = 0;
pub const PIXELFERRY_TONE_MAP_CLAMP: u32 = 1;
pub const PIXELFERRY_TONE_MAP_REINHARD: u32 = 2;
pub const PIXELFERRY_TONE_MAP_ACES_NARKOWICZ: u32 = 3;
pub const PIXELFERRY_TONE_MAP_ACES_HILL: u32 = 4;

pub const PIXELFERRY_TARGET_SRGB: u32 = 0;
pub const PIXELFERRY_TARGET_SRGB_FORMAT: u32 = 1;
pub const PIXELFERRY_TARGET_LINEAR: u32 = 2;

pub const PIXELFERRY_ONE_CHANNEL_GREY: u32 = 0;
pub const PIXELFERRY_ONE_CHANNEL_RED: u32 = 1;

pub const PIXELFERRY_BACKGROUND_KEEP: u32 = 0;
pub const PIXELFERRY_BACKGROUND_COLOR: u32 = 1;

pub const PIXELFERRY_OBJECT_GL_TEXTURE: u32 = 1;
pub const PIXELFERRY_OBJECT_GL_BUFFER: u32 = 2;
pub const PIXELFERRY_OBJECT_VULKAN_IMAGE: u32 = 3;
pub const PIXELFERRY_OBJECT_VULKAN_BUFFER: u32 = 4;

pub const PIXELFERRY_API_CUDA: u32 = 1;
pub const PIXELFERRY_API_OPENCL: u32 = 2;

pub const PIXELFERRY_LOG_ERROR: u32 = 1;
pub const PIXELFERRY_LOG_WARNING: u32 = 2;
pub const PIXELFERRY_LOG_INFO: u32 = 3;
pub const PIXELFERRY_LOG_DEBUG: u32 = 4;

pub const PIXELFERRY_VULKAN_IMAGE: u32 = 1;
pub const PIXELFERRY_VULKAN_ROWS: u32 = 2;
pub const PIXELFERRY_VULKAN_BYTES: u32 = 3;

/// Types that C uses only through pointers. The pointers are numbers of [`crate::handles`]; there is no memory behind
/// them.
macro_rules! opaque {
    ($($name:ident),* $(,)?) => {
        $(#[repr(C)]
        pub struct $name {
            nothing: [u8; 0],
        })*
    };
}
opaque!(
    pf_backend,
    pf_kernel,
    pf_memory,
    pf_display,
    pf_link,
    pf_frame,
    pf_shown,
    pf_outlet,
    pf_intake,
    pf_shared_link,
    pf_started,
    pf_shared_frame,
    pf_target,
    pf_subscriber,
);

/// A struct that begins with its size, so that it may grow. Every field may be zero.
///
/// # Safety
/// The struct is `repr(C)`, its first field is `size: usize`, and every bit pattern is valid.
pub unsafe trait SizedStruct: Copy {
    /// Name of the struct in C.
    const NAME: &'static str;
    /// Every `sizeof` that a published header had, oldest first; the last is this library's.
    const SIZES: &'static [usize];

    /// All zeros, with the size of this library's header.
    fn blank() -> Self {
        let mut blank = MaybeUninit::<Self>::zeroed();
        // SAFETY: the first field is the size, and every bit pattern is valid.
        unsafe {
            blank.as_mut_ptr().cast::<usize>().write(size_of::<Self>());
            blank.assume_init()
        }
    }
}

/// Returns the `sizeof` of a struct whose last field ends at `end`.
pub const fn size_to(end: usize, align: usize) -> usize {
    end.next_multiple_of(align)
}

/// Returns the size of the field that a function projects to.
pub const fn size_of_field<S, F>(_: fn(&S) -> &F) -> usize {
    size_of::<F>()
}

macro_rules! growing {
    ($($name:ident: $($last:ident),+;)*) => {
        $(
            // SAFETY: it is `repr(C)`, of numbers, addresses and nullable functions, and `size` is first (checked below).
            unsafe impl crate::abi::SizedStruct for $name {
                const NAME: &'static str = stringify!($name);
                const SIZES: &'static [usize] = &[$(crate::abi::size_to(
                    std::mem::offset_of!($name, $last) + crate::abi::size_of_field(|all: &$name| &all.$last),
                    align_of::<$name>(),
                )),+];
            }
            const _: () = {
                assert!(std::mem::offset_of!($name, size) == 0);
                let sizes = <$name as crate::abi::SizedStruct>::SIZES;
                assert!(sizes[sizes.len() - 1] == size_of::<$name>(), "the last row is this header's");
            };
        )*
    };
}
#[cfg(test)]
pub(crate) use growing;

// Each struct with its last field in each published header. When you add fields, append the new last field.
growing! {
    pf_surface: alpha;
    pf_kernel_source: items;
    pf_link_options: audit;
    pf_frames: options;
    pf_gl_options: version_minor;
    pf_pixels: reserved;
    pf_gl_texture: row_texels;
    pf_gl_buffer: reserved;
    pf_device_memory: format;
    pf_vulkan_device: reserved;
    pf_vulkan_frame: format;
    pf_draw_options: reserved;
    pf_object: reserved;
    pf_outlet_options: row_order;
    pf_stream_options: reserved;
    pf_published: copied;
    pf_stream_frame: row_bytes;
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pf_surface {
    pub size: usize,
    pub bytes: u64,
    pub format: u32,
    pub width: u32,
    pub height: u32,
    pub unwritten: u32,
    pub access: u32,
    pub row_order: u32,
    pub encoding: u32,
    pub alpha: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pf_kernel_source {
    pub size: usize,
    pub name: *const c_char,
    pub opencl_c: *const c_char,
    pub cuda_cpp: *const c_char,
    pub ptx: *const c_char,
    pub wgsl: *const c_char,
    pub glsl: *const c_char,
    pub host: pf_host_function,
    pub host_user: *mut c_void,
    pub items: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pf_link_options {
    pub size: usize,
    pub path: *const c_char,
    pub prefer: *const c_char,
    pub profiles: *const c_char,
    pub budget_ms: u32,
    pub frames_behind: u32,
    pub mode: u32,
    pub audit: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pf_gl_options {
    pub size: usize,
    pub is_current: pf_is_current_function,
    pub is_current_user: *mut c_void,
    pub version_major: u32,
    pub version_minor: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pf_pixels {
    pub size: usize,
    pub data: *mut c_void,
    pub row_pitch: isize,
    pub row_bytes: usize,
    pub row: u32,
    pub rows: u32,
    pub width: u32,
    pub height: u32,
    pub format: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pf_gl_texture {
    pub size: usize,
    pub name: u32,
    pub target: u32,
    pub first_texel: u32,
    pub row_texels: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pf_gl_buffer {
    pub size: usize,
    pub offset: u64,
    pub bytes: u64,
    pub name: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pf_device_memory {
    pub size: usize,
    pub address: u64,
    pub offset: u64,
    pub object: *mut c_void,
    pub queue: *mut c_void,
    pub context: *mut c_void,
    pub row_pitch: isize,
    pub row_bytes: usize,
    pub api: u32,
    pub width: u32,
    pub height: u32,
    pub format: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pf_vulkan_device {
    pub size: usize,
    pub get_instance_proc_addr: pf_void_function,
    pub instance: *mut c_void,
    pub physical_device: *mut c_void,
    pub device: *mut c_void,
    pub queue: *mut c_void,
    pub queue_family: u32,
    pub timeline_semaphores: u32,
    pub extensions: *const *const c_char,
    pub extension_count: usize,
    pub reader_families: *const u32,
    pub reader_family_count: usize,
    pub lock: pf_queue_function,
    pub unlock: pf_queue_function,
    pub lock_user: *mut c_void,
    pub extended_storage_formats: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pf_vulkan_frame {
    pub size: usize,
    pub object: u64,
    pub offset: u64,
    pub bytes: u64,
    pub ready_semaphore: u64,
    pub ready_value: u64,
    pub row_pitch: isize,
    pub kind: u32,
    pub vk_format: i32,
    pub vk_layout: i32,
    pub width: u32,
    pub height: u32,
    pub format: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pf_draw_options {
    pub size: usize,
    pub filter: u32,
    pub fit: u32,
    pub one_channel: u32,
    pub tone_map: u32,
    pub white: f32,
    pub exposure: f32,
    pub target: u32,
    pub background: u32,
    pub red: f32,
    pub green: f32,
    pub blue: f32,
    pub placed_x: i32,
    pub placed_y: i32,
    pub placed_width: u32,
    pub placed_height: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pf_object {
    pub size: usize,
    pub handle: u64,
    pub bytes: u64,
    pub kind: u32,
    pub format: u32,
    pub width: u32,
    pub height: u32,
    pub vk_format: i32,
    pub vk_usage: u32,
    pub vk_layout: i32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pf_outlet_options {
    pub size: usize,
    pub path: *const c_char,
    pub unwritten: u32,
    pub row_order: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pf_stream_options {
    pub size: usize,
    pub readers: u32,
    pub reserved: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pf_published {
    pub size: usize,
    pub number: u64,
    pub subscribers: u32,
    pub copied: u32,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pf_stream_frame {
    pub size: usize,
    pub number: u64,
    pub age_ns: u64,
    pub offset: u64,
    pub row_pitch: isize,
    pub row_bytes: usize,
}

/// Value of an argument; its kind selects the member.
#[repr(C)]
#[derive(Clone, Copy)]
pub union pf_value {
    pub i32: i32,
    pub u32: u32,
    pub f32: f32,
    pub i64: i64,
    pub u64: u64,
    pub f64: f64,
    pub memory: *mut pf_memory,
    pub host: *const c_void,
}

/// Arrays of this struct cross the boundary, so it never grows.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pf_launch {
    pub source: *const pf_kernel_source,
    pub args: *const pf_arg,
    pub arg_count: usize,
}

#[repr(C)]
#[derive(Clone, Copy)]
pub struct pf_frames {
    pub size: usize,
    pub surface: *const pf_surface,
    pub launches: *const pf_launch,
    pub launch_count: usize,
    pub backend: *const c_char,
    pub display: *const c_char,
    pub shown_by: *mut pf_display,
    pub options: *const pf_link_options,
}

/// Arrays of this struct cross the boundary, so it never grows.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct pf_arg {
    pub kind: u32,
    pub reserved: u32,
    pub value: pf_value,
    pub bytes: u64,
}

pub type pf_host_function = Option<
    unsafe extern "C" fn(user: *mut c_void, pixels: *const pf_pixels, args: *const pf_arg, arg_count: usize) -> i32,
>;
pub type pf_frame_function = Option<unsafe extern "C" fn(user: *mut c_void, frame: *mut pf_frame) -> i32>;
pub type pf_open_display_function =
    Option<unsafe extern "C" fn(user: *mut c_void, display: *mut *mut pf_display) -> i32>;
pub type pf_map_function = Option<unsafe extern "C" fn(user: *mut c_void, pixels: *const pf_pixels) -> i32>;
pub type pf_get_proc_function = Option<unsafe extern "C" fn(user: *mut c_void, name: *const c_char) -> *mut c_void>;
pub type pf_is_current_function = Option<unsafe extern "C" fn(user: *mut c_void) -> i32>;
pub type pf_void_function = Option<unsafe extern "C" fn()>;
pub type pf_queue_function = Option<unsafe extern "C" fn(user: *mut c_void)>;
pub type pf_log_function = Option<unsafe extern "C" fn(user: *mut c_void, level: u32, text: *const c_char)>;
