//! What the layer tells of platforms, devices, contexts and objects.

use crate::calls::{Raw, call};
use crate::rig::*;
use std::ptr;

const INVALID_VALUE: i32 = -30;

/// An answer, in exactly as much room as was said; and the code where the room is a byte too small.
fn answer(ask: impl Fn(usize, *mut u8, *mut usize) -> i32) -> Vec<u8> {
    let mut bytes = 0;
    right(ask(0, ptr::null_mut(), &raw mut bytes));
    let mut answer = vec![0xFF; bytes];
    right(ask(bytes, answer.as_mut_ptr(), ptr::null_mut()));
    assert_eq!(ask(bytes - 1, answer.clone().as_mut_ptr(), ptr::null_mut()), INVALID_VALUE);
    answer
}

fn device_answer(device: Raw, parameter: u32) -> Vec<u8> {
    answer(|bytes, value, found| {
        call!(cl_address "clGetDeviceInfo"(Raw, u32, usize, *mut u8, *mut usize) -> i32;
            device, parameter, bytes, value, found)
    })
}

fn platform_answer(platform: Raw, parameter: u32) -> Vec<u8> {
    answer(|bytes, value, found| {
        call!(cl_address "clGetPlatformInfo"(Raw, u32, usize, *mut u8, *mut usize) -> i32;
            platform, parameter, bytes, value, found)
    })
}

#[test]
#[ignore = "a child"]
fn child_extensions() {
    let Some(program) = Program::open() else { return println!("ALL DONE") };
    let names = ["cl_khr_gl_sharing", "cl_khr_gl_event"];
    for list in [device_answer(program.device, 0x1030), platform_answer(program.platform, 0x0904)] {
        let text = std::ffi::CStr::from_bytes_with_nul(&list).unwrap().to_str().unwrap();
        for name in names {
            assert_eq!(text.split(' ').filter(|word| *word == name).count(), 1, "{text}");
        }
    }
    for list in [device_answer(program.device, 0x1060), platform_answer(program.platform, 0x0907)] {
        assert_eq!(list.len() % 68, 0);
        let entries = list.chunks_exact(68).map(|entry| std::ffi::CStr::from_bytes_until_nul(&entry[4..]).unwrap());
        let entries: Vec<_> = entries.map(|name| name.to_str().unwrap()).collect();
        for name in names {
            assert_eq!(entries.iter().filter(|entry| **entry == name).count(), 1, "{entries:?}");
        }
    }
    // What is not about extensions is the driver's.
    assert!(device_answer(program.device, 0x102B).len() > 1);
    println!("ALL DONE");
}

#[test]
#[ignore = "a child"]
fn child_properties() {
    let Some(program) = Program::open() else { return println!("ALL DONE") };
    let list = answer(|bytes, value, found| {
        call!(cl_address "clGetContextInfo"(Raw, u32, usize, *mut u8, *mut usize) -> i32;
            program.context, 0x1082, bytes, value, found)
    });
    let found: Vec<isize> = list.chunks_exact(8).map(|bytes| isize::from_ne_bytes(bytes.try_into().unwrap())).collect();
    assert_eq!(found, program.gl.properties());
    let mut properties = program.gl.properties().to_vec();
    properties.splice(0..0, [0x1084, program.platform.addr().cast_signed()]);
    for parameter in [0x2006, 0x2007] {
        let list = answer(|bytes, value, found| {
            call!(cl_address "clGetGLContextInfoKHR"(*const isize, u32, usize, *mut u8, *mut usize) -> i32;
                properties.as_ptr(), parameter, bytes, value, found)
        });
        assert_eq!(list[..8], program.device.addr().to_ne_bytes());
    }
    // By the kind of device, too.
    let mut code = 0;
    let context = call!(cl_address "clCreateContextFromType"(*const isize, u64, Raw, Raw, *mut i32) -> Raw;
        properties.as_ptr(), 1, ptr::null_mut(), ptr::null_mut(), &raw mut code);
    right(code);
    let own = Program { context, queue: queue(context, program.device), ..program };
    let image = own.texture(READ_WRITE, TEXTURE_2D, 0, texture_of((8, 8), 100)).unwrap();
    right(own.acquire(image));
    right(own.release(image));
    println!("ALL DONE");
}

#[test]
#[ignore = "a child"]
fn child_functions() {
    let Some(program) = Program::open() else { return println!("ALL DONE") };
    for name in [
        c"clCreateFromGLBuffer",
        c"clCreateFromGLTexture",
        c"clCreateFromGLTexture2D",
        c"clCreateFromGLTexture3D",
        c"clCreateFromGLRenderbuffer",
        c"clGetGLObjectInfo",
        c"clGetGLTextureInfo",
        c"clEnqueueAcquireGLObjects",
        c"clEnqueueReleaseGLObjects",
        c"clGetGLContextInfoKHR",
        c"clCreateEventFromGLsyncKHR",
    ] {
        let found = call!(cl_address "clGetExtensionFunctionAddressForPlatform"(Raw, *const i8) -> Raw;
            program.platform, name.as_ptr().cast());
        assert!(!found.is_null(), "{name:?}");
        let found = call!(cl_address "clGetExtensionFunctionAddress"(*const i8) -> Raw; name.as_ptr().cast());
        assert!(!found.is_null(), "{name:?}");
    }
    let found = call!(cl_address "clGetExtensionFunctionAddressForPlatform"(Raw, *const i8) -> Raw;
        program.platform, c"clNoSuchFunction".as_ptr().cast());
    assert!(found.is_null());
    println!("ALL DONE");
}

#[test]
#[ignore = "a child"]
fn child_objects() {
    let Some(program) = Program::open() else { return println!("ALL DONE") };
    let (texture, buffer) = (texture_of((8, 8), 100), buffer_of(&[50; 64]));
    let image = program.texture(READ_WRITE, TEXTURE_2D, 0, texture).unwrap();
    let object = program.buffer(READ_WRITE, buffer).unwrap();
    for (of, kind, name) in [(image, 0x2001, texture), (object, 0x2000, buffer)] {
        let mut found = (0u32, 0u32);
        right(call!(cl_address "clGetGLObjectInfo"(Raw, *mut u32, *mut u32) -> i32;
            of, &raw mut found.0, &raw mut found.1));
        assert_eq!(found, (kind, name));
        right(call!(cl_address "clGetGLObjectInfo"(Raw, *mut u32, *mut u32) -> i32;
            of, ptr::null_mut(), ptr::null_mut()));
    }
    let info = |of: Raw, parameter: u32, bytes: usize, value: *mut u8, found: *mut usize| {
        call!(cl_address "clGetGLTextureInfo"(Raw, u32, usize, *mut u8, *mut usize) -> i32;
            of, parameter, bytes, value, found)
    };
    assert_eq!(answer(|bytes, value, found| info(image, 0x2004, bytes, value, found)), TEXTURE_2D.to_ne_bytes());
    assert_eq!(answer(|bytes, value, found| info(image, 0x2005, bytes, value, found)), 0u32.to_ne_bytes());
    assert_eq!(info(image, 0x1234, 0, ptr::null_mut(), ptr::null_mut()), INVALID_VALUE);
    assert_eq!(info(object, 0x2004, 0, ptr::null_mut(), ptr::null_mut()), INVALID_GL_OBJECT);
    println!("ALL DONE");
}
