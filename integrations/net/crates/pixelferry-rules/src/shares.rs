//! Shares: the worker of each tile. Every node computes the same from the workers that live, so no node distributes work.

use crate::grid::Grid;
use crate::hash::{Weights, key, score};
use crate::job::JobMessage;
use crate::workers::{Workers, holds};
use pixelferry::Region;
use std::cmp::Reverse;

/// The worker of each tile of a job, computed again only when the workers, the tiles or the weights have changed.
#[derive(Debug, Default)]
pub struct Shares {
    of: Option<(Workers, Grid, Weights)>,
    owners: Vec<Option<u64>>,
}

impl Shares {
    /// Returns the worker of each tile; `None` if no worker's region contains it.
    pub fn of(&mut self, workers: &Workers, job: &JobMessage) -> &[Option<u64>] {
        let is_same = |of: &(Workers, Grid, Weights)| of.0 == *workers && of.1 == job.grid && of.2 == job.weights;
        if !self.of.as_ref().is_some_and(is_same) {
            self.owners = owners(workers, &job.grid, &job.weights);
            self.of = Some((workers.clone(), job.grid, job.weights.clone()));
        }
        &self.owners
    }
}

/// A worker to which tiles are dealt.
struct Hand {
    node: u64,
    place: Option<Region>,
    weight: u32,
    /// The number of tiles that it may still get.
    room: usize,
}

fn owners(workers: &Workers, grid: &Grid, weights: &Weights) -> Vec<Option<u64>> {
    let hand = |(node, place)| Hand { node, place, weight: weights.of(node), room: 0 };
    let (counted, mut passed_over): (Vec<_>, Vec<_>) = workers.rows().map(hand).partition(|hand| hand.weight > 0);
    let mut owners = vec![None; grid.len() as usize];
    deal(&mut owners, counted, grid);
    // Tiles that no other worker may compute.
    passed_over.iter_mut().for_each(|hand| hand.weight = 1);
    deal(&mut owners, passed_over, grid);
    owners
}

