//! Connects an engine's object through the fastest of the paths that both sides offer. A path that fails is replaced by
//! the next one that works.

use super::proof;
use crate::compute::ComputeBackend;
use crate::describe::error::{Error, Result};
use crate::describe::surface::SurfaceDesc;
use crate::describe::view::View;
use crate::devices::capability::Support;
use crate::display::{Display, Surface};
use crate::path::{Direction, OpenedPath, PATHS, Pairing, PathId, PathSpec, SharingPath};
use std::fmt;
use std::mem::{replace, swap};
use std::sync::Arc;
use std::time::Duration;

/// Result of trying one path to an engine's own object.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EnginePath {
    /// The path that was tried.
    pub path: PathId,
    /// Description of the mechanism.
    pub mechanism: &'static str,
    /// Time of one transfer, including the work of both sides, or the reason why the path is not offered or failed.
    pub found: Result<Duration, String>,
}

impl fmt::Display for EnginePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.found {
            Ok(time) => write!(f, "{}: {} ({time:.1?})", self.path, self.mechanism),
            Err(reason) => write!(f, "{}: {reason}", self.path),
        }
    }
}

/// Iterates over the paths that support an engine's object, with their mechanism in this direction.
pub(super) fn paths(direction: Direction) -> impl Iterator<Item = (&'static PathSpec, &'static str)> {
    PATHS.iter().filter_map(move |spec| Some((spec, spec.reaches(direction)?)))
}

/// The two sides and the settings.
pub(super) struct EngineRequest {
    pub backend: Arc<dyn ComputeBackend>,
    pub display: Arc<dyn Display>,
    /// Description of the object, with the settings of the transfer.
    pub desc: SurfaceDesc,
    pub direction: Direction,
}

impl EngineRequest {
    fn pairing(&self) -> Pairing<'_> {
        Pairing { object: Some(self.direction), ..Pairing::new(&self.backend, &self.display, &self.desc) }
    }
}

/// An object and its current path.
///
/// A [`crate::Link`] replaces its path differently: the earlier path stays on show with its own surface until the next
/// one has a frame, so paths and surfaces belong together there. Here a single surface moves from path to path:
/// `Link::take(&mut self, Selection, &SurfaceDesc) -> Option<OpenedPath>` there, but here `proof::open(&PathSpec,
/// &Pairing, &mut Surface) -> Result<(OpenedPath, Duration)>`.
pub(super) struct ObjectReach {
    /// The current path, with the object as its surface.
    path: OpenedPath,
    id: PathId,
    rows: Vec<EnginePath>,
    wanted: EngineRequest,
    searches: Searches,
}

/// Origin of an error: the caller or the path.
pub(super) enum Failure {
    Caller(Error),
    Path(Error),
}

/// State from the middle of a turn, restored if no other path works.
struct SuspendedPath {
    why: Error,
    path: OpenedPath,
    id: PathId,
    rows: Vec<EnginePath>,
}

impl ObjectReach {
    pub fn display(&self) -> &Arc<dyn Display> {
        &self.wanted.display
    }

    /// Opens the fastest path, or the requested one.
    pub fn open(wanted: EngineRequest, mut object: Surface, by: Option<PathId>) -> Result<Self> {
        let pairing = wanted.pairing();
        let (mut rows, mut best, mut first_error) = (Vec::new(), None, None);
        for (spec, mechanism) in paths(wanted.direction).filter(|(spec, _)| by.is_none_or(|id| id == spec.id)) {
            let tried = match spec.check_support(&pairing) {
                Support::No(reason) => Err(reason),
                Support::Yes => proof::open(spec, &pairing, &mut object).map_err(|error| {
                    let error = error.with_states(|| pairing.display.unusual_states());
                    let reason = error.to_string();
                    tracing::debug!(path = %spec.id, %error, "an engine's object");
                    first_error.get_or_insert(error);
                    reason
                }),
            };
            let found = tried.map(|(path, time)| {
                if best.as_ref().is_none_or(|(_, _, fastest)| time < *fastest) {
                    best = Some((path, spec.id, time));
                }
                time
            });
            rows.push(EnginePath { path: spec.id, mechanism, found });
        }
        let Some((mut path, id, _)) = best else {
            let reasons = rows.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
            return Err(first_error.unwrap_or_else(|| {
                Error::unavailable(
                    format!("a path between {} and {}", pairing.display.device(), pairing.backend.device()),
                    if reasons.is_empty() { "no path of that name supports engine's objects".into() } else { reasons },
                    "Request no path, or host-round-trip.",
                )
            }));
        };
        swap(path.surface_mut(), &mut object);
        Ok(Self { path, id, rows, wanted, searches: Searches::default() })
    }

    /// Returns the description of the object.
    pub fn desc(&self) -> &SurfaceDesc {
        &self.wanted.desc
    }

