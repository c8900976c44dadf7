//! Structs of C as values of pixelferry, and the reverse.

use crate::abi::*;
use crate::failure::{Failure, Result};
use pixelferry::{
    AlphaMode, BufferDesc, Encoding, ImageAccess, ImageDesc, Mode, PathId, PixelFormat, Policy, Profiles, RowOrder,
    SurfaceDesc, Unwritten,
};
use std::time::Duration;

/// The number of a format in the header, where 0 is none.
pub const fn format_code(format: PixelFormat) -> u32 {
    format.info().shader_id + 1
}

fn named<T: Copy>(field: &str, value: u32, all: &[(u32, T)]) -> Result<T> {
    all.iter().find(|(code, _)| *code == value).map(|(_, meant)| *meant).ok_or_else(|| {
        let codes: Vec<String> = all.iter().map(|(code, _)| code.to_string()).collect();
        Failure::argument(format!("pf_surface.{field} is {value}; the header has {}", codes.join(", ")))
    })
}

const UNWRITTEN: &[(u32, Unwritten)] =
    &[(PF_KEEP, Unwritten::Keep), (PF_CLEAR, Unwritten::Clear), (PF_OVERWRITE, Unwritten::Overwrite)];
const ACCESS: &[(u32, ImageAccess)] = &[(PF_ACCESS_TEXTURE, ImageAccess::Texture), (PF_ACCESS_ANY, ImageAccess::Any)];
const ROW_ORDER: &[(u32, RowOrder)] = &[(PF_TOP_DOWN, RowOrder::TopDown), (PF_BOTTOM_UP, RowOrder::BottomUp)];
const ENCODING: &[(u32, Encoding)] = &[
    (PF_UNMANAGED, Encoding::Unmanaged),
    (PF_SRGB, Encoding::Srgb),
    (PF_LINEAR, Encoding::Linear),
    (PF_GAMMA22, Encoding::Gamma22),
];
const ALPHA: &[(u32, AlphaMode)] = &[
    (PF_ALPHA_STORED, AlphaMode::Stored),
    (PF_ALPHA_OPAQUE, AlphaMode::Opaque),
    (PF_ALPHA_PREMULTIPLIED, AlphaMode::Premultiplied),
    (PF_ALPHA_STRAIGHT, AlphaMode::Straight),
];

/// The number that stands for a value.
fn code<T: Copy + PartialEq>(value: T, all: &[(u32, T)]) -> u32 {
    all.iter().find(|(_, meant)| *meant == value).map_or(0, |(code, _)| *code)
}

impl pf_surface {
    /// The surface in pixelferry's types.
    pub fn desc(&self) -> Result<SurfaceDesc> {
        let unwritten = named("unwritten", self.unwritten, UNWRITTEN)?;
        if self.bytes != 0 {
            if (self.width, self.height, self.format) != (0, 0, 0) {
                let problem =
                    "pf_surface has bytes (a buffer) and width, height or format (an image); give one of them";
                return Err(Failure::argument(problem));
            }
            return Ok(SurfaceDesc::Buffer(BufferDesc::new(self.bytes).with_unwritten(unwritten)));
        }
        let format = PixelFormat::ALL.into_iter().find(|format| format_code(*format) == self.format);
        let format = format.ok_or_else(|| {
            Failure::argument(format!("pf_surface.format is {}, which is no PF_FORMAT_ of the header", self.format))
        })?;
        let image = ImageDesc::new(self.width, self.height, format)
            .with_unwritten(unwritten)
            .with_access(named("access", self.access, ACCESS)?)
            .with_row_order(named("row_order", self.row_order, ROW_ORDER)?)
            .with_encoding(named("encoding", self.encoding, ENCODING)?)
            .with_alpha(named("alpha", self.alpha, ALPHA)?);
        Ok(SurfaceDesc::Image(image))
    }

    /// The surface in C's types.
    pub fn of(desc: &SurfaceDesc) -> Self {
        let none = Self {
            size: size_of::<Self>(),
            bytes: 0,
            format: 0,
            width: 0,
            height: 0,
            unwritten: code(desc.unwritten(), UNWRITTEN),
            access: 0,
            row_order: 0,
            encoding: 0,
            alpha: 0,
        };
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

/// The texts of [`pf_link_options`].
pub struct OptionTexts<'a> {
    /// The path to take or fail.
    pub path: Option<&'a str>,
    /// The path to try first.
    pub prefer: Option<&'a str>,
    /// The folder for what was measured; empty for none.
    pub profiles: Option<&'a str>,
}

impl pf_link_options {
    /// Tells how a path is chosen.
    pub fn policy(&self, texts: &OptionTexts<'_>) -> Result<Policy> {
        let default = Policy::default();
        let path = |name: Option<&str>| -> Result<Option<PathId>> {
            Ok(name.map(|name| default.paths.named(name)).transpose()?)
        };
        let (force, prefer, budget) = (path(texts.path)?, path(texts.prefer)?, default.budget);
        Ok(default
            .with_force(force)
            .with_prefer(prefer)
            .with_mode(match self.frames_behind {
                0 => Mode::Latency,
                frames => Mode::FramesBehind(frames as usize),
            })
            .with_budget(match self.budget_ms {
                0 => budget,
                PF_NO_BUDGET => Duration::ZERO,
                ms => Duration::from_millis(u64::from(ms)),
            })
            .with_profiles(match texts.profiles {
                None => Profiles::Cache,
                Some("") => Profiles::Off,
                Some(folder) => Profiles::Folder(folder.into()),
            }))
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
                    assert_eq!(broken.desc().unwrap_err().status(), PF_ERROR_ARGUMENT);
                }
            }
        }
    }
}
