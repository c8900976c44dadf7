//! A file, and those beside it, as the passes of a frame.

use crate::error::{Fault, PlayError};
use crate::input::{CHANNELS, Param};
use crate::log::Origin;
use crate::slider::Slider;
use crate::text::{self, Dialect};
use pixelferry::{BackendChoice, KernelSource};
use serde::{Deserialize, Serialize};
use std::fs;
use std::path::{Path, PathBuf};

/// Letters of the buffers, in the order in which they are computed.
pub const BUFFERS: [char; 4] = ['A', 'B', 'C', 'D'];

/// Most bytes of a text: more is no file that somebody wrote.
const MOST_BYTES: u64 = 1 << 20;

/// The passes of a frame, as texts that a backend compiles.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Program {
    /// The file that was named.
    pub file: PathBuf,
    /// Buffers in their order, then the picture.
    pub passes: Vec<Pass>,
    /// Numbers that the user moves.
    pub sliders: Vec<Slider>,
    /// True where texts count rows from the top.
    pub is_from_top: bool,
}

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
    pub channels: [Option<Channel>; CHANNELS],
    pub origin: Origin,
}

/// Language of a pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tongue {
    Glsl,
    Wgsl,
    OpenClC,
    CudaCpp,
    Ptx,
    /// GLSL that becomes WGSL in the trial, as the translator may fail at it in any way.
    GlslToWgsl,
}

/// A picture that a pass reads.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    pub source: Source,
    /// Between pixels colours are mixed.
    pub is_linear: bool,
    /// Beyond its edge the picture comes again.
    pub repeats: bool,
}

/// Origin of a channel's picture.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Source {
    /// What a buffer's pass wrote last.
    Buffer(usize),
    Picture(PathBuf),
    /// A video, which goes with the time and begins again at its end.
    Film(PathBuf),
}

/// Wishes of the command line.
#[derive(Debug, Clone, Default)]
pub struct Wishes {
    /// Backend to compute with; the first of the language where nothing is said.
    pub backend: BackendChoice,
    /// Channels of passes that do not name one of that number.
    pub channels: Vec<(usize, Channel)>,
}

impl Channel {
    /// Reads `SOURCE [nearest] [repeat]`: a picture, a video or `bufA`. Files are looked for beside the text.
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
            (Some(at), _) => Source::Buffer(at),
            (None, Some("y4m")) => Source::Film(path),
            (None, Some("png" | "jpg" | "jpeg")) => Source::Picture(path),
            _ => return Err(format!("'{named}' is neither a picture (.png, .jpg), a video (.y4m) nor bufA to bufD")),
        };
        let mut channel = Self { repeats: matches!(source, Source::Picture(_)), source, is_linear: true };
        for word in words {
            match word {
                "nearest" => channel.is_linear = false,
                "linear" => channel.is_linear = true,
                "repeat" => channel.repeats = true,
                "clamp" => channel.repeats = false,
                _ => return Err(format!("has '{word}'; take linear or nearest, clamp or repeat")),
            }
        }
        Ok(channel)
    }

    /// Reads `@channel NUMBER SOURCE ...`; `None` for a line without the mark.
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

/// A file's text with what its annotations say.
pub struct Piece {
    pub file: PathBuf,
    pub text: String,
    pub channels: [Option<Channel>; CHANNELS],
    pub sliders: Vec<Slider>,
}

