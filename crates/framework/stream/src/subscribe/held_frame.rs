//! Frames that outlive the next one.

use super::frame_access::OpenPiece;
use crate::wire::frame::PlacedFrame;
use crate::wire::socket::Connection;
use crate::wire::table::{FrameHold, HELD_FRAMES};
use interop_core::describe::PlainMutex;
use interop_core::describe::pattern::rows;
use interop_core::describe::process::ProcessMark;
use interop_core::{ComputeMemory, Result, SurfaceDesc, View};
use std::sync::Arc;

/// Open pieces of held frames that were dropped, by their numbers, for later frames in them.
pub(super) type ReturnedPieces = Arc<PlainMutex<Vec<(u64, OpenPiece)>>>;

/// The most recently taken frame.
#[derive(Clone, Copy)]
pub(super) struct Current {
    pub number: u64,
    pub piece: u64,
    pub placed: PlacedFrame,
}

/// A frame that does not change until it is dropped, which may happen on any thread and after the subscription's end. Until
/// then the subscription counts for the publisher.
///
/// ```
/// use pixelferry_stream::{NextFrame, Subscriber};
/// use std::time::Duration;
///
/// # fn example(subscriber: &mut Subscriber) -> interop_core::Result<()> {
/// let mut last = None;
/// while let NextFrame::Frame(_) = subscriber.next(Duration::from_secs(1))? {
///     // The frame before is kept until here.
///     last = subscriber.hold();
/// }
/// # drop(last);
/// # Ok(())
/// # }
/// ```
pub struct HeldStreamFrame {
    pub(super) piece: Option<OpenPiece>,
    pub(super) hold: Option<FrameHold>,
    pub(super) current: Current,
    pub(super) returned: ReturnedPieces,
    pub(super) made: ProcessMark,
    /// The publisher ignores a subscriber's page when its connection has ended.
    pub(super) connection: Arc<Connection>,
}

interop_core::debug_as!(HeldStreamFrame, |this| number = &this.number(), desc = this.desc());

impl HeldStreamFrame {
    /// Maximum number of frames that are held for one subscription.
    pub const MOST: usize = HELD_FRAMES;

    /// As [`crate::StreamFrame::number`].
    pub fn number(&self) -> u64 {
        self.current.number
    }

    /// As [`crate::StreamFrame::desc`].
    pub fn desc(&self) -> &SurfaceDesc {
        &self.current.placed.desc
    }

    /// As [`crate::StreamFrame::view`].
    pub fn view(&self) -> View {
        self.current.placed.view
    }

    /// As [`crate::StreamFrame::read_with`].
    ///
    /// # Errors
    /// As there; [`interop_core::Error::Unavailable`] in a forked child of the process that subscribed.
    pub fn read_with(&mut self, take: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.made.check("the frame of a stream")?;
        let memory = self.piece.as_mut().and_then(OpenPiece::memory_mut);
        memory.map_or(Ok(()), |memory| read_rows(memory, &self.current.placed.view, take))
    }

    /// The frame's memory, for kernels that read it; `None` in a forked child of the process that subscribed.
    pub fn memory(&self) -> Option<&dyn ComputeMemory> {
        self.piece.as_ref().filter(|_| self.made.is_here())?.memory()
    }
}

/// Calls `take` with a frame's tight rows, top row first; where the host can address such memory, without a copy.
pub(super) fn read_rows(
    memory: &mut dyn ComputeMemory,
    view: &View,
    mut take: impl FnMut(&[u8]) -> Result<()>,
) -> Result<()> {
    let (span, payload) = (view.span(), view.payload_len());
    let is_tight = span.len() == payload && !matches!(view, View::Image(image) if image.row_pitch < 0);
    memory.map_read(span.clone(), &mut |seen| {
        if is_tight {
            return take(seen);
        }
        let mut bytes = Vec::with_capacity(payload);
        for (_, row) in rows(view) {
            bytes.extend_from_slice(&seen[row.start - span.start..row.end - span.start]);
        }
        take(&bytes)
    })
}

impl Drop for HeldStreamFrame {
    fn drop(&mut self) {
        let Some(mut piece) = self.piece.take() else { return };
        if !self.made.is_here() {
            // Drivers belong to the parent.
            std::mem::forget((piece, Arc::clone(&self.connection), Arc::clone(&self.returned)));
            return;
        }
        // Queued kernels may still read the frame.
        if let Some(memory) = piece.memory_mut()
            && let Err(error) = memory.release()
        {
            tracing::debug!(%error, "a frame of a stream was released while kernels may be reading it");
        }
        self.returned.lock().push((self.current.piece, piece));
        // Only now may the publisher overwrite it: the next frame may come in this piece.
        self.hold = None;
    }
}
