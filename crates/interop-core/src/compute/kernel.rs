//! Kernels: what the user gives, and what a backend makes of it.

use crate::capability::ComputeCaps;
use serde::Serialize;
use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

/// The language of one source of a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Language {
    /// OpenCL C 1.2 or later, compiled by the driver.
    OpenClC,
    /// CUDA C++, compiled by NVRTC.
    CudaCpp,
    /// PTX text.
    Ptx,
    /// A Rust closure, run on the CPU (see the crate `cpu-fallback`).
    Rust,
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::OpenClC => "OpenCL C",
            Self::CudaCpp => "CUDA C++",
            Self::Ptx => "PTX",
            Self::Rust => "Rust",
        })
    }
}

/// One source of a kernel.
#[derive(Clone)]
pub enum SourceCode {
    /// Text for a compiler.
    Text(Cow<'static, str>),
    /// A value that only the backend of that language understands.
    Native(Arc<dyn Any + Send + Sync>),
}

/// A kernel by name, with one source for each language the user cares to give.
///
/// # Signature
/// The first parameters describe the target; the backend fills them in. C-like sources declare them by macros that
/// every backend puts before the text:
///
/// - image: `PF_IMAGE(T, out)` gives `out_width`, `out_height` (pixels of the region to write) and
///   `PF_STORE(out, x, y, value)`, which takes care of pitch, region, row order and of memory that is not linear.
///   The lvalue `PF_AT(out, x, y)` can be read too, but rules out paths that write a texture's own memory. The launch
///   covers at least `out_width` x `out_height` work items: **check the bounds**.
/// - buffer: `PF_BUFFER(T, out)` gives `PF_LEN(out)`, its length in elements of `T`, and the lvalue
///   `PF_ITEM(out, i)`. The launch covers at least one work item for each 4 bytes unless
///   [`KernelSource::with_items`] says otherwise.
///
/// `T` is the pixel as the memory holds it: `uchar4` for RGBA8, `float` for R32F, and so on. The user's own
/// parameters follow, in the order of the arguments of the launch.
#[derive(Clone)]
pub struct KernelSource {
    name: Cow<'static, str>,
    sources: Vec<(Language, SourceCode)>,
    items: Option<usize>,
}

impl KernelSource {
    /// A kernel with no source yet; `name` is the function's name in C-like sources.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), sources: Vec::new(), items: None }
    }

    /// Adds a text source, replacing one of the same language.
    #[must_use]
    pub fn with_text(self, language: Language, text: impl Into<Cow<'static, str>>) -> Self {
        self.with(language, SourceCode::Text(text.into()))
    }

    /// Adds OpenCL C.
    #[must_use]
    pub fn opencl_c(self, text: impl Into<Cow<'static, str>>) -> Self {
        self.with_text(Language::OpenClC, text)
    }

    /// Adds a source of any sort, replacing one of the same language.
    #[must_use]
    pub fn with(mut self, language: Language, code: SourceCode) -> Self {
        self.sources.retain(|(l, _)| *l != language);
        self.sources.push((language, code));
        self
    }

    /// Number of work items for a buffer target, where it is not one for each 4 bytes.
    #[must_use]
    pub fn with_items(mut self, items: usize) -> Self {
        self.items = Some(items);
        self
    }

    /// Function name.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Work items for a buffer target, if the user said so.
    pub fn items(&self) -> Option<usize> {
        self.items
    }

    /// The source in `language`.
    pub fn source(&self, language: Language) -> Option<&SourceCode> {
        self.sources.iter().find(|(l, _)| *l == language).map(|(_, s)| s)
    }

    /// Adds CUDA C++.
    #[must_use]
    pub fn cuda_cpp(self, text: impl Into<Cow<'static, str>>) -> Self {
        self.with_text(Language::CudaCpp, text)
    }

    /// True where a backend with these capabilities can build it.
    pub fn suits(&self, caps: &ComputeCaps) -> bool {
        caps.languages.iter().any(|l| self.source(*l).is_some())
    }

    /// Languages given, for messages.
    pub fn languages(&self) -> String {
        if self.sources.is_empty() {
            return "none".into();
        }
        self.sources.iter().map(|(l, _)| l.to_string()).collect::<Vec<_>>().join(", ")
    }
}

impl fmt::Debug for KernelSource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("KernelSource").field("name", &self.name).field("languages", &self.languages()).finish()
    }
}

/// A kernel built for one backend; cheap to share.
pub trait Kernel: Send + Sync {
    /// Function name.
    fn name(&self) -> &str;

    /// For the backend to find its own type again.
    fn as_any(&self) -> &dyn Any;
}
