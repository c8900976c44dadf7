//! Receives the frames of a stream.

use super::frame_access::{AccessList, OpenPiece};
use super::held_frame::{Current, HeldStreamFrame, ReturnedPieces, read_rows};
use super::subscription::Subscription;
use crate::publish::now;
use crate::wire::frame::PlacedFrame;
use crate::wire::table::{From, SlotContent};
use interop_core::describe::error::call;
use interop_core::describe::process::ProcessMark;
use interop_core::devices::borrows::Holder;
use interop_core::{ComputeBackend, ComputeMemory, Error, PathId, Result, SurfaceDesc, View};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A subscription to another process's stream, whose frames are memory that a backend's kernels read. It stays on its
/// thread.
///
/// The newest frame wins: frames that were published between two calls are skipped. A frame does not change until the
/// next one is taken. When the publisher ends or is killed, its last frame stays readable.
///
/// See [`crate::StreamDisplay`] for an example.
pub struct Subscriber {
    made: ProcessMark,
    backend: Arc<dyn ComputeBackend>,
    joined: Subscription,
    ways: AccessList,
    opened: HashMap<u64, OpenPiece>,
    returned: ReturnedPieces,
    /// Memory for copies of frames, if the access path copies.
    copied: Option<Box<dyn ComputeMemory>>,
    current: Option<Current>,
}

interop_core::debug_as!(Subscriber, |this| publisher = &this.joined.publisher, path = &this.path());

/// Result of [`Subscriber::next`].
#[derive(Debug)]
pub enum NextFrame<'s> {
    /// A frame newer than the last one.
    Frame(StreamFrame<'s>),
    /// No newer frame arrived in time. [`Subscriber::frame`] is the last one.
    Nothing,
    /// The publisher has ended. [`Subscriber::frame`] is its last frame.
    Ended,
}

impl Subscriber {
    /// Subscribes to the stream of this name. It finds and proves how the backend can access frames: it opens the
    /// memory of the publisher's device if the backend uses the same device; otherwise it reads shared pages of the
    /// host, or the host copies.
    ///
    /// # Errors
    /// [`Error::Unavailable`] if there is no publisher, or no room for another subscriber; [`Error::InvalidInput`] for
    /// an invalid name, and for a publisher that sends invalid messages.
    pub fn open(name: &str, backend: &Arc<dyn ComputeBackend>) -> Result<Self> {
        call("Subscriber::open", || {
            let joined = Subscription::new(name)?;
            let ways = AccessList::find(backend.as_ref(), &joined)?;
            if ways.from() == From::Host {
                joined.seat.ask_for_the_host();
            }
            tracing::debug!(name, refused = ?ways.refused, "subscribed to a stream");
            Ok(Self {
                made: ProcessMark::here(),
                backend: Arc::clone(backend),
                joined,
                ways,
                opened: HashMap::new(),
                returned: ReturnedPieces::default(),
                copied: None,
                current: None,
            })
        })
    }

    /// How the last frame was accessed, as the name of the path that does the same within one process.
    pub fn path(&self) -> Option<PathId> {
        Some(self.opened.get(&self.current.as_ref()?.piece)?.path())
    }

    /// Access paths that do not work here, with the reasons.
    pub fn refused(&self) -> &[(PathId, String)] {
        &self.ways.refused
    }

    /// Whether the publisher has ended, as of the last [`Subscriber::next`].
    pub fn has_ended(&self) -> bool {
        self.joined.has_ended
    }

