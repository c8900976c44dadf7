//! Words of `PIXELFERRY_CLGL`. With `explain`, the layer explains itself on standard error.

use std::fmt::Display;
use std::sync::LazyLock;

static EXPLAINS: LazyLock<bool> = LazyLock::new(|| is_asked("explain"));

/// Returns whether the variable has this word.
pub fn is_asked(word: &str) -> bool {
    std::env::var("PIXELFERRY_CLGL").is_ok_and(|words| words.split(',').any(|own| own == word))
}

/// Prints an explanation if explanations are enabled.
pub fn say(what: impl Display) {
    if *EXPLAINS {
        use std::io::Write as _;
        // A closed standard error has no reader.
        let _ = writeln!(std::io::stderr(), "pixelferry-clgl: {what}");
    }
}

/// Explains why a call is refused, and returns its code.
pub fn refuse(code: i32, why: impl Display) -> i32 {
    say(format_args!("{why} (error {code})"));
    code
}