/// Deals the tiles that have no worker, by rendezvous hashing with bounded load. Each tile goes to its highest score
/// while that worker's share lasts; the others go, in their order, to the highest score among the workers with room.
fn deal(owners: &mut [Option<u64>], mut hands: Vec<Hand>, grid: &Grid) {
    let tiles = owners.iter().filter(|owner| owner.is_none()).count() as u64;
    let sum: u64 = hands.iter().map(|hand| u64::from(hand.weight)).sum();
    let share = |hand: &Hand| (tiles * u64::from(hand.weight)).div_ceil(sum) as usize;
    hands.iter_mut().for_each(|hand| hand.room = share(hand));
    let is_even = hands.windows(2).all(|two| matches!(two, [a, b] if a.weight == b.weight));
    // Equal scores prefer the greater number, which is the later worker.
    let best = |hands: &[Hand], tile: usize| {
        let (tile, region) = (tile as u32, grid.region(tile as u32)?);
        let mut best = None;
        for (at, hand) in hands.iter().enumerate() {
            if hand.room > 0 && hand.place.is_none_or(|place| holds(place, region)) {
                let score = key(score(hand.node, tile), hand.weight, is_even);
                if best.is_none_or(|(most, _)| score >= most) {
                    best = Some((score, at));
                }
            }
        }
        best
    };
    let (mut rest, mut firsts) = (Vec::new(), vec![Vec::new(); hands.len()]);
    for tile in (0..owners.len()).filter(|&tile| owners[tile].is_none()) {
        let Some((score, at)) = best(&hands, tile) else { continue };
        firsts[at].push((score, tile));
        rest.push(tile);
    }
    for (hand, mut firsts) in hands.iter_mut().zip(firsts) {
        // Equal scores prefer the lower tile.
        firsts.sort_unstable_by_key(|&(score, tile)| (Reverse(score), tile));
        firsts.truncate(hand.room);
        hand.room -= firsts.len();
        firsts.iter().for_each(|&(_, tile)| owners[tile] = Some(hand.node));
    }
    rest.retain(|&tile| owners[tile].is_none());
    for doubled in 0.. {
        rest.retain(|&tile| {
            let Some((_, at)) = best(&hands, tile) else { return true };
            hands[at].room -= 1;
            owners[tile] = Some(hands[at].node);
            false
        });
        if rest.is_empty() {
            return;
        }
        // These tiles lie only in regions of full workers.
        hands.iter_mut().for_each(|hand| hand.room += share(hand) << doubled);
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::hash::mix;
    use pixelferry::{Extent, ImageDesc, PixelFormat};
    use pixelferry_media::wire::{Header, MessageKind};
    use std::collections::BTreeMap;
    use std::time::Instant;

    /// A row of tiles.
    pub fn job(tiles: u32, weights: Weights) -> JobMessage {
        let image = ImageDesc::new(tiles, 1, PixelFormat::R8);
        let grid = Grid::new(image.extent, Extent::new(1, 1)).unwrap();
        let header = Header::new(MessageKind::Job, image, image.extent.full());
        JobMessage { weights, ..JobMessage::new(header, grid, Vec::new()) }
    }

    pub fn crew(nodes: impl Iterator<Item = u64>) -> Workers {
        let mut workers = Workers::default();
        nodes.for_each(|node| workers.insert(node, None));
        workers
    }

    fn counts(owners: &[Option<u64>]) -> BTreeMap<u64, usize> {
        let mut counts = BTreeMap::new();
        owners.iter().flatten().for_each(|&node| *counts.entry(node).or_default() += 1);
        counts
    }

    #[test]
    fn nobody_has_more_than_an_even_share() {
        for (tiles, nodes) in [(60, 4), (60, 7), (135, 32), (510, 64), (510, 1000), (1, 3), (5, 1)] {
            let begun = Instant::now();
            let owners = owners(&crew((1..=nodes).map(mix)), &job(tiles, Weights::default()).grid, &Weights::default());
            let busiest = counts(&owners).into_values().max().unwrap();
            println!("{tiles} tiles, {nodes} workers: {busiest} at most, {:?}", begun.elapsed());
            assert!(owners.iter().all(Option::is_some));
            assert_eq!(busiest as u64, u64::from(tiles).div_ceil(nodes));
        }
        assert!(
            owners(&crew(std::iter::empty()), &job(3, Weights::default()).grid, &Weights::default())
                .iter()
                .all(Option::is_none)
        );
    }

    #[test]
    fn shares_are_by_weight_and_one_that_is_passed_over_has_what_nobody_else_may() {
        // The first is three times as fast: 3/7 of the tiles.
        let (workers, uneven) = (crew((1..=5).map(mix)), Weights::new(vec![(mix(1), 3000)]));
        let of = |weights: &Weights| owners(&workers, &job(700, Weights::default()).grid, weights);
        let each = counts(&of(&uneven));
        assert!(each.iter().all(|(&node, &count)| count == if node == mix(1) { 300 } else { 100 }), "{each:?}");
        let without = uneven.passing_over([mix(1), mix(2)].into_iter());
        assert_eq!(
            of(&without),
            owners(&crew((3..=5).map(mix)), &job(700, Weights::default()).grid, &Weights::default())
        );
        let nobody = without.passing_over((1..=5).map(mix));
        assert_eq!(counts(&of(&nobody)).into_values().max(), Some(140));
    }

    #[test]
    fn regions_hold_and_their_tiles_are_dealt_evenly() {
        let mut workers = crew([7, 8].into_iter());
        (100..200).for_each(|node| workers.insert(node, Some(Region::new(0, 0, 50, 1))));
        let owners = owners(&workers, &job(100, Weights::default()).grid, &Weights::default());
        assert!(owners[50..].iter().all(|owner| *owner == Some(7) || *owner == Some(8)));
        let busiest = counts(&owners).into_values().max().unwrap();
        assert!(busiest <= 32, "{busiest} of 50 tiles that two may compute");
        workers = Workers::default();
        workers.insert(7, Some(Region::new(0, 0, 50, 1)));
        let half = super::owners(&workers, &job(100, Weights::default()).grid, &Weights::default());
        assert_eq!(half.iter().flatten().count(), 50);
    }

    /// Each survivor's share grows from 8 to 9 of 510 tiles at worst: some that were dealt to others go back to their first.
    #[test]
    fn a_death_moves_few_tiles() {
        for (tiles, nodes, most) in [(60, 4, 22), (60, 5, 22), (510, 64, 75), (510, 100, 25), (510, 1000, 5)] {
            for uneven in [Weights::default(), Weights::new(vec![(mix(2), 500), (mix(3), 2000)])] {
                let grid = job(tiles, Weights::default()).grid;
                let before = owners(&crew((1..=nodes).map(mix)), &grid, &uneven);
                let after = owners(&crew((1..nodes).map(mix)), &grid, &uneven);
                let moved = before.iter().zip(&after).filter(|(before, after)| before != after).count();
                println!("{tiles} tiles, {nodes} workers: {moved} move");
                assert!(moved <= most, "{moved} of {tiles} move among {nodes}");
            }
        }
    }

    /// The same numbers are in `python/peer.py`.
    #[test]
    fn shares_are_those_of_the_protocol() {
        let mut workers = crew((1..=5).map(mix));
        workers.insert(6, Some(Region::new(0, 0, 20, 1)));
        let nodes: Vec<u64> = workers.rows().map(|row| row.0).collect();
        let hash = |weights: &Weights| {
            let owners = owners(&workers, &job(60, Weights::default()).grid, weights);
            let at = |owner: &Option<u64>| nodes.iter().position(|node| Some(*node) == *owner).unwrap() as u64;
            owners.iter().fold(0, |hash, owner| mix(hash ^ at(owner)))
        };
        let uneven = Weights::new(vec![(mix(1), 0), (mix(2), 3000), (6, 10)]);
        assert_eq!(
            [hash(&Weights::default()), hash(&uneven)].map(|hash| format!("{hash:016x}")),
            ["f01e6360f5164648", "bb60e8db6a3bcb86"]
        );
    }
}
