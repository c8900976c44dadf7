//! Judges the library's own choice: does it take the best path?

use crate::bench::record::{BenchRow, Cell, RowKind, Summary, Verdict};
use crate::bench::stats::ratio;

/// Largest slowdown of the automatic choice that counts as right.
pub const TOLERANCE: f64 = 0.03;

/// Minimum rounds for a clear difference: by chance alone, one row is slower in all of four rounds once in 16 times.
const FEWEST_ROUNDS: usize = 5;

/// Returns whether noise leaves open on which side of the tolerance the row is.
pub(crate) fn is_open(automatic: &[Vec<f64>], rival: &[Vec<f64>]) -> bool {
    let most = 1.0 + TOLERANCE;
    ratio(automatic, rival).is_none_or(|found| found.least() <= most && found.most() > most)
}

fn quickest<'a>(rows: impl Iterator<Item = &'a BenchRow>) -> Option<&'a BenchRow> {
    rows.min_by(|a, b| a.stats.median_us.total_cmp(&b.stats.median_us))
}

fn paths(rows: &[BenchRow]) -> impl Iterator<Item = &BenchRow> {
    rows.iter().filter(|row| row.info.kind == RowKind::Path)
}

fn automatic(rows: &[BenchRow]) -> Option<&BenchRow> {
    rows.iter().find(|row| row.info.kind == RowKind::Automatic)
}

/// Returns the indices of the automatic row and the best path row if more turns of the two could change the verdict.
pub(crate) fn undecided(rows: &[BenchRow]) -> Option<[usize; 2]> {
    let (automatic, best) = (automatic(rows)?, quickest(paths(rows))?);
    let found = ratio(&automatic.rounds_us, &best.rounds_us)?;
    let place = |row: &BenchRow| rows.iter().position(|other| std::ptr::eq(other, row));
    (found.most() > 1.0 + TOLERANCE).then_some([place(automatic)?, place(best)?])
}

/// Compares the automatic row of a cell with the fastest path row.
pub fn of(rows: &[BenchRow]) -> Option<Verdict> {
    let automatic = automatic(rows)?;
    let best = quickest(paths(rows))?;
    let is_alone = !automatic.alone_us.is_empty() && !best.alone_us.is_empty();
    let [a, b] = [automatic, best].map(|row| if is_alone { &row.alone_us } else { &row.rounds_us });
    let (ratio, rounds) = (ratio(a, b)?, a.len().min(b.len()));
    let same = quickest(paths(rows).filter(|row| row.info.path == automatic.info.path));
    let within = ratio.distance() <= TOLERANCE;
    // Too few rounds prove nothing.
    let clear = rounds >= FEWEST_ROUNDS && ratio.least() > 1.0 + TOLERANCE;
    let undecided = !clear && (ratio.most() > 1.0 + TOLERANCE || rounds < FEWEST_ROUNDS);
    let why = reason(automatic, best, within, clear);
    Some(Verdict {
        best: best.info.row.clone(),
        best_us: best.stats.median_us,
        automatic_path: automatic.info.path.clone()?,
        automatic_us: automatic.stats.median_us,
        ratio,
        same_path_us: same.map(|row| row.stats.median_us),
        within,
        clear,
        undecided,
        why,
    })
}

fn reason(automatic: &BenchRow, best: &BenchRow, within: bool, clear: bool) -> String {
    let chosen = automatic.info.path.as_deref().unwrap_or_default();
    let best_path = best.info.path.as_deref().unwrap_or_default();
    let (late, best_behind) = (automatic.info.frames_behind, best.info.frames_behind);
    let why = automatic.info.why.as_deref().unwrap_or_default();
    match (within, clear) {
        (true, _) => String::new(),
        (false, false) => format!("too close to call: the difference is within the noise; {chosen} was {why}"),
        (false, true) if chosen != best_path => format!("another path: {chosen} was {why}"),
        (false, true) if late != best_behind => {
            format!("the right path; frames behind: {late}, better here: {best_behind}")
        }
        (false, true) => "the right path, but an automatic link is slower on it than a forced one".into(),
    }
}

