//! Kernels that write a message's pixels: in place where the backend takes the host's memory, else by one copy.

use crate::canvas::Canvas;
use crate::error::{Error, Result};
use pixelferry::driver::{HandleType, HostBlock};
use pixelferry::{Arg, ComputeBackend, ComputeMemory, Extent, Kernel, PixelFormat, Target};
use std::ptr::NonNull;
use std::rc::Rc;

/// Runs `kernel` over an image with tight rows, and waits for it.
pub(crate) fn launch(
    canvas: &mut Canvas,
    backend: &dyn ComputeBackend,
    (extent, format): (Extent, PixelFormat),
    kernel: &dyn Kernel,
    args: &[Arg<'_>],
) -> Result<()> {
    let bytes = canvas.payload_mut();
    if takes_in_place(backend, bytes) {
        return in_place(bytes, backend, (extent, format), kernel, args);
    }
    let mut memory = backend.allocate(bytes.len())?;
    // Pixels that the kernel leaves out are those of the canvas.
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

/// Of the widest pixel: kernels write whole ones.
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

fn in_place(
    bytes: &mut [u8],
    backend: &dyn ComputeBackend,
    described: (Extent, PixelFormat),
    kernel: &dyn Kernel,
    args: &[Arg<'_>],
) -> Result<()> {
    let len = bytes.len();
    let owner = Rc::new(());
    let address = NonNull::from(bytes).cast();
    // SAFETY: `bytes` is borrowed mutably until this function returns and is not touched here meanwhile. A backend that keeps
    // the block after its memory is gone breaks the contract of `import_host`; that is looked for below, and is an error.
    let block = unsafe { HostBlock::from_raw(address, len, owner.clone()) };
    let mut memory = backend.import_host(&block)?;
    let done = run(memory.as_mut(), backend, described, kernel, args);
    drop((memory, block));
    if Rc::strong_count(&owner) != 1 {
        let problem = "the backend keeps host memory after its kernels have finished; give it none";
        return Err(Error::invalid("Job::launch", problem));
    }
    done
}
