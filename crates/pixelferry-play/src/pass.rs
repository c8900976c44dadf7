//! One kernel of a frame, the file that it comes from, and what it reads.

use crate::error::{Fault, PlayError};
use crate::gl::Sampling;
use crate::input::{CHANNELS, Param};
use crate::log::Origin;
use crate::slider::Slider;
use pixelferry::{BackendChoice, KernelSource};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// Letters of the buffers, in the order in which they are computed.
pub const BUFFERS: [char; 4] = ['A', 'B', 'C', 'D'];

/// Bytes that some editors put before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Most bytes of a text: more is no file that somebody wrote.
const MOST_BYTES: u64 = 1 << 20;

/// One kernel of a frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// Name of the kernel in its text.
    pub kernel: String,
    pub language: Tongue,
    pub text: String,
    /// Parameters after the target.
    pub params: Vec<Param>,
    /// The buffer that it writes; the picture otherwise.
    pub buffer: Option<usize>,
    pub channels: Vec<Option<Channel>>,
    pub origin: Origin,
    /// Of a fragment shader.
    pub fragment: Fragment,
}

/// What a fragment shader has besides its text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Fragment {
    /// It is text of OpenGL ES, as WebGL takes it.
    pub is_strict: bool,
    /// Names of its channels.
    pub names: Vec<String>,
    /// The text of its vertices, and where that is from.
    pub vertex: Option<(String, Origin)>,
    /// Columns and rows as expressions; those of the picture where they are empty.
    pub size: [String; 2],
    /// Its picture is as large as its first channel, where nobody says otherwise.
    pub is_filter: bool,
    /// Its buffer holds floats.
    pub is_float: bool,
    /// Its place among the passes.
    pub index: i32,
}

/// Language of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tongue {
    Glsl,
    Wgsl,
    OpenClC,
    CudaCpp,
    /// A fragment shader in GLSL.
    Fragment,
}

/// A picture that a pass reads.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    pub(crate) source: Source,
    pub(crate) sampling: Sampling,
    /// Row 0 is the one at the top.
    pub(crate) is_turned: bool,
}

/// Origin of a channel's picture.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Source {
    /// What a buffer's pass wrote last.
    Buffer(usize),
    Picture(PathBuf),
    /// A video, which goes with the time and begins again at its end.
    Film(PathBuf),
    /// The newest frame of a stream of this name.
    Stream(String),
}

impl Default for Source {
    fn default() -> Self {
        Self::Buffer(0)
    }
}

/// Begin of a line that names a channel to a plugin of an editor, and that no compiler takes.
const PLUGIN: &str = "#iChannel";

/// Word before a stream's name.
pub const STREAM: &str = "stream:";

/// Wishes of the command line.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// Backend to compute with; the first of the language where nothing is said.
    pub backend: BackendChoice,
    /// Channels of passes that do not name one of that number.
    pub channels: Vec<(usize, Channel)>,
}

impl Channel {
    /// Reads `SOURCE [nearest] [repeat]`: a picture, a video, `stream:NAME` or `bufA`. Files are looked for beside the text.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(noted: &str, folder: &Path) -> Result<Self, String> {
        let mut words = noted.split_whitespace();
        let named = words.next().ok_or("names no picture")?;
        let buffer = named.strip_prefix("buf").and_then(|letter| BUFFERS.iter().position(|l| letter == l.to_string()));
        let path = folder.join(named);
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        let source = match (buffer, ending.as_deref()) {
            _ if named.starts_with(STREAM) => Source::Stream(named[STREAM.len()..].to_owned()),
            (Some(at), _) => Source::Buffer(at),
            (None, Some("y4m" | "mp4" | "mkv" | "webm" | "avi" | "ts" | "h264")) => Source::Film(path),
            (None, Some("png" | "jpg" | "jpeg" | "webp" | "tif" | "tiff" | "bmp")) => Source::Picture(path),
            _ => {
                return Err(format!(
                    "'{named}' is neither a picture (.png, .jpg, .webp, .tif, .bmp), a video (.y4m, .mp4, .mkv, .webm, .avi, .ts, .h264), stream:NAME nor bufA to bufD"
                ));
            }
        };
        let is_picture = matches!(source, Source::Picture(_));
        let sampling = Sampling { is_linear: true, has_levels: is_picture, repeats: is_picture };
        let mut channel = Self { source, sampling, is_turned: false };
        for word in words {
            let sampling = &mut channel.sampling;
            match word {
                "nearest" | "linear" | "mipmap" => {
                    (sampling.is_linear, sampling.has_levels) = (word != "nearest", word == "mipmap");
                }
                "repeat" | "clamp" => sampling.repeats = word == "repeat",
                "turned" => channel.is_turned = true,
                _ => return Err(format!("has '{word}'; take nearest, linear or mipmap, clamp or repeat, turned")),
            }
        }
        Ok(channel)
    }

    /// Reads `@channel NUMBER SOURCE ...`, or `#iChannel0 "file://SOURCE"` as an editor's plugin has it; `None` for a line without the mark.
    fn noted(line: &str, folder: &Path) -> Option<Result<(usize, Self), String>> {
        let plugins = line.strip_prefix(PLUGIN).filter(|rest| !rest.contains("::"));
        let plugins = plugins.map(|rest| rest.replace("file://", "").replace('"', ""));
        let noted = plugins.as_deref().or_else(|| Some(line.split_once("@channel")?.1))?;
        let noted = noted.trim().trim_end_matches("*/").trim();
        let read = || {
            let (number, rest) = noted.split_once(' ').ok_or("names no picture")?;
            let number = number.parse().ok().filter(|number| *number < CHANNELS);
            Ok((number.ok_or("has no number from 0 to 3")?, Self::read(rest, folder)?))
        };
        Some(read().map_err(|why: String| format!("'@channel {noted}' {why}")))
    }
}

