//! [`Image`] and [`Sampler`].

use super::flags::{InfoValue, choices};
use super::{Buffer, Context, ImageFormat, ImageType, MemFlags};
use crate::Element;
use crate::ffi::handle::{Handle, SamplerKind};
use crate::ffi::{self, ImageBox, ImageShape, Mem};
use cl3::memory as m;
use interop_core::{Error, Result};
use std::fmt;
use std::sync::Arc;

const OP: &str = "clCreateImage";

/// Type and size of an image in pixels (`cl_image_desc`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageSize {
    /// Width: `CL_MEM_OBJECT_IMAGE1D`.
    D1(usize),
    /// Width and height: `CL_MEM_OBJECT_IMAGE2D`.
    D2(usize, usize),
    /// Width, height, depth: `CL_MEM_OBJECT_IMAGE3D`.
    D3(usize, usize, usize),
    /// Width and layers: `CL_MEM_OBJECT_IMAGE1D_ARRAY`.
    D1Array(usize, usize),
    /// Width, height, layers: `CL_MEM_OBJECT_IMAGE2D_ARRAY`.
    D2Array(usize, usize, usize),
}

impl ImageSize {
    /// Returns its type (`image_type` of `cl_image_desc`).
    pub const fn image_type(self) -> ImageType {
        match self {
            Self::D1(_) => ImageType::D1,
            Self::D2(..) => ImageType::D2,
            Self::D3(..) => ImageType::D3,
            Self::D1Array(..) => ImageType::D1Array,
            Self::D2Array(..) => ImageType::D2Array,
        }
    }

    /// Returns the region of a box over the whole image (`region` of `clEnqueueReadImage`); layers are the last
    /// dimension in use.
    pub const fn region(self) -> [usize; 3] {
        match self {
            Self::D1(w) => [w, 1, 1],
            Self::D2(w, h) | Self::D1Array(w, h) => [w, h, 1],
            Self::D3(w, h, d) | Self::D2Array(w, h, d) => [w, h, d],
        }
    }

    fn shape(self) -> ImageShape {
        let kind = self.image_type().code();
        let empty = ImageShape { kind, ..ImageShape::default() };
        match self {
            Self::D1(width) => ImageShape { width, ..empty },
            Self::D2(width, height) => ImageShape { width, height, ..empty },
            Self::D3(width, height, depth) => ImageShape { width, height, depth, ..empty },
            // Height and depth are unused; some drivers require them to be 1.
            Self::D1Array(width, layers) => ImageShape { width, height: 1, layers, ..empty },
            Self::D2Array(width, height, layers) => ImageShape { width, height, layers, ..empty },
        }
    }
}

/// Memory of pixels that kernels read through samplers and write by coordinates (OpenCL 3.0 API, 5.3; `clCreateImage`).
/// Cheap to clone: clones share the memory. Any thread may use it.
#[derive(Clone)]
pub struct Image {
    pub(crate) raw: Arc<Mem>,
    pub(crate) context: Context,
    format: ImageFormat,
    image_type: ImageType,
    region: [usize; 3],
    pixel: usize,
}

impl Image {
    /// Creates an image with undefined content (`clCreateImage`).
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a side of 0; [`Error::Unsupported`] where a device has no images or
    /// [`Context::image_formats`] does not list the format.
    pub fn new(context: &Context, flags: MemFlags, format: ImageFormat, size: ImageSize) -> Result<Self> {
        check(context, flags, format, size.image_type(), size.region())?;
        let raw = Mem::image(context, flags.bits(), format.codes(), &size.shape(), None, None);
        Self::of(raw, context, format, size.image_type(), size.region())
    }

