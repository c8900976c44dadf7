//! Options of `pixelferry bench`.

use crate::bench::grid::{Mode, Plan};
use crate::bench::report::distinct;
use crate::bench::size::Size;
use crate::json::JsonOption;
use clap::Args;
use pixelferry::{BackendChoice, DisplayChoice, PixelFormat, command::ApiChoice};
use pixelferry_demo::scene_options::parse_count;
use pixelferry_demo::values::one_of;
use std::time::Duration;

/// Default formats of the grid.
pub const FORMATS: [PixelFormat; 4] =
    [PixelFormat::Rgba8, PixelFormat::Rgba16F, PixelFormat::Rgba32F, PixelFormat::R32F];

/// Options of `pixelferry bench`. Separate list items with commas.
#[derive(Debug, Clone, Default, Args)]
pub struct BenchOptions {
    /// Sizes: tiny, odd, 720p, 1080p, 4K, 8K or WIDTHxHEIGHT [default: all named sizes]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub sizes: Vec<Size>,
    /// Pixel formats [default: RGBA8 at every size; RGBA16F, RGBA32F and R32F at 1080p only]
    #[arg(long, value_name = "LIST", value_delimiter = ',',
        ignore_case = true, value_parser = one_of::<PixelFormat>(PixelFormat::ALL.map(PixelFormat::name)))]
    pub formats: Vec<PixelFormat>,
    /// Compute devices, by the name of a backend or a part of a device's or driver's name; empty for all.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_word, help = devices::<BackendChoice>("Compute devices"))]
    pub backends: Vec<String>,
    /// Displays, by name or a part of a device's or driver's name; empty for all.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_word, help = devices::<DisplayChoice>("Displays"))]
    pub displays: Vec<String>,
    /// Frames to measure for each row, fewer if time runs out [default: 200, with --quick 30]
    #[arg(long, value_name = "N", value_parser = |text: &str| parse_count(text, 1_000_000), allow_negative_numbers = true)]
    pub frames: Option<u32>,
    /// Approximate total time in seconds, shared among all measurements [default: 600, with --quick 54]
    #[arg(long, value_name = "SECONDS", value_parser = |text: &str| parse_count(text, 604_800), allow_negative_numbers = true)]
    pub budget: Option<u32>,
    /// Take about a minute (more on a busy machine): latency, 720p and 1080p in RGBA8, few frames, no plain memory if
    /// OpenGL works
    #[arg(long)]
    pub quick: bool,
    /// Includes every raw sample.
    #[command(flatten)]
    pub json: JsonOption,
}

impl BenchOptions {
    /// Returns the plan of the measurements.
    pub fn plan(&self) -> Plan {
        let or = |asked: Option<u32>, full, quick| asked.unwrap_or(if self.quick { quick } else { full });
        Plan {
            pictures: self.pictures(),
            modes: if self.quick { vec![Mode::Latency] } else { Mode::ALL.to_vec() },
            backends: self.backends.clone(),
            displays: self.displays.clone(),
            spare_memory: self.quick && self.displays.is_empty(),
            frames: or(self.frames, 200, 30) as usize,
            budget: Duration::from_secs(or(self.budget, 600, 54).into()),
        }
    }

    /// Returns sizes with their formats. If only one of the two options is given, the other has its default.
    fn pictures(&self) -> Vec<(Size, PixelFormat)> {
        let sizes = distinct(self.sizes.iter().copied());
        let formats = distinct(self.formats.iter().copied());
        if !sizes.is_empty() {
            let formats = if formats.is_empty() { vec![PixelFormat::Rgba8] } else { formats };
            return sizes.iter().flat_map(|s| formats.iter().map(|f| (*s, *f))).collect();
        }
        let default: &[PixelFormat] = if self.quick { &[PixelFormat::Rgba8] } else { &FORMATS };
        let formats = if formats.is_empty() { default.to_vec() } else { formats };
        let all: &[Size] = if self.quick { &[Size::HD, Size::FULL_HD] } else { &Size::NAMED };
        let mut pictures = Vec::new();
        for format in formats {
            let sizes = if format == PixelFormat::Rgba8 { all } else { &[Size::FULL_HD] };
            pictures.extend(sizes.iter().map(|s| (*s, format)));
        }
        pictures
    }
}

