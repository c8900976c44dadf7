//! Objects of OpenGL.

use crate::cl::driver::{Driver, driver};
use crate::cl::handles::{Handle, OwnHandle, checked, handle as asked_handle, made};
use crate::codes::{INVALID_CONTEXT, INVALID_GL_OBJECT, INVALID_MEM_OBJECT, INVALID_VALUE};
use crate::contexts;
use crate::edge::{InfoRoom, Raw, code, handle, put};
use crate::object::{GlName, SharedObject};
use crate::objects;
use crate::target::{self, Target};
use std::sync::Arc;

/// `CL_MEM_CONTEXT`, `CL_GL_TEXTURE_TARGET`, `CL_GL_MIPMAP_LEVEL`.
const MEMORY_CONTEXT: u32 = 0x1106;
const TEXTURE_TARGET: u32 = 0x2004;
const MIPMAP_LEVEL: u32 = 0x2005;

/// Makes an object in a context of the layer; for a driver with its own sharing, passes the call on.
///
/// # Safety
/// `context` is null or live, `answer` is null or valid.
unsafe fn create(
    context: Raw,
    flags: u64,
    name: GlName,
    answer: *mut i32,
    native: impl FnOnce(&Driver, *mut i32) -> Raw,
) -> Raw {
    // SAFETY: the caller's promise.
    unsafe {
        handle(answer, || {
            if context.is_null() {
                return Err(INVALID_CONTEXT);
            }
            let of = Handle::new(context);
            match contexts::find(of) {
                Some(shared) => objects::create(shared, flags, name).map(OwnHandle::give),
                None if contexts::is_native(of) => made(native).map(Handle::raw),
                // Drivers without the extension may crash here.
                None => Err(INVALID_CONTEXT),
            }
        })
    }
}

/// # Safety
/// `cl_khr_gl_sharing`'s.
pub unsafe extern "C" fn create_from_gl_buffer(context: Raw, flags: u64, name: u32, answer: *mut i32) -> Raw {
    // SAFETY: the caller's promise.
    unsafe {
        create(context, flags, GlName::Buffer(name), answer, |driver, code| {
            (driver.create_from_gl_buffer)(context, flags, name, code)
        })
    }
}

/// The call of OpenCL 1.2, and those of 1.1 for two dimensions and for three.
pub const ANY: u32 = 0;
pub const TWO: u32 = Target::RENDERBUFFER.image;
pub const THREE: u32 = target::IMAGE_3D;

/// # Safety
/// `cl_khr_gl_sharing`'s.
pub unsafe extern "C" fn create_from_gl_texture<const IMAGE: u32>(
    context: Raw,
    flags: u64,
    target: u32,
    level: i32,
    name: u32,
    answer: *mut i32,
) -> Raw {
    // SAFETY: the caller's promise.
    unsafe {
        if IMAGE != ANY && target::of(target).is_none_or(|target| target.image != IMAGE) {
            return handle(answer, || Err(INVALID_VALUE));
        }
        create(context, flags, GlName::Texture { target, level, name }, answer, |driver, code| {
            (driver.create_from_gl_texture)(context, flags, target, level, name, code)
        })
    }
}

/// # Safety
/// `cl_khr_gl_sharing`'s.
pub unsafe extern "C" fn create_from_gl_renderbuffer(context: Raw, flags: u64, name: u32, answer: *mut i32) -> Raw {
    // SAFETY: the caller's promise.
    unsafe {
        create(context, flags, GlName::Renderbuffer(name), answer, |driver, code| {
            (driver.create_from_gl_renderbuffer)(context, flags, name, code)
        })
    }
}

/// Returns whether an object that is not the layer's belongs to a driver with its own sharing.
///
/// # Safety
/// `object` is null or live.
pub unsafe fn is_native(object: Raw) -> Result<bool, i32> {
    if object.is_null() {
        return Err(INVALID_MEM_OBJECT);
    }
    // SAFETY: the caller's promise.
    let context = asked_handle(|driver| driver.get_mem_object_info, unsafe { Handle::new(object) }, MEMORY_CONTEXT);
    Ok(contexts::is_native(context.map_err(|_| INVALID_MEM_OBJECT)?))
}

/// Returns the layer's object; `None` if it belongs to a driver with its own sharing, which answers instead.
///
/// # Safety
/// `object` is null or live.
unsafe fn shared_object(object: Raw) -> Result<Option<Arc<SharedObject>>, i32> {
    // SAFETY: the caller's promise.
    unsafe {
        match objects::find(Handle::new(object)) {
            None if !is_native(object)? => Err(INVALID_GL_OBJECT),
            found => Ok(found),
        }
    }
}

/// # Safety
/// `cl_khr_gl_sharing`'s.
pub unsafe extern "C" fn get_gl_object_info(object: Raw, kind: *mut u32, name: *mut u32) -> i32 {
    // SAFETY: the caller's promise.
    code(|| unsafe {
        let Some(shared) = shared_object(object)? else {
            return checked((driver()?.get_gl_object_info)(object, kind, name));
        };
        let (of_kind, of_name) = match shared.name {
            GlName::Buffer(name) => (Target::BUFFER_OBJECT, name),
            GlName::Texture { target, name, .. } => (target::of(target).map_or(0, |target| target.object), name),
            GlName::Renderbuffer(name) => (Target::RENDERBUFFER.object, name),
        };
        put(kind, of_kind);
        put(name, of_name);
        Ok(())
    })
}

/// # Safety
/// `cl_khr_gl_sharing`'s.
pub unsafe extern "C" fn gl_texture_info(object: Raw, what: u32, bytes: usize, value: Raw, found: *mut usize) -> i32 {
    // SAFETY: the caller's promise.
    code(|| unsafe {
        let Some(shared) = shared_object(object)? else {
            return checked((driver()?.get_gl_texture_info)(object, what, bytes, value, found));
        };
        let (target, level) = match shared.name {
            GlName::Buffer(_) => return Err(INVALID_GL_OBJECT),
            GlName::Texture { target, level, .. } => (target, level),
            GlName::Renderbuffer(_) => (Target::RENDERBUFFER.name, 0),
        };
        let answer = match what {
            TEXTURE_TARGET => target,
            MIPMAP_LEVEL => level.cast_unsigned(),
            _ => return Err(INVALID_VALUE),
        };
        InfoRoom { bytes, value, found }.answer(&answer.to_ne_bytes())
    })
}
