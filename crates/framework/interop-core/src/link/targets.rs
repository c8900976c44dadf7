//! Targets that kernels write directly, and how frames were shown.

use crate::compute::{ComputeBackend, ComputeMemory, Target};
use crate::describe::error::{Error, Result};
use crate::describe::format::PixelFormat;
use crate::describe::geometry::{Extent, Region, RowOrder};
use crate::describe::pattern::Pattern;
use crate::describe::surface::{ImageDesc, SurfaceDesc, Unwritten};
use crate::describe::view::View;
use crate::display::{Display, ShowTarget, SurfacePart, TargetPixels};
use crate::draw::{Manner, Obstacle};
use crate::path::FrameLayout;
use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

/// Number of targets that a link remembers: more than a swapchain has images.
const REMEMBERED: usize = 8;
/// The same for equivalent textures, which are opened again without a proof.
const REMEMBERED_ALIKE: usize = 2;

/// How [`Link::show`](crate::LinkCore::show) brought a frame into its target.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum ShowOutcome {
    /// Kernels stored into the target, without a draw.
    Straight,
    /// The frame was drawn, for this reason.
    Drawn(Detour),
    /// The link is paused ([`Link::resize`](crate::LinkCore::resize)): nothing was computed or drawn.
    Paused,
}

impl std::fmt::Display for ShowOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Straight => f.write_str("straight into the target"),
            Self::Drawn(why) => write!(f, "drawn ({why})"),
            Self::Paused => f.write_str("paused"),
        }
    }
}

