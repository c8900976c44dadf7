//! Order: events, threads, fences and contexts.

use crate::calls::{Raw, call};
use crate::rig::*;
use std::ptr;
use std::time::Duration;

fn event_number(event: Raw, parameter: u32) -> i32 {
    let mut number = 0i32;
    right(call!(cl_address "clGetEventInfo"(Raw, u32, usize, *mut i32, *mut usize) -> i32;
        event, parameter, 4, &raw mut number, ptr::null_mut()));
    number
}

const COMMAND_TYPE: u32 = 0x11D1;
const STATUS: u32 = 0x11D3;

#[test]
#[ignore = "a child"]
fn child_user_event() {
    let Some(program) = Program::open() else { return println!("ALL DONE") };
    let image = program.texture(READ_WRITE, TEXTURE_2D, 0, texture_of((8, 8), 100)).unwrap();
    let mut code = 0;
    let user = call!(cl_address "clCreateUserEvent"(Raw, *mut i32) -> Raw; program.context, &raw mut code);
    right(code);
    let mut acquired = ptr::null_mut();
    right(program.acquire_after(image, &[user], &raw mut acquired));
    assert_eq!(event_number(acquired, COMMAND_TYPE), 0x11FF);
    assert!(event_number(acquired, STATUS) > 0, "nothing is acquired before the event");
    // What comes behind it is in order.
    let (origin, size, bytes) = ([0usize; 3], [8usize, 8, 1], [200u8; 256]);
    right(call!(cl_address "clEnqueueWriteImage"
        (Raw, Raw, u32, *const usize, *const usize, usize, usize, *const u8, u32, *const Raw, *mut Raw) -> i32;
        program.queue, image, 0, origin.as_ptr(), size.as_ptr(), 0, 0, bytes.as_ptr(), 0, ptr::null(), ptr::null_mut()));
    right(program.release(image));
    right(call!(cl_address "clSetUserEventStatus"(Raw, i32) -> i32; user, 0));
    program.finish();
    let mut seen = [0; 256];
    get_tex_image(TEXTURE_2D, 0, &mut seen);
    assert_eq!(seen, [200; 256]);
    assert_eq!(event_number(acquired, STATUS), 0);
    for event in [user, acquired] {
        right(call!(cl_address "clReleaseEvent"(Raw) -> i32; event));
    }
    println!("ALL DONE");
}

/// What another thread is given.
struct SentProgram(Program, Raw);

// SAFETY: OpenCL's objects are of all threads.
unsafe impl Send for SentProgram {}

#[test]
#[ignore = "a child"]
fn child_thread() {
    let Some(program) = Program::open() else { return println!("ALL DONE") };
    let image = program.texture(READ_WRITE, TEXTURE_2D, 0, texture_of((8, 8), 100)).unwrap();
    call!(gl_address "glFinish"(););
    let sent = SentProgram(program, image);
    let thread = std::thread::spawn(move || {
        let SentProgram(program, image) = { sent };
        right(program.acquire(image));
        let mut seen = [0; 256];
        program.read_image(image, [8, 8, 1], &mut seen);
        assert_eq!(seen, [100; 256]);
        program.write_image(image, [8, 8, 1], &[200; 256]);
        right(program.release(image));
        program.finish();
    });
    thread.join().unwrap();
    let mut seen = [0; 256];
    get_tex_image(TEXTURE_2D, 0, &mut seen);
    assert_eq!(seen, [200; 256]);
    println!("ALL DONE");
}

#[test]
#[ignore = "a child"]
fn child_fence() {
    let Some(program) = Program::open() else { return println!("ALL DONE") };
    let create = |sync: Raw| {
        let name = c"clCreateEventFromGLsyncKHR";
        let found = call!(cl_address "clGetExtensionFunctionAddressForPlatform"(Raw, *const i8) -> Raw;
            program.platform, name.as_ptr().cast());
        type Create = unsafe extern "C" fn(Raw, Raw, *mut i32) -> Raw;
        let mut code = 0;
        // SAFETY: the function of that name.
        let event = unsafe { std::mem::transmute::<Raw, Create>(found)(program.context, sync, &raw mut code) };
        (event, code)
    };
    assert_eq!(create(ptr::null_mut()).1, INVALID_GL_OBJECT);
    let sync = call!(gl_address "glFenceSync"(u32, u32) -> Raw; 0x9117, 0);
    let (event, code) = create(sync);
    right(code);
    assert_eq!(event_number(event, COMMAND_TYPE), 0x200D);
    right(call!(cl_address "clWaitForEvents"(u32, *const Raw) -> i32; 1, &raw const event));
    assert_eq!(event_number(event, STATUS), 0);
    right(call!(cl_address "clReleaseEvent"(Raw) -> i32; event));
    println!("ALL DONE");
}

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

