//! Position of a picture in a viewport.

use crate::describe::error::{Error, Result};
use crate::describe::geometry::{Extent, Region};
use std::fmt;
use std::str::FromStr;

/// How an image is fitted into the viewport.
///
/// ```
/// use interop_core::{Extent, Fit, Region};
///
/// let (picture, window) = (Extent::new(100, 100), Extent::new(200, 100));
/// assert_eq!(Fit::Stretch.place(picture, window), Region::new(0, 0, 200, 100));
/// assert_eq!(Fit::Contain.place(picture, window), Region::new(50, 0, 100, 100));
/// assert_eq!("contain".parse::<Fit>()?, Fit::Contain);
/// # Ok::<(), interop_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Fit {
    /// Fills the viewport and distorts the image if the shapes differ.
    #[default]
    Stretch,
    /// The largest size that fits with the image's shape, centred (letterboxed).
    Contain,
    /// The smallest size that covers the viewport with the image's shape, centred; the parts outside are not drawn.
    Cover,
    /// The largest whole multiple of the image's size that fits, centred. Images larger than the viewport are drawn
    /// like [`Fit::Contain`].
    Integer,
    /// The image's own size, centred; the parts outside are not drawn.
    None,
    /// The whole image in this rectangle, for viewers that zoom and pan. The parts outside the viewport are not drawn.
    At(Placement),
}

/// A rectangle in pixels of a viewport, whose top left pixel is (0, 0). It may reach outside.
///
/// ```
/// use interop_core::{Extent, Fit, Placement, Region};
///
/// // A picture of 100x100 at ten times its size: the viewport shows a part of it.
/// let zoomed = Fit::At(Placement { x: -300, y: 20, width: 1000, height: 1000 });
/// assert_eq!(zoomed.place(Extent::new(100, 100), Extent::new(200, 100)), Region::new(0, 20, 200, 80));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Placement {
    /// First column, in pixels from the viewport's left edge.
    pub x: i32,
    /// First row, in pixels from the viewport's top edge.
    pub y: i32,
    /// Number of columns; at least 1.
    pub width: u32,
    /// Number of rows; at least 1.
    pub height: u32,
}

impl Placement {
    /// Returns the part inside an area of this size. All fits except [`Fit::At`] make pictures that have such a part.
    pub fn inside(self, area: Extent) -> Region {
        let side = |start: i32, len: u32, limit: u32| {
            let end = (i64::from(start) + i64::from(len)).clamp(0, i64::from(limit)) as u32;
            let start = start.max(0) as u32;
            (start, end.saturating_sub(start))
        };
        let ((x, width), (y, height)) = (side(self.x, self.width, area.width), side(self.y, self.height, area.height));
        Region::new(x, y, width, height)
    }
}

/// Longest side of a placement: beyond it a picture is a line, and its shape no longer matters.
const LONGEST: u64 = i32::MAX as u64;

impl Fit {
    /// Every fit without parameters.
    pub const ALL: [Self; 5] = [Self::Stretch, Self::Contain, Self::Cover, Self::Integer, Self::None];

    /// Name in lower case, as on a command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Stretch => "stretch",
            Self::Contain => "contain",
            Self::Cover => "cover",
            Self::Integer => "integer",
            Self::None => "none",
            Self::At(_) => "at",
        }
    }

    /// Returns the pixels of `area` that show an image of this size; rows count from the top. A side of 0 counts as 1.
    pub fn place(self, image: Extent, area: Extent) -> Region {
        self.placement(image, area).inside(area)
    }

    /// Returns the rectangle of the whole image (a side of 0 counts as 1), of which [`Fit::place`] returns the visible
    /// part.
    pub fn placement(self, image: Extent, area: Extent) -> Placement {
        if let Self::At(placement) = self {
            return placement;
        }
        let sides = |extent: Extent| (u64::from(extent.width.max(1)), u64::from(extent.height.max(1)));
        let ((iw, ih), (aw, ah)) = (sides(image), sides(area));
        let is_wide = aw * ih <= ah * iw;
        let (w, h) = match self {
            Self::Stretch => (aw, ah),
            Self::Integer if iw <= aw && ih <= ah => {
                let times = (aw / iw).min(ah / ih);
                (iw * times, ih * times)
            }
            // One side fills the area; the other is rounded to at least one pixel.
            Self::Contain | Self::Integer if is_wide => (aw, ((aw * ih + iw / 2) / iw).clamp(1, ah)),
            Self::Contain | Self::Integer => (((ah * iw + ih / 2) / ih).clamp(1, aw), ah),
            // Rounded up, so that no line of the area stays empty.
            Self::Cover if is_wide => ((ah * iw).div_ceil(ih), ah),
            Self::Cover => (aw, (aw * ih).div_ceil(iw)),
            Self::None | Self::At(_) => (iw, ih),
        };
        let (w, h) = (w.min(LONGEST), h.min(LONGEST));
        let inset = |outer: u64, inner: u64| (outer.min(LONGEST) as i32 - inner as i32).div_euclid(2);
        Placement { x: inset(aw, w), y: inset(ah, h), width: w as u32, height: h as u32 }
    }
}

