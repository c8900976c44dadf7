//! Options of the command line.

use crate::bench::grid::{Mode, Plan, USUAL};
use crate::bench::size::Size;
use crate::json::JsonOption;
use clap::Args;
use pixelferry::driver::Paths;
use pixelferry::{BackendChoice, DisplayChoice, PathId, PixelFormat, Unwritten, command::Choice};
use pixelferry_demo::options::parse_format;
use pixelferry_demo::values::listed;
use std::path::PathBuf;
use std::time::Duration;

/// Formats of the grid where none are named.
pub const FORMATS: [PixelFormat; 4] =
    [PixelFormat::Rgba8, PixelFormat::Rgba16F, PixelFormat::Rgba32F, PixelFormat::R32F];

/// Pictures of `--held-out`. Prices, budgets and turns were settled by other ones; keep it so.
const HELD_OUT: [(Size, PixelFormat); 5] = [
    (Size::new(333, 200), PixelFormat::Rgba8),
    (Size::new(800, 600), PixelFormat::Rgba8),
    (Size::new(640, 360), PixelFormat::R32F),
    (Size::new(1000, 700), PixelFormat::Rgba16F),
    (Size::new(500, 500), PixelFormat::Rgba32F),
];

/// Options of `pixelferry bench`. Lists are separated by commas.
#[derive(Debug, Clone, Default, Args)]
pub struct BenchOptions {
    /// Sizes: tiny, odd, 720p, 1080p, 4K, 8K or WIDTHxHEIGHT [default: all that have a name]
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub sizes: Vec<Size>,
    /// Pixel formats [default: RGBA8, and RGBA16F, RGBA32F, R32F at 1080p only]
    #[arg(long, value_name = "LIST", value_delimiter = ',',
        value_parser = listed(parse_format, PixelFormat::ALL.map(PixelFormat::name)))]
    pub formats: Vec<PixelFormat>,
    /// Paths to measure; what is chosen automatically is measured in any case [default: all]
    #[arg(long, value_name = "LIST", value_delimiter = ',',
        value_parser = listed(parse_path, PathId::ALL.map(PathId::name)))]
    pub paths: Vec<PathId>,
    /// latency: each frame is waited for. throughput: a run of frames is, and paths that can show frames behind
    /// [default: both, quick latency]
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_enum)]
    pub modes: Vec<Mode>,
    /// Content of the pixels that a frame does not write. The kernel writes all, so that keep
    /// and clear show what they cost [default: overwrite]
    #[arg(long, value_name = "LIST", value_delimiter = ',',
        value_parser = listed(parse_unwritten, Unwritten::ALL.map(Unwritten::name)))]
    pub unwritten: Vec<Unwritten>,
    /// Compute devices, by the name of a backend or a part of a device's or driver's name; none: all.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_word, help = devices::<BackendChoice>("Compute devices"))]
    pub backends: Vec<String>,
    /// Displays, by their name or a part of a device's or driver's name; none: all.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = parse_word, help = devices::<DisplayChoice>("Displays"))]
    pub displays: Vec<String>,
    /// Frames measured for each row; fewer where the time does not allow it [default: 200, quick 30]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    pub frames: Option<u32>,
    /// Time for everything, about: each cell of the grid gets its share [default: 600, quick 54]
    #[arg(long, value_name = "SECONDS", value_parser = clap::value_parser!(u32).range(1..=604_800))]
    pub budget: Option<u32>,
    /// The grid that checks the choice of paths: latency, sizes and formats by which nothing was tuned, every backend with every
    /// display that draws
    #[arg(long, hide = true, conflicts_with_all = ["sizes", "formats", "quick"])]
    pub held_out: bool,
    /// About a minute, more on a busy machine: latency, 720p and 1080p in RGBA8, few frames, no plain memory where there is OpenGL
    #[arg(long)]
    pub quick: bool,
    /// Everything that was measured, raw samples too.
    #[command(flatten)]
    pub json: JsonOption,
    /// Measure nothing: compare two results of --json
    #[arg(long, num_args = 2, value_names = ["A.json", "B.json"], conflicts_with_all = [
        "sizes", "formats", "paths", "modes", "unwritten", "backends", "displays", "frames", "budget", "quick", "held_out", "json", "list",
    ])]
    pub compare: Vec<PathBuf>,
    /// Measure nothing: say what would be
    #[arg(long, conflicts_with = "json")]
    pub list: bool,
}

impl BenchOptions {
    /// Returns what is to be measured.
    pub fn plan(&self) -> Plan {
        let or = |asked: Option<u32>, full, quick| asked.unwrap_or(if self.quick { quick } else { full });
        Plan {
            pictures: self.pictures(),
            modes: match (self.modes.is_empty(), self.quick || self.held_out) {
                (true, false) => Mode::ALL.to_vec(),
                (true, true) => vec![Mode::Latency],
                (false, _) => unique(&self.modes),
            },
            unwritten: if self.unwritten.is_empty() { vec![USUAL] } else { unique(&self.unwritten) },
            known: Paths::default(),
            paths: (!self.paths.is_empty()).then(|| unique(&self.paths)),
            backends: self.backends.clone(),
            displays: self.displays.clone(),
            spare_memory: self.quick && self.displays.is_empty(),
            drawn: self.held_out,
            frames: or(self.frames, 200, 30) as usize,
            budget: Duration::from_secs(or(self.budget, if self.held_out { 900 } else { 600 }, 54).into()),
        }
    }

