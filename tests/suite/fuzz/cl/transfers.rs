//! Reads, writes, fills, copies, migrations.

use super::{Effect, World};
use crate::fuzz::{Checked, Log, Rng, hold, hostile};
use pixelferry::opencl_backend::cl::{Buffer, Migration};

impl World<'_> {
    pub(super) fn read(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let (at, queue) = (self.slot(rng), self.queue(rng));
        let blocks = rng.one_in(3);
        if blocks {
            self.settle(rng, log)?;
        }
        let (wait, slot) = (self.wait_list(rng, &[at]), &self.slots[at]);
        let (range, from) = (hostile::range(rng, slot.buffer.len()), slot.root);
        let fits = range.start < range.end && range.end <= slot.buffer.len();
        let place = fits.then(|| slot.range(&range));
        if blocks {
            let mut bytes = vec![0_u8; range.len().min(4 * super::MOST)];
            log.op("cl: read into", format_args!("{range:?} of {from}"));
            let read = log.end_with(queue.read_into(&slot.buffer, range.start, &mut bytes, &wait));
            if read.is_ok() {
                let Some(place) = place else { crate::fuzz::fail!("{range:?} of {} was taken", slot.buffer.len()) };
                self.done(Effect::saw(from, place, bytes));
            }
            return Ok(());
        }
        log.op("cl: read", format_args!("{range:?} of {from}"));
        if let Some(bytes) = log.end(queue.read::<u8>(&slot.buffer, range.start, range.len(), &wait)) {
            let Some(range) = place else { crate::fuzz::fail!("{range:?} of {} was taken", slot.buffer.len()) };
            let event = bytes.event();
            let effect = match rng.below(8) {
                0 => Effect::nothing(),
                1 => {
                    std::mem::forget(bytes);
                    Effect::nothing()
                }
                _ => Effect::read(from, range.map(Some), || bytes.wait()),
            };
            self.taken(event, wait, &[at], effect);
        } else {
            hold!(!fits || slot.stuck || Self::doomed(&wait), "{range:?} of {} was refused", slot.buffer.len());
        }
        Ok(())
    }

    pub(super) fn write(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let (at, queue) = (self.slot(rng), self.queue(rng));
        let blocks = rng.one_in(3);
        if blocks {
            self.settle(rng, log)?;
        }
        let (wait, slot) = (self.wait_list(rng, &[at]), &self.slots[at]);
        let range = hostile::range(rng, slot.buffer.len());
        let bytes = rng.bytes(range.len().min(4 * super::MOST));
        let fits = range.start < range.end && range.end <= slot.buffer.len();
        log.op(
            "cl: write",
            format_args!("{} bytes at {} of {}, blocks: {blocks}", bytes.len(), range.start, slot.root),
        );
        let written = match blocks {
            true => queue.write_from(&slot.buffer, range.start, &bytes, &wait).map(|()| None),
            false => queue.write(&slot.buffer, range.start, bytes.clone(), &wait).map(Some),
        };
        match log.end(written) {
            None => hold!(!fits || slot.stuck || Self::doomed(&wait), "{range:?} of {} was refused", slot.buffer.len()),
            Some(event) => {
                hold!(fits, "{range:?} of {} was taken", slot.buffer.len());
                let effect = Effect::set(slot.root, slot.range(&range).start, bytes);
                match event {
                    Some(event) => self.taken(event, wait, &[at], effect),
                    None => self.done(effect),
                }
            }
        }
        Ok(())
    }

    pub(super) fn fill(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let (at, queue) = (self.slot(rng), self.queue(rng));
        let (wait, slot) = (self.wait_list(rng, &[at]), &self.slots[at]);
        let size = rng.pick(&[1, 2, 3, 4, 16]);
        let range = hostile::range_of(rng, slot.buffer.len(), size);
        let pattern = rng.bytes(size);
        fn of<const N: usize>(pattern: &[u8]) -> [u8; N] {
            std::array::from_fn(|i| pattern[i])
        }
        log.op("cl: fill", format_args!("{range:?} of {} with {size} bytes", slot.root));
        let filled = match size {
            1 => queue.fill(&slot.buffer, of::<1>(&pattern), range.clone(), &wait),
            2 => queue.fill(&slot.buffer, of::<2>(&pattern), range.clone(), &wait),
            3 => queue.fill(&slot.buffer, of::<3>(&pattern), range.clone(), &wait),
            4 => queue.fill(&slot.buffer, of::<4>(&pattern), range.clone(), &wait),
            _ => queue.fill(&slot.buffer, of::<16>(&pattern), range.clone(), &wait),
        };
        if let Some(event) = log.end(filled) {
            let fits = range.start < range.end && range.end <= slot.buffer.len();
            hold!(fits && size != 3, "{range:?} of {} was taken", slot.buffer.len());
            let bytes = pattern.iter().copied().cycle().take(range.len()).collect();
            let effect = Effect::set(slot.root, slot.range(&range).start, bytes);
            self.taken(event, wait, &[at], effect);
        }
        Ok(())
    }

    pub(super) fn copy(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let (a, b, queue) = (self.slot(rng), self.slot(rng), self.queue(rng));
        let wait = self.wait_list(rng, &[a, b]);
        let (from, to) = (&self.slots[a], &self.slots[b]);
        let range = hostile::range(rng, from.buffer.len());
        let start = match rng.one_in(6) {
            true => hostile::near(rng, to.buffer.len()),
            false => rng.below(to.buffer.len().saturating_sub(range.len()) + 1),
        };
        let bytes = range.end.wrapping_sub(range.start);
        log.op("cl: copy", format_args!("{range:?} of {} to {start} of {}", from.root, to.root));
        let copied = queue.copy((&from.buffer, range.start), (&to.buffer, start), bytes, &wait);
        if let Some(event) = log.end(copied) {
            let fits = range.end <= from.buffer.len() && start.checked_add(bytes).is_some_and(|n| n <= to.buffer.len());
            hold!(fits && bytes > 0, "{range:?} of {} to {start} was taken", from.buffer.len());
            let (source, target) = (from.range(&range), to.start + start);
            let overlap = from.root == to.root && source.start < target + bytes && target < source.end;
            hold!(!overlap, "bytes were copied onto themselves");
            let effect = Effect::copy(from.root, source, to.root, target);
            self.taken(event, wait, &[a, b], effect);
        }
        Ok(())
    }

    pub(super) fn migrate(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let (a, b, queue) = (self.slot(rng), self.slot(rng), self.queue(rng));
        let wait = self.wait_list(rng, &[a, b]);
        let all = [&self.slots[a].buffer, &self.slots[b].buffer];
        let buffers: &[&Buffer] = &all[..rng.below(3)];
        let how = rng.pick(&[Migration::ToDevice, Migration::ToHost]);
        if self.failed && how == Migration::ToHost {
            // PoCL 3.1 never ends it for a buffer whose last command failed (docs/drivers.md).
            return Ok(());
        }
        log.op("cl: migrate", format_args!("{} buffers, {how:?}", buffers.len()));
        if let Some(event) = log.end(queue.migrate(buffers, how, &wait)) {
            self.taken(event, wait, &[a, b], Effect::nothing());
        }
        Ok(())
    }
}
