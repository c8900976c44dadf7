//! Tensors of [burn](https://docs.rs/burn) as frames of pixelferry, and pictures as tensors: on one wgpu device and in one queue, by the
//! guest of `pixelferry-cubecl`. Each way costs one copy on the device, as CubeCL takes no memory of others; the host waits for none.
//!
//! ```
//! use burn_tensor::Tensor;
//! use pixelferry::{Link, LinkOptions, PixelFormat, SurfaceDesc, api::wgpu::wgpu_adapters};
//! use pixelferry_burn::{copy, device};
//! use pixelferry_cubecl::CubeGuest;
//!
//! # fn main() -> pixelferry::Result<()> {
//! let adapters = wgpu_adapters(pixelferry::api::wgpu::wgpu::Backends::VULKAN);
//! let Some(adapter) = adapters.first() else { return Ok(()) };
//! let guest = CubeGuest::open(adapter)?;
//! let surface = SurfaceDesc::image(64, 48, PixelFormat::Rgba32F);
//! let mut link = Link::open(guest.backend(), guest.display(), surface, LinkOptions::default())?;
//! let tensor = Tensor::<3>::ones([48, 64, 4], &device(&guest)) * 0.5;
//! link.frame(|next| copy(&guest, tensor.clone(), next.target()?))?;
//! assert_eq!(link.read_back()?[..4], 0.5_f32.to_ne_bytes());
//! # Ok(())
//! # }
//! ```
//!
use burn_cubecl::kernel::into_contiguous;
use burn_cubecl::tensor::CubeTensor;
use burn_cubecl::{Cube, CubeBackend};
use burn_tensor::kind::Basic;
use burn_tensor::{DType, Device, Float, Int, PrimitiveConversionError, Tensor};
use pixelferry::driver::describe::format::ChannelKind;
use pixelferry::driver::describe::panics::catch;
use pixelferry::{Error, Extent, IntakeGuard, PixelFormat, Result, Target, View};
use pixelferry_cubecl::CubeGuest;

/// The guest's device in burn, for tensors that become frames.
pub fn device(guest: &CubeGuest) -> Device {
    Device::new(guest.device().clone())
}

/// Element kinds of tensors for pictures: floats, and integers.
pub trait Numbers: Basic + Sized {
    #[doc(hidden)]
    const FLOATS: bool;

    #[doc(hidden)]
    fn resolve<const D: usize>(tensor: Tensor<D, Self>) -> Result<CubeTensor, PrimitiveConversionError>;
}

impl Numbers for Float {
    const FLOATS: bool = true;

    fn resolve<const D: usize>(tensor: Tensor<D>) -> Result<CubeTensor, PrimitiveConversionError> {
        let fused = tensor.try_into_primitive::<Cube>()?;
        Ok(fused.client.clone().resolve_tensor_float::<CubeBackend>(fused))
    }
}

impl Numbers for Int {
    const FLOATS: bool = false;

    fn resolve<const D: usize>(tensor: Tensor<D, Self>) -> Result<CubeTensor, PrimitiveConversionError> {
        let fused = tensor.try_into_primitive::<Cube>()?;
        Ok(fused.client.clone().resolve_tensor_int::<CubeBackend>(fused))
    }
}

