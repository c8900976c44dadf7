//! Languages that are played: a row for each, and what makes kernels of their texts.

mod c;
mod glsl;
mod isf;
pub mod shadertoy;
mod wgsl;

use crate::error::PlayError;
use crate::input::{CHANNELS, MOST_SLIDERS, PLACES, Param};
use crate::program::{Pass, Piece, Tongue};
use crate::slider::Slider;
use pixelferry::BackendChoice;
use pixelferry::command::Choice as _;
use shadertoy::Around;
use std::path::Path;

/// Language of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    Shadertoy,
    Isf,
    Glsl,
    Wgsl,
    OpenClC,
    CudaCpp,
    Ptx,
}

/// What is known of a language.
struct Row {
    dialect: Dialect,
    ending: &'static str,
    about: &'static str,
    /// Backends that run it, the first if no other is asked for.
    backends: &'static [BackendChoice],
    is_from_top: bool,
}

const ROWS: [Row; 7] = [
    Row {
        dialect: Dialect::Shadertoy,
        ending: "glsl",
        about: "Shadertoy's GLSL",
        backends: &[BackendChoice::Gl, BackendChoice::Vulkan, BackendChoice::Wgpu],
        is_from_top: false,
    },
    Row {
        dialect: Dialect::Isf,
        ending: "fs",
        about: "ISF",
        backends: &[BackendChoice::Gl, BackendChoice::Vulkan, BackendChoice::Wgpu],
        is_from_top: false,
    },
    Row {
        dialect: Dialect::Glsl,
        ending: "comp",
        about: "a compute shader in GLSL",
        backends: &[BackendChoice::Gl],
        is_from_top: true,
    },
    Row {
        dialect: Dialect::Wgsl,
        ending: "wgsl",
        about: "WGSL",
        backends: &[BackendChoice::Gl, BackendChoice::Vulkan, BackendChoice::Wgpu],
        is_from_top: true,
    },
    Row {
        dialect: Dialect::OpenClC,
        ending: "cl",
        about: "OpenCL C",
        backends: &[BackendChoice::OpenCl],
        is_from_top: true,
    },
    Row {
        dialect: Dialect::CudaCpp,
        ending: "cu",
        about: "CUDA C++",
        backends: &[BackendChoice::Cuda],
        is_from_top: true,
    },
    Row { dialect: Dialect::Ptx, ending: "ptx", about: "PTX", backends: &[BackendChoice::Cuda], is_from_top: true },
];

impl Dialect {
    fn row(self) -> &'static Row {
        ROWS.iter().find(|row| row.dialect == self).unwrap_or(&ROWS[0])
    }

    /// The language of a file, by its ending.
    ///
    /// # Errors
    /// [`PlayError::Ending`].
    pub fn of(file: &Path) -> Result<Self, PlayError> {
        let ending = file.extension().map(|ending| ending.to_string_lossy().to_ascii_lowercase());
        let found = ROWS.iter().find(|row| ending.as_deref() == Some(row.ending));
        found.map(|row| row.dialect).ok_or_else(|| {
            let all: Vec<_> = ROWS.iter().map(|row| format!(".{} ({})", row.ending, row.about)).collect();
            PlayError::Ending { file: file.to_owned(), endings: all.join(", ") }
        })
    }

    pub fn ending(self) -> &'static str {
        self.row().ending
    }

    /// True where rows are counted from the top.
    pub fn is_from_top(self) -> bool {
        self.row().is_from_top
    }

    /// The backend that runs it: the one that is asked for, or its first.
    pub fn backend(self, asked: BackendChoice) -> BackendChoice {
        if asked == BackendChoice::Auto { self.row().backends[0] } else { asked }
    }

    /// Finds out whether a backend runs it.
    ///
    /// # Errors
    /// [`PlayError::Backend`].
    pub fn runs_on(self, file: &Path, asked: BackendChoice) -> Result<(), PlayError> {
        let row = self.row();
        if row.backends.contains(&self.backend(asked)) {
            return Ok(());
        }
        let others: Vec<_> = row.backends.iter().map(|backend| backend.name()).collect();
        let (file, backend) = (file.to_owned(), asked.name());
        Err(PlayError::Backend { file, language: row.about, backend, others: others.join(" or ") })
    }
}

/// The passes of pieces, each with the buffer that it writes, and their sliders.
pub fn passes(
    dialect: Dialect,
    pieces: &[(Option<usize>, Piece)],
    common: Option<&Piece>,
    sliders: Vec<Slider>,
    backend: BackendChoice,
) -> Result<(Vec<Pass>, Vec<Slider>), PlayError> {
    if !matches!(dialect, Dialect::OpenClC | Dialect::CudaCpp | Dialect::Ptx) {
        few(&sliders)?;
    }
    let graphics = if dialect.backend(backend) == BackendChoice::Gl { Tongue::Glsl } else { Tongue::GlslToWgsl };
    if dialect == Dialect::Isf {
        let text = pieces.last().ok_or_else(|| PlayError::Option("there is no text".into()))?;
        return isf::passes(&text.1, graphics);
    }
    let make = |(buffer, piece): &(Option<usize>, Piece)| {
        let pass = match dialect {
            Dialect::Shadertoy | Dialect::Isf => {
                shadertoy::pass(piece, common, &sliders, graphics, buffer.is_some(), &Around::default())
            }
            Dialect::Glsl => glsl::pass(piece, common, &sliders),
            Dialect::Wgsl => wgsl::pass(piece, common, &sliders)?,
            Dialect::OpenClC => c::pass(piece, common, &sliders, Tongue::OpenClC)?,
            Dialect::CudaCpp => c::pass(piece, common, &sliders, Tongue::CudaCpp)?,
            Dialect::Ptx => c::ptx(piece, &sliders)?,
        };
        Ok(Pass { buffer: *buffer, channels: piece.channels.clone(), ..pass })
    };
    let passes = pieces.iter().map(make).collect::<Result<_, PlayError>>()?;
    Ok((passes, sliders))
}

/// Finds out whether a launch takes so many sliders by place.
fn few(sliders: &[Slider]) -> Result<(), PlayError> {
    let count = sliders.len();
    if count > MOST_SLIDERS {
        let text = format!("there are {count} sliders, and a text of this language has at most {MOST_SLIDERS}");
        return Err(PlayError::Option(text));
    }
    Ok(())
}

/// Parameters of texts that read numbers by place: the usual ones, the sliders, and the channels that are there.
fn by_place(sliders: &[Slider], channels: impl Iterator<Item = usize>) -> Vec<Param> {
    let own = sliders.iter().enumerate().map(|(at, slider)| Param::of_slider(at, slider.kind));
    PLACES.into_iter().chain(own).chain(channels.map(Param::Channel)).collect()
}

/// Channels of a piece that are there.
fn bound(piece: &Piece) -> impl Iterator<Item = usize> + '_ {
    (0..CHANNELS).filter(|at| piece.channels[*at].is_some())
}

/// The words of a text that may be names; those of comments, too.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).filter(|word| !word.is_empty())
}

/// True where a text names this.
fn names(text: &str, name: &str) -> bool {
    words(text).any(|word| word == name)
}
