//! Tests of one call each, written as rows.

/// Makes a test of each row: its name, and what it does.
///
/// ```
/// # fn child(_: &str) {}
/// pixelferry_testing::tests! {
///     pictures_are_drawn => child("drawn");
///     /// Where nothing draws them.
///     pictures_are_refused => child("refused");
/// }
/// ```
#[macro_export]
macro_rules! tests {
    ($($(#[$attribute:meta])* $name:ident => $does:expr;)*) => {
        $(#[test] $(#[$attribute])* fn $name() { $does; })*
    };
}
