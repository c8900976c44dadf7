//! How a frame is drawn, whatever draws it.

use crate::geometry::{Extent, Region};

/// How texels become pixels where the sizes differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Filter {
    /// The nearest texel, exact at 1:1.
    #[default]
    Nearest,
    /// The four nearest texels, weighed.
    Linear,
}

/// How an image is fitted into the viewport.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Fit {
    /// Fills the viewport, whatever that does to the shape.
    #[default]
    Stretch,
    /// As large as fits with its shape kept, centred. What lies beside it is left as it was.
    Contain,
}

/// How a frame is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DrawOptions {
    /// Filter.
    pub filter: Filter,
    /// Fit.
    pub fit: Fit,
    /// Shows images of one channel as grey instead of red.
    pub grey: bool,
}

impl Default for DrawOptions {
    fn default() -> Self {
        Self { filter: Filter::default(), fit: Fit::default(), grey: true }
    }
}

impl Fit {
    /// Where in `area` an image of this size goes. No side of either may be 0.
    pub fn place(self, image: Extent, area: Extent) -> Region {
        match self {
            Self::Stretch => area.full(),
            Self::Contain => contain(image, area),
        }
    }
}

/// The largest rectangle of the image's shape inside `area`, centred.
fn contain(image: Extent, area: Extent) -> Region {
    let (iw, ih) = (u64::from(image.width), u64::from(image.height));
    let (aw, ah) = (u64::from(area.width), u64::from(area.height));
    // One side fills the area; the other is rounded and at least one pixel.
    let (w, h) = if aw * ih <= ah * iw {
        (aw, ((aw * ih + iw / 2) / iw).clamp(1, ah))
    } else {
        (((ah * iw + ih / 2) / ih).clamp(1, aw), ah)
    };
    let inset = |outer: u64, inner: u64| ((outer - inner) / 2) as u32;
    Region::new(inset(aw, w), inset(ah, h), w as u32, h as u32)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contained_images_keep_their_shape() {
        let fit = |iw, ih, aw, ah| Fit::Contain.place(Extent::new(iw, ih), Extent::new(aw, ah));
        assert_eq!(fit(16, 9, 160, 90), Region::new(0, 0, 160, 90));
        assert_eq!(fit(100, 100, 200, 100), Region::new(50, 0, 100, 100));
        assert_eq!(fit(100, 100, 100, 200), Region::new(0, 50, 100, 100));
        assert_eq!(fit(16384, 1, 100, 100), Region::new(0, 49, 100, 1));
        assert_eq!(fit(1, 16384, 1, 1), Region::new(0, 0, 1, 1));
        assert_eq!(Fit::Stretch.place(Extent::new(1, 9), Extent::new(3, 4)), Region::new(0, 0, 3, 4));
    }
}
