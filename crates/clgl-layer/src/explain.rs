//! Reasons on standard error, for those who ask by `PIXELFERRY_CLGL=explain`.

use std::fmt::Display;
use std::sync::LazyLock;

static ASKED: LazyLock<bool> = LazyLock::new(|| {
    std::env::var("PIXELFERRY_CLGL").is_ok_and(|words| words.split(',').any(|word| word == "explain"))
});

/// Says something where it was asked for.
pub fn say(what: impl Display) {
    if *ASKED {
        use std::io::Write as _;
        // Where standard error is closed there is nobody to tell.
        let _ = writeln!(std::io::stderr(), "pixelferry-clgl: {what}");
    }
}

/// Says why a call is refused, and gives its code.
pub fn refuse(code: i32, why: impl Display) -> i32 {
    say(format_args!("{why} (error {code})"));
    code
}
