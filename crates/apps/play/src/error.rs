//! Reasons why a file cannot be played, errors in a shader, and their positions in compilers' logs; each compiler has a
//! format of its own.

use lazy_regex::{Lazy, Regex, lazy_regex};
use pixelferry::{Error, SaveError};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::iter::Peekable;
use std::path::{Path, PathBuf};
use std::str::Lines;

/// An error in the user's shader.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Fault {
    /// File that contains the error.
    pub file: PathBuf,
    /// Line from 1, if the compiler reported it.
    pub line: Option<u32>,
    /// Column from 1, if the compiler reported it.
    pub column: Option<u32>,
    /// Message of the compiler.
    pub text: String,
}

impl Fault {
    /// An error that was found before compiling.
    pub(crate) fn new(file: &Path, line: Option<u32>, text: impl Into<String>) -> Self {
        Self { file: file.to_owned(), line, column: None, text: text.into() }
    }
}

impl From<Fault> for PlayError {
    fn from(fault: Fault) -> Self {
        Self::Faults(vec![fault])
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = self.file.file_name().unwrap_or(self.file.as_os_str()).display();
        let place = [self.line, self.line.and(self.column)].into_iter().flatten().map(|at| format!(":{at}"));
        write!(f, "{name}{}: {}", place.collect::<String>(), self.text)
    }
}

/// Reason why a file cannot be played.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PlayError {
    /// Writing the film failed.
    #[error(transparent)]
    Record(#[from] pixelferry_media::record::RecordError),
    /// The file's extension belongs to no supported language, or the backend does not run it.
    #[error("{}: {reason}", file.display())]
    Language {
        /// The file.
        file: PathBuf,
        /// What is wrong, and what is supported.
        reason: String,
    },
    /// The shader is invalid, one of its files cannot be read, or its trial run failed.
    #[error("{}", lines(.0))]
    Faults(Vec<Fault>),
    /// Reading a channel's picture, video or stream failed.
    #[error("channel {channel}: {}: {reason}", file.display())]
    Channel {
        /// Number of the channel.
        channel: usize,
        /// The file, or `stream:NAME`.
        file: PathBuf,
        /// Reason in words.
        reason: String,
    },
    /// An option does not suit the shader.
    #[error("{0}")]
    Option(String),
    /// The trial process did not start, or ended before it was ready.
    #[error("the trial process: {0}")]
    Trial(String),
    /// There is no OpenGL for a fragment shader.
    #[error("{} is a fragment shader, which needs OpenGL 3.3 or OpenGL ES 3.0: {reason}", file.display())]
    NoOpenGl {
        /// The file.
        file: PathBuf,
        /// Why there is no OpenGL.
        reason: Error,
    },
    /// OpenGL refused what a fragment shader needs.
    #[error("OpenGL: {0}")]
    OpenGl(String),
    /// A backend or the display reported an error.
    #[error(transparent)]
    Driver(#[from] Error),
    /// Saving the picture failed.
    #[error(transparent)]
    Save(#[from] SaveError),
}

impl PlayError {
    /// Converts the error to faults: those of the shader, or one for the whole error.
    pub fn into_faults(self, file: &Path) -> Vec<Fault> {
        match self {
            Self::Faults(faults) => faults,
            other => vec![Fault::new(file, None, other.to_string())],
        }
    }
}

/// Formats faults, one per line.
pub fn lines(faults: &[Fault]) -> String {
    faults.iter().map(Fault::to_string).collect::<Vec<_>>().join("\n")
}

/// Maximum number of reported errors per shader: further ones mostly follow from these.
const MOST: usize = 8;

/// `#line` numbers where the common file begins, and for lines that this crate adds. The source-string number, which
/// `#line` accepts too, is missing in some of Mesa's messages.
pub const COMMON: u32 = 500_000;
pub const NOBODYS: u32 = 900_000;

/// Where the lines of an assembled shader come from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
    /// The user's file.
    pub file: PathBuf,
    /// Number, as the compiler counts, of the line before the file's first.
    pub before: u32,
    /// Number of its lines.
    pub lines: u32,
    /// The same of the common file that goes with it.
    pub common: Option<(PathBuf, u32, u32)>,
    /// Insertions within the user's lines.
    pub added: Vec<AddedText>,
}

/// An insertion in a line of the user's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AddedText {
    /// Line number, as the compiler counts.
    pub line: u32,
    /// Column where it begins, counting earlier insertions.
    pub column: u32,
    /// Number of inserted characters.
    pub length: u32,
}

/// Line, and column if the compiler reported it.
type LogPosition = (u32, Option<u32>);

impl Origin {
    /// A file with this text.
    pub fn of(file: &Path, text: &str) -> Self {
        let lines = text.lines().count() as u32;
        Self { file: file.to_owned(), before: 0, lines, common: None, added: Vec::new() }
    }

