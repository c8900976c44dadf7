//! Decodes pictures of any video that GStreamer supports.

use super::child::{self, GRACE, LAUNCH, PATIENCE};
use super::elements::{self, BAD, BASE, CORE, ElementPackage};
use super::error::Error;
use super::units::{self, Packet};
use crate::memory;
use crate::yuv::{Layout, Planes, Weights};
use interop_core::Extent;
use interop_core::describe::child_process::ChildProcess;
use interop_core::describe::threads;
use std::fs::File;
use std::io::{self, Seek as _};
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Elements that a decoder needs besides those for the video's format.
const NEEDED: [ElementPackage; 4] = [("decodebin", BASE), ("videoconvert", BASE), ("gdppay", BAD), ("fdsink", CORE)];
/// Formats of decoded pictures; others are converted to the nearest of these.
const CAPS: &str = "video/x-raw,format=(string){I420,NV12,P010_10LE}";
const LAYOUTS: [(&str, Layout); 3] = [("I420", Layout::I420), ("NV12", Layout::Nv12), ("P010_10LE", Layout::P010)];

/// Default frame rate if a video names none, as in other readers.
pub(crate) const RATE: f64 = 25.0;
/// Longest side in pixels.
const MOST_SIDE: u32 = 1 << 16;
/// Bytes that a pixel takes while a frame is converted to RGB, including the result.
const PIXEL: u64 = 10;

/// Refuses sizes that frames may not have, with a description.
pub(crate) fn check_size(extent: Extent) -> Result<(), String> {
    let needed = u128::from(extent.pixels()) * u128::from(PIXEL + memory::SHOWN);
    if extent.pixels() == 0 || extent.width.max(extent.height) > MOST_SIDE {
        return Err(format!("each side must have 1 to {MOST_SIDE} pixels"));
    }
    memory::check(needed).map_err(|error| error.to_string())
}

/// Decodes a video in a child process, so that a crash of a decoder ends only the child. Pictures keep the planes that
/// they were decoded to; [`Planes::rgb`] converts them. Dropping this ends the child.
///
/// Threads: one.
pub struct Decoder {
    child: ChildProcess,
    packets: Receiver<io::Result<Packet>>,
    reads: Option<JoinHandle<()>>,
    words: Option<JoinHandle<String>>,
    /// The child reported a failure.
    has_failed: Arc<AtomicBool>,
    patience: Duration,
    /// Layout and duration of the next picture.
    kind: Option<(Planes, Duration)>,
    has_picture: bool,
    /// Shares its read position with the child; also its length.
    file: File,
    is_over: bool,
}

/// A decoded picture.
pub struct DecodedPicture<'a> {
    /// Layout of `bytes`.
    pub planes: &'a Planes,
    /// The picture's planes.
    pub bytes: Vec<u8>,
    /// Duration of a frame.
    pub period: Duration,
}

impl Decoder {
    /// Opens a file at its first picture. GStreamer gets the open file, never a name.
    ///
    /// # Errors
    /// [`Error::NoTools`], [`Error::NoElements`].
    pub fn open(file: File) -> Result<Self, Error> {
        elements::require(&NEEDED)?;
        let mut launch = Command::new(LAUNCH);
        launch.args("-q fdsrc fd=0 ! decodebin ! videoconvert dither=none !".split(' '));
        launch.args([CAPS, "!", "gdppay", "!"]);
        launch.args(child::TO_OUTPUT);
        let input = file.try_clone().map_err(Error::Input)?;
        Self::of(child::spawn(launch, input.into(), Stdio::piped())?, file)
    }