impl fmt::Display for Fit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Fit {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let names = || Self::ALL.map(Self::name).join(", ");
        let known = Self::ALL.into_iter().find(|fit| fit.name() == text);
        known.ok_or_else(|| Error::invalid("Fit::from_str", format!("unknown fit '{text}'; use one of {}", names())))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fit(fit: Fit, image: (u32, u32), area: (u32, u32)) -> (i32, i32, u32, u32) {
        let p = fit.placement(Extent::new(image.0, image.1), Extent::new(area.0, area.1));
        (p.x, p.y, p.width, p.height)
    }

    #[test]
    fn contained_images_keep_their_shape() {
        assert_eq!(fit(Fit::Contain, (16, 9), (160, 90)), (0, 0, 160, 90));
        assert_eq!(fit(Fit::Contain, (100, 100), (200, 100)), (50, 0, 100, 100));
        assert_eq!(fit(Fit::Contain, (100, 100), (100, 200)), (0, 50, 100, 100));
        assert_eq!(fit(Fit::Contain, (16384, 1), (100, 100)), (0, 49, 100, 1));
        assert_eq!(fit(Fit::Contain, (1, 16384), (1, 1)), (0, 0, 1, 1));
        assert_eq!(fit(Fit::Stretch, (1, 9), (3, 4)), (0, 0, 3, 4));
    }

    #[test]
    fn covering_whole_and_own_sizes() {
        assert_eq!(fit(Fit::Cover, (100, 100), (200, 100)), (0, -50, 200, 200));
        assert_eq!(fit(Fit::Cover, (3, 2), (5, 5)), (-2, 0, 8, 5));
        assert_eq!(fit(Fit::Integer, (10, 10), (35, 25)), (7, 2, 20, 20));
        assert_eq!(fit(Fit::Integer, (100, 50), (50, 50)), fit(Fit::Contain, (100, 50), (50, 50)));
        assert_eq!(fit(Fit::None, (10, 3), (4, 4)), (-3, 0, 10, 3));
        let p = Placement { x: -3, y: 1, width: 10, height: 3 };
        assert_eq!(p.inside(Extent::new(4, 3)), Region::new(0, 1, 4, 2));
    }

    #[test]
    fn every_fit_shows_something_of_every_image() {
        const SIDES: [u32; 7] = [0, 1, 2, 7, 100, 16384, u32::MAX];
        let sizes: Vec<_> = SIDES.iter().flat_map(|a| SIDES.map(|b| Extent::new(*a, b))).collect();
        let cases = sizes.iter().flat_map(|image| sizes.iter().map(move |area| (*image, *area)));
        for ((image, area), by) in cases.flat_map(|case| Fit::ALL.map(|by| (case, by))) {
            // Displays have no larger ones, and none without pixels.
            let inside = by.place(image, area);
            if area.width.max(area.height) > i32::MAX as u32 || area.width.min(area.height) == 0 {
                continue;
            }
            assert!(inside.check_inside(area).is_ok(), "{by} {image} in {area}: {inside}");
            if matches!(by, Fit::Stretch | Fit::Cover) {
                assert_eq!(inside, area.full(), "{by} {image}");
            }
        }
    }

    #[test]
    fn names_are_read_back() {
        for by in Fit::ALL {
            assert_eq!(by.to_string().parse::<Fit>().unwrap(), by);
        }
        assert!("Contain".parse::<Fit>().is_err());
    }
}
