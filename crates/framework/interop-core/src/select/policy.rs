//! Policy: the caller's settings for the selection of a path.

use crate::compute::ComputeBackend;
use crate::describe::surface::SurfaceDesc;
use crate::devices::capability::SyncKind;
use crate::display::Display;
use crate::path::{Pairing, PathId, Paths};
use crate::tournament::Clock;
use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

/// Default of [`Policy::budget`].
pub const DEFAULT_BUDGET: Duration = Duration::from_millis(300);

/// Most frames behind. Each costs the memory of one and a half frames, or of two with semaphores.
pub const MAX_FRAMES_BEHIND: usize = 16;

/// Most frames behind that [`Mode::Throughput`] tries where both sides run on the CPU: no switch between GPU contexts
/// is saved there, only two sets of threads overlap.
const MOST_LATE_SOFTWARE: usize = 2;

/// Selects which frame is shown; see [`crate::path`] for the consequences.
///
/// ```
/// use interop_core::{Mode, Policy};
///
/// // Up to four frames behind, where that makes frames quicker.
/// let policy = Policy::default().with_mode(Mode::Throughput { most: 4 });
/// assert_eq!(policy.mode.most_behind(), 4);
/// assert_eq!(Mode::default().most_behind(), 0);
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Mode {
    /// Shows the frame that was finished last.
    #[default]
    Latency,
    /// Shows the frame that was finished so many frames before the last, at most [`MAX_FRAMES_BEHIND`], so that
    /// compute, display and the switch between them overlap. Paths that hand over within `finish` always show the last
    /// frame.
    FramesBehind(usize),
    /// Shows a frame as many frames behind as a measurement on this machine recommends, up to `most`: the smallest
    /// lateness within 2 % of the fastest. Uses `most` itself where the budget is zero.
    Throughput {
        /// Upper limit of the lateness; it also limits the memory use.
        most: usize,
    },
}

impl Mode {
    /// Returns the largest number of frames behind that may be shown.
    pub const fn most_behind(self) -> usize {
        match self {
            Self::Latency => 0,
            Self::FramesBehind(frames) | Self::Throughput { most: frames } => frames,
        }
    }
}

/// Place where measurements are stored.
///
/// ```
/// use interop_core::Profiles;
///
/// let folder = std::env::temp_dir().join(format!("profiles-{}", std::process::id()));
/// let profiles = Profiles::Folder(folder.clone());
/// profiles.keep("mine.json", &[1, 2]);
/// assert_eq!(profiles.read::<[u32; 2]>("mine.json"), Some([1, 2]));
/// assert_eq!(Profiles::Off.read::<[u32; 2]>("mine.json"), None);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Profiles {
    /// The folder `pixelferry/profiles` in the user's cache folder.
    #[default]
    Cache,
    /// This folder, which is created if it is missing.
    Folder(PathBuf),
    /// Nothing is stored: measurements are made each time.
    Off,
}

/// When paths are compared that the start had no time for.
///
/// ```
/// use interop_core::{Policy, Trials};
/// use std::time::Duration;
///
/// // In the first ten seconds, for a hundredth of the time.
/// let trials = Trials::Spread { share: 0.01, within: Duration::from_secs(10) };
/// let policy = Policy::default().with_trials(trials);
/// assert!(policy.trials != Trials::default() && policy.trials != Trials::Off);
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub enum Trials {
    /// Never: the path chosen at the start stays unless it fails.
    Off,
    /// Only in [`Link::compare_paths`](crate::LinkCore::compare_paths).
    Asked,
    /// In [`Link::compare_paths`](crate::LinkCore::compare_paths), and in small steps before frames begin: for this share of the time since the
    /// link was opened, and only until `within` has passed. Of the links of a thread, one at a time compares; the others
    /// leave out what is already remembered ([`Profiles`]).
    ///
    /// In a program that waits between frames (for the screen or for a clock), a step that takes longer than that wait
    /// is postponed to the second half of `within`, because it may delay a frame.
    Spread {
        /// Share of the time, from 0 to 1.
        share: f64,
        /// Time since the link was opened or its surface was changed.
        within: Duration,
    },
}

impl Default for Trials {
    fn default() -> Self {
        Self::Spread { share: 0.02, within: Duration::from_secs(60) }
    }
}