    fn of(mut child: ChildProcess, file: File) -> Result<Self, Error> {
        let (Some(mut pipe), Some(heard)) = (child.stdout.take(), child.stderr.take()) else {
            return Err(Error::Threads(std::io::ErrorKind::BrokenPipe.into()));
        };
        let mut decoder = Self {
            child,
            packets: channel().1,
            reads: None,
            words: None,
            has_failed: Arc::default(),
            patience: PATIENCE,
            kind: None,
            has_picture: false,
            file,
            is_over: false,
        };
        let has_failed = decoder.has_failed.clone();
        let words = threads::spawn("decoder-words", move || child::words(heard, &has_failed));
        decoder.words = Some(words.map_err(Error::Threads)?);
        let (to, packets) = sync_channel(1);
        decoder.packets = packets;
        let reads = threads::spawn("decoder-out", move || {
            // Read until the end, or until the receiver is dropped.
            while let Some(packet) = units::next_or_caps(&mut pipe).transpose()
                && to.send(packet).is_ok()
            {}
        });
        decoder.reads = Some(reads.map_err(Error::Threads)?);
        Ok(decoder)
    }

    /// Decodes the next picture; `None` at the end.
    ///
    /// # Errors
    /// [`Error::Ended`] if the file is not a video, is damaged, or has a format that GStreamer does not decode. For
    /// some such files GStreamer hangs; the error then comes after 20 s, or 1 s after GStreamer has reported a failure.
    pub fn next_picture(&mut self) -> Result<Option<DecodedPicture<'_>>, Error> {
        loop {
            match self.next_packet() {
                Ok(Ok(packet)) if packet.is_caps => {
                    let text = String::from_utf8_lossy(&packet.bytes).into_owned();
                    self.kind =
                        Some(kind(&text).ok_or_else(|| self.ended(format!("unsupported picture format {text}")))?);
                }
                Ok(Ok(packet)) => {
                    self.has_picture = true;
                    let Some((planes, period)) = &self.kind else {
                        return Err(self.ended("the size is unknown".into()));
                    };
                    return Ok(Some(DecodedPicture { planes, bytes: packet.bytes, period: *period }));
                }
                Err(end) => {
                    if std::mem::replace(&mut self.is_over, true) {
                        return Ok(None);
                    }
                    let hangs = end == RecvTimeoutError::Timeout;
                    let has_read_all = self.has_read_all();
                    // GStreamer sometimes hangs after its last output.
                    let _ = hangs.then(|| self.child.kill());
                    let is_good = self.child.wait().is_ok_and(|status| status.success());
                    let words = self.words.take().and_then(|words| words.join().ok()).unwrap_or_default();
                    let is_silent = hangs && words == child::NO_WORD;
                    if self.has_picture && (is_good || is_silent && has_read_all) {
                        return Ok(None);
                    }
                    return Err(self.ended(if is_silent { "it delivered nothing for 20 s".into() } else { words }));
                }
                Ok(Err(error)) => return Err(self.ended(error.to_string())),
            }
        }
    }

    fn next_packet(&self) -> Result<io::Result<Packet>, RecvTimeoutError> {
        let begun = Instant::now();
        loop {
            let next = self.packets.recv_timeout(GRACE);
            let is_stuck = self.has_failed.load(Ordering::Relaxed) || begun.elapsed() >= self.patience;
            if is_stuck || !matches!(next, Err(RecvTimeoutError::Timeout)) {
                return next;
            }
        }
    }

    fn has_read_all(&mut self) -> bool {
        let length = self.file.metadata().map(|data| data.len());
        length.and_then(|length| Ok(self.file.stream_position()? >= length)).unwrap_or(false)
    }

    fn ended(&self, reason: String) -> Error {
        Error::Ended { element: "decodebin", reason }
    }
}

impl Drop for Decoder {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        self.child.end();
        // The thread may be waiting for a packet to be taken.
        self.packets = channel().1;
        // The thread returns no value.
        let _ = self.reads.take().map(JoinHandle::join);
    }
}

