//! Results as a table: one line for each operation, one column for each type.

use std::collections::BTreeMap;

#[derive(Default)]
pub struct Table {
    rows: BTreeMap<String, BTreeMap<&'static str, f64>>,
    wrong: Vec<String>,
}

impl Table {
    /// Notes that `operation` on a type was off by `found` where `allowed` is the most.
    pub fn add(&mut self, operation: &str, kind: &'static str, found: f64, allowed: f64, at: &str) {
        let worst = self.rows.entry(operation.to_owned()).or_default().entry(kind).or_default();
        *worst = worst.max(found);
        if found.is_nan() || found > allowed {
            self.wrong.push(format!("{operation} {kind}: off by {found}, allowed {allowed}; {at}"));
        }
    }

    /// Prints the table.
    pub fn check(self, title: &str) -> Vec<String> {
        println!("{title} ('=': equal)");
        for (operation, cells) in &self.rows {
            let cell = |off: f64| if off == 0.0 { "=".to_owned() } else { format!("{off:.3}") };
            let cells = cells.iter().map(|(kind, off)| format!("{kind} {:<8}", cell(*off))).collect::<Vec<_>>();
            println!("  {operation:<20} {}", cells.join(" ").trim_end());
        }
        self.wrong
    }
}
