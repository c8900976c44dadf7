//! Destination of a compute shader's stores: the target, another view of it, or a texture that is copied into it.

use crate::context::device_state::DeviceState;
use crate::context::format::texture_descriptor;
use crate::context::store_formats::StoreFormat;
use crate::draw::painter::Frame;
use interop_core::Extent;
use interop_core::describe::PlainMutex;
use interop_core::draw::{Obstacle, Plan, StoreCaps};

/// A view as the target of a draw.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub view: &'a wgpu::TextureView,
    pub format: wgpu::TextureFormat,
    pub clear: Option<wgpu::Color>,
}

impl Target<'_> {
    /// Returns true where `area` is all that the view can hold, so that clearing is unnecessary.
    pub(crate) fn is_covered_by(&self, area: [i32; 4]) -> bool {
        let texture = self.view.texture();
        let [left, top, width, height] = area.map(i64::from);
        let ends = |start: i64, len: i64, side: u32| start <= 0 && start + len >= i64::from(side);
        // Otherwise its size is that of an unknown level.
        let whole = texture.mip_level_count() == 1;
        whole && ends(left, width, texture.width()) && ends(top, height, texture.height())
    }
}

/// The texture or view that a compute shader stores into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StoreView {
    /// The target's own view.
    Own,
    /// A view of the same texture that does not encode.
    Plain,
    /// An auxiliary texture, because shaders cannot store into the target.
    Copy,
}

impl StoreView {
    /// Returns the destination of the stores for a draw to `target`, and its format.
    pub(crate) fn of(shared: &DeviceState, target: Target<'_>, plan: &Plan) -> Result<(Self, StoreFormat), Obstacle> {
        use wgpu::TextureUsages as Usages;
        let texture = target.view.texture();
        if texture.sample_count() > 1 {
            return Err(Obstacle::Texture("it has several samples for each pixel"));
        }
        let format = shared.stores.get(target.format.remove_srgb_suffix())?;
        let encodes = target.format.is_srgb();
        let able = StoreCaps { reads: format.reads, encodes: !encodes || shared.stores.has_views() };
        plan.may_store(able, &target.format)?;
        let usage = texture.usage();
        let stores = usage.contains(Usages::STORAGE_BINDING);
        if stores && !encodes {
            return Ok((Self::Own, format));
        }
        // A view does not report which level and layer it shows.
        if texture.mip_level_count() > 1 || texture.size().depth_or_array_layers > 1 {
            return Err(Obstacle::Texture(if stores {
                "it encodes and has levels or layers, and a view does not report which one it shows"
            } else {
                "its usage lacks STORAGE_BINDING, and it has levels or layers, which prevents a copy"
            }));
        }
        if stores {
            return Ok((Self::Plain, format));
        }
        if !usage.contains(Usages::COPY_DST) {
            return Err(Obstacle::Texture("its usage lacks STORAGE_BINDING, and COPY_DST for a copy"));
        }
        if plan.blends && !usage.contains(Usages::COPY_SRC) {
            let why = "its usage lacks STORAGE_BINDING, and COPY_SRC for a copy that blends";
            return Err(Obstacle::Texture(why));
        }
        Ok((Self::Copy, format))
    }
}

/// An auxiliary texture, as large as the last draw needed.
#[derive(Default)]
pub(crate) struct Canvas(PlainMutex<Option<wgpu::Texture>>);

/// Returns a view of the whole texture that does not encode.
pub(crate) fn plain(texture: &wgpu::Texture, format: StoreFormat) -> wgpu::TextureView {
    texture.create_view(&wgpu::TextureViewDescriptor {
        format: Some(format.format),
        usage: Some(wgpu::TextureUsages::STORAGE_BINDING),
        dimension: Some(wgpu::TextureViewDimension::D2),
        ..wgpu::TextureViewDescriptor::default()
    })
}

/// A part of a target: left, top, width, height.
pub(crate) type Area = [u32; 4];

/// Returns the area of a texture that a frame covers.
pub(crate) fn area(frame: &Frame, texture: &wgpu::Texture) -> Option<Area> {
    let [left, top, width, height] = frame.draw_params().area();
    let side = |start: i32, len: i32, limit: u32| {
        let end = (i64::from(start) + i64::from(len)).clamp(0, i64::from(limit)) as u32;
        let start = start.max(0) as u32;
        (end > start).then(|| (start, end - start))
    };
    let ((x, width), (y, height)) = (side(left, width, texture.width())?, side(top, height, texture.height())?);
    Some([x, y, width, height])
}

/// Copies an area of a target from or into the corner of a canvas.
pub(crate) fn copy(
    encoder: &mut wgpu::CommandEncoder,
    canvas: &wgpu::Texture,
    target: &wgpu::Texture,
    [x, y, width, height]: Area,
    into_target: bool,
) {
    let of_target = wgpu::TexelCopyTextureInfo { origin: wgpu::Origin3d { x, y, z: 0 }, ..target.as_image_copy() };
    let beside = canvas.as_image_copy();
    let (from, to) = if into_target { (beside, of_target) } else { (of_target, beside) };
    encoder.copy_texture_to_texture(from, to, wgpu::Extent3d { width, height, depth_or_array_layers: 1 });
}

impl Canvas {
    /// Returns a texture at least as large as the area, created inside error scopes.
    pub(crate) fn get(&self, device: &wgpu::Device, format: StoreFormat, [.., width, height]: Area) -> wgpu::Texture {
        let mut kept = self.0.lock();
        let wanted = Extent::new(width, height);
        let fits = |texture: &wgpu::Texture| {
            let extent = Extent::new(texture.width(), texture.height());
            // Frees the memory that was needed for a much larger target.
            let small = extent.pixels() <= 2 * wanted.pixels();
            texture.format() == format.format && extent.width >= width && extent.height >= height && small
        };
        if let Some(texture) = kept.as_ref().filter(|texture| fits(texture)) {
            return texture.clone();
        }
        *kept = None;
        let usage = wgpu::TextureUsages::STORAGE_BINDING
            .union(wgpu::TextureUsages::COPY_SRC)
            .union(wgpu::TextureUsages::COPY_DST);
        kept.insert(device.create_texture(&texture_descriptor(width, height, format.format, usage))).clone()
    }

    /// Drops the texture.
    pub(crate) fn forget(&self) {
        self.0.take();
    }
}
