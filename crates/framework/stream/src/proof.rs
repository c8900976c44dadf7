//! Bytes that prove to a subscriber that the memory which it opened is the publisher's.

use interop_core::{Error, Result};

/// Size of the compared piece in bytes.
pub(crate) const BYTES: usize = 64 * 1024;

/// Returns a number that no earlier stream had.
pub(crate) fn nonce() -> Result<u64> {
    let mut bytes = [0; 8];
    getrandom::fill(&mut bytes)
        .map_err(|error| Error::unavailable("random numbers of the system", error, "See getrandom(2)."))?;
    Ok(u64::from_ne_bytes(bytes))
}

/// Returns the content of a piece: words that follow from the nonce and are all different (`splitmix64`).
pub(crate) fn bytes(nonce: u64) -> Vec<u8> {
    let mut state = nonce;
    let words = std::iter::repeat_with(|| {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mixed = (state ^ state >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ mixed >> 31
    });
    words.take(BYTES / 8).flat_map(u64::to_ne_bytes).collect()
}