/// Reason why a frame was drawn instead of stored directly into its target.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Detour {
    /// The first frame in a target is drawn; stores are tried afterwards.
    #[error("this is the first frame in this target; from the next one on, kernels try to write straight into it")]
    First,
    /// The surface keeps unwritten pixels.
    #[error(
        "pixels that the kernel leaves out keep their previous values, which this target might not hold; if the kernel \
         writes every pixel, use Unwritten::Overwrite"
    )]
    Keeps,
    /// A manner or a path is forced.
    #[error("{0} was requested")]
    Asked(&'static str),
    /// The picture is scaled, cut, blended or otherwise changed.
    #[error("a draw is needed: {0}")]
    Draws(&'static str),
    /// The two formats differ.
    #[error("frames are {frame}, the target is {target}")]
    Format {
        /// Format of the frames.
        frame: PixelFormat,
        /// Format of the target.
        target: PixelFormat,
    },
    /// Kernels do not run in the display's queue, or cannot store to textures there.
    #[error("{0}")]
    Queue(Cow<'static, str>),
    /// The target lacks a property, which the text names.
    #[error("{0}")]
    Target(#[from] Obstacle),
    /// The draw was faster.
    #[error("drawing was faster: {drawn:.0?} instead of {straight:.0?} for stores straight into the target")]
    Slower {
        /// Time of a frame and its draw.
        drawn: Duration,
        /// Time of a frame stored into the target.
        straight: Duration,
    },
    /// Stores failed, or wrote wrong pixels.
    #[error("stores into the target failed: {0}")]
    Failed(String),
}

/// A rectangle in a target, and the format that is stored there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TargetArea {
    pub pixels: TargetPixels,
    /// Rectangle of the frame in the target, in the display's row order.
    pub region: Region,
    pub order: RowOrder,
}

impl TargetArea {
    /// Describes the target as a surface of which a frame is a part.
    pub fn desc(&self) -> SurfaceDesc {
        let Extent { width, height } = self.pixels.extent;
        let image = ImageDesc::new(width, height, self.pixels.format).with_row_order(self.order);
        SurfaceDesc::Image(image).with_unwritten(Unwritten::Overwrite)
    }

    /// Returns the part of that surface, rows in the frame's order.
    fn part(&self, layout: &FrameLayout) -> SurfacePart {
        layout.native(&SurfacePart::Image(self.region))
    }
}

/// A target's texture, opened by the backend.
pub(super) struct OpenedTarget {
    /// `None` only during the drop.
    memory: Option<Box<dyn ComputeMemory>>,
    pub view: View,
    display: Arc<dyn Display>,
    /// Keeps the handle valid with which `memory` was opened.
    _kept: Box<dyn Any + Send + Sync>,
}

impl OpenedTarget {
    pub fn open(
        backend: &dyn ComputeBackend,
        display: &Arc<dyn Display>,
        target: &mut dyn ShowTarget,
        place: &TargetArea,
    ) -> Result<Self> {
        let desc = place.desc();
        let layout = FrameLayout::new(&desc, display.caps()).unpadded();
        let view = layout.in_place(&place.part(&layout))?.kernel;
        let (handle, kept) = target.handle()?;
        let memory = Some(backend.import_surface(&handle, &desc)?);
        Ok(Self { memory, view, display: Arc::clone(display), _kept: kept })
    }

    pub fn memory(&mut self) -> Result<&mut dyn ComputeMemory> {
        self.memory.as_deref_mut().ok_or(Error::InTarget)
    }

    pub fn target(&mut self) -> Result<Target<'_>> {
        let view = self.view;
        Target::new(self.memory()?, view)
    }

    /// Writes a pattern into the target.
    pub fn pattern(&mut self, backend: &dyn ComputeBackend, pattern: &Pattern) -> Result<()> {
        self.memory()?.acquire()?;
        let written = self.target().and_then(|to| backend.write_pattern(to, pattern));
        self.memory()?.submit().and(written)
    }
}

impl Drop for OpenedTarget {
    fn drop(&mut self) {
        self.display.drop_in_context(Box::new(self.memory.take()));
    }
}

/// The targets in which frames were recently shown, the latest first.
#[derive(Default)]
pub(super) struct Targets {
    known: Vec<(TargetArea, Result<OpenedTarget, Detour>)>,
    /// Whether stores are faster, for one kind of texture such as the images of a swapchain.
    pub timed: Option<(TargetArea, Result<(), Detour>)>,
    /// True while a frame that writes the first target is open.
    pub open: bool,
    /// Manner of every draw that the environment sets.
    pub asked: Option<Manner>,
}

impl Targets {
    /// Creates an empty list.
    ///
    /// # Errors
    /// [`crate::Error::InvalidInput`] for an invalid value of [`Manner::VARIABLE`].
    pub fn new() -> Result<Self> {
        Ok(Self { asked: Manner::asked(&|name| std::env::var_os(name))?, ..Self::default() })
    }

    /// Forgets all targets, because the frames are of another kind now.
    pub fn forget(&mut self) {
        *self = Self { asked: self.asked, ..Self::default() };
    }

    /// Returns the target that the open frame writes, if it writes one directly.
    pub fn writes(&mut self) -> Option<Result<Target<'_>>> {
        self.open.then(|| self.first()?.target())
    }

    /// Ends the open frame; returns false where there is none.
    pub fn close(&mut self) -> bool {
        std::mem::take(&mut self.open)
    }

    pub fn first(&mut self) -> Result<&mut OpenedTarget> {
        match self.known.first_mut() {
            Some((_, Ok(straight))) => Ok(straight),
            _ => Err(Error::InTarget),
        }
    }

    /// Returns the result for this target, which becomes the first in the list.
    pub fn find(&mut self, place: &TargetArea) -> Option<Result<(), Detour>> {
        let at = self.known.iter().position(|(known, _)| known == place)?;
        self.known[..=at].rotate_right(1);
        Some(self.known[0].1.as_ref().map(|_| ()).map_err(Clone::clone))
    }

    /// Records that stores into the first target, and all equivalent ones, failed.
    pub fn fail(&mut self, error: Error) -> Detour {
        let why = Detour::Failed(error.to_string());
        if let Some((_, found)) = self.known.first_mut() {
            *found = Err(why.clone());
        }
        if let Some((_, found)) = &mut self.timed {
            *found = Err(why.clone());
        }
        why
    }

    pub fn note(&mut self, place: TargetArea, found: Result<OpenedTarget, Detour>) {
        self.known.retain(|(known, _)| known.pixels.key != place.pixels.key);
        self.known.insert(0, (place, found));
        // Each frame of a swapchain may have a texture of its own, which must not be kept alive.
        self.known.truncate(if place.pixels.alike { REMEMBERED_ALIKE } else { REMEMBERED });
    }

    /// Returns the measurement for an equivalent texture.
    pub fn measured(&self, place: &TargetArea) -> Option<Result<(), Detour>> {
        let (other, found) = self.timed.as_ref()?;
        let pixels = TargetPixels { key: place.pixels.key, ..other.pixels };
        (TargetArea { pixels, ..*other } == *place).then(|| found.clone())
    }
}
