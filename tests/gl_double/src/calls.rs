//! The functions that are put before the driver's. Signatures are those of `cl.h` and `cl_gl.h`.

use crate::dispatch::{answer, target};
use crate::gl;
use crate::objects::{
    INVALID_GL_OBJECT, INVALID_OPERATION, Notify, ObjectKind, SharingContext, check_turn, open, refuse, state, turn,
};
use std::ffi::{CStr, c_void};
use std::ptr;

type Raw = *mut c_void;

/// Puts all of them into a table.
pub fn put_into(table: &mut [*const c_void]) {
    let ours: [(usize, *const c_void); 16] = [
        (3, get_device_info as *const c_void),
        (4, create_context as *const c_void),
        (18, release_mem_object as *const c_void),
        (38, set_kernel_arg as *const c_void),
        (48, enqueue_read_buffer as *const c_void),
        (51, enqueue_read_image as *const c_void),
        (59, enqueue_nd_range_kernel as *const c_void),
        (66, create_from_gl_buffer as *const c_void),
        (69, create_from_gl_renderbuffer as *const c_void),
        (70, get_gl_object_info as *const c_void),
        (72, enqueue_turns::<true> as *const c_void),
        (73, enqueue_turns::<false> as *const c_void),
        (74, get_gl_context_info as *const c_void),
        (92, create_event_from_gl_sync as *const c_void),
        (49, enqueue_write_buffer as *const c_void),
        (108, create_from_gl_texture as *const c_void),
    ];
    for (place, function) in ours {
        table[place] = function;
    }
}

fn announces_events() -> bool {
    std::env::var("PIXELFERRY_GL_DOUBLE").is_ok_and(|v| v.contains("events"))
}

unsafe extern "C" fn get_device_info(device: Raw, parameter: u32, bytes: usize, value: Raw, found: *mut usize) -> i32 {
    const EXTENSIONS: u32 = 0x1030;
    // SAFETY: the caller's pointers are handed on, or written as OpenCL says.
    unsafe {
        let ask = |bytes: usize, value: Raw, found: *mut usize| target!(3: fn(Raw, u32, usize, Raw, *mut usize) -> i32; device, parameter, bytes, value, found);
        if parameter != EXTENSIONS {
            return ask(bytes, value, found);
        }
        let mut text = vec![0u8; 16384];
        let code = ask(text.len(), text.as_mut_ptr().cast(), ptr::null_mut());
        if code != 0 {
            return code;
        }
        let mut text = CStr::from_bytes_until_nul(&text).unwrap_or_default().to_bytes().to_vec();
        text.extend_from_slice(b" cl_khr_gl_sharing");
        if announces_events() {
            text.extend_from_slice(b" cl_khr_gl_event");
        }
        text.push(0);
        answer(&text, bytes, value, found)
    }
}

/// GL context that the properties name.
#[derive(Default)]
struct GlProperties {
    context: Option<usize>,
    /// The property that names the display, and the display.
    display: Option<(isize, usize)>,
}

impl GlProperties {
    /// Refuses a context that is not current, and one that is said to be of another window system or display.
    fn check(&self, what: &str) -> Result<(), i32> {
        let Some(current) = gl::current().filter(|current| Some(current.context) == self.context) else {
            return Err(refuse(-1000, &format!("{what} a GL context that is not current")));
        };
        if self.display != Some(current.display) {
            return Err(refuse(-1000, &format!("{what} a GL context of another display, or of none")));
        }
        Ok(())
    }
}

/// The GL context among the properties, and the others.
///
/// # Safety
/// A null pointer or a list of pairs that ends with 0.
unsafe fn split(properties: *const isize) -> (GlProperties, Vec<isize>) {
    let (mut shared, mut others) = (GlProperties::default(), Vec::new());
    let mut at = properties;
    // SAFETY: the caller's promise.
    unsafe {
        while !at.is_null() && *at != 0 {
            let (name, value) = (*at, *at.add(1));
            match name {
                0x2008 => shared.context = Some(value.cast_unsigned()),
                0x2009..=0x200C => shared.display = Some((name, value.cast_unsigned())),
                _ => others.extend([name, value]),
            }
            at = at.add(2);
        }
    }
    others.push(0);
    (shared, others)
}

unsafe extern "C" fn create_context(
    properties: *const isize,
    count: u32,
    devices: *const Raw,
    notify: *const c_void,
    user: Raw,
    code: *mut i32,
) -> Raw {
    // SAFETY: the caller's pointers are handed on; the list is one of OpenCL's.
    unsafe {
        let (gl, others) = split(properties);
        if gl.context.is_some()
            && let Err(refused) = gl.check("a context is made for")
        {
            if !code.is_null() {
                code.write(refused);
            }
            return ptr::null_mut();
        }
        let made = target!(4: fn(*const isize, u32, *const Raw, *const c_void, Raw, *mut i32) -> Raw;
            others.as_ptr(), count, devices, notify, user, code);
        if let (Some(gl), false) = (gl.context, made.is_null()) {
            // The program's callback has this type.
            let notify = std::mem::transmute::<*const c_void, Option<Notify>>(notify);
            state().contexts.insert(made.addr(), SharingContext { gl, notify, user: user.addr() });
        }
        made
    }
}

