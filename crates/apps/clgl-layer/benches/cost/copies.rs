//! Copies by hand: what a program does that shares with OpenGL without the extension.

use crate::Case;
use crate::calls::{Raw, call};
use crate::rig::*;
use std::ptr;

/// `CL_MAP_READ`, `CL_MAP_WRITE_INVALIDATE_REGION`.
const READ: u64 = 1;
const OVERWRITE: u64 = 4;
const UNPACK_ROW_LENGTH: u32 = 0x0CF2;
const PACK_ROW_LENGTH: u32 = 0x0D02;

/// An object of OpenGL, and memory for its bytes.
pub struct Copies {
    name: u32,
    case: Case,
    staging: Vec<u8>,
}

impl Copies {
    pub fn new(name: u32, case: Case) -> Self {
        Self { name, case, staging: vec![0; case.size.0 * case.size.1 * 4] }
    }

    /// Makes the object of OpenCL.
    pub fn memory(&self, program: &Program) -> Raw {
        let (mut code, (width, height)) = (0, self.case.size);
        let memory = if self.case.is_texture {
            let format = [0x10B5u32, 0x10D2];
            let shape = [0x10F1usize, width, height, 0, 0, 0, 0, 0, 0];
            call!(cl_address "clCreateImage"(Raw, u64, *const u32, *const usize, *mut u8, *mut i32) -> Raw;
                program.context, self.case.flags, format.as_ptr(), shape.as_ptr(), ptr::null_mut(), &raw mut code)
        } else {
            call!(cl_address "clCreateBuffer"(Raw, u64, usize, *mut u8, *mut i32) -> Raw;
                program.context, self.case.flags, self.staging.len(), ptr::null_mut(), &raw mut code)
        };
        right(code);
        memory
    }

    pub fn mapped_turn(&mut self, program: &Program, memory: Raw) {
        self.bind();
        wait_for_opengl();
        let (address, row) = self.map(program, memory, OVERWRITE);
        self.read(address, row);
        unmap(program, memory, address);
        if self.case.flags != READ_ONLY {
            let (address, row) = self.map(program, memory, READ);
            self.write(address, row);
            unmap(program, memory, address);
        }
        call!(gl_address "glFinish"(););
    }

    pub fn staged_turn(&mut self, program: &Program, memory: Raw) {
        self.bind();
        wait_for_opengl();
        let (staging, row) = (self.staging.as_mut_ptr(), self.case.size.0 * 4);
        let size = [self.case.size.0, self.case.size.1, 1];
        self.read(staging, row);
        if self.case.is_texture {
            program.write_image(memory, size, &self.staging);
        } else {
            program.write_buffer(memory, &self.staging);
        }
        program.finish();
        if self.case.flags != READ_ONLY {
            if self.case.is_texture {
                program.read_image(memory, size, &mut self.staging);
            } else {
                program.read_buffer(memory, &mut self.staging);
            }
            self.write(self.staging.as_ptr(), row);
        }
        call!(gl_address "glFinish"(););
    }

    fn bind(&self) {
        if self.case.is_texture {
            bind_texture(TEXTURE_2D, self.name);
        } else {
            call!(gl_address "glBindBuffer"(u32, u32); ARRAY_BUFFER, self.name);
        }
    }

    /// Copies OpenGL's bytes to an address.
    fn read(&self, address: *mut u8, row: usize) {
        if self.case.is_texture {
            call!(gl_address "glPixelStorei"(u32, i32); PACK_ROW_LENGTH, (row / 4) as i32);
            call!(gl_address "glGetTexImage"(u32, i32, u32, u32, *mut u8);
                TEXTURE_2D, 0, RGBA, UNSIGNED_BYTE, address);
        } else {
            call!(gl_address "glGetBufferSubData"(u32, isize, isize, *mut u8);
                ARRAY_BUFFER, 0, self.staging.len() as isize, address);
        }
    }

    /// Copies bytes at an address to OpenGL.
    fn write(&self, address: *const u8, row: usize) {
        let (width, height) = self.case.size;
        if self.case.is_texture {
            call!(gl_address "glPixelStorei"(u32, i32); UNPACK_ROW_LENGTH, (row / 4) as i32);
            call!(gl_address "glTexSubImage2D"(u32, i32, i32, i32, i32, i32, u32, u32, *const u8);
                TEXTURE_2D, 0, 0, 0, width as i32, height as i32, RGBA, UNSIGNED_BYTE, address);
        } else {
            call!(gl_address "glBufferSubData"(u32, isize, isize, *const u8);
                ARRAY_BUFFER, 0, self.staging.len() as isize, address);
        }
    }

    /// Maps the object; returns its address, and the bytes of a row.
    fn map(&self, program: &Program, memory: Raw, flags: u64) -> (*mut u8, usize) {
        let (mut code, mut row, mut slice, none) = (0, 0usize, 0usize, ptr::null_mut::<Raw>());
        let (origin, size) = ([0usize; 3], [self.case.size.0, self.case.size.1, 1]);
        let address = if self.case.is_texture {
            call!(cl_address "clEnqueueMapImage"
                (Raw, Raw, u32, u64, *const usize, *const usize, *mut usize, *mut usize, u32, *const Raw, *mut Raw,
                    *mut i32) -> *mut u8;
                program.queue, memory, 1, flags, origin.as_ptr(), size.as_ptr(), &raw mut row, &raw mut slice, 0,
                none.cast_const(), none, &raw mut code)
        } else {
            call!(cl_address "clEnqueueMapBuffer"
                (Raw, Raw, u32, u64, usize, usize, u32, *const Raw, *mut Raw, *mut i32) -> *mut u8;
                program.queue, memory, 1, flags, 0, self.staging.len(), 0, none.cast_const(), none, &raw mut code)
        };
        right(code);
        (address, row)
    }

    pub fn delete(&self) {
        if self.case.is_texture {
            call!(gl_address "glDeleteTextures"(i32, *const u32); 1, &raw const self.name);
        } else {
            call!(gl_address "glDeleteBuffers"(i32, *const u32); 1, &raw const self.name);
        }
    }
}

fn unmap(program: &Program, memory: Raw, address: *mut u8) {
    right(call!(cl_address "clEnqueueUnmapMemObject"(Raw, Raw, *mut u8, u32, *const Raw, *mut Raw) -> i32;
        program.queue, memory, address, 0, ptr::null(), ptr::null_mut()));
    program.finish();
}

/// Waits for the OpenGL commands that the program has begun.
fn wait_for_opengl() {
    let sync = call!(gl_address "glFenceSync"(u32, u32) -> Raw; 0x9117, 0);
    call!(gl_address "glClientWaitSync"(Raw, u32, u64) -> u32; sync, 1, 1_000_000_000);
    call!(gl_address "glDeleteSync"(Raw); sync);
}
