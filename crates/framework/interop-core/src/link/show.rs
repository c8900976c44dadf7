//! Computing and drawing a frame in one call: where a draw would only place pixels, kernels write the target directly.

use super::frame_trace::FrameTrace;
use super::targets::{Detour, OpenedTarget, ShowOutcome, TargetArea};
use super::{LinkCore, WriteFrame};
use crate::describe::error::{Error, Result};
use crate::describe::geometry::{Region, RowOrder};
use crate::describe::pattern::Pattern;
use crate::describe::surface::{MemoryShape, SurfaceDesc, Unwritten};
use crate::devices::capability::{HandleType, Support};
use crate::devices::timeline::{FrameTag, stage};
use crate::display::ShowTarget;
use crate::draw::{DrawOptions, Plan};
use crate::engine::compare;
use crate::path::{FrameLayout, PATHS, Pairing, PathId, SharingPath, clear};
use crate::select::verify::next_nonce;
use crate::tournament::ShortestTime;
use std::time::Instant;

impl LinkCore {
    /// Computes one frame of the whole surface and shows it in `target`, like [`Link::frame`](LinkCore::frame) followed by a draw with
    /// these options.
    ///
    /// Where the draw would only place pixels, kernels in the display's own queue store into the target directly, so a
    /// frame crosses memory once. This requires a target to which kernels can store, of the surface's format; a picture
    /// that is not scaled, cut or blended and whose colours do not change; and a surface with the rule
    /// [`Unwritten::Overwrite`] or [`Unwritten::Clear`]. The first frame in a target is drawn. Then stores into it are
    /// verified with pixels and timed against the draw, and the frame is drawn once more.
    ///
    /// After a frame that was written directly, no surface holds it: until another frame is finished, [`Link::shown`](LinkCore::shown),
    /// [`Link::read_back`](LinkCore::read_back) and frames of a part return [`Error::InTarget`]. If a kernel fails there, its pixels stay in
    /// the target.
    ///
    /// # Errors
    /// The errors of [`Link::frame`](LinkCore::frame) and of the draw.
    pub fn show(
        &mut self,
        target: &mut dyn ShowTarget,
        options: DrawOptions,
        mut compute: impl FnMut(&mut WriteFrame<'_>) -> Result<()>,
    ) -> Result<ShowOutcome> {
        if self.paused {
            return Ok(ShowOutcome::Paused);
        }
        let place = self.place(target, &options);
        let found = place.and_then(|place| self.known(target, place));
        let why = match found {
            Err(why) => why,
            Ok(Ok(())) => match self.straight_frame(&mut compute) {
                Ok(()) => return Ok(ShowOutcome::Straight),
                Err(error) if !error.is_of_the_path() => return Err(error),
                Err(error) => {
                    tracing::warn!(%error, "stores into a target failed; frames are drawn there from now on");
                    self.targets.fail(error)
                }
            },
            Ok(Err(place)) => {
                self.draw_frame(target, options, compute)?;
                let found = self.try_straight(target, &place, options);
                self.targets.note(place, found);
                target.draw(self.shown()?.surface(), options)?;
                return Ok(ShowOutcome::Drawn(Detour::First));
            }
        };
        self.draw_frame(target, options, compute)?;
        Ok(ShowOutcome::Drawn(why))
    }

    /// Finds a target that was tried before, or an equivalent one; otherwise tries this one.
    fn known(&mut self, target: &mut dyn ShowTarget, place: TargetArea) -> Result<Result<(), TargetArea>, Detour> {
        if let Some(found) = self.targets.find(&place) {
            return found.map(Ok);
        }
        match self.targets.measured(&place).filter(|_| place.pixels.alike) {
            None => Ok(Err(place)),
            Some(found) => {
                found?;
                let straight = OpenedTarget::open(self.backend.as_ref(), &self.display, target, &place)
                    .map_err(|error| self.targets.fail(error))?;
                self.targets.note(place, Ok(straight));
                Ok(Ok(()))
            }
        }
    }

    fn draw_frame(
        &mut self,
        target: &mut dyn ShowTarget,
        options: DrawOptions,
        compute: impl FnMut(&mut WriteFrame<'_>) -> Result<()>,
    ) -> Result<()> {
        // Lives until the draw, or until the end where there is none.
        let _together = target.with_the_draw();
        self.frame(compute)?;
        target.draw(self.shown()?.surface(), options)
    }

    /// Finds the rectangle of the target's texture that the frame would cover unchanged.
    fn place(&self, target: &mut dyn ShowTarget, options: &DrawOptions) -> Result<TargetArea, Detour> {
        let desc = *self.layout.desc();
        let SurfaceDesc::Image(image) = desc else { return Err(Detour::Draws("the frame is a buffer, not an image")) };
        if desc.unwritten() == Unwritten::Keep {
            return Err(Detour::Keeps);
        }
        if self.path.frames_behind() > 0 {
            // A frame that is written directly would be newer than the next one that is drawn.
            return Err(Detour::Draws("it shows an earlier frame"));
        }
        if let Some(manner) = self.targets.asked.or(options.manner) {
            return Err(Detour::Asked(manner.name()));
        }
        let stored = PathId::IN_QUEUE_TEXTURE;
        if let Some(path) = self.options.policy.force.filter(|path| *path != stored) {
            return Err(Detour::Asked(path.name()));
        }
        if let Some((_, reason)) = self.demoted.iter().find(|(path, _)| *path == stored) {
            return Err(Detour::Queue(reason.clone().into()));
        }
        let queue = self.backend.caps().display_queue().map(HandleType::QueueBuffer);
        let is_its_own = |queue| self.display.caps().can_import(queue, MemoryShape::Linear).is_yes();
        if !queue.is_some_and(is_its_own) {
            return Err(Detour::Queue("kernels do not run in the display's queue".into()));
        }
        let area = target.area();
        // The draw reports the error.
        let plan = Plan::of(&desc, area, self.display.caps(), options)
            .map_err(|_| Detour::Draws("the draw's options are invalid"))?;
        let whole = Region { x: 0, y: 0, ..plan.drawn };
        let draws = match plan {
            _ if !plan.one_to_one => Some("it scales"),
            _ if plan.bars => Some("it fills the area around the picture"),
            _ if plan.blends => Some("it blends"),
            _ if plan.grey => Some("it shows one channel as grey"),
            _ if plan.shading.is_some() || plan.format_encodes => Some("it changes colours"),
            _ if whole != image.extent.full() => Some("it cuts the picture"),
            _ => None,
        };
        if let Some(draws) = draws {
            return Err(Detour::Draws(draws));
        }
        let pixels = target.pixels()?;
        if pixels.format != image.format {
            return Err(Detour::Format { frame: image.format, target: pixels.format });
        }
        let from_top = plan.drawn.y;
        let down = match self.display.caps().native_row_order {
            RowOrder::TopDown => from_top,
            RowOrder::BottomUp => area.height - from_top - plan.drawn.height,
        };
        let at = |first: i32, more: u32| u32::try_from(i64::from(first) + i64::from(more)).ok();
        let region = at(pixels.first.0, plan.drawn.x)
            .zip(at(pixels.first.1, down))
            .map(|(x, y)| Region { x, y, ..plan.drawn })
            .filter(|region| region.check_inside(pixels.extent).is_ok());
        let region = region.ok_or(Detour::Draws("it cuts the picture at the target's edge"))?;
        Ok(TargetArea { pixels, region, order: image.row_order })
    }

    /// Verifies stores into the target with pixels and measures whether they are faster than the draw. Afterwards the
    /// target holds a pattern.
    fn try_straight(
        &mut self,
        target: &mut dyn ShowTarget,
        place: &TargetArea,
        options: DrawOptions,
    ) -> Result<OpenedTarget, Detour> {
        let _stage = stage!("straight");
        let desc = place.desc();
        let pairing = Pairing::new(&self.backend, &self.display, &desc);
        let spec = PATHS.iter().find(|spec| spec.id == PathId::IN_QUEUE_TEXTURE);
        if let Some(Support::No(reason)) = spec.map(|spec| spec.check_support(&pairing)) {
            return Err(Detour::Queue(reason.into()));
        }
        let failed = |error: Error| Detour::Failed(error.to_string());
        let mut straight = OpenedTarget::open(self.backend.as_ref(), &self.display, target, place).map_err(failed)?;
        self.prove(&mut straight, target, place).map_err(failed)?;
        let measured = match self.targets.measured(place) {
            Some(measured) => measured,
            // The first working variant is wanted.
            None if self.options.policy.budget.is_zero() => Ok(()),
            None => self.time(&mut straight, target, options).map_err(failed)?,
        };
        self.targets.timed = Some((*place, measured.clone()));
        measured.map(|()| straight)
    }

    /// Stores a pattern and compares the whole target: pixels around the frame must not change.
    fn prove(&self, straight: &mut OpenedTarget, target: &mut dyn ShowTarget, place: &TargetArea) -> Result<()> {
        let whole = FrameLayout::new(&place.desc(), self.display.caps()).tight().whole()?;
        let mut expected = target.read_back()?;
        let pattern = Pattern::for_view(&straight.view, next_nonce());
        straight.pattern(self.backend.as_ref(), &pattern)?;
        pattern.write(&straight.view, &mut expected);
        compare(PathId::IN_QUEUE_TEXTURE, &whole, &expected, &target.read_back()?, 0)
            .map_err(|error| error.with_states(|| self.display.unusual_states()))
    }

    /// Times the same pattern, once stored into the target and once written to the link's memory and drawn.
    fn time(
        &mut self,
        straight: &mut OpenedTarget,
        target: &mut dyn ShowTarget,
        options: DrawOptions,
    ) -> Result<Result<(), Detour>> {
        let flat = Pattern::flat(&straight.view, next_nonce());
        let stored = ShortestTime::default().rest(|| {
            let start = Instant::now();
            straight.pattern(self.backend.as_ref(), &flat)?;
            self.display.finish().map(|()| start.elapsed())
        })?;
        let full = self.layout.full();
        self.make_pieces(false)?;
        let drawn = ShortestTime::default().rest(|| {
            let start = Instant::now();
            self.path.begin(&full)?;
            let written = self.path.target().and_then(|to| self.backend.write_pattern(to, &flat));
            // The path's own frame is cancelled without a trace, because the frame goes into the target.
            self.path.cancel();
            written?;
            target.draw(self.path.surface(), options)?;
            self.display.finish().map(|()| start.elapsed())
        })?;
        Ok(if stored <= drawn { Ok(()) } else { Err(Detour::Slower { drawn, straight: stored }) })
    }

    /// Lets `compute` write the target that was found.
    fn straight_frame(&mut self, compute: &mut dyn FnMut(&mut WriteFrame<'_>) -> Result<()>) -> Result<()> {
        self.frames += 1;
        let full = self.layout.full();
        let traced = FrameTrace::by(self, PathId::IN_QUEUE_TEXTURE, &full);
        self.targets.first()?.memory()?.acquire()?;
        if self.layout.desc().unwritten() == Unwritten::Clear {
            clear(self.backend.as_ref(), self.targets.first()?.target()?)?;
        }
        self.targets.open = true;
        let mut frame = WriteFrame::new(self, full, Some(traced));
        let (done, tag) = (compute(&mut frame), FrameTag::current());
        drop(frame);
        self.targets.first()?.memory()?.submit().and(done)?;
        (self.in_target, self.newest) = (true, tag);
        Ok(())
    }
}
