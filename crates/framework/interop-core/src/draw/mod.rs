//! Options of a draw, and its plan, shared by all displays.
//!
//! A surface describes the meaning of its numbers ([`crate::ImageDesc`]), and [`DrawOptions`] say how to show them.
//! [`Plan`] combines both for one draw. Displays with shaders turn it into a program and its parameters, the display in
//! plain memory calls [`paint()`], and all of them produce the same pixels.

mod fit;
mod manner;
mod manners;
mod paint;
mod plan;
mod variant;
pub mod wgsl;

pub use fit::{Fit, Placement};
pub use manner::{DrawReport, Manner, MannerReason, Obstacle, StoreCaps};
pub use manners::Manners;
pub use paint::paint;
pub use plan::{Plan, Shading};
pub use variant::Variant;

use crate::describe::color::{TargetEncoding, ToneMap};

/// How texels are filtered where sizes differ.
///
/// ```
/// use interop_core::{DrawOptions, Filter};
///
/// assert_eq!(DrawOptions::default().filter, Filter::Nearest);
/// let smooth = DrawOptions::default().with_filter(Filter::Linear);
/// assert_eq!(smooth.filter, Filter::Linear);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Filter {
    /// The nearest texel, exact at 1:1.
    #[default]
    Nearest,
    /// A weighted average of the four nearest texels: of their light and coverage, or of the numbers themselves where
    /// the surface is unmanaged.
    Linear,
}

/// Options of a draw. By default every number of the surface goes to the target unchanged.
///
/// ```
/// use interop_core::{DrawOptions, Filter, Fit};
///
/// // Letterboxed on dark grey, one stop brighter.
/// let options = DrawOptions::default()
///     .with_fit(Fit::Contain)
///     .with_filter(Filter::Linear)
///     .with_background([0.1; 3])
///     .with_exposure(1.0);
/// assert!(options.grey, "one channel is shown as grey by default");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct DrawOptions {
    /// Filter where sizes differ.
    pub filter: Filter,
    /// How the image is fitted into the viewport.
    pub fit: Fit,
    /// Shows images of one channel as grey instead of red.
    pub grey: bool,
    /// Colour beside the picture and behind translucent pixels: red, green and blue as sRGB numbers in 0..=1, neither
    /// exposed nor tone mapped. With it, the whole viewport is drawn, opaque unless the picture is [`Stored`].
    ///
    /// `None` keeps the target's content: it stays beside the picture, and translucent pixels are blended with it as
    /// the target's numbers ([`TargetEncoding`]).
    ///
    /// [`Stored`]: crate::AlphaMode::Stored
    pub background: Option<[f32; 3]>,
    /// Exposure in stops, within -32..=32: light is multiplied by 2 to this power before tone mapping.
    pub exposure: f32,
    /// Tone map for light brighter than white.
    pub tone_map: ToneMap,
    /// Encoding that the target expects.
    pub target: TargetEncoding,
    /// Manner of drawing, where the target allows several. `None` selects the faster one, which the first draws
    /// measure.
    pub manner: Option<Manner>,
}

crate::setters!(DrawOptions {
    /// Sets the filter where sizes differ.
    with_filter(filter: Filter);
    /// Sets how the image is fitted into the viewport.
    with_fit(fit: Fit);
    /// Sets whether images of one channel are shown as grey, otherwise as red.
    with_grey(grey: bool);
    /// Sets the colour of the background (sRGB numbers in 0..=1); `None` keeps the target's content.
    with_background(background: impl Into<Option<[f32; 3]>>);
    /// Sets the exposure in stops, within -32..=32.
    with_exposure(exposure: f32);
    /// Sets the tone map for light brighter than white.
    with_tone_map(tone_map: ToneMap);
    /// Sets the encoding that the target expects.
    with_target(target: TargetEncoding);
    /// Sets the manner of drawing; `None` selects the faster one.
    with_manner(manner: impl Into<Option<Manner>>);
});

impl Default for DrawOptions {
    fn default() -> Self {
        Self {
            filter: Filter::default(),
            fit: Fit::default(),
            grey: true,
            background: None,
            exposure: 0.0,
            tone_map: ToneMap::default(),
            target: TargetEncoding::default(),
            manner: None,
        }
    }
}
