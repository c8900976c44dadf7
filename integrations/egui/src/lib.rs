//! Frames of pixelferry in egui, with eframe's OpenGL and its wgpu:
//!
//!
//! ```ignore
//! let screen = unsafe { Screen::new(cc) }?; // when eframe makes the app
//! let opened = LinkBuilder::new(surface).launch(&source, []).shown_by(&screen.display()).open()?;
//! let mut picture = Picture::new(screen, opened.link);
//! // In each frame:
//! picture.link().frame(|next| next.launch(opened.kernels[0].as_ref(), &[]))?;
//! ui.add(picture.image(frame, DrawOptions::default())?);
//! ```
//!
//! A frame is drawn into a texture that egui owns and may delete: the next call then makes another. The link's own
//! textures never reach egui, and egui's texture number stays the same through every resize.
//!
//! egui blends textures as premultiplied sRGB numbers. Frames with [`pixelferry::AlphaMode::Stored`], the default, get
//! there unchanged.

mod gl;
mod wgpu;

pub use gl::GlTextures;

use eframe::egui;
use eframe::egui_wgpu::RenderState;
use pixelferry::api::gl::{EngineOptions, GlDisplay};
use pixelferry::api::wgpu::WgpuDisplay;
use pixelferry::{Display, DrawOptions, Error, Link, LinkCore, Result, SurfaceDesc};
use std::sync::Arc;

const OP: &str = "Picture::image";

/// What egui draws with. Stays on egui's thread.
#[derive(Clone)]
pub enum Screen {
    /// An OpenGL context.
    Gl(Arc<GlDisplay>),
    /// A device of wgpu, and egui's renderer on it.
    Wgpu(Arc<WgpuDisplay>, RenderState),
}

impl Screen {
    /// Returns what an eframe app draws with.
    ///
    /// # Errors
    /// Those of [`GlDisplay::from_current`] and [`WgpuDisplay::from_engine`].
    ///
    /// # Safety
    /// With OpenGL, everything made from the screen must be dropped before the context. eframe drops the app first, so
    /// it is enough that the app owns everything.
    pub unsafe fn new(cc: &eframe::CreationContext<'_>) -> Result<Self> {
        if let Some(state) = &cc.wgpu_render_state {
            let display = WgpuDisplay::from_engine(&state.adapter, state.device.clone(), state.queue.clone())?;
            return Ok(Self::Wgpu(display, state.clone()));
        }
        // SAFETY: the caller's promise; eframe makes its context current before it makes the app.
        unsafe { GlDisplay::from_current(EngineOptions::default()) }.map(Self::Gl)
    }

    /// The display, for [`pixelferry::LinkBuilder::shown_by`] and links of other kinds.
    pub fn display(&self) -> Arc<dyn Display> {
        match self {
            Self::Gl(display) => display.clone(),
            Self::Wgpu(display, _) => display.clone(),
        }
    }
}

/// A link whose frames egui shows. Stays on egui's thread. With OpenGL, egui keeps the texture of a dropped picture,
/// because eframe deletes textures only when the app ends. So keep pictures, and resize them.
pub struct Picture {
    link: Link,
    texture: Texture,
}

enum Texture {
    Gl(gl::GlTexture),
    Wgpu(Box<wgpu::WgpuTexture>),
}

impl Picture {
    /// Shows a link to the screen's display.
    pub fn new(screen: Screen, link: Link) -> Self {
        let texture = match screen {
            Screen::Gl(display) => Texture::Gl(gl::GlTexture { display, registered: None, made: None }),
            Screen::Wgpu(display, state) => Texture::Wgpu(Box::new(wgpu::WgpuTexture { display, state, made: None })),
        };
        Self { link, texture }
    }

    /// The link, for computing frames and resizing.
    pub fn link(&mut self) -> &mut LinkCore {
        &mut self.link
    }

    /// Draws the shown frame into egui's texture, and returns a widget of the frame's size. `textures` is eframe's
    /// frame or an `egui_glow::Painter`; with wgpu it is not used. The filter of `options` selects how egui scales;
    /// their fit is ignored.
    ///
    /// # Errors
    /// [`Error::NothingShown`] before the first frame; [`Error::InvalidInput`] for buffers, and for translucent frames
    /// without a background, behind which the previous frame would be visible; and errors of the display.
    pub fn image(&mut self, textures: &mut dyn GlTextures, options: DrawOptions) -> Result<egui::Image<'static>> {
        let shown = self.link.shown()?;
        let SurfaceDesc::Image(image) = *shown.desc() else {
            return Err(Error::invalid(OP, "the link carries a buffer, not an image"));
        };
        if image.alpha.is_translucent() && options.background.is_none() {
            let problem =
                "translucent frames need a background, or AlphaMode::Stored: egui blends premultiplied colours";
            return Err(Error::invalid(OP, problem));
        }
        // In OpenGL, row 0 is the bottom row.
        let (id, top) = match &mut self.texture {
            Texture::Gl(texture) => (texture.draw(shown.surface(), image.extent, options, textures)?, 1.0),
            Texture::Wgpu(texture) => (texture.draw(shown.surface(), image.extent, options)?, 0.0),
        };
        let uv = egui::Rect { min: egui::pos2(0.0, top), max: egui::pos2(1.0, 1.0 - top) };
        let size = egui::vec2(image.extent.width as f32, image.extent.height as f32);
        Ok(egui::Image::from_texture((id, size)).uv(uv))
    }
}
