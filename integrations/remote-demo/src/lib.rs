//! Scenes of pixelferry's demo as pictures, one after the other.

use clap::ValueEnum;
use pixelferry::{BackendChoice, ImageDesc, LinkOptions, MemoryDisplay, PixelFormat, open_backend, picture_with};
use pixelferry_demo::pixels::Pixels;
use pixelferry_demo::scenes::fluid::Fluid;
use pixelferry_demo::scenes::plasma::Plasma;
use pixelferry_demo::{Scene, SceneError};

/// Scenes that are pictures by themselves; the demo's others are drawn by OpenGL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Shown {
    /// Waves of colour.
    Plasma,
    /// Three jets of dye that meet, mix and roll up.
    Fluid,
}

/// Time passes by the frame, as where the demo has no window: the same frame is the same picture.
const SECONDS_PER_FRAME: f32 = 1.0 / 30.0;

/// A scene that computes frame after frame.
pub struct Frames {
    scene: Box<dyn Scene>,
    image: ImageDesc,
    next: u16,
}

impl Frames {
    /// Opens a backend and makes the scene, of `size` pixels.
    ///
    /// # Errors
    /// [`SceneError`] where no backend opens, or the scene cannot be made.
    pub fn open(shown: Shown, backend: BackendChoice, size: (u32, u32)) -> Result<Self, SceneError> {
        let (pixels, display, options) = (Pixels::default(), MemoryDisplay::new(), LinkOptions::default());
        let sources = match shown {
            Shown::Plasma => Plasma::sources(pixels),
            Shown::Fluid => Fluid::sources(pixels),
        };
        let backend = open_backend(backend, &sources)?;
        let scene: Box<dyn Scene> = match shown {
            Shown::Plasma => Box::new(Plasma::new(backend, display, size, pixels, options)?),
            Shown::Fluid => Box::new(Fluid::new(backend, display, size, pixels, options)?),
        };
        Ok(Self { scene, image: ImageDesc::new(size.0, size.1, PixelFormat::Rgba8), next: 0 })
    }

    /// Returns what each picture is.
    pub fn image(&self) -> ImageDesc {
        self.image
    }

    /// Returns the device that computes.
    pub fn device(&mut self) -> String {
        self.scene.link().report().compute.to_string()
    }

    /// Computes the next frame; its pixels in tight rows.
    ///
    /// # Errors
    /// [`SceneError`] from the scene.
    pub fn compute(&mut self) -> Result<Vec<u8>, SceneError> {
        // Time begins again before a step of it is less than what an f32 tells apart.
        self.scene.advance(f32::from(self.next) * SECONDS_PER_FRAME)?;
        self.next = self.next.wrapping_add(1);
        let options = self.scene.draw_options().copied().unwrap_or_default();
        Ok(picture_with(self.scene.link(), &options)?.into_raw())
    }
}
