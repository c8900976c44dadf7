//! Converts structs of C to values of pixelferry, and back.

use crate::abi::*;
use crate::failure::{Failure, Result};
use pixelferry::{
    AlphaMode, Audit, BufferDesc, DrawOptions, Encoding, Filter, Fit, ImageAccess, ImageDesc, Mode, OutletOptions,
    PixelFormat, Placement, Policy, Profiles, RowOrder, ShowOutcome, SurfaceDesc, TargetEncoding, ToneMap, Unwritten,
    View,
};
use std::num::NonZero;
use std::time::Duration;

/// Number of a format in the header, where 0 means no format.
pub const fn format_code(format: PixelFormat) -> u32 {
    format.info().shader_id + 1
}

/// Format with this number in the header.
pub fn format(of: &str, code: u32) -> Result<PixelFormat> {
    PixelFormat::ALL
        .into_iter()
        .find(|format| format_code(*format) == code)
        .ok_or_else(|| Failure::argument(format!("{of}.format is {code}, which is not a PIXELFERRY_FORMAT_ value")))
}

/// Bytes per row, and number of rows, of a frame.
pub fn shape(view: &View) -> (usize, usize) {
    match view {
        View::Image(image) => (image.row_len(), image.extent.height as usize),
        View::Buffer(buffer) => (buffer.len, 1),
    }
}

/// Refuses host memory that a frame with this pitch does not fit into.
pub fn check_pitch(bytes: usize, row_pitch: usize, (row, rows): (usize, usize)) -> Result<()> {
    let needed = rows.checked_sub(1).and_then(|gaps| gaps.checked_mul(row_pitch)).and_then(|n| n.checked_add(row));
    if row_pitch >= row && needed.is_some_and(|needed| bytes >= needed) {
        return Ok(());
    }
    Err(Failure::argument(format!(
        "{bytes} bytes with a row pitch of {row_pitch} do not match: the frame has {rows} rows of {row} bytes"
    )))
}

/// Number of a `ShowOutcome` value in the header.
pub const fn showed_code(showed: &ShowOutcome) -> u32 {
    match showed {
        ShowOutcome::Straight => PIXELFERRY_SHOWED_STRAIGHT,
        ShowOutcome::Paused => PIXELFERRY_SHOWED_PAUSED,
        _ => PIXELFERRY_SHOWED_DRAWN,
    }
}

fn named<T: Copy>(field: &str, value: u32, all: &[(u32, T)]) -> Result<T> {
    all.iter().find(|(code, _)| *code == value).map(|(_, meant)| *meant).ok_or_else(|| {
        let codes: Vec<String> = all.iter().map(|(code, _)| code.to_string()).collect();
        Failure::argument(format!("{field} is {value}, which is invalid; use {}", codes.join(", ")))
    })
}

const UNWRITTEN: &[(u32, Unwritten)] = &[
    (PIXELFERRY_LOAD_KEEP, Unwritten::Keep),
    (PIXELFERRY_LOAD_CLEAR, Unwritten::Clear),
    (PIXELFERRY_LOAD_OVERWRITE, Unwritten::Overwrite),
];
const ACCESS: &[(u32, ImageAccess)] =
    &[(PIXELFERRY_ACCESS_TEXTURE, ImageAccess::Texture), (PIXELFERRY_ACCESS_ANY, ImageAccess::Any)];
const ROW_ORDER: &[(u32, RowOrder)] =
    &[(PIXELFERRY_ROWS_TOP_DOWN, RowOrder::TopDown), (PIXELFERRY_ROWS_BOTTOM_UP, RowOrder::BottomUp)];
/// Zero is the default in Rust, the display's own order.
const OUTLET_ROWS: &[(u32, Option<RowOrder>)] = &[
    (PIXELFERRY_OUTLET_ROWS_STORED, None),
    (PIXELFERRY_OUTLET_ROWS_BOTTOM_UP, Some(RowOrder::BottomUp)),
    (PIXELFERRY_OUTLET_ROWS_TOP_DOWN, Some(RowOrder::TopDown)),
];
const ENCODING: &[(u32, Encoding)] = &[
    (PIXELFERRY_ENCODING_UNMANAGED, Encoding::Unmanaged),
    (PIXELFERRY_ENCODING_SRGB, Encoding::Srgb),
    (PIXELFERRY_ENCODING_LINEAR, Encoding::Linear),
    (PIXELFERRY_ENCODING_GAMMA22, Encoding::Gamma22),
];
const ALPHA: &[(u32, AlphaMode)] = &[
    (PIXELFERRY_ALPHA_STORED, AlphaMode::Stored),
    (PIXELFERRY_ALPHA_OPAQUE, AlphaMode::Opaque),
    (PIXELFERRY_ALPHA_PREMULTIPLIED, AlphaMode::Premultiplied),
    (PIXELFERRY_ALPHA_STRAIGHT, AlphaMode::Straight),
];

