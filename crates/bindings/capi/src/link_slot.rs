//! Links and their frames, which refer to each other.
//!
//! In Rust a frame borrows its link. C has no borrows, so here the link has a fixed address, and each frame holds a
//! reference count of it. [`Frame`] and a flag for calls say who may access it now: what the borrow checker would
//! refuse is [`Failure::Busy`].

use crate::failure::{Failure, Result};
use interop_core::{
    Arg, ComputeBackend, Error, Kernel, Link, LinkCore, OutletFrame, RawTarget, ShownFrame, SurfacePart, Target,
    WriteFrame,
};
use std::cell::{Cell, RefCell};
use std::ptr::NonNull;
use std::rc::Rc;

/// A frame that borrows a link.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Frame {
    None,
    /// The frame is being written; nothing else may access the link.
    Writing,
    /// The frame is shown; others may read the link.
    Shown,
}

/// A link at a fixed address.
pub struct LinkSlot {
    /// From `Box::into_raw`; freed when this is dropped.
    link: NonNull<Link>,
    frame: Cell<Frame>,
    /// True while a call is running, even one that only reads. It is separate from `frame`, which may end inside such a
    /// call.
    calling: Cell<bool>,
    /// The handle of the open frame, or 0.
    open: Cell<usize>,
}

/// A running call, until this is dropped.
struct Call<'a>(&'a Cell<bool>);

impl Drop for Call<'_> {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

/// A frame that is ending: dropping this leaves no frame.
struct End<'a>(&'a Cell<Frame>);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.set(Frame::None);
    }
}

impl LinkSlot {
    /// Takes ownership of a link.
    pub fn new(link: Link) -> Rc<Self> {
        let link = NonNull::from(Box::leak(Box::new(link)));
        Rc::new(Self { link, frame: Cell::new(Frame::None), calling: Cell::new(false), open: Cell::new(0) })
    }

    /// Begins a call, if no other call is running and no frame excludes it.
    fn call(&self, looks: bool) -> Result<Call<'_>> {
        if self.calling.get() {
            return Err(Failure::Busy(
                "this link is in the middle of a call; do not call it from a function given to it",
            ));
        }
        match self.frame.get() {
            Frame::Writing => Err(Failure::Busy("a frame of this link is open; finish or cancel it first")),
            Frame::Shown if !looks => Err(Failure::Busy("a frame of this link is being shown; release it first")),
            Frame::Shown | Frame::None => {
                self.calling.set(true);
                Ok(Call(&self.calling))
            }
        }
    }

    /// Runs `f` with the link, if nothing else uses it.
    pub fn with<R>(&self, f: impl FnOnce(&mut LinkCore) -> R) -> Result<R> {
        let _call = self.call(false)?;
        // SAFETY: the link lives as long as this; no frame has a reference to it, and no other call begins in the
        // meantime.
        Ok(f(unsafe { &mut *self.link.as_ptr() }))
    }

    /// Runs `f` to read the link, also while a frame is shown.
    pub fn look<R>(&self, f: impl FnOnce(&LinkCore) -> R) -> Result<R> {
        let _call = self.call(true)?;
        // SAFETY: the link lives as long as this; a shown frame has a shared reference to it, and no other call begins
        // in the meantime.
        Ok(f(unsafe { self.link.as_ref() }))
    }

    /// Begins a frame, which holds the link until it ends.
    pub fn begin(
        self: &Rc<Self>,
        acquire: impl FnOnce(&'static mut LinkCore) -> interop_core::Result<WriteFrame<'static>>,
    ) -> Result<Rc<FrameSlot>> {
        let _call = self.call(false)?;
        // SAFETY: the frame that borrows it lies in a `FrameSlot`, which drops it before its count of this; until then
        // `frame` prevents any other reference.
        let link: &'static mut LinkCore = unsafe { &mut *self.link.as_ptr() };
        let whole = SurfacePart::full(link.desc());
        let frame = acquire(link)?;
        self.frame.set(Frame::Writing);
        let is_whole = *frame.part() == whole;
        Ok(Rc::new(FrameSlot {
            state: RefCell::new(FrameState::Own(frame, Rc::clone(self))),
            is_whole,
            failed: RefCell::default(),
        }))
    }

    /// Shows the newest frame, which holds the link until it is released.
    pub fn show(self: &Rc<Self>) -> Result<Rc<ShownSlot>> {
        let _call = self.call(false)?;
        // SAFETY: the frame that borrows it lies in a `ShownSlot`, which drops it before its count of this; until then
        // `frame` only allows shared references.
        let link: &'static LinkCore = unsafe { self.link.as_ref() };
        let shown = link.shown()?;
        self.frame.set(Frame::Shown);
        Ok(Rc::new(ShownSlot { shown: Some(shown), link: Rc::clone(self) }))
    }

    /// Stores the handle of the open frame, which ends together with the link's own handle.
    pub fn set_open(&self, handle: usize) {
        self.open.set(handle);
    }

    /// Returns the handle of the open frame, or 0, and forgets it.
    pub fn take_open(&self) -> usize {
        self.open.replace(0)
    }
}

