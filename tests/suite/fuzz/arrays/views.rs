//! Views of arrays.

use super::World;
use crate::fuzz::{Checked, Log, Rng, hold, hostile};

/// Elements that a view may have for its values to be compared.
const MOST: usize = 1 << 14;

impl World<'_> {
    /// A chain of views, and what it comes to.
    pub(super) fn look(&mut self, rng: &mut Rng, log: &mut Log, at: usize) -> Checked {
        let slot = &self.slots[at];
        let mut view = slot.array.view();
        for _ in 0..rng.below(4) {
            let axis = rng.below(view.shape().len() + 1);
            let side = view.shape().get(axis).copied().unwrap_or(1);
            let next = match rng.below(5) {
                0 => view.slice_step(axis, hostile::range(rng, side.max(1)), hostile::stride(rng)),
                1 => view.slice(axis, hostile::range(rng, side.max(1))),
                2 => {
                    let mut axes: Vec<usize> = (0..view.shape().len()).collect();
                    let by = rng.below(3).min(axes.len());
                    axes.rotate_left(by);
                    view.permute(&axes)
                }
                3 => {
                    let mut wanted = view.shape().to_vec();
                    wanted.insert(0, rng.below(4));
                    view.broadcast_to(&wanted)
                }
                _ => Ok(view.transpose()),
            };
            log.op("arrays: view", format_args!("{:?}", view.layout()));
            if let Some(next) = log.end(next) {
                view = next;
            }
        }
        let index: Vec<usize> = view.shape().iter().map(|side| hostile::near(rng, *side)).collect();
        log.op("arrays: item", format_args!("{index:?} of {:?}", view.shape()));
        if let Some(value) = log.end(view.item(&index)) {
            let position = view.layout().position(&index)?;
            hold!(slot.values.get(position) == Some(&value), "{index:?} of {:?} is {value}", view.layout());
        }
        if view.len() > MOST {
            return Ok(());
        }
        let layout = view.layout();
        let mut positions = Vec::new();
        let mut index = vec![0; layout.shape().len()];
        for _ in 0..view.len() {
            positions.push(layout.position(&index)?);
            for (i, side) in index.iter_mut().zip(layout.shape()).rev() {
                *i += 1;
                if *i < *side {
                    break;
                }
                *i = 0;
            }
        }
        log.op("arrays: to_vec of a view", format_args!("{layout:?}"));
        let values = log.end_with(view.to_vec())?;
        let wanted: Vec<u32> = positions.into_iter().map(|at| slot.values.get(at).copied().unwrap_or(0)).collect();
        hold!(values == wanted, "{layout:?} of {:?} gives other values", slot.shape);
        Ok(())
    }
}
