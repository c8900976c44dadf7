//! [`Pixels`]: an image's size and format, as OpenCL names them.

use cl3::memory::{CL_FLOAT, CL_HALF_FLOAT, CL_R, CL_RG, CL_RGBA, CL_UNORM_INT8};
use cl3::memory::{CL_MEM_OBJECT_IMAGE2D, cl_image_desc, cl_image_format};
use interop_core::PixelFormat;
use interop_core::describe::format::PerFormat;
use std::ptr;

/// Size and format of an image of two dimensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pixels {
    pub width: usize,
    pub height: usize,
    pub format: PixelFormat,
}

impl Pixels {
    pub fn of(image: &interop_core::ImageDesc) -> Self {
        let interop_core::Extent { width, height } = image.extent;
        Self { width: width as usize, height: height as usize, format: image.format }
    }

    /// For the calls that create images.
    pub(super) fn describe(self) -> (cl_image_format, cl_image_desc) {
        let [image_channel_order, image_channel_data_type] = image_format(self.format);
        let desc = cl_image_desc {
            image_type: CL_MEM_OBJECT_IMAGE2D,
            image_width: self.width,
            image_height: self.height,
            image_depth: 0,
            image_array_size: 0,
            image_row_pitch: 0,
            image_slice_pitch: 0,
            num_mip_levels: 0,
            num_samples: 0,
            buffer: ptr::null_mut(),
        };
        (cl_image_format { image_channel_order, image_channel_data_type }, desc)
    }
}

/// No driver lists it. Kernels write a pixel's bits, and `PF_STORE` cannot tell from a `ushort` or a `uint` what they
/// are. PoCL 3.1 lists images of one half, but stores zeros.
const NO_IMAGES: [u32; 2] = [0, 0];

/// The format as OpenCL names it: order and type of the channels (OpenCL 3.0 API, section 5.3.1.1).
pub(super) const fn image_format(format: PixelFormat) -> [u32; 2] {
    const ROWS: PerFormat<[u32; 2]> = PerFormat::new([
        (PixelFormat::R8, [CL_R, CL_UNORM_INT8]),
        (PixelFormat::Rg8, [CL_RG, CL_UNORM_INT8]),
        (PixelFormat::R16, NO_IMAGES),
        (PixelFormat::R16F, NO_IMAGES),
        (PixelFormat::Rgba8, [CL_RGBA, CL_UNORM_INT8]),
        // Bytes as they are stored: blue is the first channel here.
        (PixelFormat::Bgra8, [CL_RGBA, CL_UNORM_INT8]),
        (PixelFormat::Rgb10A2, NO_IMAGES),
        (PixelFormat::Rg16F, [CL_RG, CL_HALF_FLOAT]),
        (PixelFormat::R32F, [CL_R, CL_FLOAT]),
        (PixelFormat::Rgba16F, [CL_RGBA, CL_HALF_FLOAT]),
        (PixelFormat::Rg32F, [CL_RG, CL_FLOAT]),
        (PixelFormat::Rgba32F, [CL_RGBA, CL_FLOAT]),
    ]);
    ROWS.get(format)
}