impl Drop for LinkSlot {
    fn drop(&mut self) {
        // SAFETY: it came from a box, and everything that borrowed it held a count of this.
        drop(unsafe { Box::from_raw(self.link.as_ptr()) });
    }
}

enum FrameState {
    /// A frame of `pf_link_acquire`. The frame is dropped before its link.
    Own(WriteFrame<'static>, Rc<LinkSlot>),
    /// A frame of `pf_link_frame`, while its function runs.
    Lent(NonNull<WriteFrame<'static>>),
    /// A frame of `pf_outlet_frame`, while its function runs.
    LentOfOutlet(NonNull<OutletFrame<'static>>),
    Gone,
}

/// The frame of a link or of an outlet that a call writes.
pub enum FrameWriter<'f, 'a> {
    /// A link's frame.
    Link(&'f mut WriteFrame<'a>),
    /// An outlet's frame.
    Outlet(&'f mut OutletFrame<'a>),
}

/// Makes the same call on either frame.
macro_rules! of_either {
    ($writing:expr, $frame:ident => $call:expr) => {
        match $writing {
            FrameWriter::Link($frame) => $call,
            FrameWriter::Outlet($frame) => $call,
        }
    };
}

impl FrameWriter<'_, '_> {
    /// The backend that kernels of this frame run on.
    pub fn backend(&self) -> &dyn ComputeBackend {
        of_either!(self, frame => frame.backend())
    }

    /// Queues a kernel that writes the frame.
    pub fn launch(&mut self, kernel: &dyn Kernel, args: &[Arg<'_>]) -> Result<(), Error> {
        of_either!(self, frame => frame.launch(kernel, args))
    }

    /// The memory that kernels write.
    pub fn target(&mut self) -> Result<Target<'_>, Error> {
        of_either!(self, frame => frame.target())
    }

    /// Writes tight rows from the host.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Error> {
        of_either!(self, frame => frame.write(bytes))
    }

    /// Returns the memory in the names of its own API.
    ///
    /// # Safety
    /// The promises of [`WriteFrame::raw`].
    pub unsafe fn raw(&mut self) -> Result<RawTarget<'_>, Error> {
        // SAFETY: the caller's promise.
        of_either!(self, frame => unsafe { frame.raw() })
    }
}

/// A frame that is being written.
pub struct FrameSlot {
    state: RefCell<FrameState>,
    /// True if the frame covers the whole surface.
    pub is_whole: bool,
    /// The error of the last call on it that failed.
    failed: RefCell<Option<Error>>,
}

/// Takes back a lent frame when this is dropped.
struct TakeBack<'a>(&'a FrameSlot);

impl Drop for TakeBack<'_> {
    fn drop(&mut self) {
        self.0.state.replace(FrameState::Gone);
    }
}

impl FrameSlot {
    /// Runs `f` while `frame` is accessible through the slot that `f` receives.
    pub fn lend<R>(frame: FrameWriter<'_, '_>, is_whole: bool, f: impl FnOnce(&Rc<Self>) -> R) -> R {
        let lent = match frame {
            FrameWriter::Link(frame) => FrameState::Lent(NonNull::from(frame).cast()),
            FrameWriter::Outlet(frame) => FrameState::LentOfOutlet(NonNull::from(frame).cast()),
        };
        let slot = Rc::new(Self { state: RefCell::new(lent), is_whole, failed: RefCell::default() });
        let _after = TakeBack(&slot);
        f(&slot)
    }

    /// Runs `f` with the frame, and stores its error.
    pub fn with<R>(&self, f: impl FnOnce(&mut FrameWriter<'_, '_>) -> Result<R>) -> Result<R> {
        let done = self.run(f)?;
        if let (Err(Failure::Core(error)), Ok(mut failed)) = (&done, self.failed.try_borrow_mut()) {
            *failed = Some(error.clone());
        }
        done
    }

