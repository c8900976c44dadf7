//! Commands on bytes of buffers: ranges, boxes and views of them are read, written, filled and copied.

use super::{Effect, MOST, Slot, World};
use crate::fuzz::{Choices, Turn, TurnResult, fail, hold, hostile};
use pixelferry::Result;
use pixelferry::api::opencl::cl::{Buffer, Event, Migration, NdView, RectLayout};
use proptest::test_runner::TestCaseError;
use std::ops::Range;

/// Bytes of a buffer that a command names.
#[derive(Debug)]
enum Area {
    Bytes(Range<usize>),
    Box(RectLayout, [usize; 3]),
    View(NdView<u8>),
}

impl Area {
    /// Tells where every byte is, in the order of the host's; `None` where none is named, or one outside of `len` bytes.
    fn places(&self, len: usize) -> Option<Vec<usize>> {
        match self {
            Self::Bytes(range) => (range.start < range.end && range.end <= len).then(|| range.clone().collect()),
            Self::Box(layout, region) => {
                let (layout, range) = layout.resolve(*region)?;
                if range.end > len {
                    return None;
                }
                let [x, y, z] = layout.origin;
                let start = z * layout.slice_pitch + y * layout.row_pitch + x;
                let rows = (0..region[2]).flat_map(|slice| (0..region[1]).map(move |row| (slice, row)));
                let rows = rows.map(|(slice, row)| start + slice * layout.slice_pitch + row * layout.row_pitch);
                Some(rows.flat_map(|at| at..at + region[0]).collect())
            }
            Self::View(view) => {
                let place = |mut rest: usize| {
                    let mut at = view.offset();
                    for (side, stride) in view.shape().iter().zip(view.strides()).rev() {
                        at = at.wrapping_add_signed((rest % side) as isize * stride);
                        rest /= side;
                    }
                    at
                };
                Some((0..view.len()).map(place).collect())
            }
        }
    }

    /// The same bytes on the host, in a box of its own or one after the other: how many there are, and the layout.
    fn host(&self, t: &mut Choices) -> (usize, RectLayout) {
        match self {
            Self::Bytes(range) => (range.len().min(4 * MOST), RectLayout::default()),
            Self::Box(_, region) => {
                let host = layout(t, *region);
                match host.resolve(*region) {
                    Some((_, range)) if !t.one_in(8) => (range.end.min(1 << 16), host),
                    _ => (t.below(4000), host),
                }
            }
            Self::View(view) => (view.len(), RectLayout::default()),
        }
    }

    /// [`Area::places`] of the host's side.
    fn host_places(&self, len: usize, host: RectLayout) -> Option<Vec<usize>> {
        match self {
            Self::Box(_, region) => Self::Box(host, *region).places(len),
            _ => Some((0..len).collect()),
        }
    }
}

fn region(t: &mut Choices) -> [usize; 3] {
    let side = |t: &mut Choices, most: usize| if t.one_in(20) { hostile::near(t, most) } else { 1 + t.below(most) };
    [side(t, 40), side(t, 8), side(t, 3)]
}

fn layout(t: &mut Choices, region: [usize; 3]) -> RectLayout {
    if t.one_in(10) {
        let any = |t: &mut Choices| hostile::near(t, 64);
        return RectLayout { origin: [any(t), any(t), any(t)], row_pitch: any(t), slice_pitch: any(t) };
    }
    let row_pitch = if t.one_in(4) { 0 } else { region[0].wrapping_add(t.below(20)) };
    let row = if row_pitch == 0 { region[0] } else { row_pitch };
    let slice_pitch = if t.one_in(3) { 0 } else { row.wrapping_mul(region[1].wrapping_add(t.below(3))) };
    RectLayout { origin: [t.below(9), t.below(3), t.below(2)], row_pitch, slice_pitch }
}

