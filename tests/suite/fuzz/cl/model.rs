//! What buffers should hold: effects of commands one after the other, and what was read beside them.

use super::World;
use super::effect::{Effect, Entry};
use crate::fuzz::Rng;
use crate::fuzz::log::{Checked, Failure, Log, fail, hold};
use pixelferry::opencl_backend::cl::Event;

impl World<'_> {
    fn model(&mut self, number: u32) -> Checked<&mut Vec<u8>> {
        self.models.get_mut(&number).ok_or_else(|| Failure(format!("buffer {number} is not in the model")))
    }

    fn compare(&mut self, from: u32, places: impl Iterator<Item = Option<usize>>, bytes: &[u8]) -> Checked {
        let model = self.model(from)?;
        for (number, (place, found)) in places.zip(bytes).enumerate() {
            let wanted = place.map_or(0, |place| model[place]);
            hold!(*found == wanted, "buffer {from}: byte {number}, from {place:?}, is {found}, and should be {wanted}");
        }
        Ok(())
    }

    fn apply(&mut self, effect: Effect) -> Checked {
        match effect {
            Effect::Nothing => {}
            Effect::Set { to, range, bytes } => self.model(to)?[range].copy_from_slice(&bytes),
            Effect::Scatter { to, bytes } => {
                let model = self.model(to)?;
                bytes.into_iter().for_each(|(at, byte)| model[at] = byte);
            }
            Effect::Copy { from, range, to, start } => {
                let bytes = self.model(from)?[range].to_vec();
                self.model(to)?[start..start + bytes.len()].copy_from_slice(&bytes);
            }
            Effect::Move { from, to, bytes } => {
                let from = self.model(from)?.clone();
                let to = self.model(to)?;
                bytes.into_iter().for_each(|(source, at)| to[at] = from[source]);
            }
            Effect::Stir { from, of, to, range } => {
                let from = self.model(from)?[of].to_vec();
                for (i, byte) in self.model(to)?[range].iter_mut().enumerate() {
                    *byte ^= from[i % from.len()];
                }
            }
            Effect::Saw { from, range, bytes } => {
                hold!(bytes.len() == range.len(), "{} bytes were read in the place of {range:?}", bytes.len());
                self.compare(from, range.map(Some), &bytes)?;
            }
            Effect::Read { from, range, bytes } => {
                let bytes = bytes.wait()?;
                hold!(bytes.len() == range.len(), "{} bytes were read in the place of {range:?}", bytes.len());
                self.compare(from, range.map(Some), &bytes)?;
            }
            Effect::Gathered { from, places, bytes } => {
                let bytes = bytes.wait()?;
                hold!(bytes.len() == places.len(), "{} bytes were read in the place of {}", bytes.len(), places.len());
                self.compare(from, places.into_iter(), &bytes)?;
            }
        }
        Ok(())
    }

    /// Completes or fails every event of the program's own: what blocks would wait for them for ever.
    pub(super) fn settle(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        for user in std::mem::take(&mut self.users) {
            log.op("cl: complete, fail or drop an event", format_args!(""));
            let how = rng.below(5);
            self.failed |= how < 2;
            let settled = match how {
                0 => user.fail(-(1 + rng.below(70) as i32)),
                1 => {
                    drop(user);
                    Ok(())
                }
                _ => user.complete(),
            };
            log.end_with(settled)?;
        }
        Ok(())
    }

    /// Waits for everything, and compares what was read with what should have been there.
    pub(super) fn drain(&mut self, log: &mut Log) -> Checked {
        self.settle(&mut Rng::of(self.next.into()), log)?;
        log.did("cl: wait for all", format_args!("{} commands", self.pending.len()));
        // In a queue in order, drivers give up what comes after a command that failed.
        let mut failed = false;
        for Entry { event, wait, effect } in std::mem::take(&mut self.pending) {
            let outcome = event.as_ref().map_or(Ok(()), Event::wait);
            let failed_before = wait.iter().any(|event| event.wait().is_err());
            failed |= failed_before;
            match outcome {
                Ok(()) if failed_before => fail!("a command ran although an event that it waits for failed"),
                Ok(()) => self.apply(effect)?,
                Err(_) if failed => {}
                Err(error) => fail!("a command failed that nothing stood in the way of: {error}"),
            }
        }
        // Chains of failed commands end here.
        self.last.clear();
        self.events.clear();
        let used: Vec<u32> = self.slots.iter().map(|slot| slot.root).collect();
        self.models.retain(|number, _| used.contains(number));
        Ok(())
    }
}
