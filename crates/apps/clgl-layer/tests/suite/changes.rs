//! What the program does to its objects and its context while OpenCL has them.

use crate::calls::call;
use crate::rig::*;

#[test]
#[ignore = "a child"]
fn child_deleted() {
    let Some(program) = Program::open() else { return println!("ALL DONE") };
    let texture = texture_of((8, 8), 100);
    let image = program.texture(READ_WRITE, TEXTURE_2D, 0, texture).unwrap();
    call!(gl_address "glDeleteTextures"(i32, *const u32); 1, &raw const texture);
    let name = buffer_of(&[50; 64]);
    let buffer = program.buffer(READ_WRITE, name).unwrap();
    call!(gl_address "glDeleteBuffers"(i32, *const u32); 1, &raw const name);
    // Names that are given again are other objects'.
    texture_of((8, 8), 1);
    buffer_of(&[1; 64]);
    right(program.acquire(image));
    right(program.acquire(buffer));
    let mut seen = [0; 256];
    program.read_image(image, [8, 8, 1], &mut seen);
    assert_eq!(seen, [100; 256]);
    program.read_buffer(buffer, &mut seen[..64]);
    assert_eq!(seen[..64], [50; 64]);
    right(program.release(image));
    right(program.release(buffer));
    get_tex_image(TEXTURE_2D, 0, &mut seen);
    assert_eq!(seen, [1; 256]);
    get_buffer(&mut seen[..64]);
    assert_eq!(seen[..64], [1; 64]);
    println!("ALL DONE");
}

#[test]
#[ignore = "a child"]
fn child_respecified() {
    let Some(program) = Program::open() else { return println!("ALL DONE") };
    let texture = texture_of((64, 32), 100);
    let image = program.texture(READ_WRITE, TEXTURE_2D, 0, texture).unwrap();
    for size in [(2048, 1024), (8, 8)] {
        tex_image_2d(TEXTURE_2D, 0, size, &vec![7; size.0 * size.1 * 4]);
        assert_eq!(program.acquire(image), INVALID_GL_OBJECT);
    }
    tex_image_2d(TEXTURE_2D, 0, (64, 32), &[9; 64 * 32 * 4]);
    right(program.acquire(image));
    // While OpenCL has it.
    tex_image_2d(TEXTURE_2D, 0, (2, 2), &[9; 16]);
    assert_eq!(program.release(image), INVALID_GL_OBJECT);

    buffer_of(&[50; 4096]);
    let mut bound = 0;
    call!(gl_address "glGetIntegerv"(u32, *mut i32); 0x8894, &raw mut bound);
    let buffer = program.buffer(READ_WRITE, bound.cast_unsigned()).unwrap();
    for len in [16, 1 << 20] {
        buffer_data(&vec![1; len]);
        assert_eq!(program.acquire(buffer), INVALID_GL_OBJECT);
    }
    buffer_data(&[51; 4096]);
    right(program.acquire(buffer));
    let mut seen = [0; 4096];
    program.read_buffer(buffer, &mut seen);
    assert_eq!(seen, [51; 4096]);
    right(program.release(buffer));
    println!("ALL DONE");
}

#[test]
#[ignore = "a child"]
fn child_settings() {
    let Some(program) = Program::open() else { return println!("ALL DONE") };
    let (texture, buffer) = (texture_of((8, 8), 100), buffer_of(&[50; 64]));
    let image = program.texture(READ_WRITE, TEXTURE_2D, 0, texture).unwrap();
    // Half the red, rows of other lengths, a buffer to read into, an error that nobody has asked for.
    call!(gl_address "glPixelTransferf"(u32, f32); 0x0D14, 0.5);
    call!(gl_address "glPixelStorei"(u32, i32); 0x0D02, 3);
    call!(gl_address "glBindBuffer"(u32, u32); 0x88EB, buffer);
    call!(gl_address "glEnable"(u32); 0xDEAD);
    right(program.acquire(image));
    let mut seen = [0; 256];
    program.read_image(image, [8, 8, 1], &mut seen);
    assert_eq!(seen, [100; 256]);
    right(program.release(image));
    assert_eq!(program.gl.error(), 0x500, "the program's error");
    for (what, value) in [(0x8069, texture), (0x8894, buffer), (0x88ED, buffer), (0x0D02, 3)] {
        let mut found = 0;
        call!(gl_address "glGetIntegerv"(u32, *mut i32); what, &raw mut found);
        assert_eq!(found.cast_unsigned(), value, "{what:#x}");
    }
    // While a display list is recorded.
    let list = call!(gl_address "glGenLists"(i32) -> u32; 1);
    call!(gl_address "glNewList"(u32, u32); list, 0x1300);
    right(program.acquire(image));
    right(program.release(image));
    call!(gl_address "glEndList"(););
    assert_eq!(program.gl.error(), 0);
    println!("ALL DONE");
}
