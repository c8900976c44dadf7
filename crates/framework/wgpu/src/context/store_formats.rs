//! The formats to which compute shaders of a device store.

use crate::context::format::{format_features, texture_format};
use interop_core::draw::Obstacle;
use interop_core::draw::wgsl::GROUP;
use interop_core::{PixelFormat, Support};
use wgpu::{TextureFormat, TextureFormatFeatureFlags, TextureUsages};

/// A format to which shaders of a device store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct StoreFormat {
    pub format: TextureFormat,
    /// Name of the format in WGSL.
    pub name: &'static str,
    /// True where it holds only 0 to 1.
    pub fixed: bool,
    /// True where a shader that stores to it can also read it.
    pub reads: bool,
}

/// Formats with their names in WGSL, and whether they hold only 0 to 1.
const NAMES: [(TextureFormat, &str, bool); 15] = [
    (TextureFormat::Rgba8Unorm, "rgba8unorm", true),
    (TextureFormat::Bgra8Unorm, "bgra8unorm", true),
    (TextureFormat::Rgba16Float, "rgba16float", false),
    (TextureFormat::Rgba32Float, "rgba32float", false),
    (TextureFormat::Rgb10a2Unorm, "rgb10a2unorm", true),
    (TextureFormat::Rg11b10Ufloat, "rg11b10ufloat", false),
    (TextureFormat::Rgba16Unorm, "rgba16unorm", true),
    (TextureFormat::R8Unorm, "r8unorm", true),
    (TextureFormat::Rg8Unorm, "rg8unorm", true),
    (TextureFormat::R16Unorm, "r16unorm", true),
    (TextureFormat::Rg16Unorm, "rg16unorm", true),
    (TextureFormat::R16Float, "r16float", false),
    (TextureFormat::Rg16Float, "rg16float", false),
    (TextureFormat::R32Float, "r32float", false),
    (TextureFormat::Rg32Float, "rg32float", false),
];

/// The formats to which a device's compute shaders store, queried once.
pub(crate) struct StoreFormats {
    rows: Result<Vec<StoreFormat>, Obstacle>,
    views: bool,
}

impl StoreFormats {
    pub(crate) fn of(adapter: &wgpu::Adapter, device: &wgpu::Device) -> Self {
        let limits = device.limits();
        let flags = adapter.get_downlevel_capabilities().flags;
        let views = flags.contains(wgpu::DownlevelFlags::VIEW_FORMATS);
        let runs = flags.contains(wgpu::DownlevelFlags::COMPUTE_SHADERS)
            && limits.max_compute_invocations_per_workgroup >= GROUP.0 * GROUP.1
            && limits.max_compute_workgroup_size_x >= GROUP.0
            && limits.max_compute_workgroup_size_y >= GROUP.1
            && limits.max_storage_textures_per_shader_stage > 0;
        if !runs {
            let reason = "the device, or its required_limits, have no shaders that store into textures";
            return Self { rows: Err(Obstacle::NoShader(reason.into())), views };
        }
        let rows = NAMES.into_iter().filter_map(|(format, name, fixed)| {
            let found = format_features(adapter, device, format);
            let stores = found.allowed_usages.contains(TextureUsages::STORAGE_BINDING)
                && found.flags.contains(TextureFormatFeatureFlags::STORAGE_WRITE_ONLY)
                && device.features().contains(format.required_features());
            let reads = found.flags.contains(TextureFormatFeatureFlags::STORAGE_READ_WRITE);
            stores.then_some(StoreFormat { format, name, fixed, reads })
        });
        Self { rows: Ok(rows.collect()), views }
    }

    pub(crate) fn get(&self, format: TextureFormat) -> Result<StoreFormat, Obstacle> {
        let rows = self.rows.as_ref().map_err(Clone::clone)?;
        let row = rows.iter().find(|row| row.format == format);
        row.copied().ok_or_else(|| {
            // The usual format of windows, and the only one that needs a feature of the device.
            let asked =
                if format == TextureFormat::Bgra8Unorm { " without the feature BGRA8UNORM_STORAGE" } else { "" };
            Obstacle::Format(format!("{format:?}{asked}"))
        })
    }

    /// Reports whether there are any.
    pub(crate) fn any(&self) -> Support {
        match &self.rows {
            Ok(rows) => Support::when(!rows.is_empty(), "shaders cannot store into textures"),
            Err(obstacle) => Support::No(obstacle.to_string()),
        }
    }

    /// Returns the formats of frames to which shaders store.
    #[cfg_attr(not(feature = "compute"), allow(dead_code, reason = "the backend alone asks"))]
    pub(crate) fn pixels(&self) -> Vec<PixelFormat> {
        PixelFormat::ALL.into_iter().filter(|pixels| self.get(texture_format(*pixels)).is_ok()).collect()
    }

    /// Returns true where textures with and without sRGB encoding can have views of each other (not on OpenGL).
    pub(crate) const fn has_views(&self) -> bool {
        self.views
    }

    /// Returns the usage of textures of this format that are drawn to.
    pub(crate) fn usage(&self, format: TextureFormat) -> TextureUsages {
        self.get(format).map_or(TextureUsages::empty(), |_| TextureUsages::STORAGE_BINDING)
    }
}
