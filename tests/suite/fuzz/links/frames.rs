//! Frames: whole and in part, finished, dropped and forgotten.

use super::World;
use crate::fuzz::parts::{alone, any_part, paste};
use crate::fuzz::{Choices, Turn, TurnResult, hold, hostile, kernels};
use pixelferry::driver::SurfacePart;
use pixelferry::{Arg, Error, ImageView, Kernel, SurfaceDesc, Unwritten, WriteFrame};
use std::sync::Arc;

/// Way in which a frame is computed.
pub(super) enum FrameSource {
    Bytes(Vec<u8>),
    Kernel(Arc<dyn Kernel>, u32),
}

impl FrameSource {
    pub(super) fn apply(&self, frame: &mut WriteFrame<'_>) -> pixelferry::Result<()> {
        match self {
            Self::Bytes(bytes) => frame.write(bytes),
            Self::Kernel(kernel, seed) => frame.launch(kernel.as_ref(), &[Arg::U32(*seed)]),
        }
    }
}

impl World<'_> {
    /// Computes what `desc` describes, and says what it will be.
    pub(super) fn way(&self, t: &mut Choices, at: usize, desc: &SurfaceDesc) -> TurnResult<(FrameSource, Vec<u8>)> {
        let seed = t.word();
        let mut bytes = self.open[at].content(t, desc)?;
        if !t.one_in(2) {
            return Ok((FrameSource::Bytes(bytes.clone()), bytes));
        }
        let kernel = match desc {
            SurfaceDesc::Image(image) => {
                kernels::paint(&ImageView::packed(image.extent, image.format, 1, 0, false)?, seed, &mut bytes);
                self.engine.image(image.format)?
            }
            SurfaceDesc::Buffer(_) => {
                kernels::stamp_all(&mut bytes, seed);
                self.engine.stamp()?
            }
        };
        Ok((FrameSource::Kernel(kernel, seed), bytes))
    }

    pub(super) fn frame(&mut self, t: &mut Turn, at: usize) -> TurnResult {
        let desc = self.open[at].desc;
        let (way, bytes) = self.way(t, at, &desc)?;
        let open = &mut self.open[at];
        t.op("links: frame", format_args!("{desc} by {}", open.link.path()));
        let made = t.end_with(open.link.frame(|frame| way.apply(frame)));
        if open.forgive("frame", made)? {
            open.shows(bytes);
        }
        Ok(())
    }

    pub(super) fn acquired(&mut self, t: &mut Turn, at: usize) -> TurnResult {
        let desc = self.open[at].desc;
        let (way, bytes) = self.way(t, at, &desc)?;
        let open = &mut self.open[at];
        let what = t.below(12);
        t.op("links: acquire and finish, drop or forget", format_args!("{desc} by {}, {what}", open.link.path()));
        let made = open.link.acquire().and_then(|mut frame| {
            let written = if what == 3 { Ok(()) } else { way.apply(&mut frame) };
            match what {
                0 | 3 => drop(frame),
                1 => std::mem::forget(frame),
                _ => {
                    written?;
                    if what == 2 {
                        // Written twice.
                        way.apply(&mut frame)?;
                    }
                    return frame.finish().map(|()| true);
                }
            }
            written.map(|()| false)
        });
        let made = t.end_with(made);
        let finished = matches!(made, Ok(true));
        open.forgive("acquire", made)?;
        if finished {
            open.shows(bytes);
        }
        Ok(())
    }

    pub(super) fn part(&mut self, t: &mut Turn, at: usize) -> TurnResult {
        let desc = self.open[at].desc;
        let part = any_part(t, &desc);
        let fits = part.check_inside(&desc).is_ok();
        let (way, bytes) =
            if fits { self.way(t, at, &alone(&desc, &part))? } else { (FrameSource::Bytes(Vec::new()), Vec::new()) };
        let open = &mut self.open[at];
        let (mut whole, drops) = (open.before()?, t.one_in(8));
        let mut compute = |frame: &mut WriteFrame<'_>| {
            way.apply(frame)?;
            if drops { Err(Error::invalid("compute", "given up on purpose")) } else { Ok(()) }
        };
        t.op("links: part of a frame", format_args!("{part} of {desc} by {}", open.link.path()));
        let made = match &part {
            SurfacePart::Image(region) => open.link.frame_region(*region, &mut compute),
            SurfacePart::Buffer(range) => open.link.frame_bytes(range.clone(), &mut compute),
        };
        let made = t.end_with(made);
        if !fits || drops {
            hold!(made.is_err(), "a part outside of the {desc}, or one given up, was taken");
            return Ok(());
        }
        if open.forgive("part", made)? {
            paste(&part, &desc, &bytes, &mut whole);
            open.shows(whole);
        }
        Ok(())
    }

    /// A frame that writes nothing: what it shows follows from the rule for unwritten pixels.
    pub(super) fn nothing(&mut self, t: &mut Turn, at: usize) -> TurnResult {
        let (open, looks) = (&mut self.open[at], t.one_in(2));
        let (desc, mut whole) = (open.desc, open.before()?);
        let part = Some(any_part(t, &desc)).filter(|part| part.check_inside(&desc).is_ok());
        let part = part.unwrap_or(SurfacePart::full(&desc));
        // Where the picture on show cannot be read, a new path goes on from zero.
        if desc.unwritten() == Unwritten::Overwrite || open.troubled {
            return Ok(());
        }
        let compute = |frame: &mut WriteFrame<'_>| if looks { frame.target().map(drop) } else { Ok(()) };
        t.op("links: frame of nothing", format_args!("{part} of {desc} by {}, looks: {looks}", open.link.path()));
        let made = match &part {
            part if *part == SurfacePart::full(&desc) => open.link.frame(compute),
            SurfacePart::Image(region) => open.link.frame_region(*region, compute),
            SurfacePart::Buffer(range) => open.link.frame_bytes(range.clone(), compute),
        };
        let made = t.end_with(made);
        if open.forgive("frame of nothing", made)? {
            if desc.unwritten() == Unwritten::Clear {
                paste(&part, &desc, &vec![0; alone(&desc, &part).byte_len()?], &mut whole);
            }
            open.shows(whole);
        }
        Ok(())
    }

    /// Bytes of a wrong number, kernels and views that do not fit; then the frame is shown all the same.
    pub(super) fn refused(&mut self, t: &mut Turn, at: usize) -> TurnResult {
        let desc = self.open[at].desc;
        let (way, bytes) = self.way(t, at, &desc)?;
        let open = &mut self.open[at];
        let (wrong, stamp) = (hostile::near(t, bytes.len()).min(1 << 16), self.engine.stamp()?);
        let mut taken = false;
        t.op("links: frame with refusals", format_args!("{desc} by {}", open.link.path()));
        let made = open.link.frame(|frame| {
            taken |= wrong != bytes.len() && frame.write(&vec![1; wrong]).is_ok();
            taken |= frame.launch(stamp.as_ref(), &[Arg::F64(1.0), Arg::I32(3)]).is_ok();
            let (memory, view) = frame.target()?.into_parts();
            let len = memory.len();
            taken |= memory.read(len, &mut [0; 1]).is_ok();
            taken |= memory.write(len.wrapping_sub(1), &[0; 2]).is_ok();
            taken |= memory.map_write(len..len + 1, &mut |_| Ok(())).is_ok();
            taken |= view.check_inside(len).is_err();
            way.apply(frame)
        });
        let made = t.end_with(made);
        if open.forgive("frame with refusals", made)? {
            hold!(!taken, "something was taken that does not fit a frame of the {desc}");
            open.shows(bytes);
        }
        Ok(())
    }
}