    /// Creates an image with a copy of `data`, in tight rows (`clCreateImage`, `CL_MEM_COPY_HOST_PTR`).
    ///
    /// # Errors
    /// The errors of [`Image::new`]; [`Error::InvalidInput`] where `data` has another size.
    pub fn with_data<T: Element>(
        context: &Context,
        flags: MemFlags,
        format: ImageFormat,
        size: ImageSize,
        data: &[T],
    ) -> Result<Self> {
        // The driver determines the size of a pixel, so it is queried before the driver reads `data`.
        let probe =
            Self::new(context, flags, format, ImageSize::D1(1)).or_else(|_| Self::new(context, flags, format, size))?;
        check(context, flags, format, size.image_type(), size.region())?;
        let bytes = bytemuck::cast_slice(data);
        let whole = ImageBox { origin: [0; 3], region: size.region() };
        let wanted = whole.host_bytes(probe.pixel).unwrap_or(usize::MAX);
        if bytes.len() != wanted {
            return Err(Error::invalid(OP, format!("{} bytes were given, but the pixels need {wanted}", bytes.len())));
        }
        let raw = Mem::image(context, flags.bits(), format.codes(), &size.shape(), Some(bytes), None);
        Self::of(raw, context, format, size.image_type(), size.region())
    }

    /// Creates a 1-D image of a buffer's first `width` pixels (`CL_MEM_OBJECT_IMAGE1D_BUFFER`); it keeps the buffer.
    ///
    /// # Errors
    /// The errors of [`Image::new`]; [`Error::InvalidInput`] where the buffer is smaller.
    pub fn over_buffer(buffer: &Buffer, flags: MemFlags, format: ImageFormat, width: usize) -> Result<Self> {
        let (context, image_type, region) = (&buffer.context, ImageType::D1Buffer, [width, 1, 1]);
        check(context, flags, format, image_type, region)?;
        let shape = ImageShape { kind: image_type.code(), width, ..ImageShape::default() };
        let raw = Mem::image(context, flags.bits(), format.codes(), &shape, None, Some(&buffer.raw));
        let image = Self::of(raw, context, format, image_type, region)?;
        if width.checked_mul(image.pixel).is_none_or(|bytes| bytes > buffer.len()) {
            let problem = format!("{width} pixels of {} bytes do not fit in {} bytes", image.pixel, buffer.len());
            return Err(Error::invalid(OP, problem));
        }
        Ok(image)
    }

    pub(super) fn of(
        raw: Result<Arc<Mem>, ffi::Failure>,
        context: &Context,
        format: ImageFormat,
        image_type: ImageType,
        region: [usize; 3],
    ) -> Result<Self> {
        let raw = raw.map_err(|f| context.error(f))?;
        let pixel = raw.image_size(m::CL_IMAGE_ELEMENT_SIZE).map_err(|f| context.error(f))?;
        Ok(Self { raw, context: context.clone(), format, image_type, region, pixel })
    }

    /// Returns the format of its pixels (`CL_IMAGE_FORMAT`).
    pub fn format(&self) -> ImageFormat {
        self.format
    }

    /// Returns its type (`CL_MEM_TYPE`).
    pub fn image_type(&self) -> ImageType {
        self.image_type
    }

    /// Returns the bytes of a pixel (`CL_IMAGE_ELEMENT_SIZE`).
    pub fn pixel_size(&self) -> usize {
        self.pixel
    }

    /// Returns its sides in pixels and layers (`CL_IMAGE_WIDTH`, `CL_IMAGE_HEIGHT`, `CL_IMAGE_DEPTH` or
    /// `CL_IMAGE_ARRAY_SIZE`); unused sides are 1.
    pub fn region(&self) -> [usize; 3] {
        self.region
    }

    /// Returns the box of the whole image, for transfers: `origin` and `region` of `clEnqueueReadImage`.
    pub fn whole(&self) -> ImageBox {
        ImageBox { origin: [0; 3], region: self.region }
    }

    /// Returns the row pitch in bytes in the driver's own memory (`CL_IMAGE_ROW_PITCH`).
    pub fn row_pitch(&self) -> Result<usize> {
        self.raw.image_size(m::CL_IMAGE_ROW_PITCH).map_err(|f| self.context.error(f))
    }

    /// Returns its context (`CL_MEM_CONTEXT`).
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Calls `f` once when the driver has deleted it (`clSetMemObjectDestructorCallback`); see [`Buffer::on_delete`].
    pub fn on_delete(&self, f: impl FnOnce() + Send + 'static) -> Result<()> {
        self.raw.on_delete(Box::new(move |()| f())).map_err(|f| self.context.error(f))
    }
}

