//! Messages between the program and its child: lines of JSON. The content of memory follows the line that announces it.

use crate::auto_link::{InitialContent, LinkBuilder, Scratch};
use interop_core::compute::SourceCode;
use interop_core::{Argument, Error, KernelSource, Language, Profiles, Result, SurfaceDesc};
use serde::{Deserialize, Serialize};

/// Languages of texts. A message holds their indices.
const LANGUAGES: [Language; 5] = [Language::OpenClC, Language::CudaCpp, Language::Ptx, Language::Wgsl, Language::Glsl];

/// What the child computes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Work {
    /// Name of the stream that the child opens.
    pub stream: String,
    /// Name of the backend.
    pub backend: String,
    /// Whether a device that the automatic choice takes last is passed over.
    pub is_strict: bool,
    /// Whether the child stores measurements.
    pub remembers: bool,
    pub surface: SurfaceDesc,
    pub kernels: Vec<KernelWork>,
}

/// A kernel, and the arguments that its launches begin with.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct KernelWork {
    pub name: String,
    pub items: Option<usize>,
    /// Each with its language's index in [`LANGUAGES`].
    pub texts: Vec<(usize, String)>,
    pub arguments: Vec<ArgumentWork>,
}

/// An argument. Numbers with a point are sent by their bits, because JSON has no infinity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum ArgumentWork {
    I32(i32),
    U32(u32),
    F32(u32),
    I64(i64),
    U64(u64),
    F64(u64),
    /// Memory of this many bytes.
    Memory(usize),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Request {
    /// The first request.
    Open(Work),
    /// The bytes follow the line.
    Write {
        memory: usize,
        offset: usize,
        bytes: usize,
    },
    Resize(SurfaceDesc),
    /// One list for each kernel.
    Launch(Vec<Vec<ArgumentWork>>),
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) enum Answer {
    /// The child has opened this device.
    Ready(String),
    /// The work cannot be done with this backend, for this reason.
    Unable(String),
    /// The automatic choice takes this device last.
    PassedOver,
    /// A surface was refused for this reason; the one before stays.
    Refused(SurfaceDesc, String),
    /// The child ends for this reason.
    Failed(String),
}

impl Work {
    /// Describes the frames of a builder.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for frames that no other process can compute.
    pub fn of(builder: &LinkBuilder) -> Result<Self> {
        if builder.computed_by.is_some() {
            return Err(Error::refused("an opened backend stays in its process; name one with LinkBuilder::backend"));
        }
        if builder.launches.is_empty() {
            return Err(Error::refused("no kernel was declared; declare what a frame launches (LinkBuilder::launch)"));
        }
        let kernels = builder.launches.iter().map(|(source, arguments)| KernelWork::of(source, arguments));
        let (stream, backend, remembers) = (String::new(), String::new(), builder.policy.profiles != Profiles::Off);
        let kernels = kernels.collect::<Result<_>>()?;
        Ok(Self { stream, backend, is_strict: true, remembers, surface: builder.surface, kernels })
    }

    /// Returns the kernels' sources.
    pub fn sources(&self) -> Vec<KernelSource> {
        self.kernels.iter().map(KernelWork::source).collect()
    }
}

impl KernelWork {
    fn of(source: &KernelSource, arguments: &[Scratch]) -> Result<Self> {
        let text = |(at, language): (usize, &Language)| match source.source(*language)? {
            SourceCode::Text(text) => Some((at, text.to_string())),
            SourceCode::Native(_) => None,
        };
        let texts: Vec<_> = LANGUAGES.iter().enumerate().filter_map(text).collect();
        let name = source.name();
        if texts.is_empty() {
            return Err(Error::refused(format!(
                "kernel '{name}' has no text, and no other process can run a closure; add its text, for example with \
                 KernelSource::wgsl"
            )));
        }
        let arguments = arguments
            .iter()
            .map(|argument| ArgumentWork::of(argument.each_ref(), InitialContent::len))
            .collect::<Result<_>>()?;
        Ok(Self { name: name.to_owned(), items: source.items(), texts, arguments })
    }

    /// Returns the kernel's source.
    pub fn source(&self) -> KernelSource {
        let named = KernelSource::new(self.name.clone());
        let named = self.items.into_iter().fold(named, KernelSource::with_items);
        self.texts.iter().fold(named, |source, (language, text)| match LANGUAGES.get(*language) {
            // SAFETY: the text is one that the program vouched for when it made its source. It came from there through
            // this process's standard input. Who starts this process with the variable of a child and another input could
            // as well start another program.
            Some(language) => unsafe { source.with_text(*language, text.clone()) },
            None => source,
        })
    }
}

impl ArgumentWork {
    /// Describes an argument, of whose memory `bytes` returns the length.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a kind that the child does not know.
    pub fn of<M>(argument: Argument<M>, bytes: impl Fn(M) -> usize) -> Result<Self> {
        Ok(match argument {
            Argument::I32(number) => Self::I32(number),
            Argument::U32(number) => Self::U32(number),
            Argument::F32(number) => Self::F32(number.to_bits()),
            Argument::I64(number) => Self::I64(number),
            Argument::U64(number) => Self::U64(number),
            Argument::F64(number) => Self::F64(number.to_bits()),
            Argument::Memory(memory) => Self::Memory(bytes(memory)),
            other => return Err(Error::refused(format!("an isolated kernel takes no {}", other.kind()))),
        })
    }

    /// Returns the argument with its memory, which `next` returns in the order of declaration.
    pub fn with<M>(self, next: &mut impl FnMut() -> Option<M>) -> Option<Argument<M>> {
        Some(match self {
            Self::I32(number) => Argument::I32(number),
            Self::U32(number) => Argument::U32(number),
            Self::F32(bits) => Argument::F32(f32::from_bits(bits)),
            Self::I64(number) => Argument::I64(number),
            Self::U64(number) => Argument::U64(number),
            Self::F64(bits) => Argument::F64(f64::from_bits(bits)),
            Self::Memory(_) => Argument::Memory(next()?),
        })
    }
}
