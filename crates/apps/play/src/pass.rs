//! One kernel or fragment shader of a frame, its source file, and what it reads.

use crate::dialect::Dialect;
use crate::error::{Fault, Origin, PlayError};
use crate::gl::{SamplerState, TextureShape};
use crate::input::{CHANNELS, Param, Slider};
use pixelferry::{BackendChoice, KernelSource};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// Names of the buffers, in the order of computing.
pub const BUFFERS: [&str; 5] = ["bufA", "bufB", "bufC", "bufD", "cubeA"];
/// Index of the buffer that is a cube.
pub const CUBE: usize = 4;

/// Bytes that some editors put before a text.
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Size limit of a file in bytes: a larger one is no hand-written shader.
const MOST_BYTES: u64 = 1 << 20;

/// One kernel or fragment shader of a frame.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Pass {
    /// Name of the kernel in its text.
    pub kernel: String,
    pub language: Dialect,
    pub text: String,
    /// Parameters after the target.
    pub params: Vec<Param>,
    /// The buffer that it writes; the picture otherwise.
    pub buffer: Option<usize>,
    pub channels: Vec<Option<Channel>>,
    pub origin: Origin,
    /// Properties of a fragment shader.
    pub fragment: FragmentInfo,
}

/// What a fragment shader has besides its text.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct FragmentInfo {
    /// The shader is GLSL ES, as WebGL takes it.
    pub is_strict: bool,
    /// Names of its channels.
    pub names: Vec<String>,
    /// Vertex shader, if it has its own, and the origin of that.
    pub vertex: Option<(String, Origin)>,
    /// Width and height as expressions; those of the picture where they are empty.
    pub size: [String; 2],
    /// The picture is as large as the first channel, unless the user sets a size.
    pub is_filter: bool,
    /// The buffer holds floats.
    pub is_float: bool,
}

/// A picture that a pass reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    pub(crate) source: Source,
    pub(crate) sampling: SamplerState,
    /// Row 0 is the top row.
    pub(crate) is_turned: bool,
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
    Keyboard,
}

/// Start of a line that names a channel to an editor's plugin. No compiler takes it.
const PLUGIN: &str = "#iChannel";

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
        let buffer = BUFFERS.iter().position(|own| *own == named);
        let path = folder.join(named);
        let ending = path.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        let source = match (buffer, ending.as_deref()) {
            _ if named == "keyboard" => Source::Keyboard,
            _ if named.starts_with(STREAM) => Source::Stream(named[STREAM.len()..].to_owned()),
            (Some(at), _) => Source::Buffer(at),
            (None, Some("y4m" | "mp4" | "mkv" | "webm" | "avi" | "ts" | "h264")) => Source::Film(path),
            (None, Some("png" | "jpg" | "jpeg" | "webp" | "tif" | "tiff" | "bmp")) => Source::Picture(path),
            _ => {
                return Err(format!(
                    "'{named}' is neither a picture (.png, .jpg, .webp, .tif, .bmp), a video (.y4m, .mp4, .mkv, .webm, .avi, .ts, .h264), stream:NAME, keyboard, bufA to bufD nor cubeA"
                ));
            }
        };
        let is_picture = matches!(source, Source::Picture(_));
        let shape = if source == Source::Buffer(CUBE) { TextureShape::Cube } else { TextureShape::Flat };
        let sampling = SamplerState { shape, is_linear: true, has_levels: is_picture, repeats: is_picture };
        let mut channel = Self { is_turned: source == Source::Keyboard, source, sampling };
        for word in words {
            let sampling = &mut channel.sampling;
            match word {
                "nearest" | "linear" | "mipmap" => {
                    (sampling.is_linear, sampling.has_levels) = (word != "nearest", word == "mipmap");
                }
                "repeat" | "clamp" => sampling.repeats = word == "repeat",
                "turned" => channel.is_turned = true,
                // Their rows begin at the top, as in browsers.
                "cube" => (sampling.shape, channel.is_turned) = (TextureShape::Cube, true),
                "volume" => (sampling.shape, channel.is_turned) = (TextureShape::Volume, true),
                _ => {
                    let known = "nearest, linear or mipmap, clamp or repeat, turned, cube or volume";
                    return Err(format!("has '{word}'; use {known}"));
                }
            }
        }
        Ok(channel)
    }

    /// Reads `@channel NUMBER SOURCE ...`, or `#iChannel0 "file://SOURCE"` as editors' plugins write it; `None` for a
    /// line without a mark.
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

