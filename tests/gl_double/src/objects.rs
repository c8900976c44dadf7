//! GL objects that were opened, and whose turn it is.

use crate::dispatch::target;
use crate::gl::{self, FORMATS, Format};
use std::collections::HashMap;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

pub const INVALID_CONTEXT: i32 = -34;
pub const INVALID_OPERATION: i32 = -59;
pub const INVALID_GL_OBJECT: i32 = -60;
pub const INVALID_MIP_LEVEL: i32 = -62;
pub const INVALID_IMAGE_FORMAT: i32 = -39;

/// Kind of GL object that an object is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ObjectKind {
    Buffer,
    Texture { target: u32, level: i32 },
    Renderbuffer,
}

#[derive(Clone, Copy)]
pub struct OpenedObject {
    pub kind: ObjectKind,
    pub name: u32,
    size: [usize; 3],
    format: Option<usize>,
    pub acquired: bool,
    context: usize,
}

/// Settings that a sharing OpenCL context was made with.
#[derive(Clone, Copy)]
pub struct SharingContext {
    /// The GL context.
    pub gl: usize,
    /// `pfn_notify` and `user_data` of `clCreateContext`.
    pub notify: Option<Notify>,
    pub user: usize,
}

pub type Notify = unsafe extern "C" fn(text: *const c_char, info: *const c_void, bytes: usize, user: *mut c_void);

impl SharingContext {
    /// Tells the program, as drivers may.
    pub fn report(self, text: &CStr) {
        if let Some(notify) = self.notify {
            // SAFETY: the program's callback, with its own user data.
            unsafe { notify(text.as_ptr(), ptr::null(), 0, ptr::without_provenance_mut(self.user)) };
        }
    }
}

#[derive(Default)]
pub struct DoubleState {
    /// OpenCL contexts that share.
    pub contexts: HashMap<usize, SharingContext>,
    pub objects: HashMap<usize, OpenedObject>,
    /// Objects among the arguments of kernels, by kernel and index.
    pub arguments: HashMap<(usize, u32), usize>,
}

pub fn state() -> MutexGuard<'static, DoubleState> {
    static STATE: LazyLock<Mutex<DoubleState>> = LazyLock::new(Mutex::default);
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Says what was done wrong, and gives the code.
pub fn refuse(code: i32, what: &str) -> i32 {
    eprintln!("GL DOUBLE refuses: {what}");
    code
}

/// `cl_image_desc` without its last members, which stay 0.
#[repr(C)]
struct ImageDesc {
    kind: u32,
    size: [usize; 3],
    layers: usize,
    rest: [usize; 5],
}

/// Opens an object: the driver's memory object that stands for it.
///
/// # Safety
/// `context` is a live OpenCL context.
pub unsafe fn open(context: *mut c_void, flags: u64, kind: ObjectKind, name: u32) -> Result<*mut c_void, i32> {
    let current = gl::current_context();
    match state().contexts.get(&context.addr()) {
        None => return Err(refuse(INVALID_CONTEXT, "an object is opened in a context without OpenGL")),
        Some(shared) if shared.gl != current => {
            return Err(refuse(INVALID_OPERATION, "an object is opened while another GL context, or none, is current"));
        }
        Some(_) => {}
    }
    let found = match kind {
        ObjectKind::Buffer => gl::buffer_size(name).map(|size| ([size, 1, 1], 0)),
        ObjectKind::Texture { target, level } => gl::level(target, level, name),
        ObjectKind::Renderbuffer => gl::renderbuffer(name),
    };
    let Some((size, internal)) = found else {
        let code = match kind {
            ObjectKind::Texture { level, .. } if level != 0 => INVALID_MIP_LEVEL,
            _ => INVALID_GL_OBJECT,
        };
        return Err(refuse(code, "an object is opened that is not there, or has no storage"));
    };
    let format = FORMATS.iter().position(|f| f.internal == internal);
    let mut code = 0;
    let made = match (kind, format) {
        // SAFETY: the context is live; the driver's own function.
        (ObjectKind::Buffer, _) => unsafe {
            target!(14: fn(*mut c_void, u64, usize, *mut c_void, *mut i32) -> *mut c_void;
                context, flags, size[0], ptr::null_mut(), &raw mut code)
        },
        (_, None) => return Err(refuse(INVALID_IMAGE_FORMAT, "an object of a format that the double does not know")),
        (kind, Some(format)) => {
            let shape = match kind {
                ObjectKind::Texture { target: 0x0DE0, .. } => 0x10F4,
                ObjectKind::Texture { target: 0x806F, .. } => 0x10F2,
                ObjectKind::Texture { target: 0x8C1A, .. } => 0x10F3,
                _ => 0x10F1,
            };
            let layers = if shape == 0x10F3 { size[2] } else { 0 };
            let depth = if shape == 0x10F2 { size[2] } else { 0 };
            let desc = ImageDesc { kind: shape, size: [size[0], size[1], depth], layers, rest: [0; 5] };
            let pixel = [FORMATS[format].order, FORMATS[format].channel];
            // SAFETY: as above; format and description live through the call.
            unsafe {
                target!(96: fn(*mut c_void, u64, *const u32, *const ImageDesc, *mut c_void, *mut i32) -> *mut c_void;
                    context, flags, pixel.as_ptr(), &raw const desc, ptr::null_mut(), &raw mut code)
            }
        }
    };
    if code != 0 {
        return Err(code);
    }
    let opened = OpenedObject { kind, name, size, format, acquired: false, context: current };
    state().objects.insert(made.addr(), opened);
    Ok(made)
}