/// Contexts end with their last object, and take their threads with them.
#[test]
#[ignore = "a child"]
fn child_contexts() {
    let Some(program) = Program::open() else { return println!("ALL DONE") };
    let texture = texture_of((8, 8), 100);
    let mut before = 0;
    for turn in 0..20 {
        let mut code = 0;
        let context = create_context(&program.gl.properties(), program.device, &mut code);
        right(code);
        let queue = queue(context, program.device);
        let own = Program { context, queue, ..program };
        // The objects hold it. OpenCV 4.6 makes more of them when only its queue does.
        let mut image = own.texture(READ_WRITE, TEXTURE_2D, 0, texture).unwrap();
        right(call!(cl_address "clReleaseContext"(Raw) -> i32; context));
        if turn % 2 == 1 {
            release_object(image);
            image = own.texture(READ_WRITE, TEXTURE_2D, 0, texture).unwrap();
        }
        right(own.acquire(image));
        right(own.release(image));
        release_object(image);
        right(call!(cl_address "clReleaseCommandQueue"(Raw) -> i32; queue));
        if turn == 5 {
            std::thread::sleep(Duration::from_millis(200));
            before = threads();
        }
    }
    std::thread::sleep(Duration::from_millis(500));
    assert!(threads() <= before, "{} threads, {before} before", threads());
    println!("ALL DONE");
}

/// Commands of a queue without order run in the order of their events.
#[test]
#[ignore = "a child"]
fn child_unordered() {
    let Some(mut program) = Program::open() else { return println!("ALL DONE") };
    let (mut can, mut code) = (0u64, 0);
    right(call!(cl_address "clGetDeviceInfo"(Raw, u32, usize, *mut u64, *mut usize) -> i32;
        program.device, 0x102A, 8, &raw mut can, ptr::null_mut()));
    program.queue = call!(cl_address "clCreateCommandQueue"(Raw, Raw, u64, *mut i32) -> Raw;
        program.context, program.device, can & 1, &raw mut code);
    right(code);
    let size = (1024, 1024);
    let bytes = size.0 * size.1 * 4;
    let (texture, buffer) = (texture_of(size, 0), buffer_of(&vec![0; bytes]));
    let image = program.texture(READ_WRITE, TEXTURE_2D, 0, texture).unwrap();
    let memory = program.buffer(READ_WRITE, buffer).unwrap();
    let (list, origin, region) = ([image, memory], [0usize; 3], [size.0, size.1, 1]);
    for turn in 1..20u8 {
        let [mut acquired, mut filled, mut copied] = [ptr::null_mut::<std::ffi::c_void>(); 3];
        right(call!(cl_address "clEnqueueAcquireGLObjects"(Raw, u32, *const Raw, u32, *const Raw, *mut Raw) -> i32;
            program.queue, 2, list.as_ptr(), 0, ptr::null(), &raw mut acquired));
        right(call!(cl_address "clEnqueueFillBuffer"
            (Raw, Raw, *const u8, usize, usize, usize, u32, *const Raw, *mut Raw) -> i32;
            program.queue, memory, &raw const turn, 1, 0, bytes, 1, &raw const acquired, &raw mut filled));
        right(call!(cl_address "clEnqueueCopyBufferToImage"
            (Raw, Raw, Raw, usize, *const usize, *const usize, u32, *const Raw, *mut Raw) -> i32;
            program.queue, memory, image, 0, origin.as_ptr(), region.as_ptr(), 1, &raw const filled, &raw mut copied));
        right(call!(cl_address "clEnqueueReleaseGLObjects"(Raw, u32, *const Raw, u32, *const Raw, *mut Raw) -> i32;
            program.queue, 2, list.as_ptr(), 1, &raw const copied, ptr::null_mut()));
        let mut seen = vec![0; bytes];
        get_tex_image(TEXTURE_2D, 0, &mut seen);
        assert!(seen.iter().all(|byte| *byte == turn), "the texture in turn {turn}");
        get_buffer(&mut seen);
        assert!(seen.iter().all(|byte| *byte == turn), "the buffer in turn {turn}");
        for event in [acquired, filled, copied] {
            right(call!(cl_address "clReleaseEvent"(Raw) -> i32; event));
        }
    }
    println!("ALL DONE");
}