unsafe extern "C" fn get_gl_context_info(
    properties: *const isize,
    parameter: u32,
    bytes: usize,
    value: Raw,
    found: *mut usize,
) -> i32 {
    const PLATFORM: isize = 0x1084;
    // SAFETY: the list is one of OpenCL's; the driver's own function lists its devices.
    unsafe {
        let (gl, others) = split(properties);
        if let Err(refused) = gl.check("a question about") {
            return refused;
        }
        let platform = others.chunks_exact(2).find(|pair| pair[0] == PLATFORM).map_or(0, |pair| pair[1]);
        let mut devices: [Raw; 8] = [ptr::null_mut(); 8];
        let mut count = 0;
        let platform = ptr::with_exposed_provenance_mut::<c_void>(platform.cast_unsigned());
        let code = target!(2: fn(Raw, u64, u32, *mut Raw, *mut u32) -> i32;
            platform, 0xFFFF_FFFF, 8, devices.as_mut_ptr(), &raw mut count);
        if code != 0 {
            return code;
        }
        // One is current, several may share.
        let count = if parameter == 0x2006 { 1 } else { count.min(8) as usize };
        let list = std::slice::from_raw_parts(devices.as_ptr().cast(), count * size_of::<Raw>());
        answer(list, bytes, value, found)
    }
}

/// Opens an object, with the code where OpenCL wants it.
unsafe fn opened(context: Raw, flags: u64, kind: ObjectKind, name: u32, code: *mut i32) -> Raw {
    // SAFETY: the callers pass what OpenCL's functions take.
    unsafe {
        let (object, answer) = match open(context, flags, kind, name) {
            Ok(object) => (object, 0),
            Err(code) => {
                let sharing = state().contexts.get(&context.addr()).copied();
                if let Some(sharing) = sharing {
                    sharing.report(c"GL DOUBLE: a GL object was not opened");
                }
                (ptr::null_mut(), code)
            }
        };
        if !code.is_null() {
            code.write(answer);
        }
        object
    }
}

unsafe extern "C" fn create_from_gl_buffer(context: Raw, flags: u64, name: u32, code: *mut i32) -> Raw {
    // SAFETY: the caller's promise is OpenCL's.
    unsafe { opened(context, flags, ObjectKind::Buffer, name, code) }
}

unsafe extern "C" fn create_from_gl_texture(
    context: Raw,
    flags: u64,
    target: u32,
    level: i32,
    name: u32,
    code: *mut i32,
) -> Raw {
    // SAFETY: as above.
    unsafe { opened(context, flags, ObjectKind::Texture { target, level }, name, code) }
}

unsafe extern "C" fn create_from_gl_renderbuffer(context: Raw, flags: u64, name: u32, code: *mut i32) -> Raw {
    // SAFETY: as above.
    unsafe { opened(context, flags, ObjectKind::Renderbuffer, name, code) }
}

unsafe extern "C" fn get_gl_object_info(object: Raw, kind: *mut u32, name: *mut u32) -> i32 {
    let Some(opened) = state().objects.get(&object.addr()).copied() else { return INVALID_GL_OBJECT };
    // `CL_GL_OBJECT_*`.
    let number = match opened.kind {
        ObjectKind::Buffer => 0x2000,
        ObjectKind::Texture { target: 0x0DE0, .. } => 0x200F,
        ObjectKind::Texture { target: 0x806F, .. } => 0x2002,
        ObjectKind::Texture { target: 0x8C1A, .. } => 0x200E,
        ObjectKind::Texture { .. } => 0x2001,
        ObjectKind::Renderbuffer => 0x2003,
    };
    for (to, value) in [(kind, number), (name, opened.name)] {
        if !to.is_null() {
            // SAFETY: the caller's promise.
            unsafe { to.write(value) };
        }
    }
    0
}

/// Acquires or releases.
unsafe extern "C" fn enqueue_turns<const ACQUIRE: bool>(
    queue: Raw,
    count: u32,
    objects: *const Raw,
    wait_count: u32,
    wait_for: *const Raw,
    event: *mut Raw,
) -> i32 {
    // SAFETY: the caller's promise is OpenCL's.
    unsafe {
        if wait_count > 0 {
            let code = target!(41: fn(u32, *const Raw) -> i32; wait_count, wait_for);
            if code != 0 {
                return code;
            }
        }
        // All of the list, or nothing.
        let objects = std::slice::from_raw_parts(objects, count as usize);
        let turned = objects.iter().map(|object| check_turn(*object, ACQUIRE)).collect::<Result<Vec<_>, _>>();
        let turned = turned.and_then(|opened| {
            objects.iter().zip(&opened).try_for_each(|(object, opened)| turn(queue, *object, opened, ACQUIRE))
        });
        if let Err(code) = turned {
            return code;
        }
        if event.is_null() {
            return 0;
        }
        target!(105: fn(Raw, u32, *const Raw, *mut Raw) -> i32; queue, 0, ptr::null(), event)
    }
}

