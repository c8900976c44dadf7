//! Bytes that go from OpenGL to OpenCL and back.

use crate::calls::call;
use crate::rig::*;
use pixelferry_testing::{Need, given};

/// Takes as many turns as the layer needs to try both of its methods; the last one leaves `after`.
fn both_ways(program: &Program, image: crate::calls::Raw, size: [usize; 3], before: &[u8], after: &[u8]) {
    for turn in 0..9 {
        let (before, after) = if turn % 2 == 0 { (before, after) } else { (after, before) };
        one_turn(program, image, size, before, after);
    }
}

/// Writes one value from OpenCL over what it has read, and compares both.
fn one_turn(program: &Program, image: crate::calls::Raw, size: [usize; 3], before: &[u8], after: &[u8]) {
    right(program.acquire(image));
    let mut seen = vec![0; before.len()];
    program.read_image(image, size, &mut seen);
    assert!(seen == before, "OpenCL does not see what OpenGL has");
    program.write_image(image, size, after);
    right(program.release(image));
}

#[test]
#[ignore = "a child"]
fn child_targets() {
    let Some(program) = Program::open() else { return println!("ALL DONE") };
    // Widths whose rows no driver has as its own.
    let (w, h, d) = (61usize, 7usize, 5usize);
    // Target, what it is bound to, OpenGL's size, OpenCL's region.
    let mut cases = vec![
        (TEXTURE_2D, TEXTURE_2D, [w, h, 1], [w, h, 1]),
        (0x84F5, 0x84F5, [w, h, 1], [w, h, 1]),
        (0x0DE0, 0x0DE0, [w, 1, 1], [w, 1, 1]),
        (0x8C18, 0x8C18, [w, d, 1], [w, d, 1]),
        (0x806F, 0x806F, [w, h, d], [w, h, d]),
        (0x8C1A, 0x8C1A, [w, h, d], [w, h, d]),
    ];
    cases.extend((0x8515..=0x851A).map(|face| (face, 0x8513, [h, h, 1], [h, h, 1])));
    for (target, binding, [w, h, d], region) in cases {
        let (name, len) = (name_of!("glGenTextures"), w * h * d * 4);
        let (before, after) = (ramp(len, 3), ramp(len, 90));
        bind_texture(binding, name);
        let faces = if binding == 0x8513 { 0x8515..=0x851A } else { target..=target };
        for target in faces {
            let (wi, hi, di) = (w as i32, h as i32, d as i32);
            match target {
                0x0DE0 => call!(gl_address "glTexImage1D"(u32, i32, i32, i32, i32, u32, u32, *const u8);
                    target, 0, RGBA8.cast_signed(), wi, 0, RGBA, UNSIGNED_BYTE, before.as_ptr()),
                0x806F | 0x8C1A => {
                    call!(gl_address "glTexImage3D"(u32, i32, i32, i32, i32, i32, i32, u32, u32, *const u8);
                    target, 0, RGBA8.cast_signed(), wi, hi, di, 0, RGBA, UNSIGNED_BYTE, before.as_ptr())
                }
                _ => tex_image_2d(target, 0, (w, h), &before),
            }
        }
        let image = program.texture(READ_WRITE, target, 0, name).unwrap_or_else(|code| panic!("{target:#x}: {code}"));
        both_ways(&program, image, region, &before, &after);
        let mut seen = vec![0; len];
        get_tex_image(target, 0, &mut seen);
        assert!(seen == after, "OpenGL does not see what OpenCL wrote: {target:#x}");
        release_object(image);
    }
    buffer_texture(&program);
    assert_eq!(program.gl.error(), 0);
    println!("ALL DONE");
}

