//! Logs of compilers, read for the places that they name: each writes them in its own way.

use crate::error::Fault;
use std::path::PathBuf;

/// Most faults that are told of one text: the rest mostly follow from them.
const MOST: usize = 8;

/// Origin of the lines of a text that was put together.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Origin {
    /// The user's file, and one whose text stands before it.
    pub file: PathBuf,
    pub common: Option<PathBuf>,
    /// Lines before the user's, and before the common ones, where the compiler counts all; 0 where it heeds `#line`.
    pub before: [u32; 2],
}

/// A place as a compiler names it: number of the text, line and column.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Place {
    text: u32,
    line: u32,
    column: Option<u32>,
}

impl Origin {
    /// A text that is all the user's.
    pub const fn of(file: PathBuf) -> Self {
        Self { file, common: None, before: [0; 2] }
    }

    fn fault(&self, place: Option<Place>, text: &str) -> Fault {
        let (mut file, mut line) = (&self.file, place.map(|place| place.line));
        if let (Some(common), Some(place)) = (&self.common, place) {
            let [own, ahead] = self.before;
            if place.text == 1 || (own > 0 && place.line <= own) {
                file = common;
                line = Some(place.line.saturating_sub(ahead));
            }
        }
        if file == &self.file {
            line = line.map(|line| line.saturating_sub(self.before[0]));
        }
        let line = line.filter(|line| *line > 0);
        Fault {
            file: file.clone(),
            line,
            column: place.and_then(|p| p.column).filter(|_| line.is_some()),
            text: text.trim().into(),
        }
    }

    /// The errors that a log names; all of it as one where it names no place.
    pub fn faults(&self, log: &str) -> Vec<Fault> {
        let mut found = Vec::new();
        // naga's message comes a line before its place.
        let mut ahead = None;
        for line in log.lines() {
            if let Some(place) = framed(line) {
                if let Some(said) = ahead.take() {
                    found.push(self.fault(Some(place), said));
                }
            } else if let Some(said) = line.strip_prefix("error: ") {
                ahead = Some(said);
            } else if let Some((place, said)) = placed(line) {
                let kind = said.to_ascii_lowercase();
                let error = ["error", "fatal error"].iter().find(|word| kind.trim_start().starts_with(**word));
                if let Some(word) = error {
                    let said = said.trim_start().get(word.len()..).unwrap_or(said);
                    found.push(self.fault(Some(place), said.trim_start_matches([':', ' '])));
                }
            }
        }
        if found.is_empty() {
            found.push(self.fault(None, log));
        }
        found.dedup();
        found.truncate(MOST);
        found
    }
}

/// naga's frame, `┌─ wgsl:3:5`.
fn framed(line: &str) -> Option<Place> {
    let (_, place) = line.split_once("┌─ ")?;
    let mut parts = place.trim().rsplitn(3, ':');
    let column = parts.next()?.parse().ok();
    Some(Place { text: 0, line: parts.next()?.parse().ok()?, column })
}

/// The place that a line begins with, and what follows it.
fn placed(line: &str) -> Option<(Place, &str)> {
    // PTX: "ptxas application ptx input, line 12; error   : message".
    if let Some((_, rest)) = line.split_once(", line ") {
        let (number, rest) = rest.split_once(';')?;
        return Some((Place { line: number.parse().ok()?, ..Place::default() }, rest));
    }
    let colon = |at: usize| line[at..].starts_with(':');
    for (at, _) in line.match_indices(['(', ':']) {
        let (before, behind) = (line.get(..at)?, line.get(at + 1..)?);
        let digits = behind.len() - behind.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let Ok(number) = behind.get(..digits)?.parse::<u32>() else { continue };
        let rest = behind.get(digits..)?;
        if colon(at) {
            // clang: "file.cl:12:5: error"; Mesa: "0:12(5): error".
            let text = before.parse().unwrap_or(0);
            let (open, close) = if rest.starts_with('(') { ('(', "):") } else { (':', ":") };
            let Some(rest) = rest.strip_prefix(open) else { continue };
            let Some((column, rest)) = rest.split_once(close) else { continue };
            let Ok(column) = column.parse() else { continue };
            return Some((Place { text, line: number, column: Some(column) }, rest));
        }
        // NVIDIA: "0(12) : error C0000: ..." and "kernel.cu(12): error: ...".
        let Some(rest) = rest.strip_prefix(')') else { continue };
        let Some(rest) = rest.trim_start().strip_prefix(':') else { continue };
        return Some((Place { text: before.parse().unwrap_or(0), line: number, column: None }, rest));
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_compilers_places_are_read() {
        let origin = Origin { common: Some("c.glsl".into()), ..Origin::of("a.glsl".into()) };
        for (log, said) in [
            ("0:12(5): error: `x' undeclared\n0:12(5): error: `x' undeclared", "a.glsl:12:5: `x' undeclared"),
            ("1:3(1): error: syntax error", "c.glsl:3:1: syntax error"),
            ("0:1(2): warning: w\n0:2(7): error: e", "a.glsl:2:7: e"),
            ("0(12) : error C1503: undefined variable \"x\"", "a.glsl:12: C1503: undefined variable \"x\""),
            ("kernel.cu(7): error: expected a \";\"", "a.glsl:7: expected a \";\""),
            ("<kernel>:12:5: error: use of undeclared", "a.glsl:12:5: use of undeclared"),
            ("/tmp/a:b/x.cl:2:1: fatal error: gone", "a.glsl:2:1: gone"),
            ("ptxas application ptx input, line 9; error   : Parsing error", "a.glsl:9: Parsing error"),
            ("error: expected `;`\n  ┌─ wgsl:3:5\n  │", "a.glsl:3:5: expected `;`"),
            ("no place at all", "a.glsl: no place at all"),
        ] {
            let faults = origin.faults(log);
            assert_eq!((faults.len(), faults[0].to_string()), (1, said.to_owned()), "{log}");
        }
    }

    #[test]
    fn lines_of_a_text_that_was_put_together_are_the_users() {
        let origin = Origin { file: "a.glsl".into(), common: Some("c.glsl".into()), before: [30, 20] };
        let faults = origin.faults("error: one\n  ┌─ glsl:33:5\nerror: two\n  ┌─ glsl:22:1");
        assert_eq!(crate::error::lines(&faults), "a.glsl:3:5: one\nc.glsl:2:1: two");
    }
}
