//! Bringing what egui lays out, panels or text, into a picture. Painters of our own: `egui_glow` unwraps failures of drivers, which are
//! errors here, and no version of glow or wgpu stands between egui and the display.

pub mod gl;
pub mod software;
pub mod theme;

use egui::{ClippedPrimitive, Rect, TexturesDelta};
use pixelferry::api::gl::Viewport;

/// The panels as triangles, and where the picture goes.
pub struct Painted {
    /// Triangles, and where each is cut.
    pub primitives: Vec<ClippedPrimitive>,
    /// Changes of egui's textures.
    pub textures: TexturesDelta,
    /// Pixels of a point.
    pub scale: f32,
    /// Rectangle of the picture, points.
    pub picture: Rect,
}

impl Painted {
    /// The picture's place in pixels.
    pub fn place(&self) -> Rect {
        let place = self.picture * self.scale;
        Rect { min: place.min.round(), max: place.max.round() }
    }

    /// The picture's place as OpenGL counts, in a framebuffer of so many rows.
    pub fn area(&self, rows: u32) -> Viewport {
        let place = self.place();
        Viewport {
            x: place.left() as i32,
            y: rows as i32 - place.bottom() as i32,
            width: place.width().max(0.0) as u32,
            height: place.height().max(0.0) as u32,
        }
    }

    /// Left, top, right and bottom of `rect` in pixels, inside a picture of this size.
    pub fn pixels(&self, rect: Rect, (width, height): (u32, u32)) -> [i32; 4] {
        let rect = rect * self.scale;
        let side = |value: f32, most: u32| (value.round() as i32).clamp(0, most as i32);
        [side(rect.left(), width), side(rect.top(), height), side(rect.right(), width), side(rect.bottom(), height)]
    }

    /// Is replaced by what was laid out later; the textures of both count.
    pub fn follow(&mut self, later: Self) {
        let mut textures = std::mem::take(&mut self.textures);
        textures.append(later.textures);
        *self = Self { textures, ..later };
    }
}

/// Reason why the panels could not be drawn. The scene is not affected.
#[derive(Debug, thiserror::Error)]
pub enum PaintError {
    /// The display refused.
    #[error(transparent)]
    Display(#[from] pixelferry::Error),
    /// An object was not made, or a shader not built.
    #[error("OpenGL: {0}")]
    Gl(String),
}
