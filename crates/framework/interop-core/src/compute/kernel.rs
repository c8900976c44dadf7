//! Kernels: sources from the user, and built kernels from a backend.

use crate::describe::error::{Error, Result};
use crate::devices::capability::ComputeCaps;
use crate::devices::language::Language;
use std::any::Any;
use std::borrow::Cow;
use std::sync::Arc;

/// The source of a kernel in one language.
#[derive(Clone)]
pub enum SourceCode {
    /// Text for a compiler.
    Text(Cow<'static, str>),
    /// A value that only the backend of that language understands.
    Native(Arc<dyn Any + Send + Sync>),
}

/// A kernel by name, with one source for each language that the user provides.
///
/// # Signature
/// The first parameters describe the target, and the backend fills them in. C-like sources declare them with macros
/// that every backend prepends to the text:
///
/// - image: `PF_IMAGE(T, out)` declares `out_width`, `out_height` (pixels of the region to write) and `PF_STORE(out, x,
///   y, value)`, which handles pitch, region, row order and memory that is not linear. The lvalue `PF_AT(out, x, y)`
///   can be read as well, but excludes paths that write a texture's own memory. The launch covers at least `out_width`
///   x `out_height` work items: **check the bounds**.
/// - buffer: `PF_BUFFER(T, out)` declares `PF_LEN(out)`, its length in elements of `T`, and the lvalue `PF_ITEM(out,
///   i)`. The launch covers at least one work item for each 4 bytes unless [`KernelSource::with_items`] sets another
///   number.
///
/// `T` is the type of a pixel in memory: `uchar4` for RGBA8, `float` for R32F, and so on. The user's own parameters
/// follow, in the order of the launch's arguments.
///
/// # Who vouches for a kernel
/// A text can access any address, so supplying one is `unsafe` ([`KernelSource::with_text`]), once, in the place that
/// knows the text. Building and launching are safe. Rust closures on slices (`CpuKernelExt` of the crate
/// `cpu-fallback`) need no `unsafe`: the compiler checks them.
///
/// ```
/// use interop_core::{KernelSource, Language};
///
/// let grey = KernelSource::new("grey").wgsl(
///     "@compute @workgroup_size(16, 16)
///      fn grey(@builtin(global_invocation_id) id: vec3<u32>) {
///        pf_store(id.xy, vec4(vec3(pf_arg_f32(0)), 1.0));
///      }",
/// );
/// assert_eq!((grey.name(), grey.languages()), ("grey", "WGSL".to_owned()));
/// assert!(grey.source(Language::OpenClC).is_none());
/// ```
#[derive(Clone)]
pub struct KernelSource {
    name: Cow<'static, str>,
    sources: Vec<(Language, SourceCode)>,
    items: Option<usize>,
}

impl KernelSource {
    /// Creates a kernel without sources; `name` is the function's name in C-like sources.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), sources: Vec::new(), items: None }
    }

    /// Adds a text in `language`. It replaces a source of the same language.
    ///
    /// # Safety
    /// A compiler accepts any text, and a launch cannot see what the kernel does. Launches are safe nonetheless because
    /// they rely on the caller's guarantee here. In every launch that the program makes, the kernel
    ///
    /// - reads and writes only the target's view (pixels below its width and height, items below its length), the
    ///   memory that its arguments name, and local and private memory of its own;
    /// - makes no address from a number;
    /// - only reads the memory that its arguments name, unless that launch alone uses it until it is done;
    /// - has no undefined behaviour of its language, such as a write that races with another work item, or a barrier that
    ///   some items of a group do not reach;
    /// - terminates;
    /// - has parameters whose types keep their meaning up to the end of the text: no macro redefines them.
    ///
    /// A launch checks the number and the kinds of its arguments. It passes any number and memory of any length, and in
    /// PTX without `.ptr` also a number instead of a pointer. The kernel itself must therefore check an index that
    /// comes from an argument. Alternatively, the module that makes the source keeps it private and launches the kernel
    /// only with arguments for which the above holds.
    #[must_use]
    pub unsafe fn with_text(self, language: Language, text: impl Into<Cow<'static, str>>) -> Self {
        self.with(language, SourceCode::Text(text.into()))
    }

    /// Adds a source text in OpenCL C.
    ///
    /// # Safety
    /// See [`KernelSource::with_text`].
    #[must_use]
    pub unsafe fn opencl_c(self, text: impl Into<Cow<'static, str>>) -> Self {
        self.with(Language::OpenClC, SourceCode::Text(text.into()))
    }

