//! The thread that runs a shared link and its display.

use super::gate::{FinishedFrame, Gate, ended};
use crate::compute::ComputeBackend;
use crate::describe::error::Result;
use crate::describe::panics;
use crate::describe::surface::SurfaceDesc;
use crate::display::{Display, Surface};
use crate::link::{Link, LinkCore, LinkOptions, WriteFrame};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender};

/// Closure that computes a frame.
pub(super) type Compute = Box<dyn FnMut(&mut WriteFrame<'_>) -> Result<()> + Send>;

/// Closure that is called with the link, or with the error that ended it.
pub(super) type Call = Box<dyn FnOnce(Result<&mut LinkCore>) + Send>;

/// A job for the worker.
pub(super) enum Job {
    /// Compute a frame, hand it over, and send the result.
    Frame(Compute, Sender<Result<()>>),
    /// Call a closure with the link.
    Link(Call),
}

/// Arguments with which the worker opens its link.
pub(super) struct WorkerArgs<M, G> {
    pub backend: Arc<dyn ComputeBackend>,
    pub display: M,
    pub desc: SurfaceDesc,
    pub options: LinkOptions,
    pub give: G,
}

struct Worker<'a, D, T, G> {
    link: Link,
    /// Argument of the closure `give`.
    display: D,
    give: G,
    gate: &'a Gate<T>,
    number: u64,
}

/// Runs the worker. `opened` receives whether the link could be opened.
pub(super) fn work<D, T, M, G>(
    opening: WorkerArgs<M, G>,
    gate: &Gate<T>,
    jobs: &Receiver<Job>,
    opened: &Sender<Result<()>>,
) where
    M: FnOnce() -> Result<(Arc<dyn Display>, D)>,
    G: Fn(&D, &Surface) -> Result<T>,
{
    let WorkerArgs { backend, display, desc, options, give } = opening;
    let link = panics::as_error("what opens a SharedLink", || {
        let (shows, display) = display()?;
        Ok((Link::open(backend, shows, desc, options)?, display))
    });
    let mut worker = match link {
        Ok((link, display)) => Worker { link, display, give, gate, number: 0 },
        Err(error) => {
            // The caller of `open` waits for this.
            let _ = opened.send(Err(error));
            return;
        }
    };
    let _ = opened.send(Ok(()));
    for job in jobs {
        match job {
            Job::Frame(compute, done) => {
                if let Err(unread) = done.send(worker.frame(compute))
                    && let Err(error) = unread.0
                {
                    tracing::warn!(%error, "a frame of a shared link failed, and no caller waits for its result");
                }
            }
            Job::Link(f) => worker.with(f),
        }
    }
    gate.end();
}

impl<D, T, G: Fn(&D, &Surface) -> Result<T>> Worker<'_, D, T, G> {
    fn frame(&mut self, mut compute: Compute) -> Result<()> {
        let gate = self.gate;
        if self.link.may_show_before_a_frame() {
            gate.close()?;
        }
        // Frames that are shown late are not waited for, so that they overlap.
        let waits = self.link.frames_behind() == 0;
        let done = panics::as_error("a frame of a SharedLink", || {
            self.link.frame(|frame| {
                compute(frame)?;
                if waits {
                    // The wait is done here because no other code waits on this thread.
                    frame.backend().finish()?;
                }
                gate.close()
            })
        });
        drop(compute);
        // Another frame may be held after a failure, and a paused link finishes no frame.
        if gate.is_closed() {
            self.number += u64::from(done.is_ok() && !self.link.is_paused());
            self.publish();
        }
        done
    }

    fn with(&mut self, f: Call) {
        match self.gate.close() {
            Ok(()) => {
                f(Ok(&mut self.link));
                self.publish();
            }
            Err(error) => f(Err(error)),
        }
    }

    /// Hands out the frame that is shown now.
    fn publish(&self) {
        let shown = panics::as_error("what gives frames of a SharedLink out", || {
            let frame = self.link.shown()?;
            let value = (self.give)(&self.display, frame.surface())?;
            Ok(FinishedFrame { value, desc: *frame.desc(), path: frame.path(), number: self.number })
        });
        self.gate.open(shown);
    }
}

/// Reports that the worker has ended, in every case.
pub(super) struct End<T>(pub Arc<Gate<T>>);

impl<T> Drop for End<T> {
    fn drop(&mut self) {
        self.0.end();
    }
}

/// Receives the answer of a worker that may have ended.
pub(super) fn answer<R>(from: &Receiver<Result<R>>) -> Result<R> {
    from.recv().unwrap_or_else(|_| Err(ended()))
}
