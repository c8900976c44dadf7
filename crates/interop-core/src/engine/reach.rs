//! One engine's object and the path in use to it. A path that fails is left for the next that works.

use super::choose::{Chosen, EnginePath, choose, leave};
use super::way::{Direction, Row, Way};
use crate::compute::ComputeBackend;
use crate::describe::error::{Error, Result};
use crate::describe::path_id::PathId;
use crate::describe::surface::SurfaceDesc;
use crate::display::{Display, Surface};
use crate::path::Pairing;
use std::mem::replace;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

/// Opens a path to the object, proves and times it.
pub(super) type Attempt = fn(&Row, &Pairing<'_>, &mut Surface) -> Result<(Way, Duration)>;

/// The two sides, and what is asked for.
pub(super) struct Wanted {
    pub backend: Arc<dyn ComputeBackend>,
    pub display: Rc<dyn Display>,
    /// The object, with the rules for what crosses.
    pub desc: SurfaceDesc,
    /// The only path that is taken.
    pub by: Option<PathId>,
    pub direction: Direction,
}

/// An object and how it is reached. Stays on the display's thread.
pub(super) struct Reach {
    // Before the surface whose object it may have open.
    way: Way,
    surface: Surface,
    desc: SurfaceDesc,
    rows: Vec<EnginePath>,
    path: PathId,
    backend: Arc<dyn ComputeBackend>,
    display: Rc<dyn Display>,
    attempt: Attempt,
    searches: Searches,
}

/// Origin of an error: the caller or the path.
pub(super) enum Failure {
    Caller(Error),
    Path(Error),
}

/// State that was left in the middle of a turn, restored if no other path works.
struct Left {
    why: Error,
    way: Way,
    path: PathId,
    rows: Vec<EnginePath>,
}

impl Reach {
    /// By the fastest path, or by the one that is asked for.
    pub fn open(wanted: Wanted, mut surface: Surface, attempt: Attempt) -> Result<Self> {
        let Wanted { backend, display, desc, by, direction } = wanted;
        let pairing = Pairing::new(&backend, &display, &desc);
        let tried = |row: &Row| attempt(row, &pairing, &mut surface);
        let Chosen { way, path, rows } = choose(&pairing, by, direction, tried)?;
        Ok(Self { way, surface, desc, rows, path, backend, display, attempt, searches: Searches::default() })
    }

    /// The description of what crosses.
    pub fn desc(&self) -> &SurfaceDesc {
        &self.desc
    }

    /// Waits until both sides have done what they were told.
    pub fn finish(&self) -> Result<()> {
        self.backend.finish()?;
        self.display.finish()
    }

    pub fn path(&self) -> PathId {
        self.path
    }

    pub fn rows(&self) -> &[EnginePath] {
        &self.rows
    }

    pub fn surface_mut(&mut self) -> &mut Surface {
        &mut self.surface
    }

    pub fn way(&mut self) -> &mut Way {
        &mut self.way
    }

    /// Does one turn by the path in use. One that fails is left for the next that works, and the turn is done again there.
    ///
    /// Where none does it, it is not the paths' fault: all is as before, and the first error is given. The next turns that fail
    /// then try no other path, up to [`Searches::MOST`] of them.
    pub fn turn(
        &mut self,
        mut turn: impl FnMut(&mut Way, &mut Surface, &dyn ComputeBackend) -> Result<(), Failure>,
    ) -> Result<()> {
        let mut left = None;
        loop {
            match turn(&mut self.way, &mut self.surface, self.backend.as_ref()) {
                Ok(()) => {
                    self.searches = Searches::default();
                    return Ok(());
                }
                Err(Failure::Caller(error)) => return Err(error),
                Err(Failure::Path(error)) => self.leave(error, &mut left)?,
            }
        }
    }

    /// Goes on by the fastest path that was not left.
    fn leave(&mut self, why: Error, left: &mut Option<Left>) -> Result<()> {
        if !why.is_of_the_path() || (left.is_none() && !self.searches.is_due()) {
            return Err(self.restore(why, left.take()));
        }
        let Self { surface, desc, rows, path, backend, display, attempt, .. } = self;
        let (before, used) = (rows.clone(), *path);
        let pairing = Pairing::new(backend, display, desc);
        match leave(rows, path, &why, |row| attempt(row, &pairing, surface)) {
            Ok(way) => {
                let way = replace(&mut self.way, way);
                left.get_or_insert(Left { why, way, path: used, rows: before });
                Ok(())
            }
            Err(error) => {
                self.searches.found_none();
                tracing::warn!(%error, pause = self.searches.pause, "no path to the engine's object works");
                Err(self.restore(why, left.take()))
            }
        }
    }

    /// Goes back to what was left. The error that the caller gets.
    fn restore(&mut self, why: Error, left: Option<Left>) -> Error {
        let Some(left) = left else { return why };
        (self.way, self.path, self.rows) = (left.way, left.path, left.rows);
        left.why
    }
}

/// Schedule of the searches for another path after all failed: each is opened and proved, which takes many times as
/// long as a turn.
#[derive(Debug, Default)]
struct Searches {
    /// Failed turns between the last search and the next.
    pause: u32,
    /// Failed turns until the next search.
    left: u32,
}

impl Searches {
    /// Failed turns between two searches at most.
    const MOST: u32 = 64;

    /// True where a turn that failed is followed by a search.
    fn is_due(&mut self) -> bool {
        let is_due = self.left == 0;
        self.left = self.left.saturating_sub(1);
        is_due
    }

    /// Twice as long a pause each time.
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
