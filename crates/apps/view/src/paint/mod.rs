//! Paints what egui lays out, panels or text, with OpenGL. This replaces `egui_glow`, which unwraps failures of drivers;
//! here they are errors. It also ties egui to no version of glow.

pub mod gl;
pub mod theme;

use egui::{ClippedPrimitive, Context, FullOutput, Rect, TexturesDelta};
use pixelferry::api::gl::Viewport;

/// The panels as triangles, and where the picture goes.
pub struct PanelMesh {
    /// Triangles with their clip rectangles.
    pub primitives: Vec<ClippedPrimitive>,
    /// Changes of egui's textures.
    pub textures: TexturesDelta,
    /// Pixels per point.
    pub scale: f32,
    /// Rectangle of the picture, in points.
    pub picture: Rect,
}

impl PanelMesh {
    /// Tessellates what `context` has laid out.
    pub fn of(context: &Context, output: FullOutput, picture: Rect) -> Self {
        let scale = output.pixels_per_point;
        Self { primitives: context.tessellate(output.shapes, scale), textures: output.textures_delta, scale, picture }
    }

    /// Returns the picture's rectangle in pixels.
    pub fn place(&self) -> Rect {
        let place = self.picture * self.scale;
        Rect { min: place.min.round(), max: place.max.round() }
    }

    /// Returns the picture's rectangle in OpenGL's coordinates, for a framebuffer with this many rows.
    pub fn area(&self, rows: u32) -> Viewport {
        let place = self.place();
        Viewport {
            x: place.left() as i32,
            y: rows as i32 - place.bottom() as i32,
            width: place.width().max(0.0) as u32,
            height: place.height().max(0.0) as u32,
        }
    }

    /// Returns left, top, right and bottom of `rect` in pixels, clipped to a picture of this size.
    pub fn pixels(&self, rect: Rect, (width, height): (u32, u32)) -> [i32; 4] {
        let rect = rect * self.scale;
        let side = |value: f32, most: u32| (value.round() as i32).clamp(0, most as i32);
        [side(rect.left(), width), side(rect.top(), height), side(rect.right(), width), side(rect.bottom(), height)]
    }

    /// Replaces this by a later layout, and keeps the texture changes of both.
    pub fn follow(&mut self, later: Self) {
        let mut textures = std::mem::take(&mut self.textures);
        textures.append(later.textures);
        *self = Self { textures, ..later };
    }
}

/// Reason why the panels could not be drawn. The scene is not affected.
#[derive(Debug, thiserror::Error)]
pub enum PaintError {
    /// The display reported an error.
    #[error(transparent)]
    Display(#[from] pixelferry::Error),
    /// Making an object or building a shader failed.
    #[error("OpenGL: {0}")]
    Gl(String),
}
