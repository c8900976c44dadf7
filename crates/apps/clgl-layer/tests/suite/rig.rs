//! A program that shares: one context of each API, and what the tests do with them.

use crate::calls::{Raw, call};
use pixelferry_testing::{Need, given, need};
use std::ptr;

pub const RGBA8: u32 = 0x8058;
pub const RGBA: u32 = 0x1908;
pub const UNSIGNED_BYTE: u32 = 0x1401;
pub const TEXTURE_2D: u32 = 0x0DE1;
pub const ARRAY_BUFFER: u32 = 0x8892;
pub const READ_WRITE: u64 = 1;
pub const WRITE_ONLY: u64 = 2;
pub const READ_ONLY: u64 = 4;
pub const INVALID_GL_OBJECT: i32 = -60;

/// A context of OpenGL, current on the thread that made it.
#[derive(Clone, Copy)]
pub struct Gl {
    pub display: isize,
    pub context: isize,
}

impl Gl {
    pub fn open() -> Result<Self, String> {
        const SURFACELESS: u32 = 0x31DD;
        let display = call!(egl_address "eglGetPlatformDisplay"(u32, isize, isize) -> isize; SURFACELESS, 0, 0);
        let (major, minor) = (ptr::null_mut(), ptr::null_mut());
        if call!(egl_address "eglInitialize"(isize, *mut i32, *mut i32) -> u32; display, major, minor) == 0 {
            return Err("EGL opens no display".to_owned());
        }
        call!(egl_address "eglBindAPI"(u32) -> u32; 0x30A2);
        let list = [0x3033, 1, 0x3040, 8, 0x3038];
        let (mut config, mut count) = (0isize, 0i32);
        call!(egl_address "eglChooseConfig"(isize, *const i32, *mut isize, i32, *mut i32) -> u32;
            display, list.as_ptr(), &raw mut config, 1, &raw mut count);
        let none = [0x3038];
        let context = call!(egl_address "eglCreateContext"(isize, isize, isize, *const i32) -> isize;
            display, config, 0, none.as_ptr());
        let current = call!(egl_address "eglMakeCurrent"(isize, isize, isize, isize) -> u32; display, 0, 0, context);
        if current == 0 { Err("EGL makes no context current".to_owned()) } else { Ok(Self { display, context }) }
    }

    /// As `clCreateContext` is told of it.
    pub fn properties(self) -> [isize; 5] {
        [0x2008, self.context, 0x2009, self.display, 0]
    }

    pub fn error(self) -> u32 {
        call!(gl_address "glGetError"() -> u32;)
    }
}

/// Both contexts and a queue.
pub struct Program {
    pub gl: Gl,
    pub platform: Raw,
    pub device: Raw,
    pub context: Raw,
    pub queue: Raw,
}

/// Fails where a call of OpenCL's has failed.
#[track_caller]
pub fn right(code: i32) {
    assert_eq!(code, 0);
}

impl Program {
    /// `None` after having said what the machine lacks.
    pub fn open() -> Option<Self> {
        Self::open_with(true)
    }

    /// As [`Self::open`]; without sharing, OpenCL's context knows nothing of OpenGL's.
    pub fn open_with(sharing: bool) -> Option<Self> {
        let gl = need(Need::Egl, Gl::open())?;
        let (platform, device) = need(given(), device())?;
        let mut code = 0;
        let properties = gl.properties();
        let context = create_context(if sharing { &properties } else { &[0] }, device, &mut code);
        right(code);
        let queue = queue(context, device);
        Some(Self { gl, platform, device, context, queue })
    }

    pub fn texture(&self, flags: u64, target: u32, level: i32, name: u32) -> Result<Raw, i32> {
        let mut code = 0;
        let made = call!(cl_address "clCreateFromGLTexture"(Raw, u64, u32, i32, u32, *mut i32) -> Raw;
            self.context, flags, target, level, name, &raw mut code);
        if code == 0 { Ok(made) } else { Err(code) }
    }

