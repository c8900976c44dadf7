//! Colormaps for one channel.

use colorous::Gradient;
use std::sync::OnceLock;

/// Number of colours of a map.
const COLOURS: usize = 256;

/// A colormap of 256 levels for one channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)] // the names say what they are
pub enum Colormap {
    Grey,
    Viridis,
    Magma,
    Turbo,
    /// Red through white to blue, for values on both sides of zero.
    RedBlue,
}

impl Colormap {
    /// Every map with its name.
    pub const ALL: [(Self, &str); 5] = [
        (Self::Grey, "grey"),
        (Self::Viridis, "viridis"),
        (Self::Magma, "magma"),
        (Self::Turbo, "turbo"),
        (Self::RedBlue, "rdbu"),
    ];

    /// Returns the map of that name.
    pub fn named(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|(_, known)| *known == name).map(|(map, _)| map)
    }

    const fn gradient(self) -> Option<Gradient> {
        match self {
            Self::Grey => None,
            Self::Viridis => Some(colorous::VIRIDIS),
            Self::Magma => Some(colorous::MAGMA),
            Self::Turbo => Some(colorous::TURBO),
            Self::RedBlue => Some(colorous::RED_BLUE),
        }
    }

    /// The colours (red, green, blue, alpha) for a number from 0 to 1 times 256, rounded down. `None` for grey, which
    /// has as many levels as the picture.
    pub fn colours(self) -> Option<&'static [[u8; 4]; COLOURS]> {
        static TABLES: [OnceLock<[[u8; 4]; COLOURS]>; Colormap::ALL.len()] = [const { OnceLock::new() }; 5];
        let gradient = self.gradient()?;
        Some(TABLES[self as usize].get_or_init(|| {
            std::array::from_fn(|at| {
                let colour = gradient.eval_rational(at, COLOURS);
                [colour.r, colour.g, colour.b, u8::MAX]
            })
        }))
    }
}