/// Which frames are audited while a program runs; see [`crate::audit`].
///
/// ```
/// use interop_core::{Audit, Policy};
/// use std::num::NonZero;
///
/// let each = Policy::default().with_audit(Audit::Every(NonZero::<u32>::MIN));
/// assert!(each.audit != Audit::default());
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
#[non_exhaustive]
pub enum Audit {
    /// None.
    Off,
    /// Every frame whose number is a multiple of this one.
    Every(NonZero<u32>),
    /// Every 60th frame, and at least one a second while frames are shown. More than ten links of a program share ten such
    /// audits a second.
    #[default]
    Auto,
}

/// Options for the selection of a path, and for its use.
///
/// ```
/// use interop_core::{Mode, PathId, Policy, Profiles};
/// use std::time::Duration;
///
/// // Takes the first path that works, measures nothing and keeps nothing.
/// let at_once = Policy::default().with_budget(Duration::ZERO).with_profiles(Profiles::Off);
/// // Takes this path or fails.
/// let forced = at_once.clone().with_force(PathId::PBO_PERSISTENT);
/// assert!(at_once.force.is_none() && forced.mode == Mode::Latency);
/// ```
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Policy {
    /// Paths to select from: the built-in ones, and those that the program adds.
    pub paths: Paths,
    /// Use this path or fail; the error names the alternatives.
    pub force: Option<PathId>,
    /// Try this path before all others.
    pub prefer: Option<PathId>,
    /// Selects which frame is shown.
    pub mode: Mode,
    /// Use only this synchronisation of the two sides; paths that do not support it are not offered. `None` selects
    /// each path's own.
    pub sync: Option<SyncKind>,
    /// Time for opening, verifying and timing paths against each other. The first path that works is used in any case.
    /// Zero uses the first path that works in the static order. Stored measurements take no time (see `profiles`).
    pub budget: Duration,
    /// Place where measurements are stored.
    pub profiles: Profiles,
    /// When paths are compared that the budget had no time for. No path is compared if the budget is zero, or if a path
    /// is forced or preferred.
    pub trials: Trials,
    /// Which frames are audited.
    pub audit: Audit,
    /// Clock used for measurements.
    pub clock: Clock,
    /// Environment variables that changed this policy (see [`Policy::overridden`]).
    pub overridden: Vec<&'static str>,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            paths: Paths::default(),
            force: None,
            prefer: None,
            mode: Mode::default(),
            sync: None,
            budget: DEFAULT_BUDGET,
            profiles: Profiles::default(),
            trials: Trials::default(),
            audit: Audit::default(),
            clock: Clock::default(),
            overridden: Vec::new(),
        }
    }
}

crate::setters!(Policy {
    /// Sets the paths to select from.
    with_paths(paths: Paths);
    /// Uses this path or fails; `None` leaves the selection open.
    with_force(force: impl Into<Option<PathId>>);
    /// Tries this path before all others.
    with_prefer(prefer: impl Into<Option<PathId>>);
    /// Sets which frame is shown.
    with_mode(mode: Mode);
    /// Sets the only synchronisation of the two sides; `None` selects each path's own.
    with_sync(sync: impl Into<Option<SyncKind>>);
    /// Sets the time for opening, verifying and timing paths.
    with_budget(budget: Duration);
    /// Sets where measurements are stored.
    with_profiles(profiles: Profiles);
    /// Sets when paths are compared that the budget had no time for.
    with_trials(trials: Trials);
    /// Sets which frames are audited.
    with_audit(audit: Audit);
    /// Sets the clock used for measurements.
    with_clock(clock: Clock);
});

impl Policy {
    /// Returns the pairing with which a path is opened.
    pub(crate) fn pairing<'a>(
        &self,
        backend: &'a Arc<dyn ComputeBackend>,
        display: &'a Arc<dyn Display>,
        desc: &'a SurfaceDesc,
    ) -> Pairing<'a> {
        let frames_behind = match self.mode {
            Mode::Throughput { most } if backend.device().software && display.device().software => {
                most.min(MOST_LATE_SOFTWARE)
            }
            mode => mode.most_behind(),
        };
        Pairing { frames_behind, sync: self.sync, ..Pairing::new(backend, display, desc) }
    }

    /// Returns the budget for selecting a path, and the one for settling its lateness.
    pub(crate) fn shares(&self) -> (Duration, Duration) {
        match self.mode {
            Mode::Throughput { .. } => (self.budget * 3 / 5, self.budget * 2 / 5),
            _ => (self.budget, Duration::ZERO),
        }
    }
}
