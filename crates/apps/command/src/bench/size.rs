//! Frame sizes and their names.

use pixelferry::Extent;
use std::fmt;
use std::str::FromStr;

/// A frame size with its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Size {
    name: Option<&'static str>,
    /// Width and height in pixels.
    pub extent: Extent,
}

const fn named(name: &'static str, width: u32, height: u32) -> Size {
    Size { name: Some(name), extent: Extent::new(width, height) }
}

impl Size {
    pub const HD: Self = named("720p", 1280, 720);
    pub const FULL_HD: Self = named("1080p", 1920, 1080);
    /// All named sizes, smallest first. `odd` matches no alignment and no power of two.
    pub const NAMED: [Self; 6] = [
        named("tiny", 64, 64),
        named("odd", 1021, 577),
        Self::HD,
        Self::FULL_HD,
        named("4K", 3840, 2160),
        named("8K", 7680, 4320),
    ];
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name {
            Some(name) => f.pad(name),
            None => f.pad(&self.extent.to_string()),
        }
    }
}

impl FromStr for Size {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        if let Some(size) = Self::NAMED.into_iter().find(|s| s.name.is_some_and(|n| n.eq_ignore_ascii_case(text))) {
            return Ok(size);
        }
        let names = || Self::NAMED.map(|s| s.to_string()).join(", ");
        let extent = text.parse().map_err(|reason| format!("unknown size: {reason}; or give one of {}", names()))?;
        Ok(Self::NAMED.into_iter().find(|s| s.extent == extent).unwrap_or(Self { name: None, extent }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_read_by_name_or_number_or_refused_with_a_reason() {
        assert_eq!("1080P".parse(), Ok(Size::FULL_HD));
        assert_eq!("1280x720".parse(), Ok(Size::HD));
        assert_eq!("100x30".parse::<Size>().map(|s| s.to_string()), Ok("100x30".into()));
        for (wrong, says) in [
            ("2K", "1080p"),
            ("0x4", "at least 1x1"),
            ("64x", "a side is missing"),
            ("4x-1", "invalid number"),
            ("", "WIDTHxHEIGHT"),
        ] {
            let reason = wrong.parse::<Size>().unwrap_err();
            assert!(reason.contains(says), "{wrong}: {reason}");
        }
    }
}