    pub fn buffer(&self, flags: u64, name: u32) -> Result<Raw, i32> {
        let mut code = 0;
        let made = call!(cl_address "clCreateFromGLBuffer"(Raw, u64, u32, *mut i32) -> Raw;
            self.context, flags, name, &raw mut code);
        if code == 0 { Ok(made) } else { Err(code) }
    }

    pub fn renderbuffer(&self, flags: u64, name: u32) -> Result<Raw, i32> {
        let mut code = 0;
        let made = call!(cl_address "clCreateFromGLRenderbuffer"(Raw, u64, u32, *mut i32) -> Raw;
            self.context, flags, name, &raw mut code);
        if code == 0 { Ok(made) } else { Err(code) }
    }

    pub fn acquire(&self, object: Raw) -> i32 {
        self.acquire_after(object, &[], ptr::null_mut())
    }

    pub fn acquire_after(&self, object: Raw, after: &[Raw], event: *mut Raw) -> i32 {
        let list = if after.is_empty() { ptr::null() } else { after.as_ptr() };
        call!(cl_address "clEnqueueAcquireGLObjects"(Raw, u32, *const Raw, u32, *const Raw, *mut Raw) -> i32;
            self.queue, 1, &raw const object, after.len() as u32, list, event)
    }

    pub fn release(&self, object: Raw) -> i32 {
        call!(cl_address "clEnqueueReleaseGLObjects"(Raw, u32, *const Raw, u32, *const Raw, *mut Raw) -> i32;
            self.queue, 1, &raw const object, 0, ptr::null(), ptr::null_mut())
    }

    pub fn read_image(&self, image: Raw, size: [usize; 3], bytes: &mut [u8]) {
        let origin = [0usize; 3];
        right(call!(cl_address "clEnqueueReadImage"
            (Raw, Raw, u32, *const usize, *const usize, usize, usize, *mut u8, u32, *const Raw, *mut Raw) -> i32;
            self.queue, image, 1, origin.as_ptr(), size.as_ptr(), 0, 0, bytes.as_mut_ptr(), 0, ptr::null(),
            ptr::null_mut()));
    }

    pub fn write_image(&self, image: Raw, size: [usize; 3], bytes: &[u8]) {
        let origin = [0usize; 3];
        right(call!(cl_address "clEnqueueWriteImage"
            (Raw, Raw, u32, *const usize, *const usize, usize, usize, *const u8, u32, *const Raw, *mut Raw) -> i32;
            self.queue, image, 1, origin.as_ptr(), size.as_ptr(), 0, 0, bytes.as_ptr(), 0, ptr::null(),
            ptr::null_mut()));
    }

    pub fn read_buffer(&self, buffer: Raw, bytes: &mut [u8]) {
        right(call!(cl_address "clEnqueueReadBuffer"
            (Raw, Raw, u32, usize, usize, *mut u8, u32, *const Raw, *mut Raw) -> i32;
            self.queue, buffer, 1, 0, bytes.len(), bytes.as_mut_ptr(), 0, ptr::null(), ptr::null_mut()));
    }

    pub fn write_buffer(&self, buffer: Raw, bytes: &[u8]) {
        right(call!(cl_address "clEnqueueWriteBuffer"
            (Raw, Raw, u32, usize, usize, *const u8, u32, *const Raw, *mut Raw) -> i32;
            self.queue, buffer, 1, 0, bytes.len(), bytes.as_ptr(), 0, ptr::null(), ptr::null_mut()));
    }

    pub fn finish(&self) {
        right(call!(cl_address "clFinish"(Raw) -> i32; self.queue));
    }
}

