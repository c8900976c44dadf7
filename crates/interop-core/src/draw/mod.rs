//! Options of a draw, and its plan, the same for every display.
//!
//! A surface says what its numbers mean ([`crate::ImageDesc`]), [`DrawOptions`] how to show them. [`Plan`] is what
//! follows from both for one draw: displays with shaders turn it into a program and its values, the display in plain
//! memory calls [`paint()`], and all of them come to the same pixels.

mod fit;
mod manner;
mod manners;
mod paint;
mod plan;
mod variant;
pub mod wgsl;

pub use fit::{Fit, Placement};
pub use manner::{Drawn, Manner, Obstacle, Storing, Why};
pub use manners::Manners;
pub use paint::paint;
pub use plan::{Plan, Shading};
pub use variant::Variant;

use crate::describe::color::{TargetEncoding, ToneMap};
use crate::describe::setters::setters;

/// Filter of the texels where sizes differ.
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
    /// The four nearest texels, weighed: as light, with their coverage; the numbers themselves where the surface is
    /// unmanaged.
    Linear,
}

/// Options of a draw. By default every number of the surface goes to the target as it is.
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
/// assert!(options.grey, "one channel is shown as grey unless something else is said");
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct DrawOptions {
    /// Filter.
    pub filter: Filter,
    /// Fit.
    pub fit: Fit,
    /// Shows images of one channel as grey instead of red.
    pub grey: bool,
    /// Colour beside the picture and below translucent pixels: red, green and blue as sRGB numbers in 0..=1, neither
    /// exposed nor tone mapped. All of the viewport is drawn then, and opaque where the picture is not [`Stored`].
    ///
    /// `None`: what is in the target. It stays beside the picture, and translucent pixels are blended with it as the
    /// target's numbers ([`TargetEncoding`]).
    ///
    /// [`Stored`]: crate::AlphaMode::Stored
    pub background: Option<[f32; 3]>,
    /// Exposure in stops: light is multiplied by 2 to the power of it, before tone mapping. Within -32..=32.
    pub exposure: f32,
    /// Tone map.
    pub tone_map: ToneMap,
    /// Encoding that the target expects.
    pub target: TargetEncoding,
    /// Manner of drawing, where the target leaves a choice. `None`: the quicker one, which the first draws find out.
    pub manner: Option<Manner>,
}

setters!(DrawOptions {
    /// Sets the filter.
    with_filter(filter: Filter);
    /// Sets the fit.
    with_fit(fit: Fit);
    /// Sets whether images of one channel are shown as grey, or as red.
    with_grey(grey: bool);
    /// Sets the colour of the background (sRGB numbers in 0..=1); `None`: what is in the target.
    with_background(background: impl Into<Option<[f32; 3]>>);
    /// Sets the exposure in stops.
    with_exposure(exposure: f32);
    /// Sets the tone map.
    with_tone_map(tone_map: ToneMap);
    /// Sets what the target takes its numbers for.
    with_target(target: TargetEncoding);
    /// Sets who writes the pixels; `None`: the quicker one.
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
