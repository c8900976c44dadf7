//! The GL side: what there is, and copies out of it and into it. Every function needs the context current.

use libloading::Library;
use std::ffi::{CStr, c_char, c_void};

/// Formats of textures and renderbuffers: internal format, OpenCL's order and type, GL's format and type, bytes.
pub struct Format {
    pub internal: u32,
    pub order: u32,
    pub channel: u32,
    pub format: u32,
    pub ty: u32,
    pub bytes: usize,
}

const fn format(internal: u32, order: u32, channel: u32, format: u32, ty: u32, bytes: usize) -> Format {
    Format { internal, order, channel, format, ty, bytes }
}

pub static FORMATS: [Format; 8] = [
    format(0x8229, 0x10B0, 0x10D2, 0x1903, 0x1401, 1),
    format(0x822B, 0x10B2, 0x10D2, 0x8227, 0x1401, 2),
    format(0x8058, 0x10B5, 0x10D2, 0x1908, 0x1401, 4),
    format(0x822F, 0x10B2, 0x10DD, 0x8227, 0x140B, 4),
    format(0x8230, 0x10B2, 0x10DE, 0x8227, 0x1406, 8),
    format(0x881A, 0x10B5, 0x10DD, 0x1908, 0x140B, 8),
    format(0x822E, 0x10B0, 0x10DE, 0x1903, 0x1406, 4),
    format(0x8814, 0x10B5, 0x10DE, 0x1908, 0x1406, 16),
];

/// A window system that makes contexts.
struct System {
    libraries: &'static [&'static str],
    context: &'static [u8],
    display: &'static [u8],
    find: &'static [u8],
    /// Property that tells `clCreateContext` of its display: `CL_EGL_DISPLAY_KHR`, `CL_GLX_DISPLAY_KHR`.
    property: isize,
}

const SYSTEMS: [System; 2] = [
    System {
        libraries: &["libEGL.so.1"],
        context: b"eglGetCurrentContext\0",
        display: b"eglGetCurrentDisplay\0",
        find: b"eglGetProcAddress\0",
        property: 0x2009,
    },
    System {
        libraries: &["libGLX.so.0", "libGL.so.1"],
        context: b"glXGetCurrentContext\0",
        display: b"glXGetCurrentDisplay\0",
        find: b"glXGetProcAddressARB\0",
        property: 0x200A,
    },
];

type Ask = unsafe extern "C" fn() -> *const c_void;
type Find = unsafe extern "C" fn(*const c_char) -> *const c_void;

/// A context that is current, as `clCreateContext` is told of it.
#[derive(Clone, Copy)]
pub struct Current {
    pub context: usize,
    /// The property that names its display, and the display.
    pub display: (isize, usize),
    find: Find,
}

impl System {
    /// Its library, where this process has it open.
    fn library(&self) -> Option<Library> {
        use libloading::os::unix::{Library as Unix, RTLD_LAZY};
        const RTLD_NOLOAD: i32 = 4;
        // SAFETY: nothing is loaded, so nothing runs.
        let open = |name: &&str| unsafe { Unix::open(Some(*name), RTLD_LAZY | RTLD_NOLOAD) }.ok();
        self.libraries.iter().find_map(open).map(Library::from)
    }

    fn current(&self) -> Option<Current> {
        let library = self.library()?;
        // SAFETY: the system's functions of these names and types. The display has the library open for longer.
        unsafe {
            let context = library.get::<Ask>(self.context).ok()?().addr();
            let display = library.get::<Ask>(self.display).ok()?().addr();
            let find = *library.get::<Find>(self.find).ok()?;
            (context != 0).then_some(Current { context, display: (self.property, display), find })
        }
    }
}

/// The context that is current on this thread, of either system.
pub fn current() -> Option<Current> {
    SYSTEMS.iter().find_map(System::current)
}

fn function(name: &CStr) -> *const c_void {
    // SAFETY: the system's function takes a name.
    current().map_or(std::ptr::null(), |current| unsafe { (current.find)(name.as_ptr()) })
}

