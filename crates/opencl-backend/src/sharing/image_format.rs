//! Formats of images, as OpenCL names them.

use crate::cl::{ChannelOrder, ChannelType, Context, ImageFormat, ImageType, MemFlags};
use interop_core::PixelFormat;
use interop_core::describe::format::ChannelKind;

/// The format as OpenCL names it (OpenCL 3.0 API, 5.3.1.1). `None` where there are no such images: kernels write a pixel's
/// bits, and `PF_STORE` cannot tell from a `ushort` or a `uint` what they are. PoCL 3.1 lists images of one half, but stores
/// zeros.
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
        // Bytes as they are stored, in BGRA8 blue first.
        _ => ChannelOrder::Rgba,
    };
    Some(ImageFormat::new(order, data))
}

/// Formats of images of two dimensions that kernels read and write; none where the driver does not say.
pub fn image_formats(context: &Context) -> Vec<PixelFormat> {
    let found = context.image_formats(MemFlags::READ_WRITE, ImageType::D2).unwrap_or_default();
    let listed = |format: &PixelFormat| image_format(*format).is_some_and(|own| found.contains(&own));
    PixelFormat::ALL.into_iter().filter(listed).collect()
}