/// Any view of a buffer, and now and then a view of that.
fn view(t: &mut Choices, buffer: &Buffer) -> Result<NdView<u8>> {
    let dimensions = t.below(4);
    let view = if t.one_in(6) {
        let shape: Vec<usize> = (0..dimensions).map(|_| hostile::near(t, 6)).collect();
        let strides: Vec<isize> = (0..dimensions).map(|_| hostile::stride(t)).collect();
        NdView::with_strides(buffer, hostile::near(t, buffer.len()), &shape, &strides)?
    } else {
        let shape: Vec<usize> = (0..dimensions).map(|_| 1 + t.below(5)).collect();
        let strides: Vec<isize> = (0..dimensions).map(|_| t.below(9) as isize - 2).collect();
        NdView::with_strides(buffer, t.below(buffer.len()), &shape, &strides)?
    };
    let axis = t.below(view.shape().len() + 1);
    let side = view.shape().get(axis).copied().unwrap_or(1);
    let next = match t.below(5) {
        0 => view.slice(axis, hostile::range(t, side), hostile::stride(t)),
        1 => view.index(axis, hostile::near(t, side)),
        2 => view.permute(&(0..view.shape().len()).rev().collect::<Vec<_>>()),
        3 => view.reshape(&[view.len()]),
        _ => Ok(view.transpose()),
    };
    Ok(next.unwrap_or(view))
}

/// The places of a box or view of `to` that has the shape of `like`, or of a range as long.
fn target(t: &mut Choices, like: &Area, to: &Buffer) -> Result<Area> {
    Ok(match like {
        Area::Bytes(range) => {
            let len = range.end.wrapping_sub(range.start);
            let start = match t.one_in(6) {
                true => hostile::near(t, to.len()),
                false => t.below(to.len().saturating_sub(len) + 1),
            };
            Area::Bytes(start..start.wrapping_add(len))
        }
        Area::Box(_, region) => Area::Box(layout(t, *region), *region),
        Area::View(view) => {
            let strides = |i: usize| view.shape()[i + 1..].iter().product::<usize>() as isize;
            let strides: Vec<isize> = (0..view.shape().len()).map(strides).collect();
            Area::View(NdView::with_strides(to, t.below(8), view.shape(), &strides)?)
        }
    })
}

impl Slot {
    /// [`Area::places`] in the model.
    fn places(&self, area: &Area) -> Option<Vec<usize>> {
        let mut places = area.places(self.buffer.len())?;
        places.iter_mut().for_each(|place| *place += self.start);
        Some(places)
    }
}

