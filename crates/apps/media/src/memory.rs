//! Memory limit for the content of files and messages: a small file may claim any size.

use std::env;
use std::sync::Once;

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

/// Returns the limit in bytes: from the environment variable `PIXELFERRY_MEMORY_MIB`, else 1 GiB. An invalid value is
/// logged once.
pub fn most() -> u64 {
    static SAID: Once = Once::new();
    let text = env::var_os(VARIABLE).unwrap_or_default();
    let asked = asked(&text.to_string_lossy());
    let asked = asked.inspect_err(|problem| SAID.call_once(|| tracing::error!("{problem}")));
    asked.ok().flatten().unwrap_or(DEFAULT_MIB).saturating_mul(1 << 20)
}

/// Reads the variable's value; an empty one means that it is unset, as for the other variables.
fn asked(text: &str) -> Result<Option<u64>, String> {
    match text.trim() {
        "" => Ok(None),
        number => number.parse().map(Some).map_err(|_| {
            format!("{VARIABLE}='{text}' is invalid: give a whole number of MiB; {DEFAULT_MIB} is used instead")
        }),
    }
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

#[test]
fn an_invalid_limit_is_named_with_the_one_that_is_used() {
    assert_eq!((asked(" 2 "), asked("")), (Ok(Some(2)), Ok(None)));
    for text in ["much", "-1", "1.5", "1 GiB"] {
        let said = asked(text).unwrap_err();
        assert!(said.contains(&format!("{VARIABLE}='{text}' is invalid")) && said.contains("1024"), "{said}");
    }
}
