//! Command-line options of every example.

use crate::record_args::RecordArgs;
use crate::scene::SceneError;
use crate::values::{choices, one_of};
use clap::{ArgGroup, Args};
use pixelferry::driver::select::MAX_FRAMES_BEHIND;
use pixelferry::{
    BackendChoice, DisplayChoice, Extent, ExtentError, LinkBuilder, Mode, PathId, Policy, SurfaceDesc, Trials,
    command::{ApiChoice, check_picture_file},
};
use std::path::PathBuf;

/// Options of every example.
#[derive(Debug, Clone, Args)]
#[command(group = ArgGroup::new("windowless").multiple(true))]
pub struct SceneOptions {
    /// Open no window; draw offscreen and save the last frame.
    #[arg(long, group = "windowless")]
    pub headless: bool,
    /// Save the picture to this file instead of opening a window; the extension selects the format (.png, .jpg).
    #[arg(long, value_name = "FILE", group = "windowless")]
    pub out: Option<PathBuf>,
    /// Size of the picture or window in pixels.
    #[arg(long, value_name = "WIDTHxHEIGHT", value_parser = parse_size)]
    pub size: Option<(u32, u32)>,
    /// Stop after this many frames. [default: 30 headless, else endless]
    #[arg(long, value_name = "N", value_parser = parse_frames, allow_negative_numbers = true)]
    pub frames: Option<u32>,
    /// Backend to compute with.
    #[arg(long, value_parser = choices::<BackendChoice>(), default_value = BackendChoice::default().name())]
    pub backend: BackendChoice,
    /// Display to draw with if there is no window (--headless, or --out).
    #[arg(long, value_parser = choices::<DisplayChoice>(), default_value = DisplayChoice::default().name(), requires = "windowless")]
    pub display: DisplayChoice,
    /// Use this path from compute to display; if it does not work, fail and list those that do.
    #[arg(long, value_name = "PATH", value_parser = one_of::<PathId>(PathId::ALL.map(PathId::name)))]
    pub path: Option<PathId>,
    /// Show each frame this many frames late, so that compute and display overlap; `auto` measures the best number.
    /// [default: 0]
    #[arg(long, value_name = "N", value_parser = parse_mode)]
    pub frames_behind: Option<Mode>,
    /// Open no window: publish the frames as a stream of this name, 60 per second, for other processes such as
    /// `pixelferry view --attach`.
    #[cfg(all(feature = "stream", target_os = "linux"))]
    #[arg(long, value_name = "NAME", conflicts_with_all = ["windowless", "record"])]
    pub publish: Option<String>,
    /// Film of the frames.
    #[command(flatten)]
    pub record: RecordArgs,
    /// Write a trace of host and devices, frame by frame, for ui.perfetto.dev or chrome://tracing.
    #[arg(long, value_name = "FILE.json")]
    pub trace: Option<PathBuf>,
}

impl SceneOptions {
    /// Returns whether there is no window.
    pub fn is_headless(&self) -> bool {
        self.headless || self.out.is_some()
    }

    /// Checks that the picture can be saved, before it is computed.
    ///
    /// # Errors
    /// [`SceneError::Save`] for an unknown extension, and for a file that cannot be written.
    pub fn check_out(&self) -> Result<(), SceneError> {
        Ok(self.out.as_ref().map_or(Ok(()), check_picture_file)?)
    }

    /// Requested size, or the scene's own.
    pub fn size_or(&self, width: u32, height: u32) -> (u32, u32) {
        self.size.unwrap_or((width, height))
    }

    /// Tells how paths are chosen.
    pub fn policy(&self) -> Policy {
        let policy = Policy::default().with_force(self.path).with_mode(self.frames_behind.unwrap_or_default());
        // A trace is of one backend.
        let trials = self.trace.as_ref().map_or(policy.trials, |_| Trials::Asked);
        policy.with_trials(trials)
    }

    /// Builds what a scene's link is opened with. The scene adds the surface and the kernels, and the caller the display.
    pub fn wanted(&self) -> LinkBuilder {
        LinkBuilder::new(SurfaceDesc::buffer(0)).backend(self.backend).policy(self.policy())
    }
}

/// Parses `WIDTHxHEIGHT`, in pixels.
pub fn parse_size(text: &str) -> Result<(u32, u32), ExtentError> {
    text.parse().map(|Extent { width, height }| (width, height))
}