/// Copies a tensor into a frame ([`WriteFrame::target`](pixelferry::WriteFrame::target)) on the device, after the
/// operations that make it. Its shape is (rows, columns, channels) with the format's float type, or (rows, columns) of
/// 32-bit integers for formats of four bytes per pixel, with red in the lowest byte. A frame of a buffer accepts any
/// tensor of the same number of bytes.
///
/// # Errors
/// [`Error::InvalidInput`] for another shape, type or device; [`Error::Panicked`] if burn panics; those of
/// [`CubeGuest::copy_from`].
pub fn copy<const D: usize, K: Numbers>(guest: &CubeGuest, tensor: Tensor<D, K>, target: Target<'_>) -> Result<()> {
    const OP: &str = "pixelferry_burn::copy";
    let settled = settle(guest, OP, tensor)?;
    let (dims, dtype) = (settled.meta.shape().to_vec(), settled.dtype);
    let takes = match target.view() {
        View::Image(image) => {
            let (wanted, types) = described(image.extent, image.format)?;
            (dims == wanted && types.contains(&dtype)).then_some(()).ok_or(format!("{wanted:?} of {types:?}"))
        }
        view => {
            let (has, bytes) = (dims.iter().product::<usize>() * dtype.size(), view.payload_len());
            (has == bytes).then_some(()).ok_or(format!("{bytes} bytes"))
        }
    };
    takes
        .map_err(|takes| Error::invalid(OP, format!("the frame needs {takes}; the tensor is {dims:?} of {dtype:?}")))?;
    guest.copy_from(settled.handle, target)
}

/// Returns what an intake took as a tensor, with a shape as for [`copy`]: floats for a picture of floats, otherwise
/// [`Int`] words. Later operations read it.
///
/// # Errors
/// [`Error::InvalidInput`] if the picture is of the other kind, or a buffer; otherwise those of [`copy`].
pub fn take<const D: usize, K: Numbers>(guest: &CubeGuest, taken: &IntakeGuard<'_>) -> Result<Tensor<D, K>> {
    const OP: &str = "pixelferry_burn::take";
    let View::Image(image) = taken.view() else { return Err(Error::invalid(OP, "a buffer is not a picture")) };
    let (shape, types) = described(image.extent, image.format)?;
    let is_kind = types[0].is_float() == K::FLOATS;
    if shape.len() != D || !is_kind {
        let problem = format!("a picture of {} needs a tensor {shape:?} of {:?}", image.format, types[0]);
        return Err(Error::invalid(OP, problem));
    }
    let made = caught(OP, || {
        let tensor = Tensor::<D, K>::empty(shape, (&device(guest), types[0]));
        // The same memory: a settled tensor keeps it.
        K::resolve(tensor.clone()).map(|settled| (tensor, settled))
    })?;
    let (tensor, settled) = made.map_err(|error| foreign(OP, &error))?;
    guest.copy_to(taken, settled.handle)?;
    Ok(tensor)
}

/// Shape and types of a picture's tensor.
fn described(extent: Extent, format: PixelFormat) -> Result<(Vec<usize>, &'static [DType])> {
    let [rows, columns] = [extent.height as usize, extent.width as usize];
    match format.channel_kind() {
        ChannelKind::Float32 => Ok((vec![rows, columns, format.channels()], &[DType::F32])),
        ChannelKind::Float16 => Ok((vec![rows, columns, format.channels()], &[DType::F16])),
        _ if format.bytes_per_pixel() == 4 => Ok((vec![rows, columns], &[DType::I32, DType::U32])),
        _ => Err(Error::unsupported("burn", format!("a pixel of {format} is neither floats nor a word of 32 bits"))),
    }
}

/// The memory of a tensor on the guest's device, with contiguous numbers.
fn settle<const D: usize, K: Numbers>(
    guest: &CubeGuest,
    operation: &'static str,
    tensor: Tensor<D, K>,
) -> Result<CubeTensor> {
    let theirs = tensor.device();
    if theirs != device(guest) {
        return Err(Error::invalid(
            operation,
            format!("the tensor is on {theirs:?}; make it on pixelferry_burn::device"),
        ));
    }
    caught(operation, || K::resolve(tensor).map(into_contiguous))?.map_err(|error| foreign(operation, &error))
}

/// burn reports unsupported operations with panics.
fn caught<T>(operation: &'static str, work: impl FnOnce() -> T) -> Result<T> {
    let what = || format!("burn in {operation}");
    catch(work).map_err(|panicked| Error::Panicked { what: what(), reason: panicked.message().to_owned() })
}

fn foreign(operation: &'static str, error: &PrimitiveConversionError) -> Error {
    Error::invalid(operation, format!("the tensor does not belong to CubeCL alone: {error:?}"))
}
