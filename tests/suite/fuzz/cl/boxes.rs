//! Boxes of bytes in buffers.

use super::{Effect, World};
use crate::fuzz::{Checked, Log, Rng, fail, hold, hostile};
use pixelferry::opencl_backend::cl::RectLayout;

/// Where every byte of a box is; `None` where one is outside of `len` bytes.
fn places(layout: &RectLayout, region: [usize; 3], len: usize) -> Option<Vec<usize>> {
    let (layout, range) = layout.resolve(region)?;
    if range.end > len {
        return None;
    }
    let [x, y, z] = layout.origin;
    let start = z * layout.slice_pitch + y * layout.row_pitch + x;
    let mut places = Vec::new();
    for slice in 0..region[2] {
        for row in 0..region[1] {
            places
                .extend((0..region[0]).map(|byte| start + slice * layout.slice_pitch + row * layout.row_pitch + byte));
        }
    }
    Some(places)
}

fn region(rng: &mut Rng) -> [usize; 3] {
    let side = |rng: &mut Rng, most: usize| if rng.one_in(20) { hostile::near(rng, most) } else { 1 + rng.below(most) };
    [side(rng, 40), side(rng, 8), side(rng, 3)]
}

fn layout(rng: &mut Rng, region: [usize; 3]) -> RectLayout {
    if rng.one_in(10) {
        let any = |rng: &mut Rng| hostile::near(rng, 64);
        return RectLayout { origin: [any(rng), any(rng), any(rng)], row_pitch: any(rng), slice_pitch: any(rng) };
    }
    let row_pitch = if rng.one_in(4) { 0 } else { region[0].wrapping_add(rng.below(20)) };
    let row = if row_pitch == 0 { region[0] } else { row_pitch };
    let slice_pitch = if rng.one_in(3) { 0 } else { row.wrapping_mul(region[1].wrapping_add(rng.below(3))) };
    RectLayout { origin: [rng.below(9), rng.below(3), rng.below(2)], row_pitch, slice_pitch }
}

impl World<'_> {
    pub(super) fn read_box(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let (at, queue) = (self.slot(rng), self.queue(rng));
        let (wait, slot) = (self.wait_list(rng, &[at]), &self.slots[at]);
        let region = region(rng);
        let (device, host) = (layout(rng, region), layout(rng, region));
        let len = match host.resolve(region) {
            Some((_, range)) if !rng.one_in(8) => range.end.min(1 << 20),
            _ => rng.below(4000),
        };
        log.op("cl: read a box", format_args!("{region:?} {device:?} of {}, {host:?} of {len}", slot.root));
        let read = queue.read_rect::<u8>((&slot.buffer, device), (len, host), region, &wait);
        if let Some(bytes) = log.end(read) {
            let found = places(&device, region, slot.buffer.len()).zip(places(&host, region, len));
            let Some((from, to)) = found else { fail!("{region:?} {device:?}, {host:?} of {len} was taken") };
            let mut all = vec![None; len];
            for (from, to) in from.into_iter().zip(to) {
                all[to] = Some(slot.start + from);
            }
            let (root, event) = (slot.root, bytes.event());
            self.taken(event, wait, &[at], Effect::read(root, all.into_iter(), || bytes.wait()));
        }
        Ok(())
    }

    pub(super) fn write_box(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let (at, queue) = (self.slot(rng), self.queue(rng));
        let (wait, slot) = (self.wait_list(rng, &[at]), &self.slots[at]);
        let region = region(rng);
        let (device, host) = (layout(rng, region), layout(rng, region));
        let len = match host.resolve(region) {
            Some((_, range)) if !rng.one_in(8) => range.end.min(1 << 16),
            _ => rng.below(4000),
        };
        let bytes = rng.bytes(len);
        log.op("cl: write a box", format_args!("{region:?} {device:?} of {}, {host:?} of {len}", slot.root));
        let written = queue.write_rect::<u8>((&slot.buffer, device), (bytes.clone(), host), region, &wait);
        if let Some(event) = log.end(written) {
            let found = places(&device, region, slot.buffer.len()).zip(places(&host, region, len));
            let Some((to, from)) = found else { fail!("{region:?} {device:?}, {host:?} of {len} was taken") };
            let bytes = to.into_iter().zip(from).map(|(to, from)| (slot.start + to, bytes[from])).collect();
            let effect = Effect::scatter(slot.root, bytes);
            self.taken(event, wait, &[at], effect);
        }
        Ok(())
    }

    pub(super) fn copy_box(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let (a, b, queue) = (self.slot(rng), self.slot(rng), self.queue(rng));
        let wait = self.wait_list(rng, &[a, b]);
        let (from, to) = (&self.slots[a], &self.slots[b]);
        let region = region(rng);
        let (one, other) = (layout(rng, region), layout(rng, region));
        log.op("cl: copy a box", format_args!("{region:?} {one:?} of {} to {other:?} of {}", from.root, to.root));
        if let Some(event) = log.end(queue.copy_rect((&from.buffer, one), (&to.buffer, other), region, &wait)) {
            let found = places(&one, region, from.buffer.len()).zip(places(&other, region, to.buffer.len()));
            let Some((source, target)) = found else { fail!("{region:?} {one:?} to {other:?} was taken") };
            let bytes: Vec<(usize, usize)> =
                source.into_iter().zip(target).map(|(a, b)| (from.start + a, to.start + b)).collect();
            hold!(!bytes.is_empty(), "a box of nothing was taken");
            let effect = Effect::moves(from.root, to.root, bytes.into_iter());
            self.taken(event, wait, &[a, b], effect);
        }
        Ok(())
    }
}
