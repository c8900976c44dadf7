//! Selection of the path that joins an engine's object to a backend: each that both sides offer is tried, and the
//! fastest taken.

use super::way::{Direction, Row, WAYS, Way, row_of};
use crate::describe::error::{Error, Result};
use crate::describe::path_id::PathId;
use crate::path::Pairing;
use std::fmt;
use std::time::Duration;

/// Result of trying one path to an engine's own object.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct EnginePath {
    /// The path.
    pub path: PathId,
    /// Mechanism in words.
    pub mechanism: &'static str,
    /// Time of one crossing, the work of both sides included; or why the path is not there, or failed.
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

/// The path that was taken.
pub(super) struct Chosen {
    pub way: Way,
    pub path: PathId,
    pub rows: Vec<EnginePath>,
}

/// Tries every path, or the one that is asked for.
pub(super) fn choose(
    pairing: &Pairing<'_>,
    by: Option<PathId>,
    direction: Direction,
    mut attempt: impl FnMut(&Row) -> Result<(Way, Duration)>,
) -> Result<Chosen> {
    let (mut rows, mut best, mut first_error) = (Vec::new(), None, None);
    for row in WAYS.iter().filter(|row| by.is_none_or(|id| id == row.id)) {
        let tried = row.offered(pairing).and_then(|()| {
            attempt(row).map_err(|error| {
                let reason = error.to_string();
                tracing::debug!(path = %row.id, %error, "an engine's object");
                first_error.get_or_insert(error);
                reason
            })
        });
        let found = tried.map(|(way, time)| {
            if best.as_ref().is_none_or(|(_, _, fastest)| time < *fastest) {
                best = Some((way, row.id, time));
            }
            time
        });
        rows.push(EnginePath { path: row.id, mechanism: row.mechanism(direction), found });
    }
    if let Some((way, path, _)) = best {
        return Ok(Chosen { way, path, rows });
    }
    let reasons = rows.iter().map(ToString::to_string).collect::<Vec<_>>().join("; ");
    Err(first_error.unwrap_or_else(|| Error::Unavailable {
        what: format!("a path between {} and {}", pairing.display.device(), pairing.backend.device()),
        reason: if reasons.is_empty() { "none of that name reaches an engine's object".into() } else { reasons },
        hint: "Ask for no path, or for host-round-trip.".into(),
    }))
}

/// Opens the fastest path that was not left, now that the one in use is for this reason. Where none works, it is not the
/// paths' fault, and all is as before.
pub(super) fn leave(
    rows: &mut [EnginePath],
    path: &mut PathId,
    why: &Error,
    mut attempt: impl FnMut(&Row) -> Result<(Way, Duration)>,
) -> Result<Way> {
    let (before, mut left, mut why) = (rows.to_vec(), *path, why.clone());
    while let Some(next) = next(rows, left, &why) {
        left = next;
        match row_of(next).and_then(&mut attempt) {
            Ok((way, _)) => {
                *path = next;
                return Ok(way);
            }
            Err(error) => why = error,
        }
    }
    rows.clone_from_slice(&before);
    Err(why)
}

/// The fastest path that was not left, once `left` has been, for this reason.
fn next(rows: &mut [EnginePath], left: PathId, why: &Error) -> Option<PathId> {
    tracing::warn!(path = %left, %why, "an engine's object is reached by another path from now on");
    if let Some(row) = rows.iter_mut().find(|row| row.path == left) {
        row.found = Err(why.to_string());
    }
    let works = rows.iter().filter_map(|row| Some((row.found.as_ref().ok()?, row.path)));
    works.min_by_key(|(time, _)| **time).map(|(_, path)| path)
}
