//! One kernel of a frame, its source file, and what it reads.

use crate::error::{Fault, PlayError};
use crate::input::{CHANNELS, Param};
use crate::log::Origin;
use crate::slider::Slider;
use pixelferry::{BackendChoice, KernelSource};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// Letters of the buffers, in the order of computing.
pub const BUFFERS: [char; 4] = ['A', 'B', 'C', 'D'];

/// Size limit of a file in bytes: a larger one is no hand-written shader.
const MOST_BYTES: u64 = 1 << 20;

/// One kernel of a frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// Name of the kernel in its text.
    pub kernel: String,
    pub language: PassLanguage,
    pub text: String,
    /// Parameters after the target.
    pub params: Vec<Param>,
    /// The buffer that it writes; the picture otherwise.
    pub buffer: Option<usize>,
    pub channels: [Option<Channel>; CHANNELS],
    pub origin: Origin,
}

/// Language of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PassLanguage {
    Glsl,
    Wgsl,
    OpenClC,
    CudaCpp,
    /// GLSL that the trial process translates to WGSL, because the translator may fail in any way.
    GlslToWgsl,
}

/// A picture that a pass reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    pub(crate) source: Source,
    /// Interpolate colours between pixels.
    pub(crate) is_linear: bool,
    /// Repeat the picture beyond its edges.
    pub(crate) repeats: bool,
}

/// Source of a channel's picture.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Source {
    /// Most recent output of a buffer's pass.
    Buffer(usize),
    Picture(PathBuf),
    /// A video, which follows the time and restarts after its end.
    Film(PathBuf),
    /// The newest frame of a stream of this name.
    Stream(String),
}

/// Prefix of a stream's name.
pub const STREAM: &str = "stream:";

/// Choices of the command line.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// Backend to compute with; automatic means the language's default.
    pub backend: BackendChoice,
    /// Channels for passes that do not name that channel themselves.
    pub channels: Vec<(usize, Channel)>,
}

impl Channel {
    /// Reads `SOURCE [nearest] [repeat]`, where the source is a picture, a video, `stream:NAME` or `bufA`. Paths of
    /// files are relative to the shader's folder.
    ///
    /// # Errors
    /// Describes what is invalid.
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
        let mut channel = Self { repeats: matches!(source, Source::Picture(_)), source, is_linear: true };
        for word in words {
            match word {
                "nearest" => channel.is_linear = false,
                "linear" => channel.is_linear = true,
                "repeat" => channel.repeats = true,
                "clamp" => channel.repeats = false,
                _ => return Err(format!("has '{word}'; use linear or nearest, clamp or repeat")),
            }
        }
        Ok(channel)
    }

    /// Reads `@channel NUMBER SOURCE ...`; `None` for a line without that mark.
    fn noted(line: &str, folder: &Path) -> Option<Result<(usize, Self), String>> {
        let (_, noted) = line.split_once("@channel")?;
        let noted = noted.trim().trim_end_matches("*/").trim();
        let read = || {
            let (number, rest) = noted.split_once(' ').ok_or("names no picture")?;
            let number = number.parse().ok().filter(|number| *number < CHANNELS);
            Ok((number.ok_or("has no number from 0 to 3")?, Self::read(rest, folder)?))
        };
        Some(read().map_err(|why: String| format!("'@channel {noted}' {why}")))
    }
}

/// A file's content with its annotations.
pub struct Piece {
    pub file: PathBuf,
    pub text: String,
    pub channels: [Option<Channel>; CHANNELS],
    pub sliders: Vec<Slider>,
}

impl Piece {
    /// Reads a file.
    ///
    /// # Errors
    /// [`PlayError::File`], and [`PlayError::Faults`] for invalid annotations.
    pub fn read(file: &Path, wishes: &Wishes) -> Result<Self, PlayError> {
        let failed = |source| PlayError::File { file: file.to_owned(), source };
        if fs::metadata(file).map_err(failed)?.len() > MOST_BYTES {
            return Err(PlayError::Option(format!("{}: the file is larger than {MOST_BYTES} bytes", file.display())));
        }
        let text = fs::read_to_string(file).map_err(failed)?.replace("\r\n", "\n");
        let (mut channels, mut sliders, mut faults) = ([const { None }; CHANNELS], Vec::new(), Vec::new());
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
        Ok(Self { file: file.to_owned(), text, channels, sliders })
    }
}

/// Vouches for shaders from files: compilers accept any code, and no launch can check what a kernel does.
#[derive(Debug, Clone, Copy)]
pub struct TextVoucher(());

impl TextVoucher {
    /// The caller vouches for each shader that is played with this value, as for a program that is started.
    ///
    /// # Safety
    /// For shaders in any language but WGSL, what [`KernelSource::with_text`] requires.
    pub const unsafe fn new() -> Self {
        Self(())
    }
}

impl Pass {
    /// Returns the kernel for a backend.
    pub fn source(&self, _: TextVoucher) -> KernelSource {
        let (source, text) = (KernelSource::new(self.kernel.clone()), self.text.clone());
        // SAFETY: the creator of the `TextVoucher` vouches for the shader.
        unsafe {
            match self.language {
                PassLanguage::Wgsl => source.wgsl(text),
                PassLanguage::Glsl | PassLanguage::GlslToWgsl => source.glsl(text),
                PassLanguage::OpenClC => source.opencl_c(text),
                PassLanguage::CudaCpp => source.cuda_cpp(text),
            }
        }
    }
}
