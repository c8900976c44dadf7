//! Versions of OpenGL and of OpenGL ES, as drivers report them.

use interop_core::{Error, Result};

/// Lowest version of desktop OpenGL that this crate supports, as (major, minor).
pub const MIN_VERSION: (u32, u32) = (3, 3);

/// Lowest version of OpenGL ES that this crate supports, as (major, minor).
pub const MIN_ES_VERSION: (u32, u32) = (3, 0);

/// Lowest version of OpenGL ES with compute shaders.
pub(crate) const ES_COMPUTE: (u32, u32) = (3, 1);

/// A version of OpenGL or OpenGL ES.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct GlVersion {
    /// True for OpenGL ES, whose versions are numbered separately.
    pub es: bool,
    /// Major and minor number.
    pub number: (u32, u32),
}

impl GlVersion {
    /// Parses a `GL_VERSION`; `None` for an invalid text, and for OpenGL ES 1, which has another form.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (es, text) = text.strip_prefix("OpenGL ES ").map_or((false, text), |rest| (true, rest));
        let mut numbers = text.split([' ', '.']);
        let number = (numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?);
        Some(Self { es, number })
    }

    /// Returns the version that glow has read.
    pub(crate) fn of(gl: &glow::Context) -> Self {
        let version = glow::HasContext::version(gl);
        Self { es: version.is_embedded, number: (version.major, version.minor) }
    }
}

impl std::fmt::Display for GlVersion {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (major, minor) = self.number;
        write!(f, "OpenGL{} {major}.{minor}", if self.es { " ES" } else { "" })
    }
}

/// Rejects versions older than [`MIN_VERSION`] and [`MIN_ES_VERSION`]; `text` is the driver's version string.
pub(crate) fn check_version(version: Option<GlVersion>, text: &str) -> Result<()> {
    if version.is_some_and(|v| v.number >= if v.es { MIN_ES_VERSION } else { MIN_VERSION }) {
        return Ok(());
    }
    let ((major, minor), (es_major, es_minor)) = (MIN_VERSION, MIN_ES_VERSION);
    Err(Error::Unsupported {
        operation: "GlDisplay",
        device: named(text),
        reason: format!(
            "OpenGL {major}.{minor} or OpenGL ES {es_major}.{es_minor} is needed, or a later version of either"
        ),
    })
}

/// Rejects contexts other than OpenGL ES, and those without compute shaders; `text` is the driver's version string.
pub(crate) fn check_es_version(text: &str) -> Result<()> {
    if GlVersion::parse(text).is_some_and(|v| v.es && v.number >= ES_COMPUTE) {
        return Ok(());
    }
    Err(Error::Unsupported {
        operation: "EsContext::headless",
        device: text.to_owned(),
        reason: format!("compute shaders need OpenGL ES {}.{} or later", ES_COMPUTE.0, ES_COMPUTE.1),
    })
}

/// Version strings of OpenGL ES already contain its name.
pub(crate) fn named(text: &str) -> String {
    if text.starts_with("OpenGL") { text.to_owned() } else { format!("OpenGL {text}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_that_compute() {
        for good in ["OpenGL ES 3.1 Mesa 22.3.6", "OpenGL ES 3.2 NVIDIA 580.159"] {
            assert!(check_es_version(good).is_ok());
        }
        for bad in ["OpenGL ES 3.0 Mesa", "4.5 (Core Profile) Mesa", "", "OpenGL ES"] {
            assert!(check_es_version(bad).unwrap_err().to_string().contains("3.1"));
        }
    }

    #[test]
    fn versions() {
        let desktop = |number| Some(GlVersion { es: false, number });
        let es = |number| Some(GlVersion { es: true, number });
        assert_eq!(GlVersion::parse("4.5 (Core Profile) Mesa 22.3.6"), desktop((4, 5)));
        assert_eq!(GlVersion::parse("4.6.0 NVIDIA 580.159"), desktop((4, 6)));
        assert_eq!(GlVersion::parse("OpenGL ES 3.2 Mesa 22.3.6"), es((3, 2)));
        assert_eq!(GlVersion::parse("OpenGL ES 3.0.0 (ANGLE 2.1.0)"), es((3, 0)));
        for none in ["", "OpenGL ES", "OpenGL ES-CM 1.1 Mesa", "Mesa"] {
            assert_eq!(GlVersion::parse(none), None);
        }
    }

    #[test]
    fn what_is_too_old_is_called_by_its_name() {
        for good in ["3.3.0", "4.6.0 NVIDIA", "OpenGL ES 3.0 Mesa", "OpenGL ES 3.2 Mesa"] {
            assert!(check_version(GlVersion::parse(good), good).is_ok(), "{good}");
        }
        for (old, device) in [
            ("3.2 Mesa", "OpenGL 3.2 Mesa"),
            ("OpenGL ES 2.0 Mesa", "OpenGL ES 2.0 Mesa"),
            ("OpenGL ES-CM 1.1 Mesa", "OpenGL ES-CM 1.1 Mesa"),
        ] {
            let Err(Error::Unsupported { device: named, reason, .. }) = check_version(GlVersion::parse(old), old)
            else {
                panic!("{old} was taken")
            };
            assert_eq!(named, device);
            assert!(reason.contains("3.3") && reason.contains("ES 3.0"), "{reason}");
        }
    }
}