fn buffer_texture(program: &Program) {
    const TEXTURE_BUFFER: u32 = 0x8C2A;
    let (before, after) = (ramp(400, 3), ramp(400, 90));
    let (buffer, name) = (buffer_of(&before), name_of!("glGenTextures"));
    bind_texture(TEXTURE_BUFFER, name);
    call!(gl_address "glTexBuffer"(u32, u32, u32); TEXTURE_BUFFER, RGBA8, buffer);
    let image = program.texture(READ_WRITE, TEXTURE_BUFFER, 0, name).unwrap();
    one_turn(program, image, [100, 1, 1], &before, &after);
    let mut seen = vec![0; 400];
    get_buffer(&mut seen);
    // rusticl 22.3 alone writes a quarter of such an image by clEnqueueWriteImage.
    let written = if given() == Need::Rusticl { 100 } else { 400 };
    assert!(seen[..written] == after[..written], "OpenGL does not see what OpenCL wrote into a buffer of texels");
    assert!(seen[written..] == before[written..]);
    release_object(image);
}

#[test]
#[ignore = "a child"]
fn child_formats() {
    let Some(program) = Program::open() else { return println!("ALL DONE") };
    // Internal format, format and type, bytes.
    let cases = [
        (0x8229, 0x1903, 0x1401, 1),
        (0x822E, 0x1903, 0x1406, 4),
        (0x8232, 0x8D94, 0x1401, 1),
        (0x805B, RGBA, 0x1403, 8),
        (0x881A, RGBA, 0x140B, 8),
        (0x8814, RGBA, 0x1406, 16),
        (0x8D7C, 0x8D99, 0x1401, 4),
        (0x8D8E, 0x8D99, 0x1400, 4),
        (0x8D70, 0x8D99, 0x1405, 16),
    ];
    for (internal, format, ty, bytes) in cases {
        let size = [13usize, 5, 1];
        // No bits of numbers that are none.
        let of = |seed| ramp(size[0] * size[1] * bytes, seed).into_iter().map(|byte| byte & 0x3F).collect::<Vec<_>>();
        let (name, before, after) = (name_of!("glGenTextures"), of(3), of(90));
        bind_texture(TEXTURE_2D, name);
        call!(gl_address "glPixelStorei"(u32, i32); 0x0CF5, 1);
        call!(gl_address "glPixelStorei"(u32, i32); 0x0D05, 1);
        call!(gl_address "glTexImage2D"(u32, i32, i32, i32, i32, i32, u32, u32, *const u8);
            TEXTURE_2D, 0, internal, 13, 5, 0, format, ty, before.as_ptr());
        let image =
            program.texture(READ_WRITE, TEXTURE_2D, 0, name).unwrap_or_else(|code| panic!("{internal:#x}: {code}"));
        both_ways(&program, image, size, &before, &after);
        let mut seen = vec![0; after.len()];
        call!(gl_address "glGetTexImage"(u32, i32, u32, u32, *mut u8); TEXTURE_2D, 0, format, ty, seen.as_mut_ptr());
        assert!(seen == after, "{internal:#x}");
        release_object(image);
    }
    println!("ALL DONE");
}

#[test]
#[ignore = "a child"]
fn child_levels() {
    let Some(program) = Program::open() else { return println!("ALL DONE") };
    let name = texture_of((32, 16), 100);
    for level in 1..4 {
        let (w, h) = (32 >> level, 16 >> level);
        tex_image_2d(TEXTURE_2D, level, (w, h), &vec![100 + level as u8; w * h * 4]);
    }
    for level in 0..4 {
        let (w, h) = (32usize >> level, 16usize >> level);
        let image = program.texture(READ_WRITE, TEXTURE_2D, level, name).unwrap();
        both_ways(&program, image, [w, h, 1], &vec![100 + level as u8; w * h * 4], &vec![200 + level as u8; w * h * 4]);
        release_object(image);
    }
    for level in 0..4 {
        let mut seen = vec![0; (32 >> level) * (16 >> level) * 4];
        get_tex_image(TEXTURE_2D, level, &mut seen);
        assert!(seen.iter().all(|byte| *byte == 200 + level as u8), "level {level}");
    }
    println!("ALL DONE");
}