impl Piece {
    fn read(file: &Path, wishes: &Wishes) -> Result<Self, PlayError> {
        let failed = |source| PlayError::File { file: file.to_owned(), source };
        if fs::metadata(file).map_err(failed)?.len() > MOST_BYTES {
            return Err(PlayError::Option(format!("{}: a text has at most {MOST_BYTES} bytes", file.display())));
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

impl Program {
    /// Reads a file, and the buffers and common text beside it: of `rain.glsl` these are `rain.bufA.glsl` to `rain.bufD.glsl` and
    /// `rain.common.glsl`.
    ///
    /// # Errors
    /// [`PlayError::File`], [`PlayError::Ending`], [`PlayError::Backend`], and [`PlayError::Faults`] for annotations and what is read
    /// before a compiler sees it.
    pub fn read(file: &Path, wishes: &Wishes) -> Result<Self, PlayError> {
        let dialect = Dialect::of(file)?;
        dialect.runs_on(file, wishes.backend)?;
        let mut pieces = vec![(None, Piece::read(file, wishes)?)];
        let mut common = None;
        for (at, path) in Self::beside(file, dialect).iter().skip(1).enumerate().filter(|(_, path)| path.is_file()) {
            let piece = Piece::read(path, wishes)?;
            if at < BUFFERS.len() {
                pieces.push((Some(at), piece));
            } else {
                common = Some(piece);
            }
        }
        // The picture comes last.
        pieces.rotate_left(1);
        let mut sliders: Vec<Slider> = Vec::new();
        for slider in pieces.iter().map(|(_, piece)| piece).chain(&common).flat_map(|piece| &piece.sliders) {
            if !sliders.iter().any(|known| known.name == slider.name) {
                sliders.push(slider.clone());
            }
        }
        let (passes, sliders) = text::passes(dialect, &pieces, common.as_ref(), sliders, wishes.backend)?;
        let program = Self { file: file.to_owned(), passes, sliders, is_from_top: dialect.is_from_top() };
        program.check()?;
        Ok(program)
    }

    /// Files that a program is read from, whether they are there or not.
    pub(crate) fn beside(file: &Path, dialect: Dialect) -> Vec<PathBuf> {
        let buffers = BUFFERS.iter().map(|letter| format!("buf{letter}"));
        let parts = buffers.chain(["common".into()]);
        let others = parts.map(|part| file.with_extension(format!("{part}.{}", dialect.ending())));
        std::iter::once(file.to_owned()).chain(others).collect()
    }

    /// Finds out whether what channels name is there, and each channel that a kernel takes.
    fn check(&self) -> Result<(), PlayError> {
        let of = |pass: &Pass, text: String| {
            PlayError::Faults(vec![Fault { file: pass.origin.file.clone(), line: None, column: None, text }])
        };
        let written: Vec<_> = self.passes.iter().filter_map(|pass| pass.buffer).collect();
        for pass in &self.passes {
            for channel in pass.channels.iter().flatten() {
                if let Source::Buffer(at) = channel.source
                    && !written.contains(&at)
                {
                    let letter = BUFFERS[at];
                    let text = format!(
                        "a channel is buffer {letter}, which no file writes: it is NAME.buf{letter}.* beside NAME.*"
                    );
                    return Err(of(pass, text));
                }
            }
            let bare = |param: &Param| match param {
                Param::Channel(at) if pass.channels[*at].is_none() => Some(*at),
                _ => None,
            };
            if let Some(at) = pass.params.iter().find_map(bare) {
                let text = format!("nothing is bound to iChannel{at}; name it: // @channel {at} picture.png");
                return Err(of(pass, text));
            }
        }
        Ok(())
    }

    /// Numbers of the sliders at first.
    pub fn values(&self) -> Vec<f32> {
        self.sliders.iter().map(|slider| slider.value).collect()
    }

    /// Translates what is to be translated. Call it in the trial: the translator may end the process.
    ///
    /// # Errors
    /// [`PlayError::Faults`], which say that the text runs on OpenGL.
    pub fn translate(&mut self) -> Result<(), PlayError> {
        for pass in self.passes.iter_mut().filter(|pass| pass.language == Tongue::GlslToWgsl) {
            let wgsl = wgsl_kernel::from_glsl(&pass.text).map_err(|error| {
                let mut faults = pass.origin.faults(&error.to_string(), &pass.text);
                let only = " (as it is, the text runs on OpenGL only: --backend gl)";
                faults.iter_mut().for_each(|fault| fault.text += only);
                PlayError::Faults(faults)
            })?;
            pass.text = wgsl + &text::shadertoy::entry(&self.sliders);
            pass.language = Tongue::Wgsl;
            // Lines of what was translated are nobody's.
            (pass.origin.common, pass.origin.before) = (None, u32::MAX);
        }
        Ok(())
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
    /// The kernel, for a backend.
    pub fn source(&self, _: Vouched) -> KernelSource {
        let (source, text) = (KernelSource::new(self.kernel.clone()), self.text.clone());
        // SAFETY: whoever made the `Vouched` answers for the text.
        unsafe {
            match self.language {
                Tongue::Wgsl => source.wgsl(text),
                Tongue::Glsl | Tongue::GlslToWgsl => source.glsl(text),
                Tongue::OpenClC => source.opencl_c(text),
                Tongue::CudaCpp => source.cuda_cpp(text),
                Tongue::Ptx => source.ptx(text),
            }
        }
    }
}
