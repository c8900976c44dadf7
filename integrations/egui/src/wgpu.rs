//! A wgpu texture that egui shows.

use eframe::egui::TextureId;
use eframe::egui_wgpu::RenderState;
use eframe::wgpu::FilterMode;
use pixelferry::api::wgpu::{OffscreenTarget, Viewport, WgpuDisplay};
use pixelferry::{DrawOptions, Extent, Filter, Result, Surface};
use std::sync::Arc;

/// The texture that egui has, and the size and filter that it was made for.
pub(crate) struct EguiTexture {
    target: OffscreenTarget,
    what: (Extent, Filter),
    id: TextureId,
}

pub(crate) struct WgpuTexture {
    pub display: Arc<WgpuDisplay>,
    pub state: RenderState,
    pub made: Option<EguiTexture>,
}

impl WgpuTexture {
    pub(crate) fn draw(&mut self, shown: &Surface, extent: Extent, options: DrawOptions) -> Result<TextureId> {
        let what = (extent, options.filter);
        // If egui has deleted it, forget its number, too.
        let before = self.made.take().filter(|made| self.state.renderer.read().texture(&made.id).is_some());
        let made = match before {
            Some(made) if made.what == what => made,
            before => self.make(what, before.map(|made| made.id))?,
        };
        let made = self.made.insert(made);
        let viewport = Viewport::full(extent.width, extent.height);
        let (view, format) = (made.target.view(), made.target.draw_target().format);
        self.display.draw_to(shown, view, format, None, viewport, options)?;
        Ok(made.id)
    }

    fn make(&self, what: (Extent, Filter), id: Option<TextureId>) -> Result<EguiTexture> {
        let (Extent { width, height, .. }, filter) = what;
        let target = self.display.create_offscreen_target(width, height)?;
        let (device, view) = (&self.state.device, target.view());
        let filter = if filter == Filter::Nearest { FilterMode::Nearest } else { FilterMode::Linear };
        let mut renderer = self.state.renderer.write();
        let id = match id {
            Some(id) => {
                renderer.update_egui_texture_from_wgpu_texture(device, view, filter, id);
                id
            }
            None => renderer.register_native_texture(device, view, filter),
        };
        Ok(EguiTexture { target, what, id })
    }
}

impl Drop for WgpuTexture {
    fn drop(&mut self) {
        if let Some(made) = &self.made {
            self.state.renderer.write().free_texture(&made.id);
        }
    }
}
