//! Policy of a caller for the choice of a path.

use crate::compute::ComputeBackend;
use crate::describe::setters::setters;
use crate::describe::surface::SurfaceDesc;
use crate::devices::capability::SyncKind;
use crate::display::Display;
use crate::path::{Pairing, PathId, Paths};
use crate::tournament::Clock;
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// [`Policy::budget`] where nothing else is said.
pub const DEFAULT_BUDGET: Duration = Duration::from_millis(300);

/// Most frames behind. Each costs the memory of one and a half, of two with semaphores.
pub const MAX_FRAMES_BEHIND: usize = 16;

/// Most frames behind that [`Mode::Throughput`] tries if both sides are programs: there is no switch between contexts
/// to save, only two sets of threads to overlap.
const MOST_LATE_SOFTWARE: usize = 2;

/// Selects the frame that is shown; see [`crate::path`] for what that does.
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
    /// The one finished last.
    #[default]
    Latency,
    /// The one finished so many frames before the last, at most [`MAX_FRAMES_BEHIND`], so that compute, display and the
    /// switch between them overlap. Paths that hand over within `finish` show the last one whatever is asked.
    FramesBehind(usize),
    /// The one as many frames before the last as measurement on this machine finds worth it, up to `most`: the least
    /// lateness that is within 2 % of the quickest. `most` itself where the budget is zero.
    Throughput {
        /// At most so many; limits the memory that is taken, too.
        most: usize,
    },
}

impl Mode {
    /// Tells how many frames behind may be shown at most.
    pub const fn most_behind(self) -> usize {
        match self {
            Self::Latency => 0,
            Self::FramesBehind(frames) | Self::Throughput { most: frames } => frames,
        }
    }
}

/// Place where measurements are kept.
///
/// ```
/// use interop_core::Profiles;
///
/// let folder = std::env::temp_dir().join(format!("profiles-{}", std::process::id()));
/// let profiles = Profiles::Folder(folder.clone());
/// profiles.keep("mine.json", "{}");
/// assert_eq!(profiles.read("mine.json").as_deref(), Some("{}"));
/// assert_eq!(Profiles::Off.read("mine.json"), None);
/// # std::fs::remove_dir_all(folder)?;
/// # Ok::<(), std::io::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum Profiles {
    /// `pixelferry/profiles` in the user's cache folder.
    #[default]
    Cache,
    /// In this folder, which is made.
    Folder(PathBuf),
    /// Nowhere: measured each time.
    Off,
}

/// Time at which paths are compared that the start had no time for.
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
    /// Never: the path that the start chose stays unless it fails.
    Off,
    /// In [`crate::Link::compare_paths`] only.
    Asked,
    /// There, and before frames begin, in small steps: for this share of the time that passed since the link was opened, and
    /// no longer after it than `within`.
    ///
    /// In a program that waits between frames (for the screen, for a clock), a step that is longer than that wait is put off to
    /// the second half of `within`: it may make a frame late.
    Spread {
        /// From 0 to 1.
        share: f64,
        /// Since the link was opened, or its surface was changed.
        within: Duration,
    },
}

impl Default for Trials {
    fn default() -> Self {
        Self::Spread { share: 0.02, within: Duration::from_secs(60) }
    }
}

/// Options for the choice of the path, and for its use.
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
    /// Paths that may be taken: the built-in ones, and those that the program adds.
    pub paths: Paths,
    /// Take this path or fail; the error names the alternatives.
    pub force: Option<PathId>,
    /// Try this path before all others.
    pub prefer: Option<PathId>,
    /// Selects the frame that is shown.
    pub mode: Mode,
    /// Keep the two sides apart in this way only; paths that cannot are not offered. `None`: each path's own.
    pub sync: Option<SyncKind>,
    /// Time for opening, proving and timing paths against each other; the first that works is taken in any case. Zero
    /// takes the first that works in the static order. What was measured before costs nothing (see `profiles`).
    pub budget: Duration,
    /// Place where measurements are kept.
    pub profiles: Profiles,
    /// Time at which paths are compared that the budget had no time for. No path is compared if the budget is zero, or
    /// a path is forced or preferred.
    pub trials: Trials,
    /// Clock of the measurements.
    pub clock: Clock,
    /// Variables of the environment that changed this policy (see [`Policy::overridden`]).
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
            clock: Clock::default(),
            overridden: Vec::new(),
        }
    }
}

setters!(Policy {
    /// Sets the paths to choose from.
    with_paths(paths: Paths);
    /// Takes this path or fails; `None` leaves the choice.
    with_force(force: impl Into<Option<PathId>>);
    /// Tries this path before all others.
    with_prefer(prefer: impl Into<Option<PathId>>);
    /// Sets which frame is shown.
    with_mode(mode: Mode);
    /// Sets the only way to keep the two sides apart; `None`: each path's own.
    with_sync(sync: impl Into<Option<SyncKind>>);
    /// Sets the time for opening, proving and timing.
    with_budget(budget: Duration);
    /// Sets where measurements are kept.
    with_profiles(profiles: Profiles);
    /// Sets when paths are compared that the budget had no time for.
    with_trials(trials: Trials);
    /// Sets the clock of measurements.
    with_clock(clock: Clock);
});

impl Policy {
    /// Returns what a path is opened with.
    pub(crate) fn pairing<'a>(
        &self,
        backend: &'a Arc<dyn ComputeBackend>,
        display: &'a Rc<dyn Display>,
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

    /// The budget for choosing a path, and the one for settling how late it shows.
    pub(crate) fn shares(&self) -> (Duration, Duration) {
        match self.mode {
            Mode::Throughput { .. } => (self.budget * 3 / 5, self.budget * 2 / 5),
            _ => (self.budget, Duration::ZERO),
        }
    }
}
