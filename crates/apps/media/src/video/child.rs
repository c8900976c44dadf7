//! The child process, `gst-launch-1.0`.

use super::elements::Element;
use super::error::Error;
use interop_core::Extent;
use interop_core::describe::child_process::ChildProcess;
use std::io::Read as _;
use std::process::{ChildStderr, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

pub(crate) const LAUNCH: &str = "gst-launch-1.0";
/// A child without output for this long counts as stuck. At its first start, GStreamer reads all plugins, which takes
/// long on a busy machine.
pub(crate) const PATIENCE: Duration = Duration::from_secs(20);
/// A child that has reported a failure counts as stuck after this time: GStreamer sometimes hangs instead of ending.
pub(crate) const GRACE: Duration = Duration::from_secs(1);
/// How many bytes of its error output are kept.
const MOST_WORDS: usize = 4 << 10;

/// Reason for a child that printed no error.
pub(crate) const NO_WORD: &str = "it ended without an error message";

/// The element that writes to the child's standard output.
pub(crate) const TO_OUTPUT: [&str; 4] = ["fdsink", "fd=1", "sync=false", "async=false"];

/// Raw pictures in tight rows.
pub(crate) struct Raw {
    /// GStreamer's name of the format.
    pub(crate) format: &'static str,
    pub(crate) extent: Extent,
    /// Frames per second.
    pub(crate) rate: u32,
}

/// Starts a pipeline from raw pictures on its standard input, through `element` and the elements in `after`, to
/// `output`. All arguments are parsed as GStreamer's pipeline language, so they must not contain text from users.
pub(crate) fn start(element: &Element, raw: &Raw, after: &[&str], output: Stdio) -> Result<ChildProcess, Error> {
    let Raw { format, extent, rate } = raw;
    let mut parse = vec![
        "rawvideoparse".into(),
        format!("width={}", extent.width),
        format!("height={}", extent.height),
        format!("format={format}"),
        format!("framerate={rate}/1"),
    ];
    parse.extend(raw.colours());
    let mut launch = Command::new(LAUNCH);
    launch.args(["-q", "fdsrc", "fd=0", "blocksize=1048576", "!"]).args(parse);
    launch.args(["!", "videoconvert", "!", "video/x-raw,format=(string){I420,NV12},colorimetry=(string)bt709", "!"]);
    launch.arg(element.name).args(element.properties).args(["!", "h264parse", "config-interval=-1", "!"]).args(after);
    launch.arg("!").args(TO_OUTPUT);
    spawn(launch, Stdio::piped(), output)
}

/// Starts GStreamer.
pub(crate) fn spawn(mut launch: Command, input: Stdio, output: Stdio) -> Result<ChildProcess, Error> {
    #[cfg(unix)]
    // Ctrl-C in the terminal must reach only this program, which then ends the child.
    std::os::unix::process::CommandExt::process_group(&mut launch, 0);
    launch.stdin(input).stdout(output).stderr(Stdio::piped());
    ChildProcess::start(launch).map_err(|source| Error::NoTools { tool: LAUNCH, source })
}

impl Raw {
    /// The colorimetry property of formats with luma and chroma.
    fn colours(&self) -> Option<String> {
        (self.format == "i420").then(|| "colorimetry=bt709".into())
    }
}

/// Reads the child's error output until it ends and returns it as one line. Sets `has_failed` as soon as the output
/// reports a failure.
pub(crate) fn words(mut pipe: ChildStderr, has_failed: &AtomicBool) -> String {
    let (mut kept, mut piece) = (Vec::new(), [0; 1024]);
    // An error counts as the end of the output.
    while let Ok(count @ 1..) = pipe.read(&mut piece) {
        let room = MOST_WORDS.saturating_sub(kept.len());
        kept.extend_from_slice(&piece[..count.min(room)]);
        has_failed.fetch_or(kept.windows(6).any(|word| word == b"ERROR:"), Ordering::Relaxed);
    }
    let text = String::from_utf8_lossy(&kept);
    let told = |line: &&str| line.contains("ERROR") || line.contains("erroneous");
    let line = text.lines().find(told).or_else(|| text.lines().next_back());
    line.map_or_else(|| NO_WORD.into(), |line| line.trim().into())
}
