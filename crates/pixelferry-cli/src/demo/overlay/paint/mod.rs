//! Bringing the panels into a picture. Painters of our own: a driver that fails is an error here, and no version of glow
//! or wgpu stands between the panels and the display.

pub mod gl;
pub mod software;

/// Why the panels could not be drawn. The scene is not affected.
#[derive(Debug, thiserror::Error)]
pub enum PaintError {
    /// The display refused.
    #[error(transparent)]
    Display(#[from] pixelferry::Error),
    /// An object was not made, or a shader not built.
    #[error("OpenGL: {0}")]
    Gl(String),
}
