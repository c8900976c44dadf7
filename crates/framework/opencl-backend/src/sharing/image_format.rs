//! Image formats, by OpenCL's names.

use crate::cl::{ChannelOrder, ChannelType, Context, ImageFormat, ImageType, MemFlags};
use interop_core::PixelFormat;
use interop_core::describe::format::ChannelKind;

/// Returns the format in OpenCL's terms (OpenCL 3.0 API, 5.3.1.1). `None` where there are no such images: kernels write
/// a pixel's bits, and `PF_STORE` cannot tell the format of a `ushort` or a `uint`. PoCL 3.1 lists images of one half
/// float, but stores zeros.
pub fn image_format(format: PixelFormat) -> Option<ImageFormat> {
    let data = match format.channel_kind() {
        ChannelKind::Unorm8 => ChannelType::UnormInt8,
        ChannelKind::Float16 => ChannelType::HalfFloat,
        ChannelKind::Float32 => ChannelType::Float,
        _ => return None,
    };
    let order = match (format.channels(), data) {
        (1, ChannelType::HalfFloat) => return None,
        (1, _) => ChannelOrder::R,
        (2, _) => ChannelOrder::Rg,
        // Bytes in storage order, blue first in BGRA8.
        _ => ChannelOrder::Rgba,
    };
    Some(ImageFormat::new(order, data))
}

/// Lists the formats of 2-D images that kernels read and write; empty where the driver does not report them.
pub fn image_formats(context: &Context) -> Vec<PixelFormat> {
    let found = context.image_formats(MemFlags::READ_WRITE, ImageType::D2).unwrap_or_default();
    let listed = |format: &PixelFormat| image_format(*format).is_some_and(|own| found.contains(&own));
    PixelFormat::ALL.into_iter().filter(listed).collect()
}
