//! Expected content of memories: effects of operations one after the other, and the data read beside them.

use crate::fuzz::kernels::stamp_all;
use crate::fuzz::{TurnResult, fail, hold};
use pixelferry::Result;
use proptest::test_runner::TestCaseError;
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;

/// Bytes by the number of their memory.
#[derive(Default)]
pub struct Models(BTreeMap<u32, Vec<u8>>);

impl Models {
    pub fn of(&mut self, id: u32) -> TurnResult<&mut Vec<u8>> {
        self.0.get_mut(&id).ok_or_else(|| TestCaseError::fail(format!("memory {id} is not in the model")))
    }

    /// Each byte with the place that it comes from; one from nowhere is 0.
    fn compare(&mut self, id: u32, places: impl ExactSizeIterator<Item = Option<usize>>, bytes: &[u8]) -> TurnResult {
        let model = self.of(id)?;
        hold!(bytes.len() == places.len(), "{} bytes were read instead of {}", bytes.len(), places.len());
        for (number, (place, found)) in places.zip(bytes).enumerate() {
            let wanted = place.map_or(0, |place| model[place]);
            hold!(*found == wanted, "memory {id}: byte {number}, from {place:?}, is {found}, and should be {wanted}");
        }
        Ok(())
    }
}

/// Effect of an operation that succeeds. Ranges and positions are those of the model.
pub enum Effect {
    /// It cannot succeed.
    Fails,
    Does(Box<dyn FnOnce(&mut Models) -> TurnResult>),
}

impl Effect {
    fn does(f: impl FnOnce(&mut Models) -> TurnResult + 'static) -> Self {
        Self::Does(Box::new(f))
    }

    pub fn nothing() -> Self {
        Self::does(|_| Ok(()))
    }

    /// Changes one memory.
    pub fn change(to: u32, f: impl FnOnce(&mut [u8]) + 'static) -> Self {
        Self::does(move |models| {
            f(models.of(to)?);
            Ok(())
        })
    }

    pub fn set(to: u32, start: usize, bytes: Vec<u8>) -> Self {
        Self::change(to, move |all| all[start..start + bytes.len()].copy_from_slice(&bytes))
    }

    /// Single bytes: where they go, and what they become.
    pub fn scatter(to: u32, bytes: Vec<(usize, u8)>) -> Self {
        Self::change(to, move |all| bytes.into_iter().for_each(|(at, byte)| all[at] = byte))
    }

    pub fn stamp(to: u32, range: Range<usize>, seed: u32) -> Self {
        Self::change(to, move |all| stamp_all(&mut all[range], seed))
    }

    /// Single bytes: where they come from, where they go.
    pub fn moves(from: u32, to: u32, bytes: impl Iterator<Item = (usize, usize)> + 'static) -> Self {
        Self::does(move |models| {
            let (source, target) = (models.of(from)?.clone(), models.of(to)?);
            bytes.for_each(|(from, to)| target[to] = source[from]);
            Ok(())
        })
    }

    pub fn copy(from: u32, range: Range<usize>, to: u32, start: usize) -> Self {
        let places = start..start + range.len();
        Self::moves(from, to, range.zip(places))
    }

    /// Changes every byte by one of another memory's, of all of them where `of` names none.
    pub fn stir(from: u32, of: Option<Range<usize>>, to: u32, range: Range<usize>) -> Self {
        Self::does(move |models| {
            let from = models.of(from)?.clone();
            let from = of.map_or(&from[..], |of| &from[of]);
            let bytes = models.of(to)?[range].iter_mut().enumerate();
            bytes.for_each(|(i, byte)| *byte ^= from[i % from.len()]);
            Ok(())
        })
    }

    /// Bytes that were read; they must be those of this moment.
    pub fn saw(from: u32, range: Range<usize>, bytes: Vec<u8>) -> Self {
        Self::does(move |models| models.compare(from, range.map(Some), &bytes))
    }

    /// Bytes on their way, each with its place.
    pub fn read(
        from: u32,
        places: impl ExactSizeIterator<Item = Option<usize>> + 'static,
        bytes: impl FnOnce() -> Result<Vec<u8>> + 'static,
    ) -> Self {
        Self::does(move |models| models.compare(from, places, &bytes()?))
    }
}

/// An event of either kind.
pub trait AnyEvent {
    fn outcome(&self) -> Result<()>;
}

impl AnyEvent for pixelferry::Event {
    fn outcome(&self) -> Result<()> {
        self.wait()
    }
}

impl AnyEvent for pixelferry::api::opencl::cl::Event {
    fn outcome(&self) -> Result<()> {
        self.wait()
    }
}

/// An operation in the order of the calls: its event, if it did not block, those that it waits for, and its effect.
type Entry<E> = (Option<E>, Vec<E>, Effect);

/// Work under way on memories whose bytes are known, and its events `E`; `U` are those of the program's own.
pub struct Work<E, U> {
    pub users: Vec<U>,
    /// Some events of the newest operations.
    pub events: Vec<E>,
    /// Content of the memories once all of `pending` is over.
    pub models: Models,
    pub pending: Vec<Entry<E>>,
    last: u32,
    /// Callbacks that were called.
    pub told: Arc<AtomicUsize>,
}

impl<E, U> Default for Work<E, U> {
    fn default() -> Self {
        let models = Models::default();
        Self { users: Vec::new(), events: Vec::new(), models, pending: Vec::new(), last: 0, told: Arc::default() }
    }
}

impl<E: AnyEvent + Clone, U> Work<E, U> {
    /// A new memory that holds these bytes; gives its number.
    pub fn add(&mut self, bytes: Vec<u8>) -> u32 {
        self.last += 1;
        self.models.0.insert(self.last, bytes);
        self.last
    }

    /// An operation was taken.
    pub fn taken(&mut self, event: Option<E>, wait: Vec<E>, effect: Effect) {
        self.events.extend(event.clone());
        if self.events.len() > 30 {
            self.events.remove(0);
        }
        self.pending.push((event, wait, effect));
    }

    /// An operation that blocked is over.
    pub fn done(&mut self, effect: Effect) {
        self.taken(None, Vec::new(), effect);
    }

    /// Waits for everything, and compares what was read with what should have been there. With `chains`, drivers may give
    /// up whatever comes after a command that failed. Memories other than `kept` are forgotten.
    pub fn drain(&mut self, chains: bool, kept: impl Iterator<Item = u32>) -> TurnResult {
        let mut failed = false;
        for (event, wait, effect) in self.pending.drain(..) {
            let outcome = event.as_ref().map_or(Ok(()), E::outcome);
            let failed_before = wait.iter().any(|event| event.outcome().is_err());
            failed = failed_before || (failed && chains);
            match (outcome, effect) {
                (Ok(()), _) if failed_before => fail!("an operation ran although an event that it waits for failed"),
                (Ok(()), Effect::Does(effect)) => effect(&mut self.models)?,
                (Ok(()), Effect::Fails) => fail!("an operation succeeded that cannot"),
                (Err(_), effect) if failed || matches!(effect, Effect::Fails) => {}
                (Err(error), _) => fail!("an operation failed that nothing stood in the way of: {error}"),
            }
        }
        let kept: Vec<u32> = kept.collect();
        self.models.0.retain(|id, _| kept.contains(id));
        Ok(())
    }
}