    /// Adds a source text in CUDA C++.
    ///
    /// # Safety
    /// See [`KernelSource::with_text`].
    #[must_use]
    pub unsafe fn cuda_cpp(self, text: impl Into<Cow<'static, str>>) -> Self {
        self.with(Language::CudaCpp, SourceCode::Text(text.into()))
    }

    /// Adds a source text in PTX.
    ///
    /// # Safety
    /// See [`KernelSource::with_text`].
    #[must_use]
    pub unsafe fn ptx(self, text: impl Into<Cow<'static, str>>) -> Self {
        self.with(Language::Ptx, SourceCode::Text(text.into()))
    }

    /// Adds a source text in GLSL for compute shaders. The crate `pixelferry-gl` documents the functions that it may
    /// call.
    ///
    /// # Safety
    /// See [`KernelSource::with_text`].
    #[must_use]
    pub unsafe fn glsl(self, text: impl Into<Cow<'static, str>>) -> Self {
        self.with(Language::Glsl, SourceCode::Text(text.into()))
    }

    /// Adds a value that only the backend of that language understands. It replaces a source of the same language. A
    /// backend accepts only values of a type of its own here, so this call is as safe as making such a value.
    #[must_use]
    pub fn with_native(self, language: Language, code: Arc<dyn Any + Send + Sync>) -> Self {
        self.with(language, SourceCode::Native(code))
    }

    /// Adds WGSL text. The crate `wgsl-kernel` documents the functions that it may call. This is safe: a backend that
    /// accepts [`Language::Wgsl`] keeps all accesses inside the launch's memory.
    #[must_use]
    pub fn wgsl(self, text: impl Into<Cow<'static, str>>) -> Self {
        self.with(Language::Wgsl, SourceCode::Text(text.into()))
    }

    fn with(mut self, language: Language, code: SourceCode) -> Self {
        self.sources.retain(|(l, _)| *l != language);
        self.sources.push((language, code));
        self
    }

    /// Sets the number of work items for a buffer target. The default is one for each 4 bytes.
    #[must_use]
    pub fn with_items(mut self, items: usize) -> Self {
        self.items = Some(items);
        self
    }

    /// Returns the name of the kernel's function.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Returns the number of work items for a buffer target, if [`KernelSource::with_items`] set it.
    pub fn items(&self) -> Option<usize> {
        self.items
    }

    /// Returns the source in `language`; `None` where there is none.
    pub fn source(&self, language: Language) -> Option<&SourceCode> {
        self.sources.iter().find(|(l, _)| *l == language).map(|(_, s)| s)
    }

    /// Returns the source text in `language`; `None` where there is no source in that language.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a source that is not text, and for a zero byte in the text or the name.
    pub fn text(&self, language: Language) -> Result<Option<&str>> {
        let name = &self.name;
        let text = match self.source(language) {
            None => return Ok(None),
            Some(SourceCode::Text(text)) => text.as_ref(),
            Some(SourceCode::Native(_)) => {
                return Err(Error::refused(format!("the {language} of kernel '{name}' must be text")));
            }
        };
        if text.contains('\0') || name.contains('\0') {
            return Err(Error::refused(format!("the name or the {language} of kernel {name:?} contains a zero byte")));
        }
        Ok(Some(text))
    }

    /// Iterates over the sources in the order in which they were added.
    pub fn sources(&self) -> impl Iterator<Item = (Language, &SourceCode)> {
        self.sources.iter().map(|(language, code)| (*language, code))
    }

    /// True where a backend with these capabilities can build it.
    pub fn suits(&self, caps: &ComputeCaps) -> bool {
        caps.languages.iter().any(|l| self.source(*l).is_some())
    }

    /// Lists the languages of the sources, for messages.
    pub fn languages(&self) -> String {
        if self.sources.is_empty() {
            return "none".into();
        }
        self.sources.iter().map(|(l, _)| l.to_string()).collect::<Vec<_>>().join(", ")
    }
}

crate::debug_as!(KernelSource, |this| name = &this.name, languages = &this.languages());

/// A kernel that was built for one backend; cheap to share.
pub trait Kernel: Any + Send + Sync {
    /// Returns the name of the kernel's function.
    fn name(&self) -> &str;
}

impl dyn Kernel {
    /// True where the kernel has type `K`.
    pub fn is<K: Kernel>(&self) -> bool {
        (self as &dyn Any).is::<K>()
    }
}