    /// Waits until both sides have done all their work.
    pub fn finish(&self) -> Result<()> {
        self.wanted.backend.finish()?;
        self.wanted.display.finish()
    }

    pub fn id(&self) -> PathId {
        self.id
    }

    pub fn rows(&self) -> &[EnginePath] {
        &self.rows
    }

    pub fn surface(&self) -> &Surface {
        self.path.surface()
    }

    /// Returns the layout of the whole object in the memory that kernels read.
    pub fn whole(&self) -> Result<View> {
        self.wanted.pairing().layout().whole()
    }

    /// Returns the current path, whose surface is the object.
    pub fn path(&mut self) -> &mut OpenedPath {
        &mut self.path
    }

    /// Does one turn on the current path. If it fails, the next path that works replaces it and repeats the turn.
    ///
    /// Where no path can do the turn, the paths are not at fault: the earlier state is restored, and the first error is
    /// returned. The next failing turns then try no other path, up to [`Searches::MOST`] of them.
    pub fn turn(
        &mut self,
        mut turn: impl FnMut(&mut OpenedPath, &dyn ComputeBackend) -> Result<(), Failure>,
    ) -> Result<()> {
        let mut left = None;
        loop {
            match turn(&mut self.path, self.wanted.backend.as_ref()) {
                Ok(()) => {
                    self.searches = Searches::default();
                    return Ok(());
                }
                Err(Failure::Caller(error)) => return Err(error),
                Err(Failure::Path(error)) => self.leave(error, &mut left)?,
            }
        }
    }

    /// Continues with the fastest path that has not failed.
    fn leave(&mut self, why: Error, left: &mut Option<SuspendedPath>) -> Result<()> {
        if !why.is_of_the_path() || (left.is_none() && !self.searches.is_due()) {
            return Err(self.restore(why, left.take()));
        }
        let (rows, used) = (self.rows.clone(), self.id);
        match self.next_that_works(why.clone()) {
            Ok((mut path, id)) => {
                swap(path.surface_mut(), self.path.surface_mut());
                let path = replace(&mut self.path, path);
                self.id = id;
                left.get_or_insert(SuspendedPath { why, path, id: used, rows });
                Ok(())
            }
            Err(error) => {
                self.rows = rows;
                self.searches.found_none();
                tracing::warn!(%error, pause = self.searches.pause, "no path to the engine's object works");
                Err(self.restore(why, left.take()))
            }
        }
    }

    /// Opens the fastest path that has not failed, after the current one failed with `why`.
    fn next_that_works(&mut self, mut why: Error) -> Result<(OpenedPath, PathId)> {
        let mut left = self.id;
        loop {
            tracing::warn!(path = %left, %why, "an engine's object uses another path from now on");
            if let Some(row) = self.rows.iter_mut().find(|row| row.path == left) {
                row.found = Err(why.to_string());
            }
            let works = self.rows.iter().filter_map(|row| Some((row.found.as_ref().ok()?, row.path)));
            let next = works.min_by_key(|(time, _)| **time).and_then(|(_, id)| PATHS.iter().find(|spec| spec.id == id));
            let Some(spec) = next else { return Err(why) };
            match proof::open(spec, &self.wanted.pairing(), self.path.surface_mut()) {
                Ok((path, _)) => return Ok((path, spec.id)),
                Err(error) => (left, why) = (spec.id, error),
            }
        }
    }

    /// Restores the replaced path and returns the error for the caller.
    fn restore(&mut self, why: Error, left: Option<SuspendedPath>) -> Error {
        let Some(mut left) = left else { return why };
        swap(left.path.surface_mut(), self.path.surface_mut());
        (self.path, self.id, self.rows) = (left.path, left.id, left.rows);
        left.why
    }
}

/// Schedule of the searches for another path after all have failed. A search opens and verifies each path, which takes
/// many times as long as a turn.
#[derive(Debug, Default)]
struct Searches {
    /// Failed turns between the last search and the next.
    pause: u32,
    /// Failed turns that remain until the next search.
    left: u32,
}

impl Searches {
    /// Most failed turns between two searches.
    const MOST: u32 = 64;

    /// True where a failed turn is followed by a search.
    fn is_due(&mut self) -> bool {
        let is_due = self.left == 0;
        self.left = self.left.saturating_sub(1);
        is_due
    }

    /// Doubles the pause.
    fn found_none(&mut self) {
        self.pause = (2 * self.pause).clamp(1, Self::MOST);
        self.left = self.pause;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_between_searches_grow_up_to_a_limit() {
        let mut searches = Searches::default();
        let mut failed = 0;
        let mut pauses = Vec::new();
        while pauses.len() < 10 {
            if searches.is_due() {
                pauses.push(failed);
                failed = 0;
                searches.found_none();
            } else {
                failed += 1;
            }
        }
        assert_eq!(pauses, [0, 1, 2, 4, 8, 16, 32, 64, 64, 64]);
    }
}
