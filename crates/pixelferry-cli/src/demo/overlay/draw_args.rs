//! Draw arguments that make a difference to the frame on show.

use pixelferry::{Encoding, Fit, SurfaceDesc, ToneMap};
use pixelferry_demo::DrawArgs;

/// Parts that can be chosen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    Fit,
    /// Exposure and tone map.
    Light,
    Background,
}

/// Returns the reason if this choice would change nothing for such a surface.
pub fn idle(part: Part, desc: &SurfaceDesc, draw_args: &DrawArgs) -> Option<&'static str> {
    let SurfaceDesc::Image(image) = desc else {
        return Some("The scene draws vertices: there is no picture to fit, expose or tone map.");
    };
    let fills = matches!(draw_args.fit, Fit::Stretch | Fit::Cover);
    match part {
        Part::Light if image.encoding == Encoding::Unmanaged => {
            Some("No exposure or tone map: the numbers are shown as they are. Another tone says what they mean.")
        }
        Part::Background if fills && !image.alpha.is_translucent() => {
            Some("No background: the picture is opaque, and this fit fills everything.")
        }
        _ => None,
    }
}

/// The arguments without what changes nothing of such a surface, and what no draw would take.
pub fn suited(draw_args: DrawArgs, desc: &SurfaceDesc) -> DrawArgs {
    match idle(Part::Light, desc, &draw_args) {
        Some(_) => DrawArgs { exposure: 0.0, tone_map: ToneMap::None, ..draw_args },
        None => draw_args,
    }
}
