//! Draw arguments that affect how the current frame looks.

use pixelferry::{Encoding, Fit, SurfaceDesc, ToneMap};
use pixelferry_demo::DrawArgs;

/// A group of draw arguments with a control of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum DrawPart {
    Fit,
    /// Exposure and tone map.
    Light,
    Background,
}

/// Returns why changing this part has no effect on such a surface, or `None` if it has an effect.
pub fn idle(part: DrawPart, desc: &SurfaceDesc, draw_args: &DrawArgs) -> Option<&'static str> {
    let SurfaceDesc::Image(image) = desc else {
        return Some("The scene draws vertices: there is no picture to fit, expose or tone map.");
    };
    let fills = matches!(draw_args.fit, Fit::Stretch | Fit::Cover);
    match part {
        DrawPart::Light if image.encoding == Encoding::Unmanaged => {
            Some("No exposure or tone map: the numbers are shown unchanged. Another tone gives them a meaning.")
        }
        DrawPart::Background if fills && !image.alpha.is_translucent() => {
            Some("No background: the picture is opaque and fills the whole area.")
        }
        _ => None,
    }
}

/// Resets the arguments that have no effect on such a surface or that a draw would refuse.
pub fn suited(draw_args: DrawArgs, desc: &SurfaceDesc) -> DrawArgs {
    match idle(DrawPart::Light, desc, &draw_args) {
        Some(_) => DrawArgs { exposure: 0.0, tone_map: ToneMap::None, ..draw_args },
        None => draw_args,
    }
}
