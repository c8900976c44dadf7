//! The most memory that the content of files and of messages may take: a small file may claim to be as large as it likes.

use std::env;

/// Variable that allows more, or less.
const VARIABLE: &str = "PIXELFERRY_MEMORY_MIB";
const DEFAULT_MIB: u64 = 1024;

/// Bytes of memory that a pixel takes on its way from an array to the screen, beside the array itself, where the display is the processor's:
/// frames of the link, their copies for the display, and the texture.
pub const SHOWN: u64 = 20;

/// What a file or a message claims is refused before it is decoded.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "it would take {needed} MiB of memory with all copies, and {most} MiB are allowed: set {VARIABLE}={needed} to allow that"
)]
pub struct TooLarge {
    /// MiB that it needs.
    pub needed: u64,
    /// MiB that are allowed.
    pub most: u64,
}

/// Bytes that are allowed: those that the environment variable `PIXELFERRY_MEMORY_MIB` says, else 1 GiB.
pub fn most() -> u64 {
    let asked = env::var(VARIABLE).ok().and_then(|text| text.trim().parse().ok());
    asked.unwrap_or(DEFAULT_MIB).saturating_mul(1 << 20)
}

/// Refuses what needs more bytes than are allowed.
///
/// # Errors
/// [`TooLarge`].
pub fn check(needed: u128) -> Result<(), TooLarge> {
    within(needed, most())
}

/// Refuses what needs more than `most` bytes.
///
/// # Errors
/// [`TooLarge`].
pub fn within(needed: u128, most: u64) -> Result<(), TooLarge> {
    if needed > most.into() { Err(TooLarge::new(needed, most)) } else { Ok(()) }
}

impl TooLarge {
    /// Says that so many bytes are needed, and that `most` are allowed.
    pub fn new(needed: u128, most: u64) -> Self {
        let mib = |bytes: u128| u64::try_from(bytes.div_ceil(1 << 20)).unwrap_or(u64::MAX);
        Self { needed: mib(needed), most: mib(most.into()) }
    }
}

#[test]
fn what_is_too_large_says_how_to_allow_it() {
    let most = u128::from(most());
    assert_eq!(check(most), Ok(()));
    let said = check(most + 1).unwrap_err().to_string();
    assert!(said.contains(&format!("{VARIABLE}={}", (most >> 20) + 1)), "{said}");
    assert!(check(u128::MAX).is_err());
}
