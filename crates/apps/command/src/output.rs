//! Options of every command: log level and colours.

use clap::{ColorChoice, ValueEnum as _};
use std::error::Error;
use std::ffi::OsString;
use std::io::IsTerminal as _;
use tracing_subscriber::EnvFilter;

/// Log levels, from silent to most detailed.
const LEVELS: [&str; 6] = ["off", "error", "warn", "info", "debug", "trace"];

/// Heading of these options in the help of every command.
pub const HEADING: &str = "Log and colours";

#[derive(Debug, Clone, clap::Args)]
pub struct OutputOptions {
    /// Log more on standard error: -v warnings, -vv progress, -vvv and -vvvv details; overrides PIXELFERRY_LOG
    #[arg(short, long, global = true, help_heading = HEADING, action = clap::ArgAction::Count)]
    verbose: u8,
    /// Log less on standard error; overrides PIXELFERRY_LOG
    #[arg(short, long, global = true, help_heading = HEADING, action = clap::ArgAction::Count)]
    quiet: u8,
    /// Colour help, errors and the log; `auto` colours on a terminal unless NO_COLOR is set
    #[arg(long, global = true, help_heading = HEADING, value_name = "WHEN", default_value_t = ColorChoice::Auto)]
    color: ColorChoice,
}

impl OutputOptions {
    /// Returns the log level: from the options, else from the environment, else `usual`.
    pub fn filter(&self, usual: &str) -> Result<EnvFilter, Box<dyn Error>> {
        if self.verbose > 0 || self.quiet > 0 {
            let level = (1 + usize::from(self.verbose)).saturating_sub(usize::from(self.quiet));
            return Ok(EnvFilter::new(LEVELS[level.min(LEVELS.len() - 1)]));
        }
        match std::env::var("PIXELFERRY_LOG") {
            Ok(text) if !text.is_empty() => Ok(EnvFilter::try_new(&text).map_err(|e| {
                format!("PIXELFERRY_LOG is invalid: '{text}' ({e}); give a level such as info, or interop_core=debug")
            })?),
            _ => Ok(EnvFilter::new(usual)),
        }
    }

    /// Returns whether standard error is coloured.
    pub fn is_colored(&self) -> bool {
        match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty()) && std::io::stderr().is_terminal()
            }
        }
    }
}

/// Looks for `--color` before clap parses the arguments, because clap's errors are coloured too. clap reports an
/// invalid value later.
pub fn color_of(arguments: &[OsString]) -> ColorChoice {
    let words = arguments.iter().map_while(|argument| argument.to_str()).take_while(|word| *word != "--");
    let words: Vec<_> = words.collect();
    let mut asked = words.iter().enumerate().filter_map(|(at, word)| match word.strip_prefix("--color")? {
        "" => words.get(at + 1).copied(),
        rest => rest.strip_prefix('='),
    });
    asked.next_back().and_then(|word| ColorChoice::from_str(word, true).ok()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_wish_for_colours_counts() {
        let of = |text: &str| color_of(&text.split(' ').map(OsString::from).collect::<Vec<_>>());
        assert_eq!(of("pixelferry probe --color never"), ColorChoice::Never);
        assert_eq!(of("pixelferry --color=always probe --color=Never"), ColorChoice::Never);
        for without in
            ["pixelferry probe", "pixelferry --color", "pixelferry --color blue", "pixelferry -- --color=always"]
        {
            assert_eq!(of(without), ColorChoice::Auto, "{without}");
        }
    }

    #[test]
    fn more_and_less_are_added_up() {
        let of = |verbose, quiet| {
            OutputOptions { verbose, quiet, color: ColorChoice::Auto }.filter(LEVELS[1]).unwrap().to_string()
        };
        assert_eq!(
            [of(1, 0), of(2, 0), of(9, 0), of(0, 1), of(0, 5), of(2, 1)],
            ["warn", "info", "trace", "off", "off", "warn"]
        );
    }
}
