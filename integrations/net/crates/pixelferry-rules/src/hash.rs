//! Hashes of workers and tiles, and weights of workers: what the shares are made of.

/// SplitMix64's mixing of one word.
pub(crate) const fn mix(word: u64) -> u64 {
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
}

/// Weight of a worker that is not listed.
pub const USUAL_WEIGHT: u32 = 1000;

impl Weights {
    /// From rows of node and weight. Of two rows of one node the first counts.
    pub fn new(mut rows: Vec<(u64, u32)>) -> Self {
        rows.sort_by_key(|row| row.0);
        rows.dedup_by_key(|row| row.0);
        Self { rows }
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

    pub(crate) fn of(&self, node: u64) -> u32 {
        let found = self.rows.binary_search_by_key(&node, |row| row.0).ok();
        found.and_then(|at| self.rows.get(at)).map_or(USUAL_WEIGHT, |row| row.1)
    }
}

/// Order of the workers of one tile: the score, and where weights differ -weight / ln(score as a fraction), for shares in
/// proportion to them. Bits of positive numbers sort as these do.
pub(crate) fn key(score: u64, weight: u32, is_even: bool) -> u64 {
    if is_even {
        return score;
    }
    let fraction = ((score >> 11) as f64 + 0.5) / (1u64 << 53) as f64;
    (f64::from(weight) / fraction.ln()).abs().to_bits()
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

    /// Rows are found in whatever order they come, and of two of one node the first counts.
    #[test]
    fn weights_are_found() {
        let rows = Weights::new(vec![(9, 1), (7, 2000), (8, 3), (7, 5)]);
        assert_eq!(rows.rows(), [(7, 2000), (8, 3), (9, 1)]);
        assert_eq!([7, 8, 9, 10].map(|node| rows.of(node)), [2000, 3, 1, USUAL_WEIGHT]);
    }
}
