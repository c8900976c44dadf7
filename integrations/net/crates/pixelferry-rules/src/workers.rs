//! The live workers of a scene, by their tokens.

use pixelferry::Region;
use std::collections::BTreeMap;

/// No cluster has more workers; further ones are invented by somebody.
const MOST: usize = 4096;

/// The live workers, and the region that each computes.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Workers(BTreeMap<u64, Option<Region>>);

impl Workers {
    pub fn count(&self) -> usize {
        self.0.len()
    }

    pub fn has(&self, node: u64) -> bool {
        self.0.contains_key(&node)
    }

    pub fn nodes(&self) -> impl Iterator<Item = u64> {
        self.0.keys().copied()
    }

    pub(crate) fn rows(&self) -> impl Iterator<Item = (u64, Option<Region>)> {
        self.0.iter().map(|(&node, &place)| (node, place))
    }

    /// Adds a worker that is alive, whatever the network reports.
    pub fn insert(&mut self, node: u64, place: Option<Region>) {
        self.0.insert(node, place);
    }

    /// Takes a token that appeared, and returns whether that changed anything. A second token of a known worker is
    /// ignored.
    pub fn come(&mut self, node: u64, place: Option<Region>) -> bool {
        let is_new = self.0.len() < MOST && !self.0.contains_key(&node);
        if is_new {
            self.0.insert(node, place);
        }
        is_new
    }

    /// Takes a token that went, and returns whether that changed anything.
    pub fn go(&mut self, node: u64, place: Option<Region>) -> bool {
        self.0.get(&node) == Some(&place) && self.0.remove(&node).is_some()
    }
}

pub(crate) fn holds(outer: Region, inner: Region) -> bool {
    let inside = |start: u32, len: u32, inner_start: u32, inner_len: u32| {
        inner_start >= start && u64::from(inner_start) + u64::from(inner_len) <= u64::from(start) + u64::from(len)
    };
    inside(outer.x, outer.width, inner.x, inner.width) && inside(outer.y, outer.height, inner.y, inner.height)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_of_others_neither_move_nor_end_a_worker_and_invented_ones_are_bounded() {
        let mut workers = Workers::default();
        let (here, there) = (Some(Region::new(0, 0, 8, 8)), Some(Region::new(8, 8, 8, 8)));
        assert!(workers.come(7, here) && !workers.come(7, here) && !workers.come(7, there) && !workers.come(7, None));
        assert!(!workers.go(7, there) && !workers.go(7, None) && !workers.go(8, here));
        assert_eq!(workers.0.get(&7), Some(&here));
        (0..10_000).for_each(|node| _ = workers.come(node, None));
        assert_eq!(workers.count(), MOST);
        assert!(workers.go(7, here) && workers.come(7, None));
    }

    #[test]
    fn a_region_holds_what_lies_inside_it() {
        let outer = Region::new(8, 8, 8, 8);
        assert!(holds(outer, outer) && holds(outer, Region::new(9, 9, 7, 7)));
        for outside in [Region::new(7, 8, 8, 8), Region::new(8, 9, 8, 8), Region::new(u32::MAX, 8, 8, 8)] {
            assert!(!holds(outer, outside));
        }
    }
}
