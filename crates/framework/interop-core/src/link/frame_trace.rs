//! Tracing of a frame: its span, and the tag that identifies the devices' work for it.

use super::LinkCore;
use crate::devices::timeline::{FrameTag, FrameTagGuard};
use crate::display::SurfacePart;
use crate::path::{PathId, SharingPath};
use std::sync::atomic::{AtomicU32, Ordering};
use tracing::field::Empty;
use tracing::span::EnteredSpan;

/// Returns a new number for a link of this process.
pub(super) fn next_link() -> u32 {
    static NEXT: AtomicU32 = AtomicU32::new(1);
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// A frame in progress, until it is finished or dropped.
pub(super) struct FrameTrace {
    tag: FrameTag,
    tagged: FrameTagGuard,
    span: EnteredSpan,
}

impl FrameTrace {
    /// Traces the frame that `link` is about to begin.
    pub fn new(link: &LinkCore, part: &SurfacePart) -> Self {
        Self::by(link, link.id, part)
    }

    /// Traces the frame that `link` is about to begin on another path.
    pub fn by(link: &LinkCore, path: PathId, part: &SurfacePart) -> Self {
        let tag = FrameTag { link: link.number, frame: link.frames, path, slot: link.path.slot() };
        let span = tracing::trace_span!(
            target: "pixelferry::frame",
            "frame",
            link = tag.link,
            frame = tag.frame,
            path = %tag.path,
            slot = Empty,
            part = %part,
            frames_behind = link.path.frames_behind(),
        );
        Self { tag, tagged: FrameTag::enter(Some(tag)), span: span.entered() }
    }

    /// Adds the slot of the frame's memory.
    #[must_use]
    pub fn in_slot(self, slot: usize) -> Self {
        let Self { tag, tagged, span } = self;
        span.record("slot", slot);
        let tag = FrameTag { slot, ..tag };
        // The old tag must be dropped first because tags nest.
        drop(tagged);
        Self { tag, tagged: FrameTag::enter(Some(tag)), span }
    }
}