/// The first device, and its platform.
fn device() -> Result<(Raw, Raw), String> {
    let (mut platform, mut device): (Raw, Raw) = (ptr::null_mut(), ptr::null_mut());
    let code =
        call!(cl_address "clGetPlatformIDs"(u32, *mut Raw, *mut u32) -> i32; 1, &raw mut platform, ptr::null_mut());
    if code != 0 {
        return Err(format!("no platform: {code}"));
    }
    let code = call!(cl_address "clGetDeviceIDs"(Raw, u64, u32, *mut Raw, *mut u32) -> i32;
        platform, 0xFFFF_FFFF, 1, &raw mut device, ptr::null_mut());
    if code == 0 { Ok((platform, device)) } else { Err(format!("no device: {code}")) }
}

pub fn create_context(properties: &[isize], device: Raw, code: &mut i32) -> Raw {
    call!(cl_address "clCreateContext"(*const isize, u32, *const Raw, Raw, Raw, *mut i32) -> Raw;
        properties.as_ptr(), 1, &raw const device, ptr::null_mut(), ptr::null_mut(), &raw mut *code)
}

pub fn queue(context: Raw, device: Raw) -> Raw {
    let mut code = 0;
    let made =
        call!(cl_address "clCreateCommandQueue"(Raw, Raw, u64, *mut i32) -> Raw; context, device, 0, &raw mut code);
    right(code);
    made
}

pub fn release_object(object: Raw) {
    right(call!(cl_address "clReleaseMemObject"(Raw) -> i32; object));
}

/// A name that OpenGL makes: of `glGenTextures` and its like.
macro_rules! name_of {
    ($call:literal) => {{
        let mut name = 0u32;
        $crate::calls::call!(gl_address $call(i32, *mut u32); 1, &raw mut name);
        name
    }};
}
#[allow(unused_imports, reason = "the benchmark has no names of its own")]
pub(crate) use name_of;

pub fn bind_texture(target: u32, name: u32) {
    call!(gl_address "glBindTexture"(u32, u32); target, name);
}

/// Gives a level of the bound texture storage and pixels of RGBA8.
pub fn tex_image_2d(target: u32, level: i32, (width, height): (usize, usize), bytes: &[u8]) {
    call!(gl_address "glTexImage2D"(u32, i32, i32, i32, i32, i32, u32, u32, *const u8);
        target, level, RGBA8.cast_signed(), width as i32, height as i32, 0, RGBA, UNSIGNED_BYTE, bytes.as_ptr());
}

/// A texture of RGBA8 of one value, bound.
pub fn texture_of(size: (usize, usize), value: u8) -> u32 {
    let name = name_of!("glGenTextures");
    bind_texture(TEXTURE_2D, name);
    tex_image_2d(TEXTURE_2D, 0, size, &vec![value; size.0 * size.1 * 4]);
    call!(gl_address "glTexParameteri"(u32, u32, i32); TEXTURE_2D, 0x2801, 0x2600);
    name
}

pub fn get_tex_image(target: u32, level: i32, bytes: &mut [u8]) {
    call!(gl_address "glGetTexImage"(u32, i32, u32, u32, *mut u8); target, level, RGBA, UNSIGNED_BYTE, bytes.as_mut_ptr());
}

/// A buffer with these bytes, bound.
pub fn buffer_of(bytes: &[u8]) -> u32 {
    let name = name_of!("glGenBuffers");
    call!(gl_address "glBindBuffer"(u32, u32); ARRAY_BUFFER, name);
    buffer_data(bytes);
    name
}

pub fn buffer_data(bytes: &[u8]) {
    call!(gl_address "glBufferData"(u32, isize, *const u8, u32);
        ARRAY_BUFFER, bytes.len() as isize, bytes.as_ptr(), 0x88E8);
}

pub fn get_buffer(bytes: &mut [u8]) {
    call!(gl_address "glGetBufferSubData"(u32, isize, isize, *mut u8);
        ARRAY_BUFFER, 0, bytes.len() as isize, bytes.as_mut_ptr());
}

/// Bytes that differ from place to place.
pub fn ramp(len: usize, seed: u8) -> Vec<u8> {
    (0..len).map(|index| (index * 7 + index / 251).to_le_bytes()[0].wrapping_add(seed)).collect()
}