macro_rules! gl {
    ($name:literal: fn($($kind:ty),*) $(-> $result:ty)?; $($value:expr),* $(,)?) => {{
        let address = function($name);
        let call = std::mem::transmute::<*const c_void, unsafe extern "C" fn($($kind),*) $(-> $result)?>(address);
        call($($value),*)
    }};
}

/// The context that is current on this thread; 0 for none.
pub fn current_context() -> usize {
    current().map_or(0, |current| current.context)
}

const BUFFER: u32 = 0x8F37; // GL_COPY_WRITE_BUFFER
const FRAMEBUFFERS: [(u32, u32); 2] = [(0x8CA8, 0x8CAA), (0x8CA9, 0x8CA6)]; // read, draw: target and binding

/// Bytes of a buffer; `None` where there is no such buffer with storage.
pub fn buffer_size(name: u32) -> Option<usize> {
    // SAFETY: a context of OpenGL 3.3 is current; one number is written.
    unsafe {
        if gl!(c"glIsBuffer": fn(u32) -> u8; name) == 0 {
            return None;
        }
        let mut size = 0i64;
        with_binding(
            0x8F37,
            |_| {
                gl!(c"glBindBuffer": fn(u32, u32); BUFFER, name);
                gl!(c"glGetBufferParameteri64v": fn(u32, u32, *mut i64); BUFFER, 0x8764, &raw mut size);
            },
            |before| gl!(c"glBindBuffer": fn(u32, u32); BUFFER, before),
        );
        usize::try_from(size).ok().filter(|size| *size > 0)
    }
}

/// Copies a buffer out, or into it.
pub fn copy_buffer(name: u32, bytes: &mut [u8], into_gl: bool) {
    // SAFETY: as above; the buffer was as long when it was opened.
    unsafe {
        with_binding(
            0x8F37,
            |_| {
                gl!(c"glBindBuffer": fn(u32, u32); BUFFER, name);
                let (len, address) = (bytes.len() as isize, bytes.as_mut_ptr());
                if into_gl {
                    gl!(c"glBufferSubData": fn(u32, isize, isize, *const u8); BUFFER, 0, len, address);
                } else {
                    gl!(c"glGetBufferSubData": fn(u32, isize, isize, *mut u8); BUFFER, 0, len, address);
                }
            },
            |before| gl!(c"glBindBuffer": fn(u32, u32); BUFFER, before),
        );
    }
}

/// Runs `f`, then binds again what was bound.
unsafe fn with_binding(query: u32, f: impl FnOnce(u32), restore: impl FnOnce(u32)) {
    let mut before = 0i32;
    // SAFETY: one number is written.
    unsafe { gl!(c"glGetIntegerv": fn(u32, *mut i32); query, &raw mut before) };
    f(before.cast_unsigned());
    restore(before.cast_unsigned());
}

/// A texture's binding target and what asks for it.
fn binding(target: u32) -> (u32, u32) {
    match target {
        0x0DE0 => (0x0DE0, 0x8068),
        0x806F => (0x806F, 0x806A),
        0x8C1A => (0x8C1A, 0x8C1D),
        0x84F5 => (0x84F5, 0x84F6),
        0x8515..=0x851A => (0x8513, 0x8514),
        _ => (0x0DE1, 0x8069),
    }
}

/// Width, height, depth and internal format of a level; `None` where there is no such texture or level.
pub fn level(target: u32, level: i32, name: u32) -> Option<([usize; 3], u32)> {
    // SAFETY: a context of OpenGL 3.3 is current; one number is written at a time.
    unsafe {
        if gl!(c"glIsTexture": fn(u32) -> u8; name) == 0 {
            return None;
        }
        let mut values = [0i32; 4];
        let (bind, query) = binding(target);
        with_binding(
            query,
            |_| {
                gl!(c"glBindTexture": fn(u32, u32); bind, name);
                for (value, parameter) in values.iter_mut().zip([0x1000u32, 0x1001, 0x8071, 0x1003]) {
                    gl!(c"glGetTexLevelParameteriv": fn(u32, i32, u32, *mut i32); target, level, parameter, value);
                }
            },
            |before| gl!(c"glBindTexture": fn(u32, u32); bind, before),
        );
        // A wrong target or level leaves an error behind.
        gl!(c"glGetError": fn() -> u32;);
        let [width, height, depth, internal] = values;
        (width > 0).then(|| ([width, height, depth].map(|n| n.max(1) as usize), internal.cast_unsigned()))
    }
}