impl World<'_> {
    /// Bytes of a slot, mostly inside of it; a view that is refused ends the step.
    fn area(&self, t: &mut Turn, at: usize) -> TurnResult<Area> {
        let buffer = &self.slots[at].buffer;
        Ok(match t.below(7) {
            0..4 => Area::Bytes(hostile::range(t, buffer.len())),
            4 | 5 => {
                let region = region(t);
                Area::Box(layout(t, region), region)
            }
            _ => {
                t.op("cl: view", format_args!("of {}", self.slots[at].root));
                let view = view(t, buffer);
                let view = t.end(view)?;
                if view.len() > 1 << 14 {
                    return Err(TestCaseError::reject("more values than are listed"));
                }
                let area = Area::View(view);
                let inside = area.places(buffer.len()).is_some_and(|all| all.iter().all(|at| *at < buffer.len()));
                hold!(inside, "{area:?} reaches outside of {} bytes", buffer.len());
                area
            }
        })
    }

    /// A range that fits is refused only where something is mapped or has failed.
    fn refused(&self, at: usize, area: &Area, wait: &[Event]) -> TurnResult {
        let slot = &self.slots[at];
        let fits = matches!(area, Area::Bytes(_)) && slot.places(area).is_some();
        hold!(!fits || slot.stuck || Self::doomed(wait), "{area:?} of {} was refused", slot.buffer.len());
        Ok(())
    }

    pub(super) fn read(&mut self, t: &mut Turn) -> TurnResult {
        let (at, queue) = (self.slot(t), self.queue(t));
        let area = self.area(t, at)?;
        let blocks = matches!(area, Area::Bytes(_)) && t.one_in(3);
        if blocks {
            self.settle(t)?;
        }
        let (wait, slot) = (self.wait_list(t, &[at]), &self.slots[at]);
        let (len, host) = area.host(t);
        let root = slot.root;
        let found = slot.places(&area).zip(area.host_places(len, host));
        t.op("cl: read", format_args!("{area:?} of {root}, {host:?} of {len}, blocks: {blocks}"));
        let mut into = vec![0; if blocks { len } else { 0 }];
        let read = match &area {
            Area::Bytes(range) if blocks => queue.read_into(&slot.buffer, range.start, &mut into, &wait).map(|()| None),
            Area::Bytes(range) => queue.read::<u8>(&slot.buffer, range.start, range.len(), &wait).map(Some),
            Area::Box(layout, region) => {
                queue.read_rect::<u8>((&slot.buffer, *layout), (len, host), *region, &wait).map(Some)
            }
            Area::View(view) => queue.read_view(view, &wait).map(Some),
        };
        let Ok(pending) = t.end(read) else { return self.refused(at, &area, &wait) };
        let Some((from, to)) = found else { fail!("{area:?}, {host:?} of {len} was taken") };
        let mut places = vec![None; len];
        to.into_iter().zip(from).for_each(|(to, from)| places[to] = Some(from));
        let Some(bytes) = pending else {
            self.work.done(Effect::read(root, places.into_iter(), || Ok(into)));
            return Ok(());
        };
        let event = bytes.event();
        let what = t.below(8);
        let effect = if what < 2 {
            t.gone(["cl: drop a read", "cl: forget a read"], bytes, what == 1);
            Effect::nothing()
        } else {
            Effect::read(root, places.into_iter(), || bytes.wait())
        };
        self.taken(event, wait, &[at], effect);
        Ok(())
    }

    pub(super) fn write(&mut self, t: &mut Turn) -> TurnResult {
        let (at, queue) = (self.slot(t), self.queue(t));
        let area = self.area(t, at)?;
        let blocks = matches!(area, Area::Bytes(_)) && t.one_in(3);
        if blocks {
            self.settle(t)?;
        }
        let (wait, slot) = (self.wait_list(t, &[at]), &self.slots[at]);
        let (mut len, host) = area.host(t);
        let found = slot.places(&area);
        if let (Area::View(view), Some(places)) = (&area, &found) {
            let mut distinct = places.clone();
            distinct.sort_unstable();
            distinct.dedup();
            // The order of two values for one byte is open.
            if distinct.len() < places.len() {
                return Ok(());
            }
            if t.one_in(8) {
                len = hostile::near(t, view.len()).min(1 << 14);
            }
        }
        let bytes = t.bytes(len);
        t.op("cl: write", format_args!("{len} bytes, {host:?}, to {area:?} of {}, blocks: {blocks}", slot.root));
        let written = match &area {
            Area::Bytes(range) if blocks => queue.write_from(&slot.buffer, range.start, &bytes, &wait).map(|()| None),
            Area::Bytes(range) => queue.write(&slot.buffer, range.start, bytes.clone(), &wait).map(Some),
            Area::Box(layout, region) => {
                queue.write_rect((&slot.buffer, *layout), (bytes.clone(), host), *region, &wait).map(Some)
            }
            Area::View(view) => queue.write_view(view, bytes.clone(), &wait).map(Some),
        };
        let Ok(event) = t.end(written) else { return self.refused(at, &area, &wait) };
        let Some((to, from)) = found.zip(area.host_places(len, host)) else { fail!("{len} for {area:?} was taken") };
        hold!(to.len() == from.len(), "{len} values were taken for {area:?}");
        let effect = Effect::scatter(slot.root, to.into_iter().zip(from.into_iter().map(|at| bytes[at])).collect());
        match event {
            Some(event) => self.taken(event, wait, &[at], effect),
            None => self.work.done(effect),
        }
        Ok(())
    }

    pub(super) fn fill(&mut self, t: &mut Turn) -> TurnResult {
        let (at, queue) = (self.slot(t), self.queue(t));
        let size = t.pick(&[1, 2, 3, 4, 16]);
        let area = match self.area(t, at)? {
            area @ Area::View(_) => area,
            _ => Area::Bytes(hostile::range_of(t, self.slots[at].buffer.len(), size)),
        };
        let (wait, slot) = (self.wait_list(t, &[at]), &self.slots[at]);
        let pattern = t.bytes(if matches!(area, Area::View(_)) { 1 } else { size });
        t.op("cl: fill", format_args!("{area:?} of {} with {} bytes", slot.root, pattern.len()));
        let filled = match &area {
            Area::View(view) => queue.fill_view(view, pattern[0], &wait),
            Area::Bytes(range) => queue.fill_bytes(&slot.buffer, &pattern, range.clone(), &wait),
            Area::Box(..) => return Ok(()),
        };
        let event = t.end(filled)?;
        let Some(places) = slot.places(&area) else { fail!("{area:?} of {} was taken", slot.buffer.len()) };
        hold!(pattern.len() != 3, "a pattern of 3 bytes was taken");
        let effect = Effect::scatter(slot.root, places.into_iter().zip(pattern.into_iter().cycle()).collect());
        self.taken(event, wait, &[at], effect);
        Ok(())
    }

    pub(super) fn copy(&mut self, t: &mut Turn) -> TurnResult {
        let (a, b, queue) = (self.slot(t), self.slot(t), self.queue(t));
        let source = self.area(t, a)?;
        let wait = self.wait_list(t, &[a, b]);
        let (from, to) = (&self.slots[a], &self.slots[b]);
        let target = target(t, &source, &to.buffer);
        t.op("cl: copy", format_args!("{source:?} of {} to {target:?} of {}", from.root, to.root));
        let copied = target.and_then(|target| {
            let event = match (&source, &target) {
                (Area::Bytes(range), Area::Bytes(to_range)) => {
                    let bytes = range.end.wrapping_sub(range.start);
                    queue.copy((&from.buffer, range.start), (&to.buffer, to_range.start), bytes, &wait)?
                }
                (Area::Box(one, region), Area::Box(other, _)) => {
                    queue.copy_rect((&from.buffer, *one), (&to.buffer, *other), *region, &wait)?
                }
                (Area::View(one), Area::View(other)) => queue.copy_view(one, other, &wait)?,
                _ => unreachable!("both are of a kind"),
            };
            Ok((event, target))
        });
        let (event, target) = t.end(copied)?;
        let found = from.places(&source).zip(to.places(&target));
        let Some((reads, writes)) = found else { fail!("{source:?} to {target:?} was taken") };
        let apart = from.root != to.root
            || reads.iter().max() < writes.iter().min()
            || writes.iter().max() < reads.iter().min();
        hold!(apart || !matches!(source, Area::Bytes(_)), "bytes were copied onto themselves");
        hold!(!reads.is_empty(), "a box of nothing was taken");
        let effect = Effect::moves(from.root, to.root, reads.into_iter().zip(writes));
        self.taken(event, wait, &[a, b], effect);
        Ok(())
    }

    pub(super) fn migrate(&mut self, t: &mut Turn) -> TurnResult {
        let (a, b, queue) = (self.slot(t), self.slot(t), self.queue(t));
        let wait = self.wait_list(t, &[a, b]);
        let all = [&self.slots[a].buffer, &self.slots[b].buffer];
        let buffers: &[&Buffer] = &all[..t.below(3)];
        let how = t.pick(&[Migration::ToDevice, Migration::ToHost]);
        if self.failed && how == Migration::ToHost {
            // PoCL 3.1 never ends it for a buffer whose last command failed (docs/drivers.md).
            return Ok(());
        }
        t.op("cl: migrate", format_args!("{} buffers, {how:?}", buffers.len()));
        let event = t.end(queue.migrate(buffers, how, &wait))?;
        self.taken(event, wait, &[a, b], Effect::nothing());
        Ok(())
    }
}
