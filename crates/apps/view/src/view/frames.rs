//! Repeatedly sent arrays: their last frames, pause, and steps from frame to frame.

use super::ArrayView;
use crate::array::Array;
use crate::error::ViewError;
use crate::film::Film;
use crate::ring::FrameStep;
use crate::shown_array::{ShownArray, by_data};
use pixelferry_look::Request;
use std::mem;

impl ArrayView {
    /// Default number of frames to keep of an array, including the shown one: 8.
    pub const MOST_FRAMES: usize = 8;
    /// Default byte limit for kept frames, and separately for pictures of hidden arrays: 1 GiB.
    pub const MOST_BYTES: usize = 1 << 30;

    /// Shows an array beside the others, or in place of the one of its name. The shown array stays the same, with new
    /// numbers; during a pause it keeps its old numbers.
    ///
    /// # Errors
    /// [`ViewError::Refused`] if the array does not match the others' layout; then nothing has changed.
    pub fn put(&mut self, array: Array) -> Result<(), ViewError> {
        self.put_as(array, None)
    }

    /// Like [`ArrayView::put`], with a look of its own, which other arrays do not share. `None` keeps the look of that
    /// name; an array with a new name gets the common look.
    ///
    /// # Errors
    /// Those of [`ArrayView::put`].
    pub fn put_as(&mut self, array: Array, own: Option<Request>) -> Result<(), ViewError> {
        let own = own.map(by_data);
        let at = self.named(array.name());
        let common = || self.all[..self.count].iter().position(|shown| shown.own.is_none());
        let before = &self.all[at.or_else(common).unwrap_or(self.last)];
        let (mut shown, left_out) = ShownArray::new(array, &own.unwrap_or(before.request))?;
        left_out.filter(|_| own.is_some()).map_or(Ok(()), Err)?;
        (shown.asked, shown.own) = (own.map_or(before.asked, |own| own.look.range), own);
        let Some(at) = at else {
            self.all.insert(self.count, shown);
            self.at += usize::from(self.at == self.count);
            self.count += 1;
            return Ok(());
        };
        if self.is_paused {
            let old = &mut self.all[at];
            if own.is_some() && own != old.own {
                (old.asked, old.request, old.own) = (shown.asked, shown.request, own);
            }
            self.all[at].ring.wait(shown.array);
        } else {
            self.enter(at, shown, FrameStep::Newest);
        }
        self.bound();
        Ok(())
    }

    /// Limits the number of frames of each array, including the shown one, and the bytes of all frames. Beyond that the
    /// oldest frames are dropped, first those of the array with the most bytes. The same byte limit applies to pictures
    /// of hidden arrays, which are made again when needed. The defaults are [`ArrayView::MOST_FRAMES`] and
    /// [`ArrayView::MOST_BYTES`]. A frame that waits for the end of a pause is never dropped.
    pub fn keep(&mut self, frames: usize, bytes: usize) {
        self.most = (frames, bytes);
        self.bound();
    }

    /// Bytes of the kept frames without the shown ones.
    pub fn kept(&self) -> usize {
        self.all.iter().map(|shown| shown.ring.bytes()).sum()
    }

    /// Drops frames and pictures beyond the limits.
    pub(super) fn bound(&mut self) {
        while self.kept() > self.most.1 {
            let most = self.all.iter_mut().max_by_key(|shown| shown.ring.spare());
            if !most.is_some_and(|shown| shown.ring.forget()) {
                break;
            }
        }
        let mut hidden: Vec<usize> = (0..self.all.len()).filter(|at| *at != self.at).collect();
        hidden.sort_by_key(|at| self.all[*at].seen);
        let mut bytes: usize = hidden.iter().map(|at| self.all[*at].picture_bytes()).sum();
        for at in hidden {
            if bytes <= self.most.1 {
                break;
            }
            bytes -= self.all[at].picture_bytes();
            self.all[at].feed = None;
        }
    }

    /// Shows an array in place of another, whose numbers move to its ring.
    fn enter(&mut self, at: usize, shown: ShownArray, way: FrameStep) {
        let image = self.image();
        let old = mem::replace(&mut self.all[at], shown);
        let old = self.all[at].replace(old);
        self.all[at].ring.leave(way, old, self.most.0);
        let mut failed = None;
        if self.all.len() > self.count && self.pair.contains(&at) {
            let old = self.all.pop();
            if self.at == self.count {
                let [one, two] = self.pair;
                match self.all[one].minus(&self.all[two], &mut self.differ) {
                    Ok(mut made) => {
                        old.into_iter().for_each(|old| drop(made.replace(old)));
                        self.all.push(made);
                    }
                    Err(error) => failed = Some(error),
                }
            }
        }
        self.at = if failed.is_some() { self.last } else { self.at };
        if self.at == at || self.at == self.count || failed.is_some() {
            self.renew(image);
        }
        failed.into_iter().for_each(|error| self.notice = error.to_string());
    }

    /// Shows another frame of an array. Returns false if there is none.
    fn turn(&mut self, at: usize, way: FrameStep) -> bool {
        let Some(array) = self.all[at].ring.take(way) else { return false };
        match ShownArray::new(array, &self.all[at].request) {
            Ok((shown, _)) => self.enter(at, shown, way),
            Err(refusal) => self.notice = refusal.to_string(),
        }
        true
    }

    /// Shows the previous or next frame; for a difference, that of its first array.
    pub(super) fn step(&mut self, way: FrameStep) {
        self.is_paused = true;
        if !self.turn(self.last, way) {
            self.is_asked = way == FrameStep::Forward;
            let which = if self.is_asked { "newer" } else { "older" };
            self.notice = format!("there is no {which} frame");
        }
    }

    /// Takes the next frame of a film when it is due. In a pause the film stops; a step beyond the last frame shows its
    /// next. Returns true if something changed, so that the view must be redrawn.
    pub fn watch(&mut self, film: &Film) -> bool {
        let is_asked = self.is_asked && self.named(film.name()) == Some(self.last);
        if self.is_paused && !is_asked {
            return false;
        }
        let Some(next) = film.take(is_asked) else { return false };
        let done = next.map_err(ViewError::from).and_then(|array| {
            if !is_asked {
                return self.put(array);
            }
            self.is_asked = false;
            self.notice.clear();
            let (shown, _) = ShownArray::new(array, &self.all[self.last].request)?;
            self.enter(self.last, shown, FrameStep::Newest);
            self.bound();
            Ok(())
        });
        if let Err(error) = done {
            self.notice = format!("{}: {error}", film.name());
            tracing::warn!("{}: {error}", film.name());
        }
        true
    }

    /// Ends the pause and shows the newest frame of each array.
    pub(super) fn resume(&mut self) {
        self.is_paused = false;
        for at in 0..self.count {
            self.turn(at, FrameStep::Newest);
        }
        self.bound();
    }

    /// Sets the message about an array's source, which is shown while there is no other message.
    #[cfg(all(feature = "stream", target_os = "linux"))]
    pub(crate) fn say(&mut self, name: &str, said: String) {
        if let Some(at) = self.named(name) {
            self.all[at].said = said;
        }
    }

    /// Returns the position of the shown frame during a pause, and the message about its source.
    pub(super) fn frame(&self) -> impl Iterator<Item = String> {
        let ShownArray { ring, said, .. } = &self.all[self.last];
        let said = Some(said.clone()).filter(|said| !said.is_empty());
        self.is_paused.then(|| ring.position()).into_iter().chain(said)
    }
}