/// Checks whether one side's turn with an object may end and that of the other begin.
pub fn check_turn(object: *mut c_void, acquire: bool) -> Result<OpenedObject, i32> {
    let Some(opened) = state().objects.get(&object.addr()).copied() else {
        return Err(refuse(INVALID_GL_OBJECT, "a turn with what is no GL object"));
    };
    if opened.context != gl::current_context() {
        return Err(refuse(INVALID_OPERATION, "a turn while another GL context, or none, is current"));
    }
    if opened.acquired == acquire {
        let what = if acquire { "acquired twice" } else { "released without having been acquired" };
        return Err(refuse(INVALID_OPERATION, what));
    }
    let there = match opened.kind {
        ObjectKind::Buffer => gl::buffer_size(opened.name).is_some_and(|size| size == opened.size[0]),
        ObjectKind::Texture { target, level } => {
            gl::level(target, level, opened.name).is_some_and(|l| l.0 == opened.size)
        }
        ObjectKind::Renderbuffer => gl::renderbuffer(opened.name).is_some_and(|r| r.0 == opened.size),
    };
    if !there {
        return Err(refuse(INVALID_GL_OBJECT, "a turn with an object that is gone or has other storage now"));
    }
    Ok(opened)
}

/// Ends the turn of one side and begins that of the other, which [`check_turn`] allowed: copies.
///
/// # Safety
/// `queue` is a live queue.
pub unsafe fn turn(queue: *mut c_void, object: *mut c_void, opened: &OpenedObject, acquire: bool) -> Result<(), i32> {
    // SAFETY: the caller's promise, and the object is one that the driver made for us.
    unsafe { copy(queue, object, opened, acquire) }?;
    if let Some(opened) = state().objects.get_mut(&object.addr()) {
        opened.acquired = acquire;
    }
    Ok(())
}

/// # Safety
/// The caller keeps what [`turn`] asks.
unsafe fn copy(queue: *mut c_void, object: *mut c_void, opened: &OpenedObject, acquire: bool) -> Result<(), i32> {
    type Copy = unsafe extern "C" fn(
        *mut c_void,
        *mut c_void,
        u32,
        *const usize,
        *const usize,
        usize,
        usize,
        *mut c_void,
        u32,
        *const c_void,
        *mut c_void,
    ) -> i32;
    let pixel: Option<&Format> = opened.format.map(|f| &FORMATS[f]);
    let mut bytes = vec![0u8; opened.size.iter().product::<usize>() * pixel.map_or(1, |f| f.bytes)];
    let out_of_gl = |bytes: &mut [u8], into_gl| match (opened.kind, pixel) {
        (ObjectKind::Texture { target, level }, Some(f)) => {
            gl::copy_level(target, level, opened.name, opened.size, f, bytes, into_gl);
        }
        (ObjectKind::Renderbuffer, Some(f)) => gl::copy_renderbuffer(opened.name, opened.size, f, bytes, into_gl),
        _ => gl::copy_buffer(opened.name, bytes, into_gl),
    };
    if acquire {
        out_of_gl(&mut bytes, false);
    }
    let origin = [0usize; 3];
    let (address, none) = (bytes.as_mut_ptr().cast::<c_void>(), ptr::null_mut::<c_void>());
    // SAFETY: blocking copies of exactly as many bytes as there are, by the driver's own functions.
    let code = unsafe {
        match (opened.kind, acquire) {
            (ObjectKind::Buffer, true) => target!(49:
                fn(*mut c_void, *mut c_void, u32, usize, usize, *mut c_void, u32, *const c_void, *mut c_void) -> i32;
                queue, object, 1, 0, bytes.len(), address, 0, none, none),
            (ObjectKind::Buffer, false) => target!(48:
                fn(*mut c_void, *mut c_void, u32, usize, usize, *mut c_void, u32, *const c_void, *mut c_void) -> i32;
                queue, object, 1, 0, bytes.len(), address, 0, none, none),
            (_, acquire) => {
                let place = if acquire { 52 } else { 51 };
                let function = std::mem::transmute::<*const c_void, Copy>(crate::dispatch::address(place));
                let (origin, size) = (origin.as_ptr(), opened.size.as_ptr());
                function(queue, object, 1, origin, size, 0, 0, address, 0, none, none)
            }
        }
    };
    if code != 0 {
        return Err(code);
    }
    if !acquire {
        out_of_gl(&mut bytes, true);
    }
    Ok(())
}
