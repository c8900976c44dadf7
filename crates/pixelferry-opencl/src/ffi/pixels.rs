//! [`Pixels`]: an image's size and format, as OpenCL names them.

use cl3::memory::{CL_FLOAT, CL_HALF_FLOAT, CL_R, CL_RG, CL_RGBA, CL_UNORM_INT8};
use cl3::memory::{CL_MEM_OBJECT_IMAGE2D, cl_image_desc, cl_image_format};
use interop_core::PixelFormat;
use interop_core::describe::format::ChannelKind;
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
    pub(crate) fn describe(self) -> (cl_image_format, cl_image_desc) {
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
pub(crate) const fn image_format(format: PixelFormat) -> [u32; 2] {
    let kind = match format.channel_kind() {
        ChannelKind::Unorm8 => CL_UNORM_INT8,
        ChannelKind::Float16 => CL_HALF_FLOAT,
        ChannelKind::Float32 => CL_FLOAT,
        _ => return NO_IMAGES,
    };
    match (format.channels(), format.channel_kind()) {
        (1, ChannelKind::Float16) => NO_IMAGES,
        (1, _) => [CL_R, kind],
        (2, _) => [CL_RG, kind],
        // Bytes as they are stored, in BGRA8 blue first.
        _ => [CL_RGBA, kind],
    }
}
