//! Frames of a stream, one after the other.

use super::joined::Joined;
use super::way::{Open, Ways};
use crate::publish::now;
use crate::wire::frame::Placed;
use crate::wire::table::{From, Held};
use interop_core::describe::error::call;
use interop_core::describe::pattern::rows;
use interop_core::describe::process::ProcessMark;
use interop_core::devices::borrows::Holder;
use interop_core::{ComputeBackend, ComputeMemory, Error, PathId, Result, SurfaceDesc, View};
use std::collections::HashMap;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// A stream that another process publishes, as memory that kernels of a backend here read. Stays on its thread.
///
/// The newest frame wins: what was published while nobody asked is passed over. A frame stays as it is until the next is taken.
/// When the publisher ends or is killed, its last frame stays readable.
///
/// See [`crate::StreamDisplay`] for an example.
pub struct Subscriber {
    made: ProcessMark,
    backend: Arc<dyn ComputeBackend>,
    joined: Joined,
    ways: Ways,
    opened: HashMap<u64, Open>,
    /// Memory that frames are copied to, where the way copies.
    copied: Option<Box<dyn ComputeMemory>>,
    current: Option<Current>,
}

/// The frame that was taken last.
struct Current {
    number: u64,
    piece: u64,
    placed: Placed,
}

impl std::fmt::Debug for Subscriber {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Subscriber").field("publisher", &self.joined.publisher).field("path", &self.path()).finish()
    }
}

/// Outcome of [`Subscriber::next`].
#[derive(Debug)]
pub enum Next<'s> {
    /// A newer frame than before.
    Frame(StreamFrame<'s>),
    /// None in that time. The frame before is [`Subscriber::frame`].
    Nothing,
    /// None any more: the publisher has ended. The last frame is [`Subscriber::frame`].
    Ended,
}

impl Subscriber {
    /// Joins the stream of this name. How the backend gets at frames is found out and proved: it opens the memory of the
    /// publisher's device where it is the same, else it reads shared pages of the host, else the host copies.
    ///
    /// # Errors
    /// [`Error::Unavailable`] where nobody publishes this, or it has no room for another subscriber; [`Error::InvalidInput`] for a
    /// invalid name, and for a publisher that says what cannot be.
    pub fn open(name: &str, backend: &Arc<dyn ComputeBackend>) -> Result<Self> {
        call("Subscriber::open", || {
            let joined = Joined::new(name)?;
            let ways = Ways::find(backend.as_ref(), &joined)?;
            if ways.from() == From::Host {
                joined.seat.ask_for_the_host();
            }
            tracing::debug!(name, refused = ?ways.refused, "joined a stream");
            Ok(Self {
                made: ProcessMark::here(),
                backend: Arc::clone(backend),
                joined,
                ways,
                opened: HashMap::new(),
                copied: None,
                current: None,
            })
        })
    }

    /// The way in which the frame that was taken last came here, by the name of the path that does the same within one process.
    pub fn path(&self) -> Option<PathId> {
        Some(self.opened.get(&self.current.as_ref()?.piece)?.path())
    }

    /// Ways that do not work here, and what is against each.
    pub fn refused(&self) -> &[(PathId, String)] {
        &self.ways.refused
    }

    /// Name of the publisher's device.
    pub fn publisher(&self) -> &str {
        &self.joined.publisher.name
    }

    /// True once the publisher has ended, as far as is known since the last [`Subscriber::next`].
    pub fn has_ended(&self) -> bool {
        self.joined.has_ended
    }

