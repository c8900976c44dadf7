//! Explanations on standard error, with `PIXELFERRY_CLGL=explain`.

use std::fmt::Display;
use std::sync::LazyLock;

static ASKED: LazyLock<bool> = LazyLock::new(|| {
    std::env::var("PIXELFERRY_CLGL").is_ok_and(|words| words.split(',').any(|word| word == "explain"))
});

/// Prints an explanation if explanations are enabled.
pub fn say(what: impl Display) {
    if *ASKED {
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
