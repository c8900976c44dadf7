//! Manner of a draw, and the reason for it.

use super::Plan;
use crate::describe::error::{Error, Result};
use crate::describe::variable;
use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Manner of drawing: with the rasteriser or with a compute shader. Both write the same ones; which is quicker depends
/// on the GPU.
///
/// ```
/// use interop_core::{DrawOptions, Manner};
///
/// let by_compute = DrawOptions::default().with_manner("compute".parse::<Manner>()?);
/// assert_eq!(by_compute.manner, Some(Manner::Compute));
/// assert_eq!(DrawOptions::default().manner, None, "the quicker one is found out");
/// # Ok::<(), interop_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// The rasteriser, by one triangle that covers the viewport.
    Triangle,
    /// A compute shader that stores into the target.
    Compute,
}

impl Manner {
    /// Both.
    pub const ALL: [Self; 2] = [Self::Triangle, Self::Compute];

    /// The variable of the environment that stands above [`super::DrawOptions::manner`].
    pub const VARIABLE: &'static str = "PIXELFERRY_DRAW";

    /// Name in lower case, as on a command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Triangle => "triangle",
            Self::Compute => "compute",
        }
    }

    /// Returns what the environment asks for.
    pub(crate) fn asked(get: &dyn Fn(&str) -> Option<OsString>) -> Result<Option<Self>> {
        let wanted = || format!("one of {}", Self::ALL.map(Self::name).join(", "));
        let Some(name) = variable::text(get, Self::VARIABLE, &wanted())? else { return Ok(None) };
        name.parse().map(Some).map_err(|_| variable::wrong(Self::VARIABLE, &name, &wanted()))
    }
}

impl fmt::Display for Manner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Manner {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self> {
        let names = || Self::ALL.map(Self::name).join(", ");
        let known = Self::ALL.into_iter().find(|manner| manner.name() == text);
        known.ok_or_else(|| {
            Error::invalid("Manner::from_str", format!("'{text}' is no manner; give one of {}", names()))
        })
    }
}

/// Reason why a draw can use a triangle only.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Obstacle {
    /// The device or the API lacks what it needs, which this names.
    #[error("there is no compute shader for it: {0}")]
    NoShader(Cow<'static, str>),
    /// The draw is recorded into a render pass of the caller's.
    #[error("it is recorded into a render pass of the caller's")]
    InPass,
    /// The target is a renderbuffer, or nothing.
    #[error("the target is no texture")]
    NoTexture,
    /// The target is a window's own framebuffer into which no picture is copied, which this explains.
    #[error("no picture is copied into this window: {0}")]
    Window(&'static str),
    /// The target is a texture that no image unit takes, which this explains.
    #[error("no shader stores into this texture: {0}")]
    Texture(&'static str),
    /// Shaders do not store to the target's format, which this names.
    #[error("no shader stores to {0}")]
    Format(String),
    /// The draw blends, and shaders do not read the target's format.
    #[error("it blends, and no shader reads {0}")]
    Blends(String),
    /// The target's format encodes, which stores do not.
    #[error("{0} encodes what is drawn, but not what is stored")]
    Encodes(String),
    /// A CPU draws, and nobody looks: to time both manners would take longer than it can gain.
    #[error("a CPU draws, where both manners take about as long")]
    Unmeasured,
    /// The driver refused the shader or its target.
    #[error("the driver refused it: {0}")]
    Refused(String),
}

/// Capabilities of compute shaders for a target that they store to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Storing {
    /// They read it, too.
    pub reads: bool,
    /// They encode, or the format does not.
    pub encodes: bool,
}

impl Plan {
    /// Tells whether a compute shader may do this draw to such a target, whose format is called `format`.
    ///
    /// # Errors
    /// What stands in the way.
    pub fn may_store(&self, target: Storing, format: &dyn fmt::Debug) -> Result<(), Obstacle> {
        if self.blends && !target.reads {
            return Err(Obstacle::Blends(format!("{format:?}")));
        }
        if self.format_encodes && !target.encodes {
            return Err(Obstacle::Encodes(format!("{format:?}")));
        }
        Ok(())
    }
}

/// Reason for the manner of a draw.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Why {
    /// The options or the environment say so.
    Asked,
    /// There is no choice.
    Only(Obstacle),
    /// The draws still measure which manner is quicker.
    Measuring,
    /// The quickest draw of each, of this kind and size.
    Measured {
        /// By a triangle.
        triangle: Duration,
        /// By a compute shader.
        compute: Duration,
    },
}

impl fmt::Display for Why {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked => f.write_str("asked for"),
            Self::Only(obstacle) => obstacle.fmt(f),
            Self::Measuring => f.write_str("being measured"),
            Self::Measured { triangle, compute } => write!(
                f,
                "{:.0} us by a triangle, {:.0} us by compute",
                triangle.as_secs_f64() * 1e6,
                compute.as_secs_f64() * 1e6
            ),
        }
    }
}

/// Report on a draw: its manner, and the reason for that.
///
/// ```
/// use interop_core::draw::Why;
/// use interop_core::{Drawn, Manner};
///
/// let drawn = Drawn::new(Manner::Triangle, false, Why::Asked);
/// assert_eq!(drawn.to_string(), "triangle (asked for)");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Drawn {
    /// Manner of the draw.
    pub manner: Manner,
    /// A compute shader stored into a texture beside the target, which was then copied into it.
    pub copies: bool,
    /// Reason for the manner.
    pub why: Why,
}

impl Drawn {
    /// A draw by `manner`, by way of a copy or not, and why so.
    pub const fn new(manner: Manner, copies: bool, why: Why) -> Self {
        Self { manner, copies, why }
    }
}

impl fmt::Display for Drawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let copies = if self.copies { " and a copy" } else { "" };
        write!(f, "{}{copies} ({})", self.manner, self.why)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_asked_for() {
        for manner in Manner::ALL {
            assert_eq!(manner.to_string().parse::<Manner>().unwrap(), manner);
            let get = |name: &str| (name == Manner::VARIABLE).then(|| OsString::from(manner.name()));
            assert_eq!(Manner::asked(&get).unwrap(), Some(manner));
        }
        assert!("Compute".parse::<Manner>().is_err());
        assert_eq!(Manner::asked(&|_| None).unwrap(), None);
        let error = Manner::asked(&|_| Some("rays".into())).unwrap_err().to_string();
        assert!(error.contains("PIXELFERRY_DRAW is 'rays'") && error.ends_with("triangle, compute"), "{error}");
    }

    #[test]
    fn what_stands_in_the_way_is_said() {
        let plain = Plan::exact(crate::Extent::new(2, 2));
        let able = |reads, encodes| Storing { reads, encodes };
        for (plan, target, expected) in [
            (plain, able(false, false), Ok(())),
            (Plan { blends: true, ..plain }, able(true, false), Ok(())),
            (Plan { blends: true, ..plain }, able(false, true), Err(Obstacle::Blends("7".into()))),
            (Plan { format_encodes: true, ..plain }, able(true, true), Ok(())),
            (Plan { format_encodes: true, ..plain }, able(true, false), Err(Obstacle::Encodes("7".into()))),
        ] {
            assert_eq!(plan.may_store(target, &7), expected);
        }
    }
}