/// Help for words that select devices. The first choice leaves the device open.
fn devices<T: ApiChoice>(what: &str) -> String {
    let names: Vec<_> = T::all().skip(1).filter(|row| row.built).map(|row| row.name).collect();
    format!("{what}: {}, or a part of a device's or driver's name [default: all]", names.join(", "))
}

fn parse_word(text: &str) -> Result<String, String> {
    let word = text.trim();
    if word.is_empty() { Err("an empty name matches every device; leave it out".into()) } else { Ok(word.to_owned()) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory as _, FromArgMatches as _, Parser};

    #[derive(Debug, Parser)]
    struct Cli {
        #[command(flatten)]
        options: BenchOptions,
    }

    fn of(arguments: &str) -> Result<BenchOptions, String> {
        let matches = Cli::command().try_get_matches_from(["bench"].into_iter().chain(arguments.split_whitespace()));
        let cli = matches.and_then(|m| Cli::from_arg_matches(&m)).map_err(|e| e.to_string())?;
        Ok(cli.options)
    }

    #[test]
    fn the_grid_without_options_has_every_size_and_every_format() {
        let plan = of("").unwrap().plan();
        assert_eq!(plan.pictures.len(), Size::NAMED.len() + FORMATS.len() - 1);
        assert_eq!(plan.modes, Mode::ALL);
        let quick = of("--quick").unwrap().plan();
        assert_eq!(quick.pictures, [(Size::HD, PixelFormat::Rgba8), (Size::FULL_HD, PixelFormat::Rgba8)]);
        assert_eq!(quick.modes, [Mode::Latency]);
        assert!(quick.frames < plan.frames && quick.budget < Duration::from_secs(60));
    }

    #[test]
    fn help_names_every_backend_and_display() {
        let help = Cli::command().render_long_help().to_string();
        let of = |what: &str| help.lines().find(|line| line.trim_start().starts_with(what)).unwrap();
        let (backends, displays) = (of("Compute devices:"), of("Displays:"));
        assert!(BackendChoice::all().skip(1).all(|row| backends.contains(row.name) == row.built), "{backends}");
        assert!(DisplayChoice::all().skip(1).all(|row| displays.contains(row.name) == row.built), "{displays}");
    }

    #[test]
    fn lists_are_taken_as_given() {
        let plan = of("--sizes 4k,100x7,4K --formats r32f,RGBA8 --frames 7 --budget 9").unwrap().plan();
        let pictures: Vec<_> = plan.pictures.iter().map(|(s, f)| format!("{s} {f}")).collect();
        assert_eq!(pictures, ["4K R32F", "4K RGBA8", "100x7 R32F", "100x7 RGBA8"]);
        assert_eq!((plan.frames, plan.budget), (7, Duration::from_secs(9)));
        assert_eq!(of("--formats rgba32f").unwrap().plan().pictures, [(Size::FULL_HD, PixelFormat::Rgba32F)]);
        assert_eq!(of("--backends pocl,cuda").unwrap().plan().backends, ["pocl", "cuda"]);
    }

    #[test]
    fn mistakes_are_errors_that_say_what_can_be_given() {
        for (arguments, says) in [
            ("--sizes 2K", "1080p"),
            ("--sizes 0x5", "at least 1x1"),
            ("--formats BGRA", "RGBA16F"),
            ("--backends pocl,,cuda", "empty name"),
            ("--frames 0", "give a whole number from 1 to 1000000"),
            ("--frames many", "give a whole number from 1 to 1000000"),
            ("--budget 0", "give a whole number from 1 to 604800"),
            ("--budget -1", "give a whole number from 1 to 604800"),
            ("--fromats R32F", "--formats"),
        ] {
            let error = of(arguments).unwrap_err();
            assert!(error.contains(says), "{arguments}: {error}");
        }
    }
}
