//! The requested codec: fixed, or chosen for the connection.

use pixelferry_media::wire::Codec;
use std::fmt;
use std::str::FromStr;

/// Packing of pixels before they are sent.
///
/// ```
/// use pixelferry_media::wire::Codec;
/// use pixelferry_rules::packing::Packing;
///
/// assert_eq!("auto".parse(), Ok(Packing::Auto { lossy: false }));
/// assert_eq!(Packing::from(Codec::Lz4).to_string(), "lz4");
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Packing {
    /// Always this codec.
    Fixed(Codec),
    /// The codec with which a picture is expected to arrive first: the sender measures how fast it encodes, and
    /// receivers measure the connection. `lossy` also allows JPEG.
    Auto {
        /// Whether pixels may change slightly.
        lossy: bool,
    },
}

impl Packing {
    /// Every way to pack, as on the command line.
    pub const ALL: [Self; 5] = [
        Self::Fixed(Codec::None),
        Self::Fixed(Codec::Lz4),
        Self::Fixed(Codec::Jpeg),
        Self::Auto { lossy: false },
        Self::Auto { lossy: true },
    ];

    /// Name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fixed(codec) => codec.name(),
            Self::Auto { lossy: false } => "auto",
            Self::Auto { lossy: true } => "auto-lossy",
        }
    }
}

impl Default for Packing {
    fn default() -> Self {
        Self::Fixed(Codec::None)
    }
}

impl From<Codec> for Packing {
    fn from(codec: Codec) -> Self {
        Self::Fixed(codec)
    }
}

impl fmt::Display for Packing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Packing {
    type Err = String;

    /// By [`Packing::name`].
    fn from_str(text: &str) -> Result<Self, String> {
        if text == "h264" {
            return Err("video is for browsers only: pixelferry-net web --codec h264".into());
        }
        let found = Self::ALL.into_iter().find(|packing| packing.name() == text);
        found.ok_or_else(|| format!("unknown codec '{text}'; use {}", Self::ALL.map(Self::name).join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_has_a_name_that_comes_back() {
        for packing in Packing::ALL {
            assert_eq!(packing.to_string().parse(), Ok(packing));
        }
        assert!("h264".parse::<Packing>().unwrap_err().contains("web --codec h264"));
        assert!("zip".parse::<Packing>().unwrap_err().contains("none, lz4, jpeg, auto, auto-lossy"));
    }
}
