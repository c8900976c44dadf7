//! What memories should hold: effects of operations one after the other, and what was read beside them.

use super::World;
use super::effect::{Effect, Entry};
use crate::fuzz::Rng;
use crate::fuzz::kernels;
use crate::fuzz::log::{Checked, Log, fail, hold};
use pixelferry::Event;
use std::ops::Range;

impl World<'_> {
    fn model(&mut self, id: u32) -> Checked<&mut Vec<u8>> {
        self.models.get_mut(&id).ok_or_else(|| crate::fuzz::log::Failure(format!("memory {id} is not in the model")))
    }

    fn compare(&mut self, id: u32, range: &Range<usize>, bytes: &[u8]) -> Checked {
        let model = &self.model(id)?[range.clone()];
        hold!(bytes.len() == model.len(), "{} bytes were read in the place of {}", bytes.len(), model.len());
        match bytes.iter().zip(model).position(|(a, b)| a != b) {
            None => Ok(()),
            Some(at) => fail!(
                "memory {id}: byte {} of {range:?} is {}, and should be {}",
                range.start + at,
                bytes[at],
                model[at]
            ),
        }
    }

    fn apply(&mut self, effect: Effect) -> Checked {
        match effect {
            Effect::Nothing => {}
            Effect::Fails => fail!("an operation succeeded that cannot"),
            Effect::Write { to, offset, bytes } => {
                self.model(to)?[offset..offset + bytes.len()].copy_from_slice(&bytes);
            }
            Effect::Fill { to, range, pattern } => {
                for piece in self.model(to)?[range].chunks_mut(pattern.len()) {
                    piece.copy_from_slice(&pattern[..piece.len()]);
                }
            }
            Effect::Copy { from, range, to, offset } => {
                let bytes = self.model(from)?[range].to_vec();
                self.model(to)?[offset..offset + bytes.len()].copy_from_slice(&bytes);
            }
            Effect::Stamp { to, range, seed } => {
                for (i, byte) in self.model(to)?[range].iter_mut().enumerate() {
                    *byte = kernels::stamp_byte(i, seed);
                }
            }
            Effect::Mix { to, range, from } => {
                let from = self.model(from)?.clone();
                for (i, byte) in self.model(to)?[range].iter_mut().enumerate() {
                    *byte ^= from[i % from.len()];
                }
            }
            Effect::Image { to, view, seed } => kernels::paint(&view, seed, self.model(to)?),
            Effect::Pattern { to, view, pattern } => pattern.write(&view, self.model(to)?),
            Effect::Saw { from, range, bytes } => self.compare(from, &range, &bytes)?,
            Effect::Read { from, range, bytes } => self.compare(from, &range, &bytes.wait()?)?,
        }
        Ok(())
    }

    /// Waits for everything, and compares what was read with what should have been there.
    pub(super) fn drain(&mut self, log: &mut Log) -> Checked {
        self.settle_users(&mut Rng::of(self.next.into()), log);
        log.did("compute: wait for all", format_args!("{} operations", self.pending.len()));
        for Entry { event, wait, effect } in std::mem::take(&mut self.pending) {
            let outcome = event.as_ref().map_or(Ok(()), Event::wait);
            let failed_before = wait.iter().any(|event| event.wait().is_err());
            match outcome {
                Ok(()) if failed_before => fail!("an operation ran although an event that it waits for failed"),
                Ok(()) => self.apply(effect)?,
                Err(_) if failed_before || matches!(effect, Effect::Fails) => {}
                Err(error) => fail!("an operation failed that nothing stood in the way of: {error}"),
            }
        }
        let used: Vec<u32> = self.slots.iter().map(|slot| slot.id).collect();
        self.models.retain(|id, _| used.contains(id));
        Ok(())
    }

    /// Completes or fails every event of the program's own: operations that block would wait for them for ever.
    pub(super) fn settle_users(&mut self, rng: &mut Rng, log: &mut Log) {
        for user in std::mem::take(&mut self.users) {
            match rng.below(4) {
                0 => {
                    log.did("compute: fail an event", format_args!(""));
                    user.fail("on purpose");
                }
                1 => {
                    log.did("compute: drop an event of the program's", format_args!(""));
                    drop(user);
                }
                _ => {
                    log.did("compute: complete an event", format_args!(""));
                    user.complete();
                }
            }
        }
    }
}