    /// Sizes with their formats. Where only one of the two is given, the other is as without options.
    fn pictures(&self) -> Vec<(Size, PixelFormat)> {
        if self.held_out {
            return HELD_OUT.to_vec();
        }
        let (sizes, formats) = (unique(&self.sizes), unique(&self.formats));
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

fn unique<T: PartialEq + Copy>(list: &[T]) -> Vec<T> {
    let mut seen = Vec::new();
    for item in list {
        if !seen.contains(item) {
            seen.push(*item);
        }
    }
    seen
}

/// Help for words that stand for devices. The first choice leaves them open.
fn devices<T: Choice>(what: &str) -> String {
    let names: Vec<_> = T::all().skip(1).filter(|row| row.built).map(|row| row.name).collect();
    format!("{what}: {}, or a part of a device's or driver's name [default: all]", names.join(", "))
}

fn parse_path(text: &str) -> Result<PathId, String> {
    text.parse().map_err(|_| format!("no such path; the paths are {}", Paths::default().names()))
}

fn parse_unwritten(text: &str) -> Result<Unwritten, String> {
    text.parse().map_err(|_| format!("no such rule; the rules are {}", Unwritten::ALL.map(Unwritten::name).join(", ")))
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
        assert_eq!((plan.modes, plan.unwritten), (Mode::ALL.to_vec(), vec![Unwritten::Overwrite]));
        assert_eq!(plan.paths, None);
        let quick = of("--quick").unwrap().plan();
        assert_eq!(quick.pictures, [(Size::HD, PixelFormat::Rgba8), (Size::FULL_HD, PixelFormat::Rgba8)]);
        assert_eq!(quick.modes, [Mode::Latency]);
        assert_eq!(of("--quick --modes throughput").unwrap().plan().modes, [Mode::Throughput]);
        let held_out = of("--held-out").unwrap().plan();
        let tuned: Vec<_> = Size::NAMED.iter().map(|size| size.extent).collect();
        assert!(held_out.drawn && held_out.pictures.iter().all(|(size, _)| !tuned.contains(&size.extent)));
        assert_eq!(held_out.modes, [Mode::Latency]);
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
        let options =
            of("--sizes 4k,100x7,4K --formats r32f,RGBA8 --paths direct --modes latency --frames 7 --budget 9");
        let plan = options.unwrap().plan();
        let pictures: Vec<_> = plan.pictures.iter().map(|(s, f)| format!("{s} {f}")).collect();
        assert_eq!(pictures, ["4K R32F", "4K RGBA8", "100x7 R32F", "100x7 RGBA8"]);
        assert_eq!((plan.paths, plan.modes), (Some(vec![PathId::DIRECT]), vec![Mode::Latency]));
        assert_eq!((plan.frames, plan.budget), (7, Duration::from_secs(9)));
        assert_eq!(of("--formats rgba32f").unwrap().plan().pictures, [(Size::FULL_HD, PixelFormat::Rgba32F)]);
        let rules = of("--unwritten keep,overwrite,keep").unwrap().plan();
        assert_eq!(rules.unwritten, [Unwritten::Keep, Unwritten::Overwrite]);
        let cells: Vec<_> = rules.cells().map(|spot| spot.to_string()).collect();
        assert!(cells.contains(&"1080p RGBA8 keep latency".to_owned()), "{cells:?}");
        assert!(cells.contains(&"1080p RGBA8 latency".to_owned()), "{cells:?}");
        assert_eq!(of("--backends pocl,cuda").unwrap().plan().backends, ["pocl", "cuda"]);
    }

    #[test]
    fn mistakes_are_errors_that_say_what_can_be_given() {
        for (arguments, says) in [
            ("--sizes 2K", "1080p"),
            ("--sizes 0x5", "at least 1x1"),
            ("--formats BGRA", "RGBA16F"),
            ("--paths magic", "host-round-trip"),
            ("--modes fast", "throughput"),
            ("--unwritten noise", "overwrite"),
            ("--backends pocl,,cuda", "empty name"),
            ("--frames 0", "1..="),
            ("--frames many", "invalid"),
            ("--budget 0", "1..="),
            ("--compare a.json", "2"),
            ("--compare a.json b.json --quick", "cannot be used with"),
            ("--list --json x.json", "cannot be used with"),
            ("--fromats R32F", "--formats"),
        ] {
            let error = of(arguments).unwrap_err();
            assert!(error.contains(says), "{arguments}: {error}");
        }
    }
}