#[test]
#[ignore = "a child"]
fn child_buffers() {
    let Some(program) = Program::open() else { return println!("ALL DONE") };
    for len in [1usize, 4099, 1 << 20] {
        let (before, after) = (ramp(len, 3), ramp(len, 90));
        let object = program.buffer(READ_WRITE, buffer_of(&before)).unwrap();
        right(program.acquire(object));
        let mut seen = vec![0; len];
        program.read_buffer(object, &mut seen);
        assert!(seen == before, "{len} bytes");
        program.write_buffer(object, &after);
        right(program.release(object));
        get_buffer(&mut seen);
        assert!(seen == after, "{len} bytes");
        release_object(object);
    }
    println!("ALL DONE");
}

#[test]
#[ignore = "a child"]
fn child_renderbuffers() {
    const RENDERBUFFER: u32 = 0x8D41;
    const FRAMEBUFFER: u32 = 0x8D40;
    let Some(program) = Program::open() else { return println!("ALL DONE") };
    let (name, frame) = (name_of!("glGenRenderbuffers"), name_of!("glGenFramebuffers"));
    call!(gl_address "glBindRenderbuffer"(u32, u32); RENDERBUFFER, name);
    call!(gl_address "glRenderbufferStorage"(u32, u32, i32, i32); RENDERBUFFER, RGBA8, 61, 7);
    call!(gl_address "glBindFramebuffer"(u32, u32); FRAMEBUFFER, frame);
    call!(gl_address "glFramebufferRenderbuffer"(u32, u32, u32, u32); FRAMEBUFFER, 0x8CE0, RENDERBUFFER, name);
    call!(gl_address "glClearColor"(f32, f32, f32, f32); 1.0, 0.0, 1.0, 0.0);
    call!(gl_address "glClear"(u32); 0x4000);
    let object = program.renderbuffer(READ_WRITE, name).unwrap();
    let (before, after) = ([255, 0, 255, 0].repeat(61 * 7), ramp(61 * 7 * 4, 90));
    both_ways(&program, object, [61, 7, 1], &before, &after);
    let mut seen = vec![0u8; after.len()];
    call!(gl_address "glReadPixels"(i32, i32, i32, i32, u32, u32, *mut u8);
        0, 0, 61, 7, RGBA, UNSIGNED_BYTE, seen.as_mut_ptr());
    assert!(seen == after, "OpenGL does not see what OpenCL wrote");
    println!("ALL DONE");
}

#[test]
#[ignore = "a child"]
fn child_read_only() {
    let Some(program) = Program::open() else { return println!("ALL DONE") };
    let image = program.texture(READ_ONLY, TEXTURE_2D, 0, texture_of((8, 8), 100)).unwrap();
    let buffer = program.buffer(READ_ONLY, buffer_of(&[100; 64])).unwrap();
    one_turn(&program, image, [8, 8, 1], &[100; 256], &[1; 256]);
    right(program.acquire(buffer));
    program.write_buffer(buffer, &[1; 64]);
    right(program.release(buffer));
    let mut seen = [0; 256];
    get_tex_image(TEXTURE_2D, 0, &mut seen);
    assert_eq!(seen, [100; 256]);
    get_buffer(&mut seen[..64]);
    assert_eq!(seen[..64], [100; 64]);
    println!("ALL DONE");
}

/// A kernel that only writes need not write all.
#[test]
#[ignore = "a child"]
fn child_write_only() {
    let Some(program) = Program::open() else { return println!("ALL DONE") };
    let image = program.texture(WRITE_ONLY, TEXTURE_2D, 0, texture_of((8, 8), 100)).unwrap();
    right(program.acquire(image));
    program.write_image(image, [8, 4, 1], &[200; 128]);
    right(program.release(image));
    let mut seen = [0; 256];
    get_tex_image(TEXTURE_2D, 0, &mut seen);
    assert_eq!(seen[..128], [200; 128]);
    assert_eq!(seen[128..], [100; 128]);
    println!("ALL DONE");
}