/// Counts the verdicts of all cells.
pub fn summary(cells: &[Cell]) -> Summary {
    let mut summary = Summary::default();
    for verdict in cells.iter().filter_map(|cell| cell.verdict.as_ref()) {
        summary.cells += 1;
        summary.within += usize::from(verdict.within);
        summary.clear_misses += usize::from(!verdict.within && verdict.clear);
        summary.undecided += usize::from(verdict.undecided);
    }
    summary
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::sample;

    #[test]
    fn the_best_is_a_path_and_never_a_floor() {
        let rows = [
            sample::row("memcpy of one frame", RowKind::Floor, None, 1.0),
            sample::row("direct", RowKind::Path, Some("direct"), 100.0),
            sample::row("pbo-orphan", RowKind::Path, Some("pbo-orphan"), 200.0),
            sample::row("automatic", RowKind::Automatic, Some("direct"), 102.0),
        ];
        let verdict = of(&rows).unwrap();
        assert_eq!((verdict.best.as_str(), verdict.within), ("direct", true));
        assert!((verdict.ratio.distance() - 0.02).abs() < 0.002, "{verdict:?}");
        assert_eq!(of(&rows[..3]), None);
        assert_eq!(of(&[rows[0].clone(), rows[3].clone()]), None);
    }

    #[test]
    fn a_miss_says_which_path_was_taken_and_whether_it_is_clear() {
        let best = sample::row("direct", RowKind::Path, Some("direct"), 100.0);
        let missed = sample::row("automatic", RowKind::Automatic, Some("pbo-orphan"), 110.0);
        let verdict = of(&[best.clone(), missed.clone()]).unwrap();
        assert!(!verdict.within && verdict.clear && verdict.why.contains("pbo-orphan"), "{verdict:?}");
        let mut noisy = missed;
        for (i, round) in noisy.rounds_us.iter_mut().enumerate() {
            round.iter_mut().for_each(|us| *us += if i % 2 == 0 { 60.0 } else { -60.0 });
        }
        let verdict = of(&[best, noisy]).unwrap();
        assert!(!verdict.clear && verdict.undecided, "{verdict:?}");

        let best = sample::row("direct", RowKind::Path, Some("direct"), 100.0);
        let same = sample::row("automatic", RowKind::Automatic, Some("direct"), 110.0);
        let verdict = of(&[best, same]).unwrap();
        assert!(verdict.clear && verdict.why.contains("slower on it than a forced one"), "{verdict:?}");
    }

    #[test]
    fn rounds_alone_decide_what_the_others_left_open() {
        let mut rows = [
            sample::row("direct", RowKind::Path, Some("direct"), 100.0),
            sample::row("automatic", RowKind::Automatic, Some("pbo-orphan"), 110.0),
        ];
        assert_eq!(undecided(&rows), Some([1, 0]));
        for (row, us) in rows.iter_mut().zip([100.0, 101.0]) {
            row.alone_us = vec![vec![us]; FEWEST_ROUNDS];
        }
        let verdict = of(&rows).unwrap();
        assert!(verdict.within && (verdict.ratio.distance() - 0.01).abs() < 1e-9, "{verdict:?}");
        let right = [rows[0].clone(), sample::row("automatic", RowKind::Automatic, Some("direct"), 100.0)];
        assert_eq!(undecided(&right), None);
    }

    #[test]
    fn the_summary_counts_cells_with_a_verdict() {
        let cells = sample::record().cells;
        let s = summary(&cells);
        assert_eq!(s.cells, cells.iter().filter(|c| c.verdict.is_some()).count());
        assert!(s.within <= s.cells && s.clear_misses + s.within <= s.cells);
        assert_eq!(s.decided(), (s.cells, s.cells), "all are clear, and right");
    }
}