    /// Waits at most so long for a frame newer than the last, and takes the newest. The last one may be written over from then on:
    /// this waits until kernels that read it are done.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a publisher that describes what cannot be; [`Error::Unavailable`] in a forked child of the process
    /// that joined; those of the backend, after which the frame before is still there.
    pub fn next(&mut self, timeout: Duration) -> Result<Next<'_>> {
        let taken = call("Subscriber::next", || {
            self.check_process()?;
            self.take(timeout)
        })?;
        Ok(match (taken, self.joined.has_ended) {
            (true, _) => self.frame().map_or(Next::Nothing, Next::Frame),
            (false, true) => Next::Ended,
            (false, false) => Next::Nothing,
        })
    }

    /// Refuses a forked child of the process that joined, in which [`Subscriber::frame`] and [`Subscriber::memory`] give nothing.
    ///
    /// # Errors
    /// [`Error::Unavailable`] there.
    pub fn check_process(&self) -> Result<()> {
        self.made.check("the subscriber of the stream")
    }

    /// The frame that was taken last. A forked child has none: the publisher writes over it when the parent goes on.
    pub fn frame(&mut self) -> Option<StreamFrame<'_>> {
        let current = self.current.as_ref().filter(|_| self.made.is_here())?;
        let memory = match (self.opened.get_mut(&current.piece), &mut self.copied) {
            (Some(Open::Device(memory) | Open::Pages(memory)), _) => memory,
            (_, Some(copied)) => copied,
            _ => return None,
        };
        Some(StreamFrame { memory: memory.as_mut(), current })
    }

    /// The memory of the frame that was taken last, for kernels that read it: [`StreamFrame::memory`] by a shared reference.
    pub fn memory(&self) -> Option<&dyn ComputeMemory> {
        let current = self.current.as_ref().filter(|_| self.made.is_here())?;
        match (self.opened.get(&current.piece)?, &self.copied) {
            (Open::Device(memory) | Open::Pages(memory), _) => Some(memory.as_ref()),
            (Open::Copy(_), copied) => copied.as_deref(),
        }
    }

    fn take(&mut self, timeout: Duration) -> Result<bool> {
        let last = self.current.as_ref().map_or(0, |current| current.number);
        let begun = Instant::now();
        loop {
            let left = timeout.saturating_sub(begun.elapsed());
            self.joined.wait(self.ways.from(), last, left)?;
            self.forget_gone();
            // Kernels that read the last frame are done before it may be written over.
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
            // A publisher whose notices were not read for a while names the pieces of new frames now, as there is room for it.
            if !matches!(taken, Ok(false)) || self.joined.has_ended || left.is_zero() {
                return taken;
            }
            self.joined.wait_for_notice(left)?;
        }
    }

    /// Opens the piece that a frame is in, and copies from it where the way does.
    fn open_piece(&mut self, held: Held) -> Result<()> {
        let number = held.piece;
        let piece = self.joined.pieces.get(&number);
        let piece = piece.ok_or_else(|| Error::refused(format!("the publisher never named piece {number}")))?;
        let placed = Placed::of(held.words, piece.bytes)?;
        if !self.opened.contains_key(&number) {
            self.opened.insert(number, Open::new(&self.ways, self.backend.as_ref(), piece)?);
        }
        if let Some(Open::Copy(block)) = self.opened.get(&number) {
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

    /// Closes pieces that the publisher needs no longer, but the one that is on show.
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
            // Drivers are the parent's, and so is the page on which it says what it reads.
            std::mem::forget((std::mem::take(&mut self.opened), self.copied.take()));
            return;
        }
        // What is queued here may still read.
        if let Some(frame) = self.frame()
            && let Err(error) = frame.memory.release()
        {
            tracing::debug!(%error, "a stream's last frame was let go while kernels may read it");
        }
        self.joined.seat.stop_reading();
    }
}

/// A frame of a stream, which stays as it is while this lives.
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
    /// Its number; what is missing between two was passed over.
    pub fn number(&self) -> u64 {
        self.current.number
    }

    /// Its size, format, and what its numbers mean.
    pub fn desc(&self) -> &SurfaceDesc {
        &self.current.placed.desc
    }

    /// Layout in [`StreamFrame::memory`]: the top row first.
    pub fn view(&self) -> View {
        self.current.placed.view
    }

    /// The memory that it lies in, for kernels that read it ([`interop_core::Arg::Memory`]).
    pub fn memory(&self) -> &dyn ComputeMemory {
        self.memory
    }

    /// Time since it was published.
    pub fn age(&self) -> Duration {
        Duration::from_nanos(now().saturating_sub(self.current.placed.nanoseconds))
    }

    /// Its bytes, in tight rows, the top row first.
    ///
    /// # Errors
    /// Those of [`ComputeMemory::read`].
    pub fn read(&mut self) -> Result<Vec<u8>> {
        let view = self.view();
        let span = view.span();
        let mut bytes = vec![0; view.payload_len()];
        self.memory.map_read(span.clone(), &mut |seen| {
            let mut to = 0;
            for (_, row) in rows(&view) {
                let row = row.start - span.start..row.end - span.start;
                bytes[to..to + row.len()].copy_from_slice(&seen[row.clone()]);
                to += row.len();
            }
            Ok(())
        })?;
        Ok(bytes)
    }
}