/// An event that is complete when the fence is: waited for here, since the driver knows no fences.
unsafe extern "C" fn create_event_from_gl_sync(context: Raw, sync: Raw, code: *mut i32) -> Raw {
    // SAFETY: the caller's promise is OpenCL's; the event is new.
    unsafe {
        let mut answer = 0;
        let event = if !announces_events() || !state().contexts.contains_key(&context.addr()) {
            answer = refuse(INVALID_OPERATION, "an event of a fence in a context without cl_khr_gl_event");
            ptr::null_mut()
        } else if gl::wait_for(sync) {
            let event = target!(84: fn(Raw, *mut i32) -> Raw; context, &raw mut answer);
            if answer == 0 {
                answer = target!(85: fn(Raw, i32) -> i32; event, 0);
            }
            event
        } else {
            answer = refuse(INVALID_GL_OBJECT, "an event of what is no fence");
            ptr::null_mut()
        };
        if !code.is_null() {
            code.write(answer);
        }
        event
    }
}

/// Refuses objects that are OpenGL's now.
fn check(object: Raw, call: &str) -> Result<(), i32> {
    match state().objects.get(&object.addr()) {
        Some(opened) if !opened.acquired => {
            Err(refuse(INVALID_GL_OBJECT, &format!("{call} with an object outside a turn")))
        }
        _ => Ok(()),
    }
}

unsafe extern "C" fn set_kernel_arg(kernel: Raw, index: u32, bytes: usize, value: *const c_void) -> i32 {
    let mut object = 0;
    if bytes == size_of::<usize>() && !value.is_null() {
        // SAFETY: the argument has that many bytes, of any alignment.
        object = unsafe { value.cast::<usize>().read_unaligned() };
    }
    {
        let mut state = state();
        if state.objects.contains_key(&object) {
            state.arguments.insert((kernel.addr(), index), object);
        } else {
            state.arguments.remove(&(kernel.addr(), index));
        }
    }
    // SAFETY: the caller's promise is handed on.
    unsafe { target!(38: fn(Raw, u32, usize, *const c_void) -> i32; kernel, index, bytes, value) }
}

unsafe extern "C" fn enqueue_nd_range_kernel(
    queue: Raw,
    kernel: Raw,
    dimensions: u32,
    offset: *const usize,
    global: *const usize,
    local: *const usize,
    wait_count: u32,
    wait_for: *const Raw,
    event: *mut Raw,
) -> i32 {
    let state = state();
    let arguments = state.arguments.iter().filter(|((of, _), _)| *of == kernel.addr());
    let outside = arguments.filter_map(|(_, object)| state.objects.get(object)).any(|opened| !opened.acquired);
    drop(state);
    if outside {
        return refuse(INVALID_GL_OBJECT, "a kernel with an object outside a turn");
    }
    // SAFETY: the caller's promise is handed on.
    unsafe {
        target!(59: fn(Raw, Raw, u32, *const usize, *const usize, *const usize, u32, *const Raw, *mut Raw) -> i32;
            queue, kernel, dimensions, offset, global, local, wait_count, wait_for, event)
    }
}

/// Functions of the driver's by their place and name, with what comes after queue and object: refused outside a turn.
macro_rules! guarded {
    ($($name:ident($place:literal, $call:literal; $($arg:ident: $type:ty),*);)*) => {$(
        unsafe extern "C" fn $name(queue: Raw, object: Raw, $($arg: $type),*) -> i32 {
            if let Err(code) = check(object, $call) {
                return code;
            }
            // SAFETY: the caller's promise is handed on.
            unsafe { target!($place: fn(Raw, Raw, $($type),*) -> i32; queue, object, $($arg),*) }
        }
    )*};
}

guarded! {
    enqueue_read_buffer(48, "clEnqueueReadBuffer";
        blocking: u32, offset: usize, bytes: usize, to: Raw, waits: u32, wait_for: *const Raw, event: *mut Raw);
    enqueue_write_buffer(49, "clEnqueueWriteBuffer";
        blocking: u32, offset: usize, bytes: usize, from: Raw, waits: u32, wait_for: *const Raw, event: *mut Raw);
    enqueue_read_image(51, "clEnqueueReadImage";
        blocking: u32, origin: *const usize, size: *const usize, row_pitch: usize, slice_pitch: usize, to: Raw,
        waits: u32, wait_for: *const Raw, event: *mut Raw);
}

unsafe extern "C" fn release_mem_object(object: Raw) -> i32 {
    const REFERENCE_COUNT: u32 = 0x1105;
    // SAFETY: the object is live by the caller's promise.
    unsafe {
        let mut count = 0u32;
        target!(20: fn(Raw, u32, usize, Raw, *mut usize) -> i32;
            object, REFERENCE_COUNT, 4, (&raw mut count).cast(), ptr::null_mut());
        if count <= 1 {
            let mut state = state();
            if state.objects.remove(&object.addr()).is_some_and(|opened| opened.acquired) {
                refuse(INVALID_OPERATION, "an object is let go of in the middle of a turn");
            }
            state.arguments.retain(|_, argument| *argument != object.addr());
        }
        target!(18: fn(Raw) -> i32; object)
    }
}