const FILTER: &[(u32, Filter)] =
    &[(PIXELFERRY_FILTER_NEAREST, Filter::Nearest), (PIXELFERRY_FILTER_LINEAR, Filter::Linear)];
const TARGET: &[(u32, TargetEncoding)] = &[
    (PIXELFERRY_TARGET_SRGB, TargetEncoding::Srgb),
    (PIXELFERRY_TARGET_SRGB_FORMAT, TargetEncoding::SrgbFormat),
    (PIXELFERRY_TARGET_LINEAR, TargetEncoding::Linear),
];
const IS_GREY: &[(u32, bool)] = &[(PIXELFERRY_ONE_CHANNEL_GREY, true), (PIXELFERRY_ONE_CHANNEL_RED, false)];
const HAS_BACKGROUND: &[(u32, bool)] = &[(PIXELFERRY_BACKGROUND_KEEP, false), (PIXELFERRY_BACKGROUND_COLOR, true)];

/// Returns the number of a value.
fn code<T: Copy + PartialEq>(value: T, all: &[(u32, T)]) -> u32 {
    all.iter().find(|(_, meant)| *meant == value).map_or(0, |(code, _)| *code)
}

impl pf_surface {
    /// Converts to pixelferry's type.
    pub fn desc(&self) -> Result<SurfaceDesc> {
        let unwritten = named("pf_surface.unwritten", self.unwritten, UNWRITTEN)?;
        if self.bytes != 0 {
            if (self.width, self.height, self.format) != (0, 0, 0) {
                let problem =
                    "pf_surface has bytes (a buffer) and width, height or format (an image); give only one of the two";
                return Err(Failure::argument(problem));
            }
            return Ok(SurfaceDesc::Buffer(BufferDesc::new(self.bytes).with_unwritten(unwritten)));
        }
        let image = ImageDesc::new(self.width, self.height, format("pf_surface", self.format)?)
            .with_unwritten(unwritten)
            .with_access(named("pf_surface.access", self.access, ACCESS)?)
            .with_row_order(named("pf_surface.row_order", self.row_order, ROW_ORDER)?)
            .with_encoding(named("pf_surface.encoding", self.encoding, ENCODING)?)
            .with_alpha(named("pf_surface.alpha", self.alpha, ALPHA)?);
        Ok(SurfaceDesc::Image(image))
    }

    /// Converts to C's type.
    pub fn of(desc: &SurfaceDesc) -> Self {
        let none = Self { unwritten: code(desc.unwritten(), UNWRITTEN), ..Self::blank() };
        match desc {
            SurfaceDesc::Buffer(buffer) => Self { bytes: buffer.bytes, ..none },
            SurfaceDesc::Image(image) => Self {
                format: format_code(image.format),
                width: image.extent.width,
                height: image.extent.height,
                access: code(image.access, ACCESS),
                row_order: code(image.row_order, ROW_ORDER),
                encoding: code(image.encoding, ENCODING),
                alpha: code(image.alpha, ALPHA),
                ..none
            },
        }
    }
}

impl pf_link_options {
    fn modes(&self) -> [(u32, Mode); 2] {
        let most = self.frames_behind as usize;
        let fixed = if most == 0 { Mode::Latency } else { Mode::FramesBehind(most) };
        [(PIXELFERRY_MODE_FRAMES_BEHIND, fixed), (PIXELFERRY_MODE_THROUGHPUT, Mode::Throughput { most })]
    }

    /// Converts the options for choosing a path, given their texts: the paths to use or fail and to try first, and the
    /// folder for measurements, empty for none.
    pub fn policy(&self, [path, prefer]: [Option<&str>; 2], profiles: Option<&str>) -> Result<Policy> {
        let default = Policy::default();
        let named_path = |name: Option<&str>| name.map(|name| default.paths.named(name)).transpose();
        let (force, prefer, budget) = (named_path(path)?, named_path(prefer)?, default.budget);
        Ok(default
            .with_force(force)
            .with_prefer(prefer)
            .with_mode(named("pf_link_options.mode", self.mode, &self.modes())?)
            .with_budget(match self.budget_ms {
                0 => budget,
                PIXELFERRY_BUDGET_NONE => Duration::ZERO,
                ms => Duration::from_millis(u64::from(ms)),
            })
            .with_audit(match self.audit {
                PIXELFERRY_AUDIT_OFF => Audit::Off,
                every => NonZero::new(every).map_or(Audit::Auto, Audit::Every),
            })
            .with_profiles(match profiles {
                None => Profiles::Cache,
                Some("") => Profiles::Off,
                Some(folder) => Profiles::Folder(folder.into()),
            }))
    }
}

