//! Formats and types of images.

use super::flags::{InfoValue, choices};
use crate::ffi::check;
use crate::{Context, MemFlags};
use cl3::memory as m;
use cl3::memory::get_supported_image_formats;
use interop_core::Result;
use std::fmt;

/// Constants of `cl_khr_gl_depth_images`; cl3 does not have them.
mod gl {
    pub const CL_DEPTH_STENCIL: u32 = 0x10BE;
    pub const CL_UNORM_INT24: u32 = 0x10DF;
}

choices! {
    /// Channels of a pixel and their order (`cl_channel_order`; OpenCL 3.0 API, 5.3.1.1).
    ChannelOrder {
        /// Red.
        R = m::CL_R;
        /// Alpha.
        A = m::CL_A;
        /// Red and green.
        Rg = m::CL_RG;
        /// Red and alpha.
        Ra = m::CL_RA;
        /// Red, green, blue, packed.
        Rgb = m::CL_RGB;
        /// Red, green, blue, alpha.
        Rgba = m::CL_RGBA;
        /// Blue first.
        Bgra = m::CL_BGRA;
        /// Alpha first.
        Argb = m::CL_ARGB;
        /// All reversed.
        Abgr = m::CL_ABGR;
        /// One value in all four.
        Intensity = m::CL_INTENSITY;
        /// One value in the colours.
        Luminance = m::CL_LUMINANCE;
        /// Depth.
        Depth = m::CL_DEPTH;
        /// sRGB and alpha.
        Srgba = m::CL_sRGBA;
        /// Depth and stencil, of objects of OpenGL's.
        DepthStencil = gl::CL_DEPTH_STENCIL;
    }
}

choices! {
    /// Data type of a channel (`cl_channel_type`; OpenCL 3.0 API, 5.3.1.1).
    ChannelType {
        /// -1.0 to 1.0.
        SnormInt8 = m::CL_SNORM_INT8;
        /// -1.0 to 1.0.
        SnormInt16 = m::CL_SNORM_INT16;
        /// 0.0 to 1.0.
        UnormInt8 = m::CL_UNORM_INT8;
        /// 0.0 to 1.0.
        UnormInt16 = m::CL_UNORM_INT16;
        /// Three in 16 bits.
        UnormShort565 = m::CL_UNORM_SHORT_565;
        /// Three in 15 bits.
        UnormShort555 = m::CL_UNORM_SHORT_555;
        /// Three in 30 bits.
        UnormInt101010 = m::CL_UNORM_INT_101010;
        /// 24 bits of 32, of objects of OpenGL's.
        UnormInt24 = gl::CL_UNORM_INT24;
        /// Four in 32 bits.
        UnormInt1010102 = m::CL_UNORM_INT_101010_2;
        /// Signed.
        SignedInt8 = m::CL_SIGNED_INT8;
        /// Signed.
        SignedInt16 = m::CL_SIGNED_INT16;
        /// Signed.
        SignedInt32 = m::CL_SIGNED_INT32;
        /// Unsigned.
        UnsignedInt8 = m::CL_UNSIGNED_INT8;
        /// Unsigned.
        UnsignedInt16 = m::CL_UNSIGNED_INT16;
        /// Unsigned.
        UnsignedInt32 = m::CL_UNSIGNED_INT32;
        /// binary16.
        HalfFloat = m::CL_HALF_FLOAT;
        /// binary32.
        Float = m::CL_FLOAT;
    }
}

choices! {
    /// Dimensions of an image (`cl_mem_object_type`).
    ImageType {
        /// A row.
        D1 = m::CL_MEM_OBJECT_IMAGE1D;
        /// A row that is a buffer.
        D1Buffer = m::CL_MEM_OBJECT_IMAGE1D_BUFFER;
        /// Rows of one size.
        D1Array = m::CL_MEM_OBJECT_IMAGE1D_ARRAY;
        /// A picture.
        D2 = m::CL_MEM_OBJECT_IMAGE2D;
        /// Pictures of one size.
        D2Array = m::CL_MEM_OBJECT_IMAGE2D_ARRAY;
        /// A volume.
        D3 = m::CL_MEM_OBJECT_IMAGE3D;
    }
}

/// Format of a pixel (`cl_image_format`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ImageFormat {
    /// Channels: `image_channel_order` of `cl_image_format`.
    pub order: ChannelOrder,
    /// Values: `image_channel_data_type` of `cl_image_format`.
    pub data: ChannelType,
}

impl ImageFormat {
    /// A `cl_image_format`; [`crate::Context::image_formats`] lists those that images can have.
    pub const fn new(order: ChannelOrder, data: ChannelType) -> Self {
        Self { order, data }
    }

    pub(crate) fn from_codes([order, data]: [u32; 2]) -> Option<Self> {
        Some(Self { order: ChannelOrder::from_code(order)?, data: ChannelType::from_code(data)? })
    }

    pub(crate) const fn codes(self) -> [u32; 2] {
        [self.order.code(), self.data.code()]
    }
}

impl fmt::Display for ImageFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} {:?}", self.order, self.data)
    }
}

impl Context {
    /// The formats that images of a type can have (`clGetSupportedImageFormats`); those that this crate has no name for
    /// are left out.
    pub fn image_formats(&self, flags: MemFlags, kind: ImageType) -> Result<Vec<ImageFormat>> {
        let listed = get_supported_image_formats(self.raw(), flags.bits(), kind.code());
        let listed = check("clGetSupportedImageFormats", listed).map_err(|f| self.error(f))?;
        let codes = listed.into_iter().map(|format| [format.image_channel_order, format.image_channel_data_type]);
        Ok(codes.filter_map(ImageFormat::from_codes).collect())
    }
}