    fn fault(&self, place: Option<LogPosition>, text: &str) -> Fault {
        let fault = Fault::new(&self.file, None, text.trim());
        let Some((line, column)) = place.filter(|(line, _)| *line > 0) else { return fault };
        let own = (&self.file, self.before, self.lines);
        let common = self.common.iter().map(|(file, before, lines)| (file, *before, *lines));
        let begun = common.chain([own]).filter(|(_, before, _)| (*before..NOBODYS).contains(&(line - 1)));
        let (file, before, lines) = begun.max_by_key(|(_, before, _)| *before).unwrap_or(own);
        // What a compiler finds behind a text, such as a missing brace, is reported for the last line.
        let (file, is_inside) = (file.clone(), line <= before + lines);
        let added = self.added.iter().filter(|added| added.line == line);
        let column = column.filter(|_| is_inside).map(|column| {
            let ours = added.map(|added| column.saturating_sub(added.column).min(added.length)).sum::<u32>();
            column.saturating_sub(ours)
        });
        Fault { file, line: Some(line.saturating_sub(before).min(lines)), column, ..fault }
    }

    /// Returns the errors in a log of this shader; if the log has no positions, a single error with the whole log.
    pub fn faults(&self, log: &str, text: &str) -> Vec<Fault> {
        let mut found = Vec::new();
        // naga prints the message one line before the position.
        let mut ahead = None;
        let mut lines = log.lines().peekable();
        while let Some(line) = lines.next() {
            // A log may be long and repeat itself.
            found.dedup();
            if found.len() >= MOST {
                break;
            }
            if let Some((place, _)) = line.split_once("┌─ ").and_then(|(_, place)| placed(place, text)) {
                if let Some(said) = ahead.take() {
                    let (place, why) = within(&mut lines, place);
                    let why = why.map_or_else(String::new, |why| format!(": {why}"));
                    found.push(self.fault(Some(place), &format!("{said}{why}")));
                }
            } else if let Some(said) = line.strip_prefix("error: ") {
                // PoCL puts the severity behind the position.
                match placed(said, text) {
                    Some((place, said)) => found.push(self.fault(Some(place), said)),
                    None => ahead = Some(said),
                }
            } else if let Some((place, said)) = placed(line, text) {
                // Mesa indents the functions that it could have called.
                if let Some(severity) = ERROR.find(said).filter(|found| !found.as_str().ends_with("   ")) {
                    let said = said[severity.end()..].trim_end_matches("; candidates are:");
                    found.push(self.fault(Some(place), said));
                }
            }
        }
        if found.is_empty() {
            found.push(self.fault(None, log));
        }
        found.dedup();
        found
    }
}

/// What precedes an error's message.
static ERROR: Lazy<Regex> = lazy_regex!(r"^\s*(?i:(?:fatal )?error|preprocessor error(?:: error)?)[: ]*");

/// Returns a `#line` directive that gives the next line of GLSL the number after `before`.
pub fn line_mark(before: u32) -> String {
    format!("#line {}\n", before + 1)
}

/// Returns the column in the user's line for Mesa's column: Mesa's preprocessor replaces several blanks, or a comment,
/// by one blank.
fn stretched(text: &str, line: u32, column: u32) -> u32 {
    let first = if line > COMMON { COMMON } else { 0 };
    let own = text.split_once(&line_mark(first)).map_or(text, |(_, own)| own);
    let line = own.lines().nth(line.saturating_sub(first + 1) as usize).unwrap_or_default();
    let (mut counted, mut was_blank) = (0, false);
    for (at, c) in (1..).zip(line.chars()) {
        let is_blank = c == ' ' || c == '\t';
        counted += u32::from(!(is_blank && was_blank));
        if counted == column {
            return at;
        }
        was_blank = is_blank;
    }
    column
}

/// Parses the rest of naga's message, up to an empty line or the next error: the innermost marked expression, and the
/// last note, which has the reason.
fn within<'a>(lines: &mut Peekable<Lines<'a>>, mut place: LogPosition) -> (LogPosition, Option<&'a str>) {
    let (mut above, mut note) = (place.0, None);
    while let Some(line) = lines.next_if(|line| !line.trim().is_empty() && !line.starts_with("error: ")) {
        if let Some(said) = line.trim_start().strip_prefix("= ") {
            note = Some(said);
        } else if let Some((number, code)) = line.split_once('│') {
            if let Ok(number) = number.trim().parse() {
                above = number;
            } else if code.trim_start().starts_with('^') && code.contains("naga::ir::Expression") {
                // A blank precedes the first column.
                place = (above, Some(code.chars().take_while(|c| *c != '^').count() as u32));
            }
        }
    }
    (place, note)
}

/// A position at the start of a line. clang writes `file.cl:12:5:`, Mesa `0:12(5):`, and NVIDIA `0(12) :` or
/// `kernel.cu(12):`. naga writes `wgsl:12:5` into a frame.
static POSITION: Lazy<Regex> = lazy_regex!(r"[:(](\d+)(?::(\d+)(?::|\s*$)|\((\d+)\):|\)\s*:)(.*)");