/// A file's content with its annotations.
#[derive(Clone)]
pub struct Piece {
    pub file: PathBuf,
    /// The buffer that its pass writes; the picture otherwise.
    pub buffer: Option<usize>,
    pub text: String,
    pub channels: Vec<Option<Channel>>,
    pub sliders: Vec<Slider>,
}

impl Piece {
    /// Returns the origin of a text with this file and a common one, which begins after the line `before`.
    pub fn origin(&self, common: Option<&Self>, before: u32) -> Origin {
        let numbered = |common: &Self| (common.file.clone(), before, common.text.lines().count() as u32);
        Origin { common: common.map(numbered), ..Origin::of(&self.file, &self.text) }
    }

    /// Reads a file.
    ///
    /// # Errors
    /// [`PlayError::Faults`] for a file that cannot be read and for invalid annotations.
    pub fn read(file: &Path, wishes: &Wishes) -> Result<Self, PlayError> {
        let failed = |error: io::Error| Fault::new(file, None, error.to_string());
        if fs::metadata(file).map_err(failed)?.len() > MOST_BYTES {
            return Err(PlayError::Option(format!("{}: the file is larger than {MOST_BYTES} bytes", file.display())));
        }
        let bytes = fs::read(file).map_err(failed)?;
        let text = String::from_utf8_lossy(bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(&bytes));
        // A byte of another encoding becomes one character, so that columns stay.
        let text = text.replace("\r\n", "\n").replace(char::REPLACEMENT_CHARACTER, "?");
        let (mut channels, mut sliders, mut faults) = (vec![None; CHANNELS], Vec::new(), Vec::new());
        let folder = file.parent().unwrap_or(Path::new(""));
        for (at, line) in (1..).zip(text.lines()) {
            let slider = Slider::read(line).transpose().map(|read| sliders.extend(read));
            let channel = Channel::noted(line, folder).transpose();
            let channel = channel.map(|noted| noted.into_iter().for_each(|(at, channel)| channels[at] = Some(channel)));
            let wrong = [slider, channel].into_iter().filter_map(Result::err);
            faults.extend(wrong.map(|text| Fault::new(file, Some(at), text)));
        }
        if !faults.is_empty() {
            return Err(PlayError::Faults(faults));
        }
        for (number, channel) in wishes.channels.iter().filter(|(number, _)| *number < CHANNELS) {
            channels[*number].get_or_insert_with(|| channel.clone());
        }
        let text = text.lines().map(|line| if line.starts_with(PLUGIN) { "\n".into() } else { format!("{line}\n") });
        Ok(Self { file: file.to_owned(), buffer: None, text: text.collect(), channels, sliders })
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
    /// A pass that is a kernel.
    pub fn of_kernel(kernel: String, language: Dialect, text: String, params: Vec<Param>, origin: Origin) -> Self {
        let (channels, fragment) = (Vec::new(), FragmentInfo::default());
        Self { kernel, language, text, params, buffer: None, channels, origin, fragment }
    }

    /// Returns the kernel for a backend.
    pub fn source(&self, _: TextVoucher) -> KernelSource {
        let (source, text) = (KernelSource::new(self.kernel.clone()), self.text.clone());
        // SAFETY: the creator of the `TextVoucher` vouches for the shader.
        unsafe {
            match self.language {
                Dialect::Wgsl => source.wgsl(text),
                Dialect::OpenClC => source.opencl_c(text),
                Dialect::CudaCpp => source.cuda_cpp(text),
                _ => source.glsl(text),
            }
        }
    }
}