/// Parses caps: the kind of the following pictures.
fn kind(caps: &str) -> Option<(Planes, Duration)> {
    let value = |name: &str| {
        let fields = caps.trim_end_matches('\0').split(", ").filter_map(|field| field.split_once('='));
        fields.filter(|(found, _)| *found == name).map(|(_, value)| value.rsplit(')').next().unwrap_or(value)).next()
    };
    let name = value("format")?;
    let layout = LAYOUTS.into_iter().find(|(known, _)| *known == name)?.1;
    let extent = Extent::new(value("width")?.parse().ok()?, value("height")?.parse().ok()?);
    check_size(extent).ok()?;
    let rate = value("framerate").and_then(|rate| rate.split_once('/')).and_then(|(frames, seconds)| {
        let [frames, seconds] = [frames, seconds].map(|text| text.parse::<f64>().ok().filter(|number| *number > 0.0));
        Some(frames? / seconds?)
    });
    let (weights, is_full) = colours(value("colorimetry").unwrap_or_default(), extent.height);
    let period = Duration::from_secs_f64(1.0 / rate.unwrap_or(RATE).clamp(0.001, 1000.0));
    Some((Planes::new(layout, extent, weights, is_full), period))
}

/// Parses matrix and range from GStreamer's colorimetry: a name, or the numbers of range, matrix, transfer and
/// primaries.
fn colours(colorimetry: &str, rows: u32) -> (Weights, bool) {
    let mut parts = colorimetry.split(':');
    match (parts.next().unwrap_or_default(), parts.next()) {
        ("bt709", _) => (Weights::BT709, false),
        ("bt601" | "smpte240m", _) => (Weights::BT601, false),
        (name, _) if name.starts_with("bt2020") || name.starts_with("bt2100") => (Weights::BT2020, false),
        (range, matrix) => {
            let weights = match matrix {
                Some("3") => Weights::BT709,
                Some("4") => Weights::BT601,
                Some("6") => Weights::BT2020,
                _ => Weights::of_rows(rows),
            };
            (weights, range == "1")
        }
    }
}

#[test]
fn caps_tell_size_rate_and_colours() {
    let caps = "video/x-raw, format=(string)NV12, width=(int)321, height=(int)200, interlace-mode=(string)progressive, \
                colorimetry=(string)bt709, framerate=(fraction)30000/1001\0";
    let (planes, period) = kind(caps).unwrap();
    assert_eq!((planes.extent(), planes.bytes()), (Extent::new(321, 200), 324 * 200 + 324 * 100));
    assert_eq!(period, Duration::from_secs_f64(1001.0 / 30000.0));
    for wrong in ["width=(int)0", "width=(int)70000", "format=(string)BGRx", "height=(int)x"] {
        let name = wrong.split('=').next().unwrap();
        let start = caps.find(name).unwrap();
        let end = start + caps[start..].find(',').unwrap();
        assert!(kind(&format!("{}{wrong}{}", &caps[..start], &caps[end..])).is_none(), "{wrong}");
    }
    for (name, weights, is_full) in [
        ("bt601", Weights::BT601, false),
        ("2:4:16:3", Weights::BT601, false),
        ("1:3:5:1", Weights::BT709, true),
        ("bt2100-pq", Weights::BT2020, false),
        ("", Weights::BT709, false),
    ] {
        assert_eq!(colours(name, 720), (weights, is_full), "{name}");
    }
}

#[cfg(all(test, unix))]
#[test]
fn a_child_that_hangs_after_its_error_is_not_waited_for() {
    let mut launch = Command::new("sh");
    launch.args(["-c", "echo ERROR: no stream >&2; exec sleep 1000"]);
    let child = child::spawn(launch, Stdio::null(), Stdio::piped()).unwrap();
    let mut decoder = Decoder::of(child, File::open("/dev/null").unwrap()).unwrap();
    decoder.patience = Duration::MAX;
    let said = decoder.next_picture().map(drop).unwrap_err().to_string();
    assert!(said.contains("no stream"), "{said}");
}
