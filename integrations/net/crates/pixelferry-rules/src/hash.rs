//! Owner of each tile: the highest hash of node and tile wins, so that a death moves only its own tiles.

/// SplitMix64's mixing of one word.
const fn mix(word: u64) -> u64 {
    let word = word.wrapping_add(0x9E37_79B9_7F4A_7C15);
    let word = (word ^ (word >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let word = (word ^ (word >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    word ^ (word >> 31)
}

/// The hash of a node and a tile, the same in every program that speaks the protocol.
pub const fn score(node: u64, tile: u32) -> u64 {
    mix(node ^ mix(tile as u64))
}

/// Speeds of the workers, in any unit that is the same for all. A worker that is not listed counts as 1000; with no row
/// all are alike. A weight of 0 passes a worker over where another one can compute a tile.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Weights {
    rows: Vec<(u64, u32)>,
    /// True where some row says more than whom to pass over.
    is_uneven: bool,
}

/// Weight of a worker that is not listed.
pub const USUAL_WEIGHT: u32 = 1000;

impl Weights {
    /// From rows of node and weight. Of two rows of one node the first counts.
    pub fn new(mut rows: Vec<(u64, u32)>) -> Self {
        rows.sort_by_key(|row| row.0);
        rows.dedup_by_key(|row| row.0);
        let is_uneven = rows.iter().any(|row| row.1 > 0);
        Self { rows, is_uneven }
    }

    /// These, and a weight of 0 for some nodes.
    #[must_use]
    pub fn passing_over(mut self, nodes: impl Iterator<Item = u64>) -> Self {
        self.rows.splice(0..0, nodes.map(|node| (node, 0)));
        Self::new(self.rows)
    }

    /// Node and weight, by node.
    pub fn rows(&self) -> &[(u64, u32)] {
        &self.rows
    }

    fn of(&self, node: u64) -> u32 {
        let found = self.rows.binary_search_by_key(&node, |row| row.0).ok();
        found.and_then(|at| self.rows.get(at)).map_or(USUAL_WEIGHT, |row| row.1)
    }

    /// Returns the one of `nodes` that computes `tile`; the greater number if two score alike.
    ///
    /// ```
    /// use pixelferry_rules::hash::Weights;
    ///
    /// let all = Weights::default();
    /// let before: Vec<_> = (0..100).map(|tile| all.owner([7, 8, 9].into_iter(), tile)).collect();
    /// let after: Vec<_> = (0..100).map(|tile| all.owner([7, 9].into_iter(), tile)).collect();
    /// // Without node 8 only its own tiles move.
    /// assert!(before.iter().zip(&after).all(|(before, after)| before == after || *before == Some(8)));
    /// ```
    pub fn owner(&self, nodes: impl Iterator<Item = u64> + Clone, tile: u32) -> Option<u64> {
        if self.rows.is_empty() {
            return self.best(nodes, tile);
        }
        let counted = nodes.clone().filter(|&node| self.of(node) > 0);
        self.best(counted, tile).or_else(|| self.best(nodes, tile))
    }

    fn best(&self, nodes: impl Iterator<Item = u64>, tile: u32) -> Option<u64> {
        if !self.is_uneven {
            return nodes.max_by_key(|&node| (score(node, tile), node));
        }
        // Shares in proportion to the weights: -weight / ln(hash as a fraction).
        let weighted = |node: u64| {
            let fraction = ((score(node, tile) >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
            -f64::from(self.of(node).max(1)) / fraction.ln()
        };
        nodes.map(|node| (weighted(node), node)).max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|row| row.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Also in `integrations/net/docs/protocol.md`, for other languages.
    #[test]
    fn scores_are_those_of_the_protocol() {
        assert_eq!(score(0, 0), 0xA706_DD2F_4D19_7E6F);
        println!("{:#x} {:#x}", score(0, 0), score(0x0123_4567_89AB_CDEF, 42));
    }

    #[test]
    fn every_node_gets_about_its_share() {
        let nodes = || (1..=5u64).map(mix);
        let counts = |weights: &Weights| {
            let mut counts = [0; 5];
            for tile in 0..10_000 {
                let owner = weights.owner(nodes(), tile);
                let at = nodes().position(|node| Some(node) == owner).unwrap();
                counts[at] += 1;
            }
            counts
        };
        let even = counts(&Weights::default());
        assert!(even.iter().all(|&count| (1800..2200).contains(&count)), "{even:?}");
        // The first is three times as fast: 3/7 of the tiles.
        let rows = Weights::new(vec![(mix(1), 3000)]);
        let uneven = counts(&rows);
        assert!((4085..4485).contains(&uneven[0]), "{uneven:?}");
        assert_eq!(Weights::default().owner(std::iter::empty(), 0), None);
        // Rows are found in whatever order they come, and of two of one node the first counts.
        let rows = Weights::new(vec![(9, 1), (7, 2000), (8, 3), (7, 5)]);
        assert_eq!(rows.rows(), [(7, 2000), (8, 3), (9, 1)]);
        assert_eq!([7, 8, 9, 10].map(|node| rows.of(node)), [2000, 3, 1, USUAL_WEIGHT]);
    }

    #[test]
    fn one_that_is_passed_over_gets_what_nobody_else_can_compute() {
        for weights in [Weights::default(), Weights::new(vec![(mix(2), 500), (mix(3), 2000)])] {
            let without = weights.clone().passing_over([mix(3), mix(4)].into_iter());
            for tile in 0..1000 {
                let others = weights.owner([1, 2, 5].into_iter().map(mix), tile);
                assert_eq!(without.owner((1..=5).map(mix), tile), others, "as if it were not there");
                assert_eq!(without.owner([mix(4)].into_iter(), tile), Some(mix(4)));
            }
        }
    }

    #[test]
    fn a_death_moves_its_own_tiles_only() {
        for weights in [Weights::default(), Weights::new(vec![(mix(2), 500), (mix(3), 2000)])] {
            for tile in 0..1000 {
                let before = weights.owner((1..=7).map(mix), tile).unwrap();
                let after = weights.owner((1..=7).filter(|&n| n != 4).map(mix), tile).unwrap();
                assert!(before == after || before == mix(4));
            }
        }
    }
}
