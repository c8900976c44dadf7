//! Shared links: any thread may use one, because it runs on a thread of its own.
//!
//! A link to OpenGL stays on its thread. This type is for engines that draw its frames on another thread than they compute
//! on. Links to other displays may move ([`super::Link::for_any_thread`]), which costs no thread.

mod gate;
mod worker;

use super::{LinkCore, LinkOptions, WriteFrame};
use crate::compute::ComputeBackend;
use crate::describe::PlainMutex;
use crate::describe::error::{Error, Result};
use crate::describe::panics;
use crate::describe::process::ForkGuard;
use crate::describe::surface::SurfaceDesc;
use crate::describe::threads;
use crate::display::{Display, Surface};
use crate::path::PathId;
use gate::{FinishedFrame, Gate, ended};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, Sender, channel};
use std::thread::{JoinHandle, ThreadId, current};
use worker::{End, Job, WorkerArgs, answer, work};

/// A [`super::Link`] for all threads, with a display on a thread of its own. That thread computes frames, and any thread draws
/// them.
///
/// `T` is the type that other threads draw: a `wgpu::TextureView`, bytes, or an object name in a shared context. A
/// closure makes one for each frame. While a [`SharedFrame`] is held, the next frame is computed but not handed over,
/// so the held frame does not change. (While paths are being compared, see [`crate::Policy::trials`], the next frame is
/// not begun either.)
///
/// An OpenGL context is current on one thread, so the link's thread needs a context of its own in the share group of
/// the drawing thread. The closure that opens the display makes it current, and the closure that makes a `T` calls
/// [`Display::finish`] before it returns an object name. This use has not been tested.
///
/// ```
/// use cpu_fallback::*;
/// use interop_core::*;
///
/// let backend = std::sync::Arc::new(CpuBackend::new()?);
/// let desc = SurfaceDesc::image(2, 1, PixelFormat::Rgba8);
/// // The closure makes the value for other threads from a frame; with wgpu it would be a `TextureView`.
/// let give = |display: &MemoryDisplay, surface: &Surface| display.pixels_rgba8(surface);
/// let link = SharedLink::open(backend, || Ok(MemoryDisplay::new()), desc, LinkOptions::default(), give)?;
/// std::thread::scope(|threads| {
///     threads.spawn(|| link.frame(|next| next.write(&[1, 2, 3, 4, 5, 6, 7, 8])));
/// });
/// assert_eq!(link.shown()?.get().data, [1, 2, 3, 4, 5, 6, 7, 8]);
/// # Ok::<(), Error>(())
/// ```
pub struct SharedLink<T> {
    gate: Arc<Gate<T>>,
    /// `None` only during the drop.
    jobs: ForkGuard<Option<Sender<Job>>>,
    worker: ForkGuard<PlainMutex<Option<JoinHandle<()>>>>,
    thread: ThreadId,
}

crate::debug_as!(SharedLink<T>, |this| thread = &this.thread);

