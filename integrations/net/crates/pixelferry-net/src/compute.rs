//! Kernels that write a message's pixels: in place if the backend accepts host memory, otherwise with one copy.

use crate::canvas::Canvas;
use crate::error::{Error, Result};
use pixelferry::driver::{HandleType, HostBlock};
use pixelferry::{Arg, ComputeBackend, ComputeMemory, Extent, Kernel, PixelFormat, Target};
use std::ptr::NonNull;
use std::sync::Arc;

/// Runs `kernel` over an image with tight rows, and waits for it.
pub(crate) fn launch(
    canvas: &mut Canvas,
    backend: &dyn ComputeBackend,
    (extent, format): (Extent, PixelFormat),
    kernel: &dyn Kernel,
    args: &[Arg<'_>],
) -> Result<()> {
    if takes_in_place(backend, canvas.payload_mut()) {
        return in_place(canvas, backend, (extent, format), kernel, args);
    }
    let bytes = canvas.payload_mut();
    let mut memory = backend.allocate(bytes.len())?;
    // Pixels that the kernel does not write keep the canvas's content.
    memory.write(0, bytes)?;
    run(memory.as_mut(), backend, (extent, format), kernel, args)?;
    Ok(memory.read(0, bytes)?)
}

fn run(
    memory: &mut dyn ComputeMemory,
    backend: &dyn ComputeBackend,
    (extent, format): (Extent, PixelFormat),
    kernel: &dyn Kernel,
    args: &[Arg<'_>],
) -> Result<()> {
    backend.launch(kernel, Target::image(memory, extent, format)?, args)?;
    Ok(backend.finish()?)
}

/// Size of the widest pixel: kernels write whole pixels.
const PIXEL: usize = 16;

fn takes_in_place(backend: &dyn ComputeBackend, bytes: &[u8]) -> bool {
    let is_pixels = bytes.as_ptr().addr().is_multiple_of(PIXEL);
    is_pixels
        && backend.caps().imports.iter().any(|cap| {
            cap.handle == HandleType::HostPointer
                && cap.support.is_yes()
                && bytes.as_ptr().addr().is_multiple_of(cap.address_alignment.max(1))
                && bytes.len().is_multiple_of(cap.size_alignment.max(1))
        })
}

/// The block owns the memory while it has users: if a backend keeps the block, it keeps the memory, and the canvas gets
/// other memory.
fn in_place(
    canvas: &mut Canvas,
    backend: &dyn ComputeBackend,
    described: (Extent, PixelFormat),
    kernel: &dyn Kernel,
    args: &[Arg<'_>],
) -> Result<()> {
    let mut memory = canvas.take_out();
    let bytes = memory.payload_mut();
    let (address, len) = (NonNull::from(&mut *bytes).cast(), bytes.len());
    let owner = Arc::new(memory);
    // SAFETY: the bytes are on the heap or in shared memory, so moving their owner into the `Arc` does not move them.
    // They live as long as a clone of the `Arc`, and are accessed through it only when it is the only one, when no block
    // is left.
    let block = unsafe { HostBlock::from_raw(address, len, owner.clone()) };
    let done = backend.import_host(&block).map_err(Error::from).and_then(|mut memory| {
        // Ends before the count below.
        run(memory.as_mut(), backend, described, kernel, args)
    });
    drop(block);
    let Ok(memory) = Arc::try_unwrap(owner) else {
        let problem = "the backend keeps host memory after its kernels have finished; use it without host memory";
        return Err(Error::invalid("Job::launch", problem));
    };
    canvas.put_back(memory);
    done
}