/// Parses a number of frames.
pub fn parse_frames(text: &str) -> Result<u32, String> {
    parse_count(text, u32::MAX)
}

/// Parses a number from 1 to `most`.
pub fn parse_count(text: &str, most: u32) -> Result<u32, String> {
    let count = text.parse().ok().filter(|count| (1..=most).contains(count));
    count.ok_or_else(|| format!("give a whole number from 1 to {most}"))
}

/// Parses a number of frames, or `auto`.
pub fn parse_mode(text: &str) -> Result<Mode, String> {
    const ASKED: &str = "give a number of frames or auto";
    match text {
        "auto" => Ok(Mode::Throughput { most: MAX_FRAMES_BEHIND }),
        number => match number.parse().map_err(|e| format!("{ASKED}: {e}"))? {
            0 => Ok(Mode::Latency),
            late if late <= MAX_FRAMES_BEHIND => Ok(Mode::FramesBehind(late)),
            late => Err(format!("{late} frames behind exceeds the limit; give at most {MAX_FRAMES_BEHIND}, or auto")),
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory as _, Parser};

    #[derive(Parser)]
    struct Cli {
        #[command(flatten)]
        options: SceneOptions,
    }

    #[test]
    fn every_backend_and_display_is_taken_and_shown_in_help() {
        let help = Cli::command().render_long_help().to_string();
        let parsed = |arguments: [&str; 2]| Cli::try_parse_from(["demo", "--headless"].into_iter().chain(arguments));
        let is_shown = |name: &str, about: &str| {
            help.lines().any(|line| line.contains(&format!("- {name}:")) && line.ends_with(about))
        };
        for row in BackendChoice::all() {
            assert_eq!(parsed(["--backend", row.name]).unwrap().options.backend, row.choice);
            assert!(is_shown(row.name, row.about), "{row:?}: {help}");
        }
        for row in DisplayChoice::all() {
            assert_eq!(parsed(["--display", row.name]).unwrap().options.display, row.choice);
            assert!(is_shown(row.name, row.about), "{row:?}: {help}");
        }
        let error = parsed(["--backend", "metal"]).err().unwrap().to_string();
        assert!(BackendChoice::all().all(|row| error.contains(row.name)), "{error}");
    }

    #[test]
    fn lateness_is_read_or_refused_with_a_reason() {
        assert_eq!(parse_mode("0"), Ok(Mode::Latency));
        assert_eq!(parse_mode("16"), Ok(Mode::FramesBehind(16)));
        assert_eq!(parse_mode("auto"), Ok(Mode::Throughput { most: MAX_FRAMES_BEHIND }));
        for wrong in ["", "17", "-1", "soon", "1.5", "99999999999999999999"] {
            let reason = parse_mode(wrong).unwrap_err();
            assert!(reason.contains("auto"), "{wrong}: {reason}");
        }
    }

    #[test]
    fn frames_and_paths_are_read_or_refused_with_a_reason() {
        let refused = |arguments: &[&str]| {
            let arguments = ["demo"].iter().chain(arguments);
            Cli::try_parse_from(arguments).err().unwrap().to_string()
        };
        for wrong in ["-1", "0", "4294967296", "many"] {
            let said = refused(&["--frames", wrong]);
            assert!(said.contains("whole number from 1 to 4294967295") && !said.contains("tip:"), "{said}");
        }
        let said = refused(&["--path", "foo"]);
        assert!(said.contains("[possible values: direct, ") && !said.contains("::"), "{said}");
        let help = Cli::command().render_help().to_string();
        assert!(PathId::ALL.iter().all(|path| help.contains(path.name())), "{help}");
    }

    #[test]
    fn sizes_are_read_or_refused_with_a_reason() {
        assert_eq!(parse_size("1920x1080"), Ok((1920, 1080)));
        for wrong in ["", "1920", "0x4", "4x0", "x", "-1x3", "99999999999x1", "3x4x5"] {
            assert!(parse_size(wrong).is_err(), "{wrong}");
        }
        for half in ["64x", "x64", "x"] {
            assert_eq!(
                parse_size(half).unwrap_err().to_string(),
                "a side is missing; give it as WIDTHxHEIGHT, e.g. 1920x1080"
            );
        }
    }
}