impl<T: Send + Sync + 'static> SharedLink<T> {
    /// Starts the thread, opens a display there with `display`, and a link to it like [`super::Link::open`]. `give` turns each
    /// shown surface into the value that other threads draw; it runs on the link's thread.
    ///
    /// # Errors
    /// Those of `display` and of [`super::Link::open`]; [`Error::Unavailable`] where the system cannot start a thread.
    pub fn open<D: Display>(
        backend: Arc<dyn ComputeBackend>,
        display: impl FnOnce() -> Result<Arc<D>> + Send + 'static,
        desc: SurfaceDesc,
        options: LinkOptions,
        give: impl Fn(&D, &Surface) -> Result<T> + Send + 'static,
    ) -> Result<Self> {
        let display = || display().map(|display| (Arc::<D>::clone(&display) as Arc<dyn Display>, display));
        Self::open_any(backend, display, desc, options, move |display: &Arc<D>, surface| give(display, surface))
    }

    /// Like [`SharedLink::open`], for a display whose type is known only on the link's thread: `display` returns it
    /// together with the argument of `give`.
    ///
    /// # Errors
    /// Those of [`SharedLink::open`].
    pub fn open_any<D: 'static>(
        backend: Arc<dyn ComputeBackend>,
        display: impl FnOnce() -> Result<(Arc<dyn Display>, D)> + Send + 'static,
        desc: SurfaceDesc,
        options: LinkOptions,
        give: impl Fn(&D, &Surface) -> Result<T> + Send + 'static,
    ) -> Result<Self> {
        let gate = Arc::new(Gate::new());
        let (jobs, to_do) = channel();
        let (opened, is_open) = channel();
        let end = End(Arc::clone(&gate));
        let body = move || {
            let opening = WorkerArgs { backend, display, desc, options, give };
            work(opening, &end.0, &to_do, &opened);
        };
        let thread = threads::spawn("pixelferry link", body);
        let worker = thread.map_err(|reason| {
            Error::unavailable("a thread for a link", reason, "End other programs, or raise the limit of threads.")
        })?;
        let thread = worker.thread().id();
        let link = Self {
            gate,
            jobs: ForkGuard::new(Some(jobs)),
            worker: ForkGuard::new(PlainMutex::new(Some(worker))),
            thread,
        };
        answer(&is_open)?;
        Ok(link)
    }

    /// Computes a frame with [`Link::frame`](LinkCore::frame) and its rules, and waits until it is shown, which requires that every
    /// [`SharedFrame`] is dropped.
    ///
    /// # Errors
    /// Those of [`Link::frame`](LinkCore::frame); [`Error::InvalidInput`] where this thread holds a frame or is the link's own, because
    /// the call would wait for itself; [`Error::Panicked`] where `compute` panics.
    pub fn frame(&self, compute: impl FnMut(&mut WriteFrame<'_>) -> Result<()> + Send + 'static) -> Result<()> {
        self.check_wait()?;
        self.start_frame(compute)?.wait()
    }

    /// Like [`SharedLink::frame`], without waiting. Frames are computed one after another. `compute` may take
    /// [`SharedLink::shown`] but must drop it before it returns. If `compute` owns a frame that another thread took, it
    /// is waited for until the link is dropped.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the link's thread has ended.
    pub fn start_frame(
        &self,
        compute: impl FnMut(&mut WriteFrame<'_>) -> Result<()> + Send + 'static,
    ) -> Result<StartedFrame<T>> {
        let (done, is_done) = channel();
        self.send(Job::Frame(Box::new(compute), done))?;
        Ok(StartedFrame { gate: Arc::clone(&self.gate), is_done, thread: self.thread })
    }

    /// Returns the newest frame, for this thread to draw. Waits for a hand-over in progress. Where a hand-over is due
    /// and other threads hold frames but this one does not, waits up to 50 ms for them.
    ///
    /// # Errors
    /// [`Error::NothingShown`] before the first frame; the error of making a `T`. [`Error::InvalidInput`] where the
    /// link's own thread is changing the shown frame: in [`SharedLink::with`] and in the closure that makes a `T`.
    pub fn shown(&self) -> Result<SharedFrame<T>> {
        let holder = current().id();
        Ok(SharedFrame { shown: self.gate.take(holder)?, gate: Arc::clone(&self.gate), holder })
    }

    /// Changes the size with [`Link::resize`](LinkCore::resize). The shown frame stays until the first one of the new size.
    ///
    /// # Errors
    /// Those of [`Link::resize`](LinkCore::resize) and of [`SharedLink::with`].
    pub fn resize(&self, desc: SurfaceDesc) -> Result<()> {
        self.with(move |link| link.resize(desc))?
    }

    /// Calls `f` with the link on its thread, after the frames that were started before and while no frame is held.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where this thread holds a frame or is the link's own; [`Error::Panicked`] where `f` panics.
    pub fn with<R: Send + 'static>(&self, f: impl FnOnce(&mut LinkCore) -> R + Send + 'static) -> Result<R> {
        self.check_wait()?;
        let (done, is_done) = channel();
        self.send(Job::Link(Box::new(move |link| {
            let called = || link.map(f);
            // The receiver is gone where the caller's thread is.
            let _ = done.send(panics::as_error("what was called with a SharedLink's link", called));
        })))?;
        answer(&is_done)
    }

    fn send(&self, job: Job) -> Result<()> {
        self.gate.made.check("SharedLink")?;
        let sent = self.jobs.as_ref().map(|jobs| jobs.send(job));
        if matches!(sent, Some(Ok(()))) { Ok(()) } else { Err(ended()) }
    }

    /// Checks whether this thread may wait for the link. A thread that holds a frame, and the link's own, would wait
    /// for themselves.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] with the reason.
    pub fn check_wait(&self) -> Result<()> {
        may_wait(&self.gate, self.thread)
    }
}

