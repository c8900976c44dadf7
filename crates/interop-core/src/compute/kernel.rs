//! Kernels: what the user gives, and what a backend makes of it.

use crate::describe::error::{Error, Result};
use crate::devices::capability::ComputeCaps;
use crate::devices::language::Language;
use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

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
///
/// # Who vouches for a kernel
/// A text can name any address, so that giving one is `unsafe` ([`KernelSource::with_text`]), once, where the text is
/// known; building and launching are safe. Rust closures on slices (`CpuKernelExt` of the crate `cpu-fallback`) need
/// nobody's word: the compiler bounds them.
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
    /// A kernel with no source yet; `name` is the function's name in C-like sources.
    pub fn new(name: impl Into<Cow<'static, str>>) -> Self {
        Self { name: name.into(), sources: Vec::new(), items: None }
    }

    /// Adds a text in `language`, replacing a source of the same language.
    ///
    /// # Safety
    /// A compiler takes any text, and no launch can see what the kernel does. Launches are safe nonetheless: they rely on
    /// what the caller vouches for here. In every launch that the program makes, the kernel
    ///
    /// - reads and writes only the target's view (pixels below its width and height, items below its length), the
    ///   memory that its arguments name, and local and private memory of its own;
    /// - makes no address from a number;
    /// - only reads the memory that its arguments name, unless that launch alone uses it until it is done;
    /// - has no undefined behaviour of its language, such as a write that races with another work item, or a barrier that
    ///   some items of a group do not reach;
    /// - comes to an end;
    /// - has parameters whose types keep their names to the end of the text, with no macro that gives one another meaning.
    ///
    /// A launch checks the number and the kinds of its arguments. It passes any number and memory of any length, and in
    /// PTX without `.ptr` a number instead of a pointer, too. So the kernel itself checks an index that comes from
    /// an argument, or the module that makes the source keeps it, and launches the kernel only with arguments for which
    /// the above holds.
    #[must_use]
    pub unsafe fn with_text(self, language: Language, text: impl Into<Cow<'static, str>>) -> Self {
        self.with(language, SourceCode::Text(text.into()))
    }

    /// Adds OpenCL C.
    ///
    /// # Safety
    /// [`KernelSource::with_text`] says what the caller vouches for.
    #[must_use]
    pub unsafe fn opencl_c(self, text: impl Into<Cow<'static, str>>) -> Self {
        self.with(Language::OpenClC, SourceCode::Text(text.into()))
    }

    /// Adds CUDA C++.
    ///
    /// # Safety
    /// [`KernelSource::with_text`] says what the caller vouches for.
    #[must_use]
    pub unsafe fn cuda_cpp(self, text: impl Into<Cow<'static, str>>) -> Self {
        self.with(Language::CudaCpp, SourceCode::Text(text.into()))
    }

    /// Adds PTX.
    ///
    /// # Safety
    /// [`KernelSource::with_text`] says what the caller vouches for.
    #[must_use]
    pub unsafe fn ptx(self, text: impl Into<Cow<'static, str>>) -> Self {
        self.with(Language::Ptx, SourceCode::Text(text.into()))
    }

    /// Adds GLSL of a compute shader (see the crate `pixelferry-gl` for what it may call).
    ///
    /// # Safety
    /// [`KernelSource::with_text`] says what the caller vouches for.
    #[must_use]
    pub unsafe fn glsl(self, text: impl Into<Cow<'static, str>>) -> Self {
        self.with(Language::Glsl, SourceCode::Text(text.into()))
    }

    /// Adds a value that only the backend of that language understands, replacing a source of the same language. A
    /// backend takes only values of a type of its own here, so that this is as safe as making such a value.
    #[must_use]
    pub fn with_native(self, language: Language, code: Arc<dyn Any + Send + Sync>) -> Self {
        self.with(language, SourceCode::Native(code))
    }

    /// Adds WGSL text (see the crate `wgsl-kernel` for what it may call). It is safe: a backend that takes
    /// [`Language::Wgsl`] keeps all accesses inside the launch's memory.
    #[must_use]
    pub fn wgsl(self, text: impl Into<Cow<'static, str>>) -> Self {
        self.with(Language::Wgsl, SourceCode::Text(text.into()))
    }

    fn with(mut self, language: Language, code: SourceCode) -> Self {
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

    /// The text in `language`, where there is a source in it.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a source that is no text, and for a zero byte in it or in the name.
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
            return Err(Error::refused(format!("the name or the {language} of kernel {name:?} holds a zero byte")));
        }
        Ok(Some(text))
    }

    /// Every source, in the order in which they were given.
    pub fn sources(&self) -> impl Iterator<Item = (Language, &SourceCode)> {
        self.sources.iter().map(|(language, code)| (*language, code))
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
pub trait Kernel: Any + Send + Sync {
    /// Function name.
    fn name(&self) -> &str;
}

impl dyn Kernel {
    /// True where it is of that type.
    pub fn is<K: Kernel>(&self) -> bool {
        (self as &dyn Any).is::<K>()
    }
}