    /// Waits up to `timeout` for a frame newer than the last, and takes the newest. The last frame may then be
    /// overwritten; this call waits until kernels that read it have finished.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a publisher that describes an invalid frame; [`Error::Unavailable`] in a forked
    /// child of the process that subscribed; errors of the backend. After an error the last frame is still there.
    pub fn next(&mut self, timeout: Duration) -> Result<NextFrame<'_>> {
        let taken = call("Subscriber::next", || {
            self.check_process()?;
            self.take(timeout)
        })?;
        Ok(match (taken, self.joined.has_ended) {
            (true, _) => self.frame().map_or(NextFrame::Nothing, NextFrame::Frame),
            (false, true) => NextFrame::Ended,
            (false, false) => NextFrame::Nothing,
        })
    }

    /// Fails in a forked child of the process that subscribed, where [`Subscriber::frame`] and [`Subscriber::memory`]
    /// return `None`.
    ///
    /// # Errors
    /// [`Error::Unavailable`] there.
    pub fn check_process(&self) -> Result<()> {
        self.made.check("the subscriber of the stream")
    }

    /// Returns the most recently taken frame. A forked child gets `None`: the publisher overwrites the frame when the
    /// parent takes the next.
    pub fn frame(&mut self) -> Option<StreamFrame<'_>> {
        let current = self.current.as_ref().filter(|_| self.made.is_here())?;
        let memory = match self.opened.get_mut(&current.piece)? {
            OpenPiece::Copy(_) => self.copied.as_deref_mut()?,
            piece => piece.memory_mut()?,
        };
        Some(StreamFrame { memory, current })
    }

    /// Returns the memory of the last frame for kernels that read it: [`StreamFrame::memory`] through a shared
    /// reference.
    pub fn memory(&self) -> Option<&dyn ComputeMemory> {
        let current = self.current.as_ref().filter(|_| self.made.is_here())?;
        self.opened.get(&current.piece)?.memory().or(self.copied.as_deref())
    }

    /// Takes the last frame's memory out of the subscription, so that it stays as it is when later frames come, until the
    /// result is dropped. [`Subscriber::frame`] is then `None` until the next frame. Returns `None` before the first frame,
    /// for a frame that was copied to memory of the backend, and where [`HeldStreamFrame::MOST`] frames are held.
    pub fn hold(&mut self) -> Option<HeldStreamFrame> {
        let current = self.current.as_ref().filter(|_| self.made.is_here())?;
        self.opened.get(&current.piece)?.memory()?;
        let hold = self.joined.seat.hold()?;
        let piece = self.opened.remove(&current.piece);
        let connection = Arc::clone(&self.joined.connection);
        let returned = Arc::clone(&self.returned);
        Some(HeldStreamFrame { hold: Some(hold), piece, current: *current, returned, made: self.made, connection })
    }

    fn take(&mut self, timeout: Duration) -> Result<bool> {
        let returned = self.returned.take();
        let is_announced = |(number, _): &(u64, OpenPiece)| self.joined.pieces.contains_key(number);
        self.opened.extend(returned.into_iter().filter(is_announced));
        let last = self.current.as_ref().map_or(0, |current| current.number);
        let begun = Instant::now();
        loop {
            let left = timeout.saturating_sub(begun.elapsed());
            self.joined.wait(self.ways.from(), last, left)?;
            self.forget_gone();
            // Kernels that read the last frame must finish before it may be overwritten.
            if self.joined.seat.newest(self.ways.from()).frame() != last
                && let Some(frame) = self.frame()
            {
                frame.memory.release()?;
            }
            let Some(held) = self.joined.seat.read(self.ways.from()) else { return Ok(false) };
            let taken = self
                .joined
                .is_named(held.piece)
                .and_then(|is_named| if is_named { self.open_piece(held).map(|()| true) } else { Ok(false) });
            match taken {
                Ok(true) => self.joined.seat.let_go(),
                _ => self.joined.seat.take_back(),
            }
            // If notices were unread for a while, the publisher now has room to announce the pieces of new frames.
            if !matches!(taken, Ok(false)) || self.joined.has_ended || left.is_zero() {
                return taken;
            }
            self.joined.wait_for_notice(left)?;
        }
    }

    /// Opens the piece that contains a frame, and copies the frame if the access path copies.
    fn open_piece(&mut self, held: SlotContent) -> Result<()> {
        let number = held.piece;
        let piece = self.joined.pieces.get(&number);
        let piece = piece.ok_or_else(|| Error::refused(format!("the publisher never announced piece {number}")))?;
        let placed = PlacedFrame::of(held.words, piece.bytes)?;
        if !self.opened.contains_key(&number) {
            self.opened.insert(number, OpenPiece::new(&self.ways, self.backend.as_ref(), piece)?);
        }
        if let Some(OpenPiece::Copy(block)) = self.opened.get(&number) {
            let span = placed.view.span();
            if self.copied.as_ref().is_none_or(|copied| copied.len() < span.end) {
                self.copied = Some(self.backend.allocate(block.len())?);
            }
            if let Some(copied) = &mut self.copied {
                copied.write(span.start, &block.read(span, Holder::Guard)?)?;
            }
        }
        self.current = Some(Current { number: held.stamp.frame(), piece: number, placed });
        Ok(())
    }

    /// Closes pieces that the publisher has released, except that of the current frame.
    fn forget_gone(&mut self) {
        let shown = self.current.as_ref().map(|current| current.piece);
        let opened = &mut self.opened;
        self.joined.gone.retain(|number| {
            let is_shown = Some(*number) == shown;
            if !is_shown {
                opened.remove(number);
            }
            is_shown
        });
    }
}

impl Drop for Subscriber {
    fn drop(&mut self) {
        if !self.made.is_here() {
            // Drivers belong to the parent, and so does the page that says which frame is read.
            std::mem::forget((std::mem::take(&mut self.opened), self.copied.take()));
            return;
        }
        // Queued kernels may still read the frame.
        if let Some(frame) = self.frame()
            && let Err(error) = frame.memory.release()
        {
            tracing::debug!(%error, "a stream's last frame was released while kernels may be reading it");
        }
        self.joined.seat.stop_reading();
    }
}

/// A frame of a stream. It does not change during its lifetime.
pub struct StreamFrame<'s> {
    memory: &'s mut dyn ComputeMemory,
    current: &'s Current,
}

impl std::fmt::Debug for StreamFrame<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StreamFrame").field("number", &self.number()).field("desc", self.desc()).finish_non_exhaustive()
    }
}

impl StreamFrame<'_> {
    /// Number of the frame, from 1. Missing numbers are skipped frames.
    pub fn number(&self) -> u64 {
        self.current.number
    }

    /// Size, format, and the meaning of the numbers.
    pub fn desc(&self) -> &SurfaceDesc {
        &self.current.placed.desc
    }

    /// Layout in [`StreamFrame::memory`], top row first.
    pub fn view(&self) -> View {
        self.current.placed.view
    }

    /// The frame's memory, for kernels that read it ([`interop_core::Arg::Memory`]).
    pub fn memory(&self) -> &dyn ComputeMemory {
        self.memory
    }

    /// Time since the frame was published.
    pub fn age(&self) -> Duration {
        Duration::from_nanos(now().saturating_sub(self.current.placed.nanoseconds))
    }

    /// Reads the frame as tight rows, top row first.
    ///
    /// # Errors
    /// Those of [`ComputeMemory::read`].
    pub fn read(&mut self) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.read_with(|rows| {
            bytes = rows.to_vec();
            Ok(())
        })?;
        Ok(bytes)
    }

    /// Calls `take` with the frame as tight rows, top row first; where the host can address such memory, without a copy.
    ///
    /// # Errors
    /// Those of [`ComputeMemory::map_read`], and that of `take`.
    pub fn read_with(&mut self, take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let view = self.view();
        read_rows(self.memory, &view, take)
    }
}
