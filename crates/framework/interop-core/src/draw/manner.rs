//! The manner of a draw, and the reason for it.

use super::Plan;
use crate::describe::error::{Error, Result};
use crate::describe::variable;
use std::borrow::Cow;
use std::ffi::OsString;
use std::fmt;
use std::str::FromStr;
use std::time::Duration;

/// Manner of drawing: with the rasteriser or with a compute shader. Both write the same pixels; which is faster depends
/// on the GPU.
///
/// ```
/// use interop_core::{DrawOptions, Manner};
///
/// let by_compute = DrawOptions::default().with_manner("compute".parse::<Manner>()?);
/// assert_eq!(by_compute.manner, Some(Manner::Compute));
/// assert_eq!(DrawOptions::default().manner, None, "the faster one is measured");
/// # Ok::<(), interop_core::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Manner {
    /// The rasteriser, with one triangle that covers the viewport.
    Triangle,
    /// A compute shader that stores into the target.
    Compute,
}

impl Manner {
    /// Both manners.
    pub const ALL: [Self; 2] = [Self::Triangle, Self::Compute];

    /// The environment variable that overrides [`super::DrawOptions::manner`].
    pub const VARIABLE: &'static str = "PIXELFERRY_DRAW";

    /// Name in lower case, as on a command line.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Triangle => "triangle",
            Self::Compute => "compute",
        }
    }

    /// Returns the manner that the environment requests.
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
            Error::invalid("Manner::from_str", format!("unknown manner '{text}'; use one of {}", names()))
        })
    }
}

/// Reason why a draw can only use a triangle.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Obstacle {
    /// The device or the API lacks a feature, which this names.
    #[error("a compute shader is not available: {0}")]
    NoShader(Cow<'static, str>),
    /// The draw is recorded into a render pass of the caller.
    #[error("the draw is recorded into the caller's render pass")]
    InPass,
    /// The target is a renderbuffer, or has no texture.
    #[error("the target is not a texture")]
    NoTexture,
    /// The target is a window's own framebuffer into which a picture cannot be copied, for this reason.
    #[error("a picture cannot be copied into this window: {0}")]
    Window(&'static str),
    /// The target is a texture that cannot be bound to an image unit, for this reason.
    #[error("shaders cannot store into this texture: {0}")]
    Texture(&'static str),
    /// Shaders cannot store to the target's format, which this names.
    #[error("shaders cannot store to {0}")]
    Format(String),
    /// The draw blends, and shaders cannot read the target's format, which this names.
    #[error("the draw blends, and shaders cannot read {0}")]
    Blends(String),
    /// The target's format, which this names, encodes on draws but not on stores.
    #[error("{0} applies its encoding when something is drawn, but not when a shader stores pixels")]
    Encodes(String),
    /// A CPU draws into an offscreen target: timing both manners would take longer than it can gain.
    #[error("the CPU draws, and on a CPU a triangle and a compute shader are about equally fast")]
    Unmeasured,
    /// The driver rejected the shader or its target, with this message.
    #[error("the driver rejected the shader or its target: {0}")]
    Refused(String),
}

/// Capabilities of compute shaders for a target that they store to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreCaps {
    /// True where shaders can also read the target.
    pub reads: bool,
    /// True where stores encode, or the format does not require it.
    pub encodes: bool,
}

impl Plan {
    /// Tells whether a compute shader may do this draw to such a target, whose format is named `format`.
    ///
    /// # Errors
    /// The obstacle.
    pub fn may_store(&self, target: StoreCaps, format: &dyn fmt::Debug) -> Result<(), Obstacle> {
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
pub enum MannerReason {
    /// The options or the environment request it.
    Asked,
    /// There is no other manner, because of this obstacle.
    Only(Obstacle),
    /// The draws still measure which manner is quicker.
    Measuring,
    /// The fastest draw in each manner, for draws of this kind and size.
    Measured {
        /// Time with a triangle.
        triangle: Duration,
        /// Time with a compute shader.
        compute: Duration,
    },
}

impl fmt::Display for MannerReason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Asked => f.write_str("requested"),
            Self::Only(obstacle) => obstacle.fmt(f),
            Self::Measuring => f.write_str("being measured"),
            Self::Measured { triangle, compute } => write!(
                f,
                "{:.0} us with a triangle, {:.0} us with compute",
                triangle.as_secs_f64() * 1e6,
                compute.as_secs_f64() * 1e6
            ),
        }
    }
}

/// How a draw was done: its manner, and the reason for it.
///
/// ```
/// use interop_core::draw::MannerReason;
/// use interop_core::{DrawReport, Manner};
///
/// let drawn = DrawReport::new(Manner::Triangle, false, MannerReason::Asked);
/// assert_eq!(drawn.to_string(), "triangle (requested)");
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct DrawReport {
    /// Manner of the draw.
    pub manner: Manner,
    /// True where a compute shader stored into a texture that was then copied into the target.
    pub copies: bool,
    /// Reason for the manner.
    pub why: MannerReason,
}

impl DrawReport {
    /// Describes a draw with its manner, whether it used a copy, and the reason.
    pub const fn new(manner: Manner, copies: bool, why: MannerReason) -> Self {
        Self { manner, copies, why }
    }
}

impl fmt::Display for DrawReport {
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
        assert!(error.contains("'rays' for PIXELFERRY_DRAW") && error.ends_with("triangle, compute"), "{error}");
    }

    #[test]
    fn what_stands_in_the_way_is_said() {
        let plain = Plan::exact(crate::Extent::new(2, 2));
        let able = |reads, encodes| StoreCaps { reads, encodes };
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
