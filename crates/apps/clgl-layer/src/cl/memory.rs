//! Memory objects of the driver, and their bytes in host memory.

use super::driver::{ImageShape, driver};
use super::handles::{Handle, OwnEvent, checked, enqueued, made, raw_list};
use crate::codes::OUT_OF_HOST_MEMORY;
use crate::edge::Raw;
use crate::format::Format;
use crate::target::{Layout, Target};
use std::ptr;

/// `CL_MAP_READ`, and `CL_MAP_WRITE_INVALIDATE_REGION`.
const READ: u64 = 1;
const OVERWRITE: u64 = 4;

static ORIGIN: [usize; 3] = [0; 3];

/// Makes a buffer.
pub fn create_buffer(context: Handle, flags: u64, bytes: usize) -> Result<Handle, i32> {
    // SAFETY: the context lives by its handle's promise.
    made(|driver, code| unsafe { (driver.create_buffer)(context.raw(), flags, bytes, ptr::null_mut(), code) })
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
        Layout::Bytes | Layout::BufferTexels => {
            shape.buffer = buffer.map_or(0, |buffer| buffer.raw().expose_provenance())
        }
    }
    // SAFETY: context and buffer live by their handles' promise.
    made(|driver, code| unsafe {
        (driver.create_image)(context.raw(), flags, &format.image, &raw const shape, ptr::null_mut(), code)
    })
}

/// Maps an image of that size or else a buffer, when `after` has completed. Returns its address, and the bytes from row to
/// row and from slice to slice.
pub fn map(
    queue: Handle,
    object: Handle,
    image: Option<[usize; 3]>,
    bytes: usize,
    overwrite: bool,
    after: Option<&OwnEvent>,
) -> Result<(Raw, usize, usize), i32> {
    let flags = if overwrite { OVERWRITE } else { READ };
    let after: Vec<_> = after.map(|event| event.0.handle.raw()).into_iter().collect();
    let (driver, (waits, list), queue, object) = (driver()?, raw_list(&after), queue.raw(), object.raw());
    let (mut row, mut slice, mut code, none) = (0, 0, 0, ptr::null_mut());
    // SAFETY: blocking calls on live objects; the driver checks the size; single numbers are written.
    let address = unsafe {
        let (row, slice, code) = (&raw mut row, &raw mut slice, &raw mut code);
        if let Some(size) = image {
            let (map, origin, size) = (driver.enqueue_map_image, ORIGIN.as_ptr(), size.as_ptr());
            map(queue, object, 1, flags, origin, size, row, slice, waits, list, none, code)
        } else {
            (driver.enqueue_map_buffer)(queue, object, 1, flags, 0, bytes, waits, list, none, code)
        }
    };
    checked(code)?;
    if address.is_null() { Err(OUT_OF_HOST_MEMORY) } else { Ok((address, row, slice)) }
}

/// Unmaps what [`map`] has mapped.
pub fn unmap(queue: Handle, object: Handle, address: Raw) -> Result<OwnEvent, i32> {
    // SAFETY: live objects; the driver checks the address.
    enqueued(|driver, event| unsafe {
        (driver.enqueue_unmap)(queue.raw(), object.raw(), address, 0, ptr::null(), event)
    })
}

/// Copies an image to memory of the layer's own, or back, and waits for it.
pub fn copy_image(
    queue: Handle,
    image: Handle,
    size: [usize; 3],
    bytes: &mut [u8],
    write: bool,
) -> Result<OwnEvent, i32> {
    let (origin, size, bytes) = (ORIGIN.as_ptr(), size.as_ptr(), bytes.as_mut_ptr().cast());
    // SAFETY: a blocking call on live objects; the caller's memory is as large as the image.
    enqueued(|driver, event| unsafe {
        let copy = if write { driver.enqueue_write_image } else { driver.enqueue_read_image };
        copy(queue.raw(), image.raw(), 1, origin, size, 0, 0, bytes, 0, ptr::null(), event)
    })
}
