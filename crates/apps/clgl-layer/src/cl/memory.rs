//! Memory objects of the driver, and their bytes mapped for the host.

use super::driver::{ImageShape, driver};
use super::handles::{Handle, checked, made};
use crate::codes::OUT_OF_HOST_MEMORY;
use crate::edge::Raw;
use crate::format::Format;
use crate::target::{Layout, Target};
use std::ptr;

/// `CL_MAP_READ`, and `CL_MAP_WRITE_INVALIDATE_REGION`.
const READ: u64 = 1;
const OVERWRITE: u64 = 4;

/// Makes a buffer.
pub fn create_buffer(context: Handle, flags: u64, bytes: usize) -> Result<Handle, i32> {
    // SAFETY: the context lives by its handle's promise.
    made(|driver, code| unsafe { driver.create_buffer(context.raw(), flags, bytes, ptr::null_mut(), code) })
}

/// Makes an image; `buffer` is the buffer of texels, for an image of texels.
pub fn create_image(
    context: Handle,
    flags: u64,
    format: &Format,
    target: &Target,
    size: [usize; 3],
    buffer: Option<Handle>,
) -> Result<Handle, i32> {
    let [width, height, depth] = size;
    let mut shape = ImageShape { kind: target.image, width, ..Default::default() };
    match target.layout {
        Layout::Line => {}
        Layout::Plane => shape.height = height,
        Layout::Volume => (shape.height, shape.depth) = (height, depth),
        Layout::Lines => shape.layers = height,
        Layout::Planes => (shape.height, shape.layers) = (height, depth),
        Layout::BufferTexels => shape.buffer = buffer.map_or(0, |buffer| buffer.raw().expose_provenance()),
    }
    // SAFETY: context and buffer live by their handles' promise.
    made(|driver, code| unsafe {
        driver.create_image(context.raw(), flags, &format.image, &raw const shape, ptr::null_mut(), code)
    })
}

/// Calls `gone` once with the object's address when the driver destroys the object.
pub fn when_gone(object: Handle, gone: fn(usize)) -> Result<(), i32> {
    unsafe extern "C" fn call(object: Raw, user: Raw) {
        // SAFETY: the function was passed below as this type.
        let gone = unsafe { std::mem::transmute::<Raw, fn(usize)>(user) };
        let _ = crate::edge::caught(|| {
            gone(object.addr());
            Ok(())
        });
    }
    // SAFETY: the object lives by its handle's promise; the callback takes a function as its user data.
    checked(unsafe { driver()?.set_destructor_callback(object.raw(), call, gone as *mut std::ffi::c_void) })
}

/// Bytes of a memory object while they are mapped.
pub struct MappedBytes<'a> {
    pub bytes: &'a mut [u8],
    /// Bytes from row to row, and from slice to slice.
    pub row: usize,
    pub slice: usize,
}

/// Maps a buffer while `f` runs. `write` means that `f` writes all bytes and reads none.
pub fn with_buffer<T>(
    queue: Handle,
    buffer: Handle,
    bytes: usize,
    write: bool,
    f: impl FnOnce(MappedBytes<'_>) -> Result<T, i32>,
) -> Result<T, i32> {
    let flags = if write { OVERWRITE } else { READ };
    // SAFETY: a blocking call on live objects; the driver checks the size.
    let address = mapped(|code| unsafe {
        driver().map_or(ptr::null_mut(), |driver| {
            let none = ptr::null_mut();
            driver.enqueue_map_buffer(queue.raw(), buffer.raw(), 1, flags, 0, bytes, 0, ptr::null(), none, code)
        })
    })?;
    // SAFETY: mapped with that length until it is unmapped below.
    let slice = unsafe { std::slice::from_raw_parts_mut(address.cast::<u8>(), bytes) };
    let answer = crate::edge::caught(|| f(MappedBytes { bytes: slice, row: bytes, slice: bytes }));
    unmap(queue, buffer, address)?;
    answer
}

/// Maps an image while `f` runs. `write` means that `f` writes all bytes and reads none.
pub fn with_image<T>(
    queue: Handle,
    image: Handle,
    (layout, size, pixel): (Layout, [usize; 3], usize),
    write: bool,
    f: impl FnOnce(MappedBytes<'_>) -> Result<T, i32>,
) -> Result<T, i32> {
    let flags = if write { OVERWRITE } else { READ };
    let (mut row, mut slice) = (0, 0);
    let origin = [0usize; 3];
    // SAFETY: as above.
    let address = mapped(|code| unsafe {
        driver().map_or(ptr::null_mut(), |driver| {
            let (origin, size, none) = (origin.as_ptr(), size.as_ptr(), ptr::null_mut());
            let (row, slice) = (&raw mut row, &raw mut slice);
            let (queue, image) = (queue.raw(), image.raw());
            driver.enqueue_map_image(queue, image, 1, flags, origin, size, row, slice, 0, ptr::null(), none, code)
        })
    })?;
    let [width, height, depth] = size;
    row = row.max(width * pixel);
    if layout == Layout::Lines {
        // Each layer is one line, so the pitch of lines is that of slices.
        row = row.max(slice);
    }
    // For images without slices, drivers return 0.
    slice = slice.max(row * height);
    let len = (depth - 1) * slice + (height - 1) * row + width * pixel;
    // SAFETY: mapped until it is unmapped below; the range covers the first to the last pixel.
    let all = unsafe { std::slice::from_raw_parts_mut(address.cast::<u8>(), len) };
    let answer = crate::edge::caught(|| f(MappedBytes { bytes: all, row, slice }));
    unmap(queue, image, address)?;
    answer
}

fn mapped(f: impl FnOnce(*mut i32) -> Raw) -> Result<Raw, i32> {
    let mut code = 0;
    let address = f(&raw mut code);
    checked(code)?;
    if address.is_null() { Err(OUT_OF_HOST_MEMORY) } else { Ok(address) }
}

fn unmap(queue: Handle, object: Handle, address: Raw) -> Result<(), i32> {
    use super::handles::OwnEvent;
    // SAFETY: mapped by that queue, and unmapped once.
    checked(unsafe { driver()?.enqueue_unmap(queue.raw(), object.raw(), address, 0, ptr::null(), ptr::null_mut()) })?;
    OwnEvent::marker(queue, &[])?.wait()
}