impl pf_draw_options {
    /// Converts the options for drawing an image.
    pub fn draw(&self) -> Result<DrawOptions> {
        let (x, y, width, height) = (self.placed_x, self.placed_y, self.placed_width, self.placed_height);
        let fits = [
            (PIXELFERRY_FIT_STRETCH, Fit::Stretch),
            (PIXELFERRY_FIT_CONTAIN, Fit::Contain),
            (PIXELFERRY_FIT_COVER, Fit::Cover),
            (PIXELFERRY_FIT_INTEGER, Fit::Integer),
            (PIXELFERRY_FIT_NONE, Fit::None),
            (PIXELFERRY_FIT_AT, Fit::At(Placement { x, y, width, height })),
        ];
        // Zero is the default of every field, and an invalid white point.
        let white = if self.white == 0.0 { f32::INFINITY } else { self.white };
        let tone_maps = [
            (PIXELFERRY_TONE_MAP_NONE, ToneMap::None),
            (PIXELFERRY_TONE_MAP_CLAMP, ToneMap::Clamp),
            (PIXELFERRY_TONE_MAP_REINHARD, ToneMap::Reinhard { white }),
            (PIXELFERRY_TONE_MAP_ACES_NARKOWICZ, ToneMap::AcesNarkowicz),
            (PIXELFERRY_TONE_MAP_ACES_HILL, ToneMap::AcesHill),
        ];
        let has_background = named("pf_draw_options.background", self.background, HAS_BACKGROUND)?;
        Ok(DrawOptions::default()
            .with_filter(named("pf_draw_options.filter", self.filter, FILTER)?)
            .with_fit(named("pf_draw_options.fit", self.fit, &fits)?)
            .with_grey(named("pf_draw_options.one_channel", self.one_channel, IS_GREY)?)
            .with_background(has_background.then_some([self.red, self.green, self.blue]))
            .with_exposure(self.exposure)
            .with_tone_map(named("pf_draw_options.tone_map", self.tone_map, &tone_maps)?)
            .with_target(named("pf_draw_options.target", self.target, TARGET)?))
    }
}

impl pf_outlet_options {
    /// Converts the options of an outlet; `path` is the text of the field.
    pub fn outlet(&self, path: Option<&str>) -> Result<OutletOptions> {
        Ok(OutletOptions::default()
            .with_path(path.map(|path| Policy::default().paths.named(path)).transpose()?)
            .with_unwritten(named("pf_outlet_options.unwritten", self.unwritten, UNWRITTEN)?)
            .with_row_order(named("pf_outlet_options.row_order", self.row_order, OUTLET_ROWS)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_surface_that_c_can_describe_comes_back_as_it_was() {
        for format in PixelFormat::ALL {
            for (unwritten, access, row_order) in [(0, 0, 0), (1, 1, 0), (2, 0, 1)] {
                let image = pf_surface {
                    size: size_of::<pf_surface>(),
                    bytes: 0,
                    format: format_code(format),
                    width: 3,
                    height: 2,
                    unwritten,
                    access,
                    row_order,
                    encoding: unwritten,
                    alpha: 3 - unwritten,
                };
                let again = pf_surface::of(&image.desc().unwrap());
                let fields = |s: &pf_surface| (s.format, s.width, s.height, s.unwritten, s.access, s.row_order);
                assert_eq!(fields(&again), fields(&image));
                assert_eq!((again.encoding, again.alpha, again.bytes), (image.encoding, image.alpha, 0));
                for broken in [
                    pf_surface { format: 0, ..image },
                    pf_surface { format: 99, ..image },
                    pf_surface { bytes: 5, ..image },
                    pf_surface { unwritten: 3, ..image },
                    pf_surface { access: 2, ..image },
                    pf_surface { alpha: 4, ..image },
                ] {
                    assert_eq!(broken.desc().unwrap_err().status(), PIXELFERRY_ERROR_ARGUMENT);
                }
            }
        }
    }
}
