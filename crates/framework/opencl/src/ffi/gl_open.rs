//! [`GlObject`]: GL objects of every kind, opened as memory.

use super::extension::function;
use super::handle::{Handle, MemKind};
use super::query::array;
use super::{Failure, GlShare, Mem, NO_GL_OBJECT, check};
use crate::Context;
use cl3::memory as m;
use std::ffi::c_void;

type FromBuffer = unsafe extern "system" fn(context: *mut c_void, flags: u64, name: u32, code: *mut i32) -> *mut c_void;
type FromTexture = unsafe extern "system" fn(
    context: *mut c_void,
    flags: u64,
    target: u32,
    level: i32,
    name: u32,
    code: *mut i32,
) -> *mut c_void;
type ObjectInfo = unsafe extern "system" fn(object: *mut c_void, kind: *mut u32, name: *mut u32) -> i32;

/// A GL object of the context that is current, for `cl_khr_gl_sharing`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum GlObject {
    /// A buffer with storage (`clCreateFromGLBuffer`).
    Buffer {
        /// Object name.
        name: u32,
    },
    /// One level of a texture (`clCreateFromGLTexture`).
    Texture {
        /// `GL_TEXTURE_2D`, a face of a cube map, and so on: see `clCreateFromGLTexture`.
        target: u32,
        /// Mipmap level.
        level: i32,
        /// Object name.
        name: u32,
    },
    /// A renderbuffer with storage, of one sample (`clCreateFromGLRenderbuffer`).
    Renderbuffer {
        /// Object name.
        name: u32,
    },
}

impl GlShare {
    /// A GL object as memory of a context that shares with this; OpenGL has the first turn.
    pub fn open(&self, context: &Context, object: GlObject, flags: u64) -> interop_core::Result<Mem> {
        self.open_raw(context, object, flags).map_err(|f| context.error(f))
    }

    fn open_raw(&self, context: &Context, object: GlObject, flags: u64) -> Result<Mem, Failure> {
        let handle = match object {
            GlObject::Buffer { name } => self.open_buffer(context, flags, name)?,
            GlObject::Texture { target, level, name } => self.open_texture(context, flags, target, level, name)?,
            GlObject::Renderbuffer { name } => self.open_renderbuffer(context, flags, name)?,
        };
        let len = match object {
            GlObject::Buffer { .. } => {
                usize::from_ne_bytes(array("clGetMemObjectInfo", &handle.info(m::CL_MEM_SIZE)?)?)
            }
            _ => usize::MAX,
        };
        Ok(Mem::of_gl(handle, flags, len))
    }

    fn open_buffer(&self, context: &Context, flags: u64, name: u32) -> Result<Handle<MemKind>, Failure> {
        const CALL: &str = "clCreateFromGLBuffer";
        self.check_current(CALL)?;
        let create = function!(self.platform, c"clCreateFromGLBuffer" as FromBuffer);
        // SAFETY: the context shares with the GL context that is current; the driver refuses invalid names.
        own(CALL, |code| unsafe { create(context.raw(), flags, name, code) })
    }

    fn open_texture(
        &self,
        context: &Context,
        flags: u64,
        target: u32,
        level: i32,
        name: u32,
    ) -> Result<Handle<MemKind>, Failure> {
        const CALL: &str = "clCreateFromGLTexture";
        self.check_current(CALL)?;
        let create = function!(self.platform, c"clCreateFromGLTexture" as FromTexture);
        // SAFETY: as above; the driver refuses targets and levels that the texture does not have.
        own(CALL, |code| unsafe { create(context.raw(), flags, target, level, name, code) })
    }

    fn open_renderbuffer(&self, context: &Context, flags: u64, name: u32) -> Result<Handle<MemKind>, Failure> {
        const CALL: &str = "clCreateFromGLRenderbuffer";
        self.check_current(CALL)?;
        let create = function!(self.platform, c"clCreateFromGLRenderbuffer" as FromBuffer);
        // SAFETY: as above.
        own(CALL, |code| unsafe { create(context.raw(), flags, name, code) })
    }

    /// `CL_GL_OBJECT_*` and the name of the GL object behind a memory object.
    pub fn object_of(&self, object: &Mem) -> Result<(u32, u32), Failure> {
        if !object.is_of_gl() {
            return Err(Failure { operation: "clGetGLObjectInfo", code: NO_GL_OBJECT });
        }
        let ask = function!(self.platform, c"clGetGLObjectInfo" as ObjectInfo);
        let (mut kind, mut name) = (0, 0);
        // SAFETY: the object is live, and two numbers are written.
        let code = unsafe { ask(object.raw(), &raw mut kind, &raw mut name) };
        check("clGetGLObjectInfo", if code == 0 { Ok((kind, name)) } else { Err(code) })
    }
}

fn own(operation: &'static str, create: impl FnOnce(*mut i32) -> *mut c_void) -> Result<Handle<MemKind>, Failure> {
    let mut code = 0;
    let raw = create(&raw mut code);
    // SAFETY: an object that was just created, whose one reference is ours.
    unsafe { Handle::own(operation, if code == 0 { Ok(raw) } else { Err(code) }) }
}