/// Tight rows, nothing skipped, no buffer bound, while `f` runs.
unsafe fn with_pixel_store(f: impl FnOnce()) {
    const STORE: [u32; 16] = [
        0x0CF0, 0x0CF1, 0x0CF2, 0x0CF3, 0x0CF4, 0x0CF5, 0x806D, 0x806E, 0x0D00, 0x0D01, 0x0D02, 0x0D03, 0x0D04, 0x0D05,
        0x806B, 0x806C,
    ];
    let mut before = [0i32; 16];
    let mut buffers = [0i32; 2];
    // SAFETY: all of it is of OpenGL 3.3; the numbers are single.
    unsafe {
        for (value, name) in before.iter_mut().zip(STORE) {
            gl!(c"glGetIntegerv": fn(u32, *mut i32); name, value);
            let alignment = matches!(name, 0x0CF5 | 0x0D05);
            gl!(c"glPixelStorei": fn(u32, i32); name, i32::from(alignment));
        }
        for (value, (target, query)) in buffers.iter_mut().zip([(0x88EBu32, 0x88EDu32), (0x88EC, 0x88EF)]) {
            gl!(c"glGetIntegerv": fn(u32, *mut i32); query, value);
            gl!(c"glBindBuffer": fn(u32, u32); target, 0);
        }
        f();
        for (value, name) in before.iter().zip(STORE) {
            gl!(c"glPixelStorei": fn(u32, i32); name, *value);
        }
        for (value, target) in buffers.iter().zip([0x88EBu32, 0x88EC]) {
            gl!(c"glBindBuffer": fn(u32, u32); target, value.cast_unsigned());
        }
    }
}

/// Copies a level out, or into it.
pub fn copy_level(
    target: u32,
    level: i32,
    name: u32,
    size: [usize; 3],
    format: &Format,
    bytes: &mut [u8],
    into_gl: bool,
) {
    let (bind, query) = binding(target);
    let [w, h, d] = size.map(|n| n as i32);
    let address = bytes.as_mut_ptr();
    // SAFETY: a context of OpenGL 3.3 is current, the level has that size (asked when it was opened) and the bytes are as
    // many as it has.
    unsafe {
        with_pixel_store(|| {
            with_binding(
                query,
                |_| {
                    gl!(c"glBindTexture": fn(u32, u32); bind, name);
                    let (f, t) = (format.format, format.ty);
                    match (into_gl, target) {
                        (false, _) => {
                            gl!(c"glGetTexImage": fn(u32, i32, u32, u32, *mut u8); target, level, f, t, address)
                        }
                        (true, 0x0DE0) => gl!(
                            c"glTexSubImage1D": fn(u32, i32, i32, i32, u32, u32, *const u8); target, level, 0, w, f, t, address
                        ),
                        (true, 0x806F | 0x8C1A) => gl!(
                            c"glTexSubImage3D": fn(u32, i32, i32, i32, i32, i32, i32, i32, u32, u32, *const u8);
                            target, level, 0, 0, 0, w, h, d, f, t, address
                        ),
                        (true, _) => gl!(
                            c"glTexSubImage2D": fn(u32, i32, i32, i32, i32, i32, u32, u32, *const u8);
                            target, level, 0, 0, w, h, f, t, address
                        ),
                    }
                },
                |before| gl!(c"glBindTexture": fn(u32, u32); bind, before),
            )
        });
    }
}

