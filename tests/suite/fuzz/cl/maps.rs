//! Mapped buffers, and closures that run as commands.

use super::{Effect, World};
use crate::fuzz::{Turn, TurnResult, hold, hostile, payload};
use pixelferry::api::opencl::cl::{Event, Queue};

impl World<'_> {
    pub(super) fn map(&mut self, t: &mut Turn) -> TurnResult {
        // A map waits for every command that uses the buffer.
        self.settle(t)?;
        let (at, queue) = (self.slot(t), self.queue(t));
        let (wait, slot) = (self.wait_list(t, &[at]), &self.slots[at]);
        let range = hostile::range(t, slot.buffer.len());
        let fits = range.start < range.end && range.end <= slot.buffer.len();
        let (root, how) = (slot.root, t.below(8));
        if how < 3 {
            t.op("cl: map for reading", format_args!("{range:?} of {root}"));
            let map = t.end(queue.map_read::<u8>(&slot.buffer, range.clone(), &wait))?;
            hold!(fits, "{range:?} of {} was taken", slot.buffer.len());
            let (place, bytes) = (slot.range(&range), map.to_vec());
            t.op("cl: write what is mapped", format_args!(""));
            let refused = t.end(queue.fill(&slot.buffer, 1_u8, range.clone(), &[])).is_err();
            hold!(refused, "bytes that are mapped for reading were written");
            let again = queue.map_read::<u8>(&slot.buffer, range, &[])?;
            hold!(*again == *map, "two maps of the same bytes differ");
            drop(again);
            let unmapped = if t.one_in(2) { Some(map.unmap()?) } else { None };
            self.work.done(Effect::saw(root, place, bytes));
            self.unmapped(at, unmapped, &queue)?;
            return Ok(());
        }
        t.op("cl: map for writing", format_args!("{range:?} of {root}, {how}"));
        let mapped = match how {
            3 => queue.map_overwrite::<u8>(&slot.buffer, range.clone(), &wait),
            _ => queue.map_write::<u8>(&slot.buffer, range.clone(), &wait),
        };
        let Ok(mut map) = t.end(mapped) else {
            hold!(!fits || slot.stuck || Self::doomed(&wait), "{range:?} of {} was refused", slot.buffer.len());
            return Ok(());
        };
        hold!(fits, "{range:?} of {} was taken", slot.buffer.len());
        let (place, before, bytes) = (slot.range(&range), map.to_vec(), t.bytes(range.len()));
        map.copy_from_slice(&bytes);
        t.op("cl: use what is mapped", format_args!(""));
        let taken = queue.read::<u8>(&slot.buffer, range.start, 1, &[]).is_ok()
            || queue.map_read::<u8>(&slot.buffer, range.clone(), &[]).is_ok()
            || queue.map_write::<u8>(&slot.buffer, range.clone(), &[]).is_ok()
            || queue.fill(&slot.buffer, 9_u8, range, &[]).is_ok();
        let _ = t.end(Ok(()));
        hold!(!taken, "bytes that are mapped for writing were used");
        hold!(*map == *bytes, "bytes changed under a mutable reference to them");
        if how != 3 {
            self.work.done(Effect::saw(root, place.clone(), before));
        }
        self.work.done(Effect::set(root, place.start, bytes));
        if t.one_in(40) {
            t.did("cl: forget a map", format_args!(""));
            std::mem::forget(map);
            self.slots.iter_mut().filter(|slot| slot.root == root).for_each(|slot| slot.stuck = true);
            return Ok(());
        }
        let unmapped = if t.one_in(2) { Some(map.unmap()?) } else { None };
        self.unmapped(at, unmapped, &queue)
    }

    /// Lets what follows on other queues wait for the end of the map.
    fn unmapped(&mut self, at: usize, event: Option<Event>, queue: &Queue) -> TurnResult {
        match event {
            Some(event) => {
                self.last.insert(self.slots[at].root, event);
            }
            None => queue.finish()?,
        }
        Ok(())
    }

    pub(super) fn native(&mut self, t: &mut Turn) -> TurnResult {
        let (a, b, queue) = (self.slot(t), self.slot(t), self.queue(t));
        let wait = self.wait_list(t, &[a, b]);
        let (one, other) = (&self.slots[a], &self.slots[b]);
        let (panics, seed) = (t.one_in(6).then(|| payload::kind(t)), t.word() as u8);
        let places = [one.range(&(0..one.buffer.len())), other.range(&(0..other.buffer.len()))];
        let overlap = one.root == other.root && places[0].start < places[1].end && places[1].start < places[0].end;
        t.op("cl: a closure as a command", format_args!("of {} and {}, panics: {panics:?}", one.root, other.root));
        let run = move |mut bytes: Vec<&mut [u8]>| {
            if let Some(kind) = panics {
                payload::go_off(kind);
            }
            bytes.iter_mut().for_each(|bytes| bytes.fill(seed));
        };
        let native = t.end(queue.native(&[&one.buffer, &other.buffer], run, &wait))?;
        hold!(!overlap, "a closure got the same bytes twice");
        let (event, roots) = (native.event().clone(), [one.root, other.root]);
        let set = |i: usize| Effect::set(roots[i], places[i].start, vec![seed; places[i].len()]);
        let effects = if panics.is_some() { [Effect::nothing(), Effect::nothing()] } else { [set(0), set(1)] };
        for effect in effects {
            self.taken(event.clone(), wait.clone(), &[a, b], effect);
        }
        if t.one_in(3) {
            self.settle(t)?;
            let failed_before = wait.iter().any(|event| event.wait().is_err());
            let waited = native.wait();
            hold!(waited.is_err() || (panics.is_none() && !failed_before), "panics: {panics:?}, but it is done");
        }
        Ok(())
    }
}