/// Parses the position at the start of a line of a log about this text; also returns the rest.
fn placed<'a>(line: &'a str, text: &str) -> Option<(LogPosition, &'a str)> {
    let found = POSITION.captures(line)?;
    let number = |at: usize| found.get(at)?.as_str().parse().ok();
    let line = number(1)?;
    let column = number(2).or_else(|| Some(stretched(text, line, number(3)?)));
    Some(((line, column), found.get(4)?.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(file: &str, lines: usize) -> Origin {
        Origin::of(file.as_ref(), &"\n".repeat(lines))
    }

    #[test]
    fn each_compilers_places_are_read() {
        let origin = Origin { common: Some(("c.glsl".into(), COMMON, 9)), ..of("a.glsl", 99) };
        for (log, said) in [
            ("0:12(5): error: `x' undeclared\n0:12(5): error: `x' undeclared", "a.glsl:12:5: `x' undeclared"),
            ("0:500003(1): error: syntax error", "c.glsl:3:1: syntax error"),
            (
                "0:3(12): error: no matching function for call to `f(error)'; candidates are:\n0:3(12): error:    int f(int)",
                "a.glsl:3:12: no matching function for call to `f(error)'",
            ),
            ("0:1(2): warning: w\n0:2(7): error: e", "a.glsl:2:7: e"),
            ("0(12) : error C1503: undefined variable \"x\"", "a.glsl:12: C1503: undefined variable \"x\""),
            ("kernel.cu(7): error: expected a \";\"", "a.glsl:7: expected a \";\""),
            ("error: kernel.cl:3:13: use of undeclared", "a.glsl:3:13: use of undeclared"),
            ("0:900001(1): error: e", "a.glsl:99: e"),
            ("<kernel>:12:5: error: use of undeclared", "a.glsl:12:5: use of undeclared"),
            ("/tmp/a:b/x.cl:2:1: fatal error: gone", "a.glsl:2:1: gone"),
            ("error: expected `;`\n  ┌─ wgsl:3:5\n  │", "a.glsl:3:5: expected `;`"),
            (
                "error: Function [0] 'k' is invalid\n  ┌─ wgsl:2:1\n  │\n2 │ float k(int n) {\n  │ ^^^^ naga::ir::Function [0]\n3 │  int a;\n  │      ^ naga::ir::Expression [8]\n  │\n  = Expression [8] is invalid\n  = It can't be done\n\n",
                "a.glsl:3:6: Function [0] 'k' is invalid: It can't be done",
            ),
            ("no place at all", "a.glsl: no place at all"),
        ] {
            let faults = origin.faults(log, "");
            assert_eq!((faults.len(), faults[0].to_string()), (1, said.to_owned()), "{log}");
        }
    }

    #[test]
    fn columns_are_those_of_the_users_line() {
        let text = "float before;\n#line 1\nvoid f() {\n    c.x  = nothing;\n}";
        let faults = of("a.glsl", 3).faults("0:2(8): error: `nothing' undeclared", text);
        assert_eq!(faults[0].to_string(), "a.glsl:2:12: `nothing' undeclared");
    }

    #[test]
    fn what_is_found_behind_the_text_is_its_last_lines() {
        let origin = of("a.wgsl", 3);
        for (log, said) in [
            ("0:3(5): error: e", "a.wgsl:3:5: e"),
            ("0:4(5): error: e", "a.wgsl:3: e"),
            ("0:900007(1): error: e", "a.wgsl:3: e"),
        ] {
            assert_eq!(origin.faults(log, "")[0].to_string(), said, "{log}");
        }
        let behind = Origin { before: 7, ..origin };
        assert_eq!(behind.faults("kernel.cu(12): error: e", "")[0].to_string(), "a.wgsl:3: e");
    }

    #[test]
    fn what_was_added_counts_for_nothing() {
        let added = vec![AddedText { line: 2, column: 8, length: 9 }, AddedText { line: 2, column: 20, length: 9 }];
        let origin = Origin { added, ..of("a.glsl", 99) };
        for (column, said) in [(3, 3), (8, 8), (12, 8), (17, 8), (19, 10), (40, 22)] {
            let faults = origin.faults(&format!("0:2({column}): error: e"), &"x".repeat(99));
            assert_eq!(faults[0].column, Some(said), "{column}");
        }
    }

    #[test]
    fn lines_of_a_text_that_was_put_together_are_the_users() {
        let origin = Origin { before: 30, common: Some(("c.glsl".into(), 20, 10)), ..of("a.glsl", 99) };
        let faults = origin.faults("error: one\n  ┌─ glsl:33:5\nerror: two\n  ┌─ glsl:22:1", "");
        assert_eq!(crate::error::lines(&faults), "a.glsl:3:5: one\nc.glsl:2:1: two");
    }
}
