//! Memory limit for the content of files and messages: a small file may claim any size.

use std::env;

/// Environment variable that sets the limit in MiB.
const VARIABLE: &str = "PIXELFERRY_MEMORY_MIB";
const DEFAULT_MIB: u64 = 1024;

/// Bytes per pixel that showing an array needs besides the array, if the display is the processor's: frames of the
/// link, their copies for the display, and the texture.
pub const SHOWN: u64 = 20;

/// The content of a file or message exceeds the limit. It is refused before decoding.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
#[error(
    "it needs {needed} MiB of memory including temporary copies, but the limit is {most} MiB: set {VARIABLE}={needed} to \
     allow that"
)]
pub struct TooLarge {
    /// Needed memory in MiB.
    pub needed: u64,
    /// Limit in MiB.
    pub most: u64,
}

/// Returns the limit in bytes: from the environment variable `PIXELFERRY_MEMORY_MIB`, else 1 GiB.
pub fn most() -> u64 {
    let asked = env::var(VARIABLE).ok().and_then(|text| text.trim().parse().ok());
    asked.unwrap_or(DEFAULT_MIB).saturating_mul(1 << 20)
}

/// Refuses content that needs more bytes than the limit.
///
/// # Errors
/// [`TooLarge`].
pub fn check(needed: u128) -> Result<(), TooLarge> {
    within(needed, most())
}

/// Refuses content that needs more than `most` bytes.
///
/// # Errors
/// [`TooLarge`].
pub fn within(needed: u128, most: u64) -> Result<(), TooLarge> {
    if needed > most.into() { Err(TooLarge::new(needed, most)) } else { Ok(()) }
}

impl TooLarge {
    /// Makes the error for `needed` bytes with a limit of `most` bytes.
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
