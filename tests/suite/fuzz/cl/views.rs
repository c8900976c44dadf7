//! N-dimensional views of buffers.

use super::{Effect, World};
use crate::fuzz::{Checked, Log, Rng, hold, hostile};
use pixelferry::opencl_backend::cl::{Buffer, NdView};

/// Values that a view may have for its places to be listed.
const MOST: usize = 1 << 14;

/// Where every value is, row-major.
fn places(view: &NdView<u8>) -> Vec<usize> {
    let mut index = vec![0_usize; view.shape().len()];
    let mut all = Vec::with_capacity(view.len());
    for _ in 0..view.len() {
        let moved: isize = index.iter().zip(view.strides()).map(|(i, stride)| *i as isize * stride).sum();
        all.push(view.offset().wrapping_add_signed(moved));
        for (i, side) in index.iter_mut().zip(view.shape()).rev() {
            *i += 1;
            if *i < *side {
                break;
            }
            *i = 0;
        }
    }
    all
}

fn some(rng: &mut Rng, buffer: &Buffer) -> pixelferry::Result<NdView<u8>> {
    let dimensions = rng.below(4);
    if rng.one_in(6) {
        let shape: Vec<usize> = (0..dimensions).map(|_| hostile::near(rng, 6)).collect();
        let strides: Vec<isize> = (0..dimensions).map(|_| hostile::stride(rng)).collect();
        return NdView::with_strides(buffer, hostile::near(rng, buffer.len()), &shape, &strides);
    }
    let shape: Vec<usize> = (0..dimensions).map(|_| 1 + rng.below(5)).collect();
    let strides: Vec<isize> = (0..dimensions).map(|_| rng.below(9) as isize - 2).collect();
    NdView::with_strides(buffer, rng.below(buffer.len()), &shape, &strides)
}

impl World<'_> {
    fn changed(&self, rng: &mut Rng, log: &mut Log, view: NdView<u8>) -> NdView<u8> {
        let axis = rng.below(view.shape().len() + 1);
        let side = view.shape().get(axis).copied().unwrap_or(1);
        let next = match rng.below(5) {
            0 => view.slice(axis, hostile::range(rng, side), hostile::stride(rng)),
            1 => view.index(axis, hostile::near(rng, side)),
            2 => view.permute(&(0..view.shape().len()).rev().collect::<Vec<_>>()),
            3 => view.reshape(&[view.len()]),
            _ => Ok(view.transpose()),
        };
        log.op("cl: view of a view", format_args!("{view:?}"));
        log.end(next).unwrap_or(view)
    }

    pub(super) fn view(&mut self, rng: &mut Rng, log: &mut Log) -> Checked {
        let (a, b, queue) = (self.slot(rng), self.slot(rng), self.queue(rng));
        log.op("cl: view", format_args!("of {}", self.slots[a].root));
        let Some(view) = log.end(some(rng, &self.slots[a].buffer)) else { return Ok(()) };
        let view = self.changed(rng, log, view);
        if view.len() > MOST {
            return Ok(());
        }
        let all = places(&view);
        let len = self.slots[a].buffer.len();
        hold!(all.iter().all(|at| *at < len), "{view:?} reaches outside of {len} bytes");
        let distinct = {
            let mut sorted = all.clone();
            sorted.sort_unstable();
            sorted.dedup();
            sorted.len() == all.len()
        };
        let wait = self.wait_list(rng, &[a, b]);
        let (slot, start) = (&self.slots[a], self.slots[a].start);
        match rng.below(4) {
            0 => {
                log.op("cl: read a view", format_args!("{view:?} of {}", slot.root));
                if let Some(bytes) = log.end(queue.read_view(&view, &wait)) {
                    let places = all.into_iter().map(move |at| Some(start + at));
                    let (event, from) = (bytes.event(), slot.root);
                    self.taken(event, wait, &[a], Effect::read(from, places, || bytes.wait()));
                }
            }
            1 => {
                // Which of two values for one byte stays is open.
                let count = if rng.one_in(8) { hostile::near(rng, all.len()).min(MOST) } else { all.len() };
                let bytes = rng.bytes(count);
                if !distinct {
                    return Ok(());
                }
                log.op("cl: write a view", format_args!("{count} to {view:?} of {}", slot.root));
                if let Some(event) = log.end(queue.write_view(&view, bytes.clone(), &wait)) {
                    hold!(count == all.len(), "{count} values were taken for {view:?}");
                    let bytes = all.into_iter().map(|at| start + at).zip(bytes).collect();
                    let effect = Effect::scatter(slot.root, bytes);
                    self.taken(event, wait, &[a], effect);
                }
            }
            2 => {
                let value = rng.word() as u8;
                log.op("cl: fill a view", format_args!("{view:?} of {}", slot.root));
                if let Some(event) = log.end(queue.fill_view(&view, value, &wait)) {
                    let bytes = all.into_iter().map(|at| (start + at, value)).collect();
                    let effect = Effect::scatter(slot.root, bytes);
                    self.taken(event, wait, &[a], effect);
                }
            }
            _ => {
                let to = &self.slots[b];
                log.op("cl: copy a view", format_args!("{view:?} of {} to {}", slot.root, to.root));
                let strides: Vec<isize> = view
                    .shape()
                    .iter()
                    .rev()
                    .scan(1, |stride, side| {
                        let now = *stride;
                        *stride *= *side as isize;
                        Some(now)
                    })
                    .collect();
                let strides: Vec<isize> = strides.into_iter().rev().collect();
                let target = NdView::with_strides(&to.buffer, rng.below(8), view.shape(), &strides);
                let copied = target.and_then(|target| Ok((queue.copy_view(&view, &target, &wait)?, target)));
                if let Some((event, target)) = log.end(copied) {
                    let targets = places(&target).into_iter().map(|at| to.start + at);
                    let bytes: Vec<_> = all.into_iter().map(|at| start + at).zip(targets).collect();
                    let effect = Effect::moves(slot.root, to.root, bytes.into_iter());
                    self.taken(event, wait, &[a, b], effect);
                }
            }
        }
        Ok(())
    }
}
