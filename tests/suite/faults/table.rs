//! Results: one block for each situation, one row for each step, one column for each path.

use pixelferry::PathId;
use pixelferry_tests::sharing::FaultStep;
use std::collections::BTreeMap;
use std::fmt::Write as _;

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    Pass,
    Fail(String),
    /// The path makes no such call here.
    NoCall,
    /// The path is not offered.
    Skipped(String),
}

#[derive(Default)]
pub struct Table {
    cells: Vec<(&'static str, FaultStep, PathId, Outcome)>,
}

impl Table {
    pub fn add(&mut self, situation: &'static str, step: FaultStep, path: PathId, outcome: Outcome) {
        self.cells.push((situation, step, path, outcome));
    }

    /// Passed and failed.
    pub fn counts(&self) -> (usize, usize) {
        let count = |f: fn(&Outcome) -> bool| self.cells.iter().filter(|cell| f(&cell.3)).count();
        (count(|o| *o == Outcome::Pass), count(|o| matches!(o, Outcome::Fail(_))))
    }

    /// Steps that no cell has made fail.
    pub fn untried(&self) -> Vec<FaultStep> {
        let tried = |step: FaultStep| self.cells.iter().any(|cell| cell.1 == step && cell.3 == Outcome::Pass);
        FaultStep::ALL.iter().copied().filter(|step| !tried(*step)).collect()
    }

    /// The table's text, without steps that no path makes in a situation.
    pub fn text(&self) -> String {
        let mut text = String::new();
        let mut reasons: BTreeMap<String, usize> = BTreeMap::new();
        let mut situations: Vec<&str> = self.cells.iter().map(|cell| cell.0).collect();
        situations.dedup();
        for situation in situations {
            let _ = write!(text, "\n{situation:<34}");
            for path in PathId::ALL {
                let _ = write!(text, " {:<8}", short(path));
            }
            text.push('\n');
            for step in FaultStep::ALL {
                let row: Vec<_> = self.cells.iter().filter(|c| c.0 == situation && c.1 == *step).collect();
                if row.iter().all(|c| matches!(c.3, Outcome::NoCall | Outcome::Skipped(_))) {
                    continue;
                }
                let _ = write!(text, "  {:<32}", step.name());
                for path in PathId::ALL {
                    let word = match row.iter().find(|c| c.2 == path).map(|c| &c.3) {
                        Some(Outcome::Pass) => "PASS",
                        Some(Outcome::Fail(reason)) => {
                            *reasons
                                .entry(format!("FAIL {situation}, {}, {path}: {reason}", step.name()))
                                .or_default() += 1;
                            "FAIL"
                        }
                        Some(Outcome::Skipped(reason)) => {
                            *reasons.entry(format!("SKIPPED {situation}, {path}: {reason}")).or_default() += 1;
                            "SKIPPED"
                        }
                        Some(Outcome::NoCall) | None => "-",
                    };
                    let _ = write!(text, " {word:<8}");
                }
                text.push('\n');
            }
        }
        for (reason, count) in &reasons {
            let _ = writeln!(text, "  {reason} ({count} cells)");
        }
        let skipped = self.cells.iter().filter(|c| matches!(c.3, Outcome::Skipped(_))).count();
        let no_call = self.cells.iter().filter(|c| c.3 == Outcome::NoCall).count();
        let (passed, failed) = self.counts();
        let _ = writeln!(text, "\n{passed} PASS, {failed} FAIL, {skipped} SKIPPED, {no_call} without such a call (-)");
        text
    }
}

/// Initials, as so many names do not fit.
fn short(path: PathId) -> String {
    let words: Vec<&str> = path.name().split('-').collect();
    match words.as_slice() {
        [one] => (*one).to_owned(),
        [first, rest @ ..] => {
            format!("{}-{}", &first[..first.len().min(5)], rest.iter().map(|w| &w[..1]).collect::<String>())
        }
        [] => String::new(),
    }
}
