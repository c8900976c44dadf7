//! A result for people and for other programs.

pub mod csv;
pub mod html;
pub mod terminal;

/// Microseconds with a unit that suits them.
pub(crate) fn time(us: f64) -> String {
    match us {
        us if us < 9.95 => format!("{us:.2} µs"),
        us if us < 99.5 => format!("{us:.1} µs"),
        us if us < 999.5 => format!("{us:.0} µs"),
        us if us < 9_995.0 => format!("{:.2} ms", us / 1e3),
        us if us < 99_950.0 => format!("{:.1} ms", us / 1e3),
        us => format!("{:.0} ms", us / 1e3),
    }
}

/// A distance as a percentage with its sign.
pub(crate) fn percent(fraction: f64) -> String {
    format!("{:+.1} %", fraction * 100.0)
}

/// Each value once, in the order of first appearance.
pub(crate) fn distinct<T: PartialEq>(values: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut seen = Vec::new();
    for value in values {
        if !seen.contains(&value) {
            seen.push(value);
        }
    }
    seen
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_three_figures_and_a_unit() {
        let texts = [0.5, 12.34, 489.4, 2152.0, 21_974.0, 123_456.0].map(time);
        assert_eq!(texts, ["0.50 µs", "12.3 µs", "489 µs", "2.15 ms", "22.0 ms", "123 ms"]);
        assert_eq!(percent(-0.012), "-1.2 %");
        assert_eq!(distinct([1, 2, 1]), [1, 2]);
    }
}
