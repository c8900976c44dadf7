//! Specification of a path as data, and the functions that check and open it.

use super::contract::SharingPath;
use super::cost::{Cost, Medium};
use super::opened::OpenedPath;
use super::pairing::{Direction, Pairing};
use super::plugged::Plugged;
use crate::describe::error::Result;
use crate::describe::panics::catch;
use crate::describe::path_id::{PathId, PathKind};
use crate::describe::surface::MemoryShape;
use crate::devices::capability::{Support, SyncKind};
use std::fmt;

/// One path: what it needs of the two sides, what it costs, and how it is opened.
///
/// The built-in ones are [`super::PATHS`]. A program makes others by [`PathSpec::new`], sets what differs from that,
/// and adds them to [`super::Paths`].
///
/// ```
/// use interop_core::path::{HostRoundTrip, PathSpec, Paths};
/// use cpu_fallback::*;
/// use interop_core::*;
///
/// let mut mine = PathSpec::new("mine", |_| Support::Yes, |pair| Ok(Box::new(HostRoundTrip::open(pair)?)));
/// mine.mechanism = "as the path that always is there";
/// let paths = Paths::default().with(mine)?;
/// let policy = Policy::default().with_force(paths.named("mine")?).with_paths(paths);
/// let (backend, display) = (std::sync::Arc::new(CpuBackend::new()?), MemoryDisplay::new());
/// let desc = SurfaceDesc::image(64, 64, PixelFormat::Rgba8);
/// let link = Link::open(backend, display, desc, LinkOptions::new(policy))?;
/// assert_eq!(link.path().name(), "mine");
/// # Ok::<(), Error>(())
/// ```
pub struct PathSpec {
    /// Identity of the path.
    pub id: PathId,
    /// Its family.
    pub kind: PathKind,
    /// Mechanism in one line, for reports.
    pub mechanism: &'static str,
    /// Kinds of synchronisation that the path can use; the first is the default.
    pub syncs: &'static [SyncKind],
    /// True where it can show frames behind, see [`crate::Mode`].
    pub pipelined: bool,
    /// Cost of each frame; decides when the path is tried.
    pub cost: Cost,
    /// Mechanism of the way back from an object that an engine has, for reports; `None` where the path reaches none.
    pub(super) takes: Option<&'static str>,
    pub(super) means: Means,
}

/// Functions that check and open a path.
pub(super) enum Means {
    /// One of [`super::PATHS`].
    Ours { check_support: fn(&Pairing<'_>) -> Support, open: fn(&Pairing<'_>) -> Result<OpenedPath> },
    /// A program's own.
    Plugged { check_support: Box<CheckSupport>, open: Box<Open> },
}

type CheckSupport = dyn Fn(&Pairing<'_>) -> Support + Send + Sync;
type Open = dyn Fn(&Pairing<'_>) -> Result<Box<dyn SharingPath>> + Send + Sync;

impl PathSpec {
    /// A path of the program's own. `check_support` says from data alone whether both sides can do it, and makes
    /// nothing; `open` makes the surface and the memory that crosses.
    ///
    /// It counts as one that copies each frame once through client memory and waits for both sides
    /// ([`SyncKind::Finish`]), and that shows no frames behind; the fields say otherwise. Where one of the closures or
    /// the path itself panics, the path has failed, as by an error.
    pub fn new(
        name: &'static str,
        check_support: impl Fn(&Pairing<'_>) -> Support + Send + Sync + 'static,
        open: impl Fn(&Pairing<'_>) -> Result<Box<dyn SharingPath>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            id: PathId::unchecked(name),
            kind: PathKind::Plugged,
            mechanism: "a way of the program's own",
            syncs: &[SyncKind::Finish],
            pipelined: false,
            cost: Cost::copied(Medium::Client, 1).waiting(),
            takes: None,
            means: Means::Plugged { check_support: Box::new(check_support), open: Box::new(open) },
        }
    }

    /// Checks whether both sides say that they can do it. Looks at data only; makes nothing.
    pub fn check_support(&self, pairing: &Pairing<'_>) -> Support {
        check_sync(pairing, self.syncs).and(|| match &self.means {
            Means::Ours { check_support, .. } => check_support(pairing).and(|| check_size(pairing, self.cost.medium)),
            Means::Plugged { check_support, .. } => {
                catch(|| check_support(pairing)).unwrap_or_else(|panicked| Support::No(format!("path: {panicked}")))
            }
        })
    }

    /// The mechanism in this direction, where it is one between kernels and an object that an engine has.
    pub(crate) fn reaches(&self, direction: Direction) -> Option<&'static str> {
        self.takes.map(|takes| if direction == Direction::Take { takes } else { self.mechanism })
    }

    /// Makes the surface and the memory that crosses.
    pub fn open(&self, pairing: &Pairing<'_>) -> Result<OpenedPath> {
        match &self.means {
            Means::Ours { open, .. } => open(pairing),
            Means::Plugged { open, .. } => Ok(Plugged::open(self.id, self.syncs, pairing, open.as_ref())?.into()),
        }
    }
}

impl fmt::Debug for PathSpec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PathSpec").field("id", &self.id).field("cost", &self.cost).finish_non_exhaustive()
    }
}

/// Refuses a frame that is larger than the linear memory that the path needs. A texture needs none.
fn check_size(p: &Pairing<'_>, medium: Medium) -> Support {
    let is_texture = p.desc.shape() == MemoryShape::Image && matches!(medium, Medium::Object | Medium::Image);
    if is_texture && p.object != Some(Direction::Take) {
        return Support::Yes;
    }
    let bytes = match p.layout().frame_bytes() {
        Ok(bytes) => bytes as u64,
        Err(error) => return Support::No(format!("surface: {error}")),
    };
    p.backend.caps().fits(bytes).of_the("compute").and(|| match medium {
        // Client memory reaches a texture without a buffer; a path that takes one reads it back the same way.
        Medium::Client if p.desc.shape() == MemoryShape::Image => Support::Yes,
        _ if is_texture => Support::Yes,
        _ => p.display.caps().fits(bytes).of_the("display"),
    })
}

/// The way of taking turns that was asked for, if any.
fn check_sync(p: &Pairing<'_>, syncs: &[SyncKind]) -> Support {
    match p.sync {
        None => Support::Yes,
        Some(kind) if !syncs.contains(&kind) => {
            let known: Vec<_> = syncs.iter().map(SyncKind::to_string).collect();
            Support::No(format!("policy: a {kind} was asked for, this path knows: {}", known.join(", ")))
        }
        Some(kind @ (SyncKind::BinarySemaphore | SyncKind::TimelineSemaphore)) => p
            .backend
            .caps()
            .can_open_semaphore(kind)
            .of_the("compute")
            .and(|| p.display.caps().can_make_semaphore(kind).of_the("display")),
        Some(kind @ SyncKind::SharedEvent) => p.backend.caps().can_open_semaphore(kind).of_the("compute"),
        Some(_) => Support::Yes,
    }
}