/// A file's text with what its annotations say.
#[derive(Clone)]
pub struct Piece {
    pub file: PathBuf,
    pub text: String,
    pub channels: Vec<Option<Channel>>,
    pub sliders: Vec<Slider>,
}

impl Piece {
    /// Reads a file.
    ///
    /// # Errors
    /// [`PlayError::File`], and [`PlayError::Faults`] for annotations.
    pub fn read(file: &Path, wishes: &Wishes) -> Result<Self, PlayError> {
        let failed = |source| PlayError::File { file: file.to_owned(), source };
        if fs::metadata(file).map_err(failed)?.len() > MOST_BYTES {
            return Err(PlayError::Option(format!("{}: a text has at most {MOST_BYTES} bytes", file.display())));
        }
        let bytes = fs::read(file).map_err(failed)?;
        let text = String::from_utf8_lossy(bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes));
        // Each byte that is none is a sign, so that columns stay.
        let text = text.replace("\r\n", "\n").replace(char::REPLACEMENT_CHARACTER, "?");
        let (mut channels, mut sliders, mut faults) = (vec![None; CHANNELS], Vec::new(), Vec::new());
        let folder = file.parent().unwrap_or(Path::new(""));
        for (at, line) in (1..).zip(text.lines()) {
            let mut note = |text: String| {
                faults.push(Fault { file: file.to_owned(), line: Some(at), column: None, text });
            };
            match Slider::read(line) {
                Some(Ok(slider)) => sliders.push(slider),
                Some(Err(why)) => note(why),
                None => {}
            }
            match Channel::noted(line, folder) {
                Some(Ok((number, channel))) => channels[number] = Some(channel),
                Some(Err(why)) => note(why),
                None => {}
            }
        }
        if !faults.is_empty() {
            return Err(PlayError::Faults(faults));
        }
        for (number, channel) in &wishes.channels {
            if let Some(place @ None) = channels.get_mut(*number) {
                *place = Some(channel.clone());
            }
        }
        let text = text.lines().map(|line| if line.starts_with(PLUGIN) { "\n".into() } else { format!("{line}\n") });
        Ok(Self { file: file.to_owned(), text: text.collect(), channels, sliders })
    }
}

/// Promise about foreign texts: a compiler takes any, and no launch can see what a kernel does.
#[derive(Debug, Clone, Copy)]
pub struct Vouched(());

impl Vouched {
    /// Who makes one answers for each text that is played with it, as for a program that is started.
    ///
    /// # Safety
    /// For texts in any language but WGSL what [`KernelSource::with_text`] says.
    pub const unsafe fn new() -> Self {
        Self(())
    }
}

impl Pass {
    /// A pass that is a kernel.
    pub fn of_kernel(kernel: String, language: Tongue, text: String, params: Vec<Param>, origin: Origin) -> Self {
        let (channels, fragment) = (Vec::new(), Fragment::default());
        Self { kernel, language, text, params, buffer: None, channels, origin, fragment }
    }

    /// The kernel, for a backend.
    pub fn source(&self, _: Vouched) -> KernelSource {
        let (source, text) = (KernelSource::new(self.kernel.clone()), self.text.clone());
        // SAFETY: whoever made the `Vouched` answers for the text.
        unsafe {
            match self.language {
                Tongue::Wgsl => source.wgsl(text),
                Tongue::Glsl | Tongue::Fragment => source.glsl(text),
                Tongue::OpenClC => source.opencl_c(text),
                Tongue::CudaCpp => source.cuda_cpp(text),
            }
        }
    }
}
