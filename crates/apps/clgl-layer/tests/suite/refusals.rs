//! Calls that are wrong, and the specification's codes for them.

use crate::calls::{Raw, call};
use crate::rig::*;
use std::ptr;

const INVALID_VALUE: i32 = -30;
const INVALID_CONTEXT: i32 = -34;
const INVALID_COMMAND_QUEUE: i32 = -36;
const INVALID_IMAGE_FORMAT_DESCRIPTOR: i32 = -39;
const INVALID_EVENT_WAIT_LIST: i32 = -57;
const INVALID_OPERATION: i32 = -59;
const INVALID_MIP_LEVEL: i32 = -62;
const INVALID_GL_SHAREGROUP_REFERENCE: i32 = -1000;

#[test]
#[ignore = "a child"]
fn child_objects() {
    let Some(program) = Program::open() else { return println!("ALL DONE") };
    let texture = texture_of((8, 8), 100);
    let empty = name_of!("glGenTextures");
    bind_texture(TEXTURE_2D, empty);
    let cases = [
        (0x100, TEXTURE_2D, 0, texture, INVALID_VALUE),
        (READ_WRITE | READ_ONLY, TEXTURE_2D, 0, texture, INVALID_VALUE),
        (READ_WRITE, 0x1234, 0, texture, INVALID_VALUE),
        (READ_WRITE, 0x9100, 0, texture, INVALID_VALUE),
        (READ_WRITE, TEXTURE_2D, -1, texture, INVALID_MIP_LEVEL),
        (READ_WRITE, TEXTURE_2D, 9, texture, INVALID_MIP_LEVEL),
        (READ_WRITE, TEXTURE_2D, 2, texture, INVALID_GL_OBJECT),
        (READ_WRITE, TEXTURE_2D, 0, 7777, INVALID_GL_OBJECT),
        (READ_WRITE, TEXTURE_2D, 0, 0, INVALID_GL_OBJECT),
        (READ_WRITE, TEXTURE_2D, 0, empty, INVALID_GL_OBJECT),
        (READ_WRITE, 0x806F, 0, texture, INVALID_GL_OBJECT),
    ];
    for (flags, target, level, name, code) in cases {
        assert_eq!(program.texture(flags, target, level, name), Err(code), "{flags} {target:#x} {level} {name}");
    }
    // Three channels: OpenCL has no such images of bytes.
    bind_texture(TEXTURE_2D, empty);
    call!(gl_address "glTexImage2D"(u32, i32, i32, i32, i32, i32, u32, u32, *const u8);
        TEXTURE_2D, 0, 0x8051, 8, 8, 0, RGBA, UNSIGNED_BYTE, ptr::null());
    assert_eq!(program.texture(READ_WRITE, TEXTURE_2D, 0, empty), Err(INVALID_IMAGE_FORMAT_DESCRIPTOR));
    for name in [0, 7777, name_of!("glGenBuffers")] {
        assert_eq!(program.buffer(READ_WRITE, name), Err(INVALID_GL_OBJECT));
        assert_eq!(program.renderbuffer(READ_WRITE, name), Err(INVALID_GL_OBJECT));
    }
    println!("ALL DONE");
}

#[test]
#[ignore = "a child"]
fn child_contexts() {
    let Some(program) = Program::open() else { return println!("ALL DONE") };
    let Gl { display, context } = program.gl;
    let cases: [(&[isize], i32); 4] = [
        (&[0x2008, context, 0], INVALID_GL_SHAREGROUP_REFERENCE),
        (&[0x2008, 0x1234, 0x2009, display, 0], INVALID_GL_SHAREGROUP_REFERENCE),
        (&[0x2008, context, 0x2009, display, 0x200A, 1, 0], INVALID_OPERATION),
        (&[0x2008, context, 0x200C, 1, 0], INVALID_OPERATION),
    ];
    for (properties, expected) in cases {
        let mut code = 0;
        assert!(create_context(properties, program.device, &mut code).is_null());
        assert_eq!(code, expected, "{properties:?}");
        let code = call!(cl_address "clGetGLContextInfoKHR"(*const isize, u32, usize, *mut u8, *mut usize) -> i32;
            properties.as_ptr(), 0x2007, 0, ptr::null_mut(), ptr::null_mut());
        assert_eq!(code, expected, "{properties:?}");
    }
    // In a context of OpenCL alone the driver would end the process.
    let mut code = 0;
    let alone = create_context(&[0], program.device, &mut code);
    right(code);
    let own = Program { context: alone, ..program };
    assert_eq!(own.buffer(READ_WRITE, buffer_of(&[1; 16])), Err(INVALID_CONTEXT));
    assert_eq!(own.texture(READ_WRITE, TEXTURE_2D, 0, texture_of((8, 8), 1)), Err(INVALID_CONTEXT));
    println!("ALL DONE");
}

#[test]
#[ignore = "a child"]
fn child_turns() {
    let Some(program) = Program::open() else { return println!("ALL DONE") };
    let image = program.texture(READ_WRITE, TEXTURE_2D, 0, texture_of((8, 8), 100)).unwrap();
    let acquire = |queue: Raw, count: u32, list: *const Raw, waits: u32, wait_for: *const Raw| {
        call!(cl_address "clEnqueueAcquireGLObjects"(Raw, u32, *const Raw, u32, *const Raw, *mut Raw) -> i32;
            queue, count, list, waits, wait_for, ptr::null_mut())
    };
    let (queue, list, none) = (program.queue, &raw const image, ptr::null());
    right(acquire(queue, 0, ptr::null(), 0, none));
    assert_eq!(acquire(queue, 1, ptr::null(), 0, none), INVALID_VALUE);
    assert_eq!(acquire(queue, 0, list, 0, none), INVALID_VALUE);
    assert_eq!(acquire(ptr::null_mut(), 1, list, 0, none), INVALID_COMMAND_QUEUE);
    assert_eq!(acquire(queue, 1, list, 1, none), INVALID_EVENT_WAIT_LIST);
    // A plain object, and another context's queue.
    let mut code = 0;
    let plain = call!(cl_address "clCreateBuffer"(Raw, u64, usize, Raw, *mut i32) -> Raw;
        program.context, READ_WRITE, 64, ptr::null_mut(), &raw mut code);
    right(code);
    assert_eq!(program.acquire(plain), INVALID_GL_OBJECT);
    assert_eq!(program.release(plain), INVALID_GL_OBJECT);
    let alone = create_context(&[0], program.device, &mut code);
    let other = crate::rig::queue(alone, program.device);
    assert_eq!(acquire(other, 1, list, 0, none), INVALID_CONTEXT);
    // None of that has taken the object.
    right(program.acquire(image));
    right(program.release(image));
    println!("ALL DONE");
}