/// Width, height, samples and internal format of a renderbuffer; `None` where there is none with storage.
pub fn renderbuffer(name: u32) -> Option<([usize; 3], u32)> {
    // SAFETY: a context of OpenGL 3.3 is current; one number is written at a time.
    unsafe {
        if gl!(c"glIsRenderbuffer": fn(u32) -> u8; name) == 0 {
            return None;
        }
        let mut values = [0i32; 4];
        with_binding(
            0x8CA7,
            |_| {
                gl!(c"glBindRenderbuffer": fn(u32, u32); 0x8D41, name);
                for (value, parameter) in values.iter_mut().zip([0x8D42u32, 0x8D43, 0x8CAB, 0x8D44]) {
                    gl!(c"glGetRenderbufferParameteriv": fn(u32, u32, *mut i32); 0x8D41, parameter, value);
                }
            },
            |before| gl!(c"glBindRenderbuffer": fn(u32, u32); 0x8D41, before),
        );
        let [width, height, samples, internal] = values;
        (width > 0 && samples == 0).then(|| ([width as usize, height as usize, 1], internal.cast_unsigned()))
    }
}

/// Copies a renderbuffer out, or into it (by way of a texture).
pub fn copy_renderbuffer(name: u32, size: [usize; 3], format: &Format, bytes: &mut [u8], into_gl: bool) {
    let [w, h, _] = size.map(|n| n as i32);
    let (internal, f, t) = (format.internal as i32, format.format, format.ty);
    // SAFETY: as for levels; what is made here is deleted here.
    unsafe {
        let (mut before, mut names, mut texture) = ([0i32; 2], [0u32; 2], 0u32);
        for (value, (_, query)) in before.iter_mut().zip(FRAMEBUFFERS) {
            gl!(c"glGetIntegerv": fn(u32, *mut i32); query, value);
        }
        gl!(c"glGenFramebuffers": fn(i32, *mut u32); 2, names.as_mut_ptr());
        let attach = |(target, framebuffer): (u32, u32), renderbuffer: bool, object: u32| {
            gl!(c"glBindFramebuffer": fn(u32, u32); target, framebuffer);
            if renderbuffer {
                gl!(c"glFramebufferRenderbuffer": fn(u32, u32, u32, u32); target, 0x8CE0, 0x8D41, object);
            } else {
                gl!(c"glFramebufferTexture2D": fn(u32, u32, u32, u32, i32); target, 0x8CE0, 0x0DE1, object, 0);
            }
        };
        let (read, draw) = ((FRAMEBUFFERS[0].0, names[0]), (FRAMEBUFFERS[1].0, names[1]));
        if into_gl {
            gl!(c"glGenTextures": fn(i32, *mut u32); 1, &raw mut texture);
            with_pixel_store(|| {
                with_binding(
                    0x8069,
                    |_| {
                        gl!(c"glBindTexture": fn(u32, u32); 0x0DE1, texture);
                        gl!(
                            c"glTexImage2D": fn(u32, i32, i32, i32, i32, i32, u32, u32, *const u8);
                            0x0DE1, 0, internal, w, h, 0, f, t, bytes.as_ptr()
                        );
                    },
                    |before| gl!(c"glBindTexture": fn(u32, u32); 0x0DE1, before),
                )
            });
            attach(read, false, texture);
            attach(draw, true, name);
            gl!(
                c"glBlitFramebuffer": fn(i32, i32, i32, i32, i32, i32, i32, i32, u32, u32);
                0, 0, w, h, 0, 0, w, h, 0x4000, 0x2600
            );
            gl!(c"glDeleteTextures": fn(i32, *const u32); 1, &raw const texture);
        } else {
            attach(read, true, name);
            with_pixel_store(|| {
                gl!(
                    c"glReadPixels": fn(i32, i32, i32, i32, u32, u32, *mut u8); 0, 0, w, h, f, t, bytes.as_mut_ptr()
                );
            });
        }
        for (value, (target, _)) in before.iter().zip(FRAMEBUFFERS) {
            gl!(c"glBindFramebuffer": fn(u32, u32); target, value.cast_unsigned());
        }
        gl!(c"glDeleteFramebuffers": fn(i32, *const u32); 2, names.as_ptr());
    }
}

/// Waits for a fence; false where it is none or does not come.
pub fn wait_for(sync: *mut c_void) -> bool {
    // SAFETY: a context of OpenGL 3.3 is current; what is no fence is refused.
    let answer = unsafe { gl!(c"glClientWaitSync": fn(*mut c_void, u32, u64) -> u32; sync, 1, 5_000_000_000) };
    matches!(answer, 0x911A | 0x911C)
}
