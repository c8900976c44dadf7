//! Frames written by kernels outside of pixelferry: by cudarc, by opencl3, and by a function on the host. All compute
//! the same picture in integers, so that every byte can be compared.

mod cuda;
mod host;
mod opencl;

pub use host::pixel;

use cuda::CudaKernels;
use opencl::OpenClKernels;
use pixelferry::{Error, ImageView, PixelFormat, RawMemory, Result, View, WriteFrame};

/// The kernels, compiled for the first frame that they write.
#[derive(Default)]
pub struct OwnKernels {
    cuda: Option<CudaKernels>,
    opencl: Option<OpenClKernels>,
}

impl OwnKernels {
    /// Writes an RGBA8 frame, or the part of it that changes, at time `t`.
    ///
    /// # Errors
    /// The backend's memory is of none of the three kinds, or cudarc or opencl3 reports an error.
    pub fn write(&mut self, frame: &mut WriteFrame<'_>, t: u32) -> Result<()> {
        // SAFETY: what follows queues work for pixels of the view alone, in the stream or queue that is named, and the host writes
        // at once. Nothing is kept but kernels.
        let raw = unsafe { frame.raw() }?;
        let View::Image(view @ ImageView { format: PixelFormat::Rgba8, .. }) = raw.view() else {
            return Err(Error::invalid("own_kernels", "the frame is not an RGBA8 picture"));
        };
        match raw.memory() {
            RawMemory::Host { address } => {
                // SAFETY: the frame's own memory, which nobody else touches before it is finished.
                unsafe { host::write(address, &view, t) };
                Ok(())
            }
            memory @ (RawMemory::Cuda { context, .. } | RawMemory::CudaArray { context, .. }) => {
                // SAFETY: the context lives as long as the backend, which the link keeps, and this goes before the link.
                let kernels = get(&mut self.cuda, || unsafe { CudaKernels::new(context) })?;
                // SAFETY: names of the frame, in the kernels' context.
                unsafe { kernels.write(memory, &view, t) }
            }
            RawMemory::OpenCl { buffer, queue, context, device } => {
                // SAFETY: as for CUDA's.
                let kernels = get(&mut self.opencl, || unsafe { OpenClKernels::new(context, device, queue) })?;
                // SAFETY: as for CUDA's.
                unsafe { kernels.write(buffer, &view, t) }
            }
            RawMemory::OpenClImage { image, first, step, queue, context, device } => {
                // SAFETY: as for CUDA's.
                let kernels = get(&mut self.opencl, || unsafe { OpenClKernels::new(context, device, queue) })?;
                // SAFETY: as for CUDA's.
                unsafe { kernels.write_image(image, first, step, &view, t) }
            }
            other => Err(Error::invalid("own_kernels", format!("none of the kernels can write {other:?}"))),
        }
    }
}

/// Returns the value, and makes it first if it is missing.
fn get<T>(place: &mut Option<T>, make: impl FnOnce() -> Result<T>) -> Result<&mut T> {
    let made = match place.take() {
        Some(made) => made,
        None => make()?,
    };
    Ok(place.insert(made))
}
