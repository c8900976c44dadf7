//! Destination of a compute shader's stores: the target, another view of it, or a texture that is copied into it.

use crate::context::device_state::DeviceState;
use crate::context::format::texture_descriptor;
use crate::context::store_formats::StoreFormat;
use crate::draw::painter::Frame;
use interop_core::Extent;
use interop_core::draw::{Obstacle, Plan, Storing};
use std::cell::RefCell;

/// A view, as what is drawn to.
#[derive(Clone, Copy)]
pub(crate) struct Target<'a> {
    pub view: &'a wgpu::TextureView,
    pub format: wgpu::TextureFormat,
    pub clear: Option<wgpu::Color>,
}

impl Target<'_> {
    /// True where `area` is all that the view can hold, so that nothing needs to be cleared.
    pub(crate) fn is_covered_by(&self, area: [i32; 4]) -> bool {
        let texture = self.view.texture();
        let [left, top, width, height] = area.map(i64::from);
        let ends = |start: i64, len: i64, side: u32| start <= 0 && start + len >= i64::from(side);
        // Else its size is that of a level which nobody tells.
        let whole = texture.mip_level_count() == 1;
        whole && ends(left, width, texture.width()) && ends(top, height, texture.height())
    }
}

/// Texture or view that a compute shader stores into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// The view that is drawn to.
    Own,
    /// A view that does not encode, of all of the same texture.
    Plain,
    /// A texture beside it, as nothing stores into its own.
    Copy,
}

impl Reach {
    /// Tells how it stores for a draw to `target`, and as what.
    pub(crate) fn of(shared: &DeviceState, target: Target<'_>, plan: &Plan) -> Result<(Self, StoreFormat), Obstacle> {
        use wgpu::TextureUsages as Usages;
        let texture = target.view.texture();
        if texture.sample_count() > 1 {
            return Err(Obstacle::Texture("it has several samples for each pixel"));
        }
        let format = shared.stores.get(target.format.remove_srgb_suffix())?;
        let encodes = target.format.is_srgb();
        let able = Storing { reads: format.reads, encodes: !encodes || shared.stores.has_views() };
        plan.may_store(able, &target.format)?;
        let usage = texture.usage();
        let stores = usage.contains(Usages::STORAGE_BINDING);
        if stores && !encodes {
            return Ok((Self::Own, format));
        }
        // A view does not tell which level and layer it shows.
        if texture.mip_level_count() > 1 || texture.size().depth_or_array_layers > 1 {
            return Err(Obstacle::Texture(if stores {
                "it encodes, and has levels or layers, of which a view does not tell which it shows"
            } else {
                "its usage is without STORAGE_BINDING, and it has levels or layers, into which no copy is made"
            }));
        }
        if stores {
            return Ok((Self::Plain, format));
        }
        if !usage.contains(Usages::COPY_DST) {
            return Err(Obstacle::Texture("its usage is without STORAGE_BINDING, and without COPY_DST for a copy"));
        }
        if plan.blends && !usage.contains(Usages::COPY_SRC) {
            let why = "its usage is without STORAGE_BINDING, and without COPY_SRC for a copy that blends";
            return Err(Obstacle::Texture(why));
        }
        Ok((Self::Copy, format))
    }
}

/// A texture as large as was drawn last.
#[derive(Default)]
pub(crate) struct Canvas(RefCell<Option<wgpu::Texture>>);

/// All of a texture, in numbers that are not encoded.
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

/// Returns what a frame reaches of a texture.
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
    /// At least as large as the area, made inside error scopes.
    pub(crate) fn get(&self, device: &wgpu::Device, format: StoreFormat, [.., width, height]: Area) -> wgpu::Texture {
        let mut kept = self.0.borrow_mut();
        let wanted = Extent::new(width, height);
        let fits = |texture: &wgpu::Texture| {
            let extent = Extent::new(texture.width(), texture.height());
            // A target that was far larger keeps no memory.
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

    /// It is of no use any more.
    pub(crate) fn forget(&self) {
        self.0.take();
    }
}