    /// Returns the last error of pixelferry on this frame, and removes it.
    pub fn take_error(&self) -> Option<Error> {
        self.failed.take()
    }

    fn run<R>(&self, f: impl FnOnce(&mut FrameWriter<'_, '_>) -> R) -> Result<R> {
        let mut state = self.state.try_borrow_mut().map_err(|_| {
            Failure::Busy("this frame is in the middle of a call; do not call it from a function given to that call")
        })?;
        match &mut *state {
            FrameState::Own(frame, _) => Ok(f(&mut FrameWriter::Link(frame))),
            // SAFETY: `lend` is still running, whose reference is only used through this cell in the meantime. `f` takes a frame
            // of any lifetime, so that it cannot keep what it finds.
            FrameState::Lent(frame) => Ok(f(&mut FrameWriter::Link(unsafe { frame.as_mut() }))),
            // SAFETY: the same.
            FrameState::LentOfOutlet(frame) => Ok(f(&mut FrameWriter::Outlet(unsafe { frame.as_mut() }))),
            FrameState::Gone => Err(over()),
        }
    }

    /// Ends the frame: it is finished, or abandoned.
    pub fn end(&self, finish: bool) -> Result<()> {
        let mut state = self.state.try_borrow_mut().map_err(|_| {
            Failure::Busy("this frame is in the middle of a call; do not end it from a function given to that call")
        })?;
        match std::mem::replace(&mut *state, FrameState::Gone) {
            FrameState::Own(frame, link) => {
                link.set_open(0);
                let _end = End(&link.frame);
                if finish {
                    frame.finish()?;
                }
                Ok(())
            }
            lent @ (FrameState::Lent(_) | FrameState::LentOfOutlet(_)) => {
                *state = lent;
                Err(Failure::Busy("the call that lent this frame ends it when the function returns"))
            }
            FrameState::Gone => Err(over()),
        }
    }
}

fn over() -> Failure {
    Failure::Handle("this pf_frame was finished before".into())
}

impl Drop for FrameSlot {
    fn drop(&mut self) {
        if let FrameState::Own(frame, link) = self.state.replace(FrameState::Gone) {
            drop(frame);
            link.frame.set(Frame::None);
        }
    }
}

/// A frame that is shown.
pub struct ShownSlot {
    /// `Some` until this is dropped; dropped before the link.
    shown: Option<ShownFrame<'static>>,
    link: Rc<LinkSlot>,
}

impl ShownSlot {
    /// Runs `f` with the frame and the link that shows it.
    pub fn with<R>(&self, f: impl FnOnce(&ShownFrame<'_>, &LinkCore) -> R) -> Result<R> {
        let shown = self.shown.as_ref().ok_or_else(|| Failure::Handle("this pf_shown was released before".into()))?;
        // SAFETY: the link lives as long as this; while it is shown, all references to it are shared ones.
        Ok(f(shown, unsafe { self.link.link.as_ref() }))
    }
}

impl Drop for ShownSlot {
    fn drop(&mut self) {
        drop(self.shown.take());
        self.link.frame.set(Frame::None);
        self.link.set_open(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interop_core::{LinkOptions, PathId, PixelFormat, Policy, SurfaceDesc};
    use pixelferry::{CpuBackend, MemoryDisplay};
    use std::sync::Arc;

    #[test]
    fn a_frame_released_inside_a_look_lets_nobody_write_beside_it() {
        let surface = SurfaceDesc::image(3, 2, PixelFormat::R8);
        let options = LinkOptions::new(Policy::default().with_force(PathId::HOST_ROUND_TRIP));
        let link = Link::open(Arc::new(CpuBackend::new().unwrap()), MemoryDisplay::new(), surface, options).unwrap();
        let slot = LinkSlot::new(link);
        slot.with(|link| link.frame(|next| next.write(&[7; 6]))).unwrap().unwrap();
        let shown = slot.show().unwrap();
        let inside = slot.look(|link| {
            drop(shown);
            // The link that `look` lends is still read after the frame is gone.
            (slot.with(|_| ()).is_err(), slot.show().is_err(), link.shown().is_ok())
        });
        assert_eq!(inside.unwrap(), (true, true, true));
        assert!(slot.with(|_| ()).is_ok());
    }
}
