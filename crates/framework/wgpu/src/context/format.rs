//! Pixel formats of the framework in wgpu.

use interop_core::PixelFormat;
use interop_core::describe::format::PerFormat;

const TEXTURE_FORMATS: PerFormat<wgpu::TextureFormat> = PerFormat::new([
    (PixelFormat::R8, wgpu::TextureFormat::R8Unorm),
    (PixelFormat::Rg8, wgpu::TextureFormat::Rg8Unorm),
    (PixelFormat::R16, wgpu::TextureFormat::R16Unorm),
    (PixelFormat::R16F, wgpu::TextureFormat::R16Float),
    (PixelFormat::Rgba8, wgpu::TextureFormat::Rgba8Unorm),
    (PixelFormat::Bgra8, wgpu::TextureFormat::Bgra8Unorm),
    (PixelFormat::Rgb10A2, wgpu::TextureFormat::Rgb10a2Unorm),
    (PixelFormat::Rg16F, wgpu::TextureFormat::Rg16Float),
    (PixelFormat::R32F, wgpu::TextureFormat::R32Float),
    (PixelFormat::Rgba16F, wgpu::TextureFormat::Rgba16Float),
    (PixelFormat::Rg32F, wgpu::TextureFormat::Rg32Float),
    (PixelFormat::Rgba32F, wgpu::TextureFormat::Rgba32Float),
]);

/// Returns the format with the same bytes that does not decode when it is read.
pub(crate) const fn texture_format(format: PixelFormat) -> wgpu::TextureFormat {
    TEXTURE_FORMATS.get(format)
}

/// Returns the format of frames with the same bytes, encoded or not; `None` if there is none.
pub(crate) fn pixel_format(format: wgpu::TextureFormat) -> Option<PixelFormat> {
    let stored = format.remove_srgb_suffix();
    PixelFormat::ALL.into_iter().find(|pixels| texture_format(*pixels) == stored)
}

/// Features for formats such as BGRA8, the usual format of windows, and for draws into them in either manner; and
/// immediates (with [`wgpu::Limits::max_immediate_size`]), which make launches with numbers faster. Devices of this
/// crate are opened with those that the adapter has; an engine's device may be as well ([`crate::open_device`]).
pub const DRAW_FEATURES: wgpu::Features = wgpu::Features::TEXTURE_FORMAT_16BIT_NORM
    .union(wgpu::Features::TEXTURE_ADAPTER_SPECIFIC_FORMAT_FEATURES)
    .union(wgpu::Features::BGRA8UNORM_STORAGE)
    .union(wgpu::Features::IMMEDIATES);

/// Returns the features of a format on the device.
pub(crate) fn format_features(
    adapter: &wgpu::Adapter,
    device: &wgpu::Device,
    format: wgpu::TextureFormat,
) -> wgpu::TextureFormatFeatures {
    let features = device.features();
    match features.contains(wgpu::Features::TEXTURE_ADAPTER_SPECIFIC_FORMAT_FEATURES) {
        true => adapter.get_texture_format_features(format),
        false => format.guaranteed_format_features(features),
    }
}

/// Returns the formats whose textures can be shown and read back on the device.
pub(crate) fn image_formats(adapter: &wgpu::Adapter, device: &wgpu::Device) -> Vec<PixelFormat> {
    let features = device.features();
    let has = |pixels: &PixelFormat| {
        let format = texture_format(*pixels);
        let usages = format_features(adapter, device, format).allowed_usages;
        // Formats with an integer format of the same bits are read back through that one.
        let drawn = bits(format).map_or(usages, |_| wgpu::TextureUsages::RENDER_ATTACHMENT);
        features.contains(format.required_features()) && (usages | drawn).contains(TEXTURE_USAGE)
    };
    PixelFormat::ALL.into_iter().filter(has).collect()
}

/// Returns the integer format with the same bits, which every device can draw to.
pub(crate) const fn bits(format: wgpu::TextureFormat) -> Option<wgpu::TextureFormat> {
    match format {
        wgpu::TextureFormat::R32Float => Some(wgpu::TextureFormat::R32Uint),
        wgpu::TextureFormat::Rg32Float => Some(wgpu::TextureFormat::Rg32Uint),
        wgpu::TextureFormat::Rgba32Float => Some(wgpu::TextureFormat::Rgba32Uint),
        _ => None,
    }
}

/// Usage of surfaces and shared images: everything that an engine may do with a texture.
pub(crate) const TEXTURE_USAGE: wgpu::TextureUsages = wgpu::TextureUsages::TEXTURE_BINDING
    .union(wgpu::TextureUsages::RENDER_ATTACHMENT)
    .union(wgpu::TextureUsages::COPY_SRC)
    .union(wgpu::TextureUsages::COPY_DST);

/// One level of a 2-D texture.
pub(crate) fn texture_descriptor(
    width: u32,
    height: u32,
    format: wgpu::TextureFormat,
    usage: wgpu::TextureUsages,
) -> wgpu::TextureDescriptor<'static> {
    wgpu::TextureDescriptor {
        label: Some("pixelferry"),
        size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
        mip_level_count: 1,
        sample_count: 1,
        dimension: wgpu::TextureDimension::D2,
        format,
        usage,
        view_formats: &[],
    }
}

/// Returns the description of a texture for wgpu-hal, with the usage `uses`.
#[allow(dead_code, reason = "for Vulkan and OpenGL, which are not everywhere")]
pub(crate) fn hal_texture_descriptor(
    of: &wgpu::TextureDescriptor<'static>,
    uses: wgpu::wgt::TextureUses,
) -> wgpu::hal::TextureDescriptor<'static> {
    wgpu::hal::TextureDescriptor {
        label: of.label,
        size: of.size,
        mip_level_count: of.mip_level_count,
        sample_count: of.sample_count,
        dimension: of.dimension,
        format: of.format,
        usage: uses,
        memory_flags: wgpu::hal::MemoryFlags::empty(),
        view_formats: Vec::new(),
    }
}

/// Copies and bindings of buffers must be multiples of this number of bytes.
pub(crate) const WORD: u64 = wgpu::COPY_BUFFER_ALIGNMENT;

/// Returns the next multiple of a word; sizes were checked against the device's limits.
pub(crate) const fn whole_words(bytes: u64) -> u64 {
    bytes.next_multiple_of(WORD)
}