fn may_wait<T>(gate: &Gate<T>, own: ThreadId) -> Result<()> {
    gate.made.check("SharedLink")?;
    let thread = current().id();
    if thread == own {
        let problem = "the link's own thread would wait for itself; use start_frame, or another thread";
        return Err(Error::invalid("SharedLink", problem));
    }
    if gate.is_held_by(thread) {
        let problem = "this thread holds a frame and would wait for itself; drop the SharedFrame first";
        return Err(Error::invalid("SharedLink", problem));
    }
    Ok(())
}

impl<T> Drop for SharedLink<T> {
    /// Finishes or drops the frames that were started, then drops the link and the display on their thread. Waits for
    /// that, except on the link's own thread.
    fn drop(&mut self) {
        if !self.gate.made.is_here() {
            return;
        }
        self.gate.end();
        *self.jobs = None;
        let worker = self.worker.lock().take();
        if let Some(worker) = worker.filter(|_| current().id() != self.thread) {
            // Panics of the worker were caught.
            let _ = worker.join();
        }
    }
}

/// A frame that was started with [`SharedLink::start_frame`]. Dropping this does not cancel the frame; its error is
/// then logged.
///
/// ```
/// use cpu_fallback::*;
/// use interop_core::*;
///
/// # let backend = std::sync::Arc::new(CpuBackend::new()?);
/// # let desc = SurfaceDesc::image(2, 1, PixelFormat::Rgba8);
/// # let give = |display: &MemoryDisplay, surface: &Surface| display.pixels_rgba8(surface);
/// # let link = SharedLink::open(backend, || Ok(MemoryDisplay::new()), desc, LinkOptions::default(), give)?;
/// let started = link.start_frame(|next| next.write(&[5; 8]))?;
/// // The simulation continues live_trials.
/// started.wait()?;
/// assert_eq!(link.shown()?.get().data, [5; 8]);
/// # Ok::<(), Error>(())
/// ```
pub struct StartedFrame<T> {
    gate: Arc<Gate<T>>,
    is_done: Receiver<Result<()>>,
    /// The link's own thread.
    thread: ThreadId,
}

crate::debug_as!(StartedFrame<T>);

impl<T> StartedFrame<T> {
    /// Waits until the frame is shown.
    ///
    /// # Errors
    /// The errors of [`SharedLink::frame`].
    pub fn wait(self) -> Result<()> {
        self.check_wait()?;
        answer(&self.is_done)
    }

    /// Like [`SharedLink::check_wait`], for the frame's link.
    ///
    /// # Errors
    /// Those of [`SharedLink::check_wait`].
    pub fn check_wait(&self) -> Result<()> {
        may_wait(&self.gate, self.thread)
    }
}

/// A finished frame on a thread that draws. While it is held, its content does not change.
///
/// Drop it after the commands that read it were submitted to the same queue; with another queue, after those commands
/// have finished.
///
/// ```
/// use cpu_fallback::*;
/// use interop_core::*;
///
/// # let backend = std::sync::Arc::new(CpuBackend::new()?);
/// # let desc = SurfaceDesc::image(2, 1, PixelFormat::Rgba8);
/// # let give = |display: &MemoryDisplay, surface: &Surface| display.pixels_rgba8(surface);
/// # let link = SharedLink::open(backend, || Ok(MemoryDisplay::new()), desc, LinkOptions::default(), give)?;
/// link.frame(|next| next.write(&[9; 8]))?;
/// let frame = link.shown()?;
/// assert_eq!((frame.number(), frame.get().width), (1, 2));
/// // This thread would wait for itself.
/// assert!(link.frame(|next| next.write(&[8; 8])).is_err());
/// drop(frame);
/// link.frame(|next| next.write(&[8; 8]))?;
/// # Ok::<(), Error>(())
/// ```
pub struct SharedFrame<T> {
    shown: Arc<FinishedFrame<T>>,
    gate: Arc<Gate<T>>,
    holder: ThreadId,
}

crate::debug_as!(SharedFrame<T>, |this| desc = this.desc(), number = &this.number());

impl<T> SharedFrame<T> {
    /// Returns the value to draw.
    pub fn get(&self) -> &T {
        &self.shown.value
    }

    /// Returns the description of the frame. After a resize this may still be the old size.
    pub fn desc(&self) -> &SurfaceDesc {
        &self.shown.desc
    }

    /// Returns the path that carried the frame.
    pub fn path(&self) -> PathId {
        self.shown.path
    }

    /// Number of frames that the link had finished; it differs for each frame.
    pub fn number(&self) -> u64 {
        self.shown.number
    }
}

impl<T> Drop for SharedFrame<T> {
    fn drop(&mut self) {
        if self.gate.made.is_here() {
            self.gate.give_back(self.holder);
        }
    }
}