fn check(
    context: &Context,
    flags: MemFlags,
    format: ImageFormat,
    image_type: ImageType,
    region: [usize; 3],
) -> Result<()> {
    if region.contains(&0) {
        return Err(Error::invalid(OP, format!("a side of {region:?} is 0")));
    }
    for device in context.devices() {
        if !device.image_support()? {
            return Err(device.unsupported(OP, "CL_DEVICE_IMAGE_SUPPORT is false"));
        }
        let most = match image_type {
            ImageType::D1 => [device.image2d_max_width()?, 1, 1],
            ImageType::D1Buffer => [device.image_max_buffer_size()?, 1, 1],
            ImageType::D1Array => [device.image2d_max_width()?, device.image_max_array_size()?, 1],
            ImageType::D2 => [device.image2d_max_width()?, device.image2d_max_height()?, 1],
            ImageType::D2Array => {
                [device.image2d_max_width()?, device.image2d_max_height()?, device.image_max_array_size()?]
            }
            ImageType::D3 => [device.image3d_max_width()?, device.image3d_max_height()?, device.image3d_max_depth()?],
        };
        if region.iter().zip(most).any(|(side, most)| *side > most) {
            return Err(
                device.unsupported(OP, format!("{region:?} pixels exceed its maximum of {most:?} for {image_type:?}"))
            );
        }
    }
    let flags = if flags == MemFlags::NONE { MemFlags::READ_WRITE } else { flags };
    if !context.image_formats(flags, image_type)?.contains(&format) {
        return Err(Error::Unsupported {
            operation: OP,
            device: context.name().to_owned(),
            reason: format!("clGetSupportedImageFormats does not list {format} for {image_type:?}, {flags}"),
        });
    }
    Ok(())
}

impl fmt::Debug for Image {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Image({:?} {:?}, {})", self.image_type, self.region, self.format)
    }
}

choices! {
    /// Behaviour of a sampler outside the image (`cl_addressing_mode`).
    Addressing {
        /// Undefined; the kernel must stay inside.
        None = m::CL_ADDRESS_NONE;
        /// The nearest edge pixel.
        ClampToEdge = m::CL_ADDRESS_CLAMP_TO_EDGE;
        /// The border colour.
        Clamp = m::CL_ADDRESS_CLAMP;
        /// The image repeats; normalised coordinates only.
        Repeat = m::CL_ADDRESS_REPEAT;
        /// The image repeats, mirrored; normalised coordinates only.
        MirroredRepeat = m::CL_ADDRESS_MIRRORED_REPEAT;
    }
}

choices! {
    /// Behaviour of a sampler between pixels (`cl_filter_mode`).
    Filter {
        /// The nearest pixel.
        Nearest = m::CL_FILTER_NEAREST;
        /// Linear interpolation between pixels.
        Linear = m::CL_FILTER_LINEAR;
    }
}

/// A sampler with which a kernel reads images (OpenCL 3.0 API, 5.7; `clCreateSampler`). Cheap to clone; any thread may
/// use it.
#[derive(Clone)]
pub struct Sampler {
    pub(crate) handle: Arc<Handle<SamplerKind>>,
    pub(crate) context: Context,
}

impl Sampler {
    /// Creates a sampler (`clCreateSampler`). `normalized` means coordinates from 0.0 to 1.0.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for repetition without normalised coordinates.
    pub fn new(context: &Context, normalized: bool, addressing: Addressing, filter: Filter) -> Result<Self> {
        const OP: &str = "clCreateSampler";
        if !normalized && matches!(addressing, Addressing::Repeat | Addressing::MirroredRepeat) {
            return Err(Error::invalid(OP, format!("{addressing:?} needs normalised coordinates")));
        }
        // The older function, which every driver has.
        #[allow(deprecated)]
        let raw = cl3::sampler::create_sampler(context.raw(), normalized.into(), addressing.code(), filter.code());
        // SAFETY: a sampler that was just created, whose one reference is ours.
        let handle = unsafe { Handle::own(OP, raw) }.map_err(|f| context.error(f))?;
        Ok(Self { handle: Arc::new(handle), context: context.clone() })
    }
}
