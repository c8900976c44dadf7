//! Specification of a path as data, with the functions that check and open it.

use super::contract::SharingPath;
use super::cost::{Cost, Medium};
use super::opened_path::OpenedPath;
use super::pairing::{Direction, Pairing};
use super::plugged_path::PluggedPath;
use crate::describe::error::Result;
use crate::describe::panics::catch;
use crate::describe::path_id::{PathId, PathKind};
use crate::describe::surface::MemoryShape;
use crate::devices::capability::{Support, SyncKind};

/// One path: its requirements on the two sides, its cost, and how it is opened.
///
/// The built-in ones are [`super::PATHS`]. A program creates others with [`PathSpec::new`], changes fields as needed,
/// and adds them to [`super::Paths`].
///
/// ```
/// use interop_core::path::{HostRoundTrip, PathSpec, Paths};
/// use cpu_fallback::*;
/// use interop_core::*;
///
/// let mut mine = PathSpec::new("mine", |_| Support::Yes, |pair| Ok(Box::new(HostRoundTrip::open(pair)?)));
/// mine.mechanism = "like the path that always exists";
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
    /// Family of the path.
    pub kind: PathKind,
    /// Mechanism in one line, for reports.
    pub mechanism: &'static str,
    /// Synchronisations that the path supports; the first is the default.
    pub syncs: &'static [SyncKind],
    /// True where it can show frames behind, see [`crate::Mode`].
    pub pipelined: bool,
    /// Cost of each frame; determines when the path is tried.
    pub cost: Cost,
    /// Mechanism in the opposite direction, from an engine's object, for reports; `None` where the path does not
    /// support engine's objects.
    pub(super) takes: Option<&'static str>,
    pub(super) means: PathFns,
}

/// Functions that check and open a path.
pub(super) enum PathFns {
    /// A path of [`super::PATHS`].
    Ours { check_support: fn(&Pairing<'_>) -> Support, open: fn(&Pairing<'_>) -> Result<OpenedPath> },
    /// A program's own path.
    Plugged { check_support: Box<CheckSupport>, open: Box<Open> },
}

type CheckSupport = dyn Fn(&Pairing<'_>) -> Support + Send + Sync;
type Open = dyn Fn(&Pairing<'_>) -> Result<Box<dyn SharingPath>> + Send + Sync;

impl PathSpec {
    /// Creates a program's own path. `check_support` says from data alone whether both sides support it, and creates
    /// nothing; `open` creates the surface and the shared memory.
    ///
    /// By default the path counts as one that copies each frame once through client memory, waits for both sides
    /// ([`SyncKind::Finish`]) and shows no frames behind; the fields change that. A panic of a closure or of the path
    /// itself counts as a failure of the path.
    pub fn new(
        name: &'static str,
        check_support: impl Fn(&Pairing<'_>) -> Support + Send + Sync + 'static,
        open: impl Fn(&Pairing<'_>) -> Result<Box<dyn SharingPath>> + Send + Sync + 'static,
    ) -> Self {
        Self {
            id: PathId::unchecked(name),
            kind: PathKind::Plugged,
            mechanism: "a path that the program supplies",
            syncs: &[SyncKind::Finish],
            pipelined: false,
            cost: Cost::copied(Medium::Client, 1).waiting(),
            takes: None,
            means: PathFns::Plugged { check_support: Box::new(check_support), open: Box::new(open) },
        }
    }

    /// Checks whether both sides claim to support it. Compares only data; creates nothing.
    pub fn check_support(&self, pairing: &Pairing<'_>) -> Support {
        check_sync(pairing, self.syncs).and(|| match &self.means {
            PathFns::Ours { check_support, .. } => check_support(pairing).and(|| check_size(pairing, self.cost.medium)),
            PathFns::Plugged { check_support, .. } => {
                catch(|| check_support(pairing)).unwrap_or_else(|panicked| Support::No(format!("path: {panicked}")))
            }
        })
    }

    /// Returns the mechanism in this direction, where the path connects kernels and an engine's object.
    pub(crate) fn reaches(&self, direction: Direction) -> Option<&'static str> {
        self.takes.map(|takes| if direction == Direction::Take { takes } else { self.mechanism })
    }

    /// Creates the surface and the shared memory.
    pub fn open(&self, pairing: &Pairing<'_>) -> Result<OpenedPath> {
        match &self.means {
            PathFns::Ours { open, .. } => open(pairing),
            PathFns::Plugged { open, .. } => Ok(PluggedPath::open(self.id, self.syncs, pairing, open.as_ref())?.into()),
        }
    }
}

crate::debug_as!(PathSpec, |this| id = &this.id, cost = &this.cost);

/// Rejects a frame that is larger than the linear memory that the path needs. A texture needs none.
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
        // Client memory reaches a texture without a buffer; a path that takes one reads it back in the same way.
        Medium::Client if p.desc.shape() == MemoryShape::Image => Support::Yes,
        _ if is_texture => Support::Yes,
        _ => p.display.caps().fits(bytes).of_the("display"),
    })
}

/// Checks the requested synchronisation, if there is one.
fn check_sync(p: &Pairing<'_>, syncs: &[SyncKind]) -> Support {
    match p.sync {
        None => Support::Yes,
        Some(kind) if !syncs.contains(&kind) => {
            let known: Vec<_> = syncs.iter().map(SyncKind::to_string).collect();
            Support::No(format!("policy: a {kind} was requested, but this path supports: {}", known.join(", ")))
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
