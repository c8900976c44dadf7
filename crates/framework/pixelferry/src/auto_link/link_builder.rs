//! The builder with which a program declares its frames; backend, display and path are opened together for them.

use crate::backend_rows::BackendChoice;
use crate::display_rows::DisplayChoice;
use interop_core::{Argument, ComputeBackend, Display, KernelSource, Policy, SurfaceDesc};
use std::sync::Arc;

/// An argument of a declared kernel, as far as the choice of a backend depends on it: numbers by value, memory by its
/// length.
///
/// ```
/// use pixelferry::{InitialContent, KernelSource, LinkBuilder, PixelFormat, Scratch, SurfaceDesc};
///
/// // The kernel takes a time and a table of 1024 floats.
/// let kernel = KernelSource::new("waves");
/// let table = Scratch::Memory(InitialContent::Zeros(1024 * size_of::<f32>()));
/// let waves = LinkBuilder::new(SurfaceDesc::image(640, 480, PixelFormat::Rgba8));
/// let waves = waves.launch(&kernel, [Scratch::F32(0.0), table]);
/// # drop(waves);
/// ```
pub type Scratch = Argument<InitialContent>;

/// Content of memory that a kernel takes.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum InitialContent {
    /// This many bytes, all zero.
    Zeros(usize),
    /// These bytes.
    Bytes(Vec<u8>),
}

#[cfg(all(feature = "stream", target_os = "linux"))]
impl InitialContent {
    /// Returns the number of bytes.
    pub(crate) const fn len(&self) -> usize {
        match self {
            Self::Zeros(bytes) => *bytes,
            Self::Bytes(bytes) => bytes.len(),
        }
    }
}

/// Builder of a [`Link`](crate::Link) with its backend and display: the surface, the kernels of a frame, and
/// preferences.
///
/// [`LinkBuilder::open`] opens the first pair that works; [`LinkBuilder::open_auto`] continues to compare it with
/// others, using frames that the program shows.
///
/// ```
/// use pixelferry::{Arg, CpuKernelExt as _, KernelSource, LinkBuilder, PixelFormat, Scratch, SurfaceDesc};
///
/// let grey = KernelSource::new("grey")
///     .wgsl(
///         "@compute @workgroup_size(16, 16)
///          fn grey(@builtin(global_invocation_id) id: vec3<u32>) {
///            pf_store(id.xy, vec4(vec3(pf_arg_f32(0)), 1.0));
///          }",
///     )
///     .cpu_image(|out, args| {
///         let grey = (args.f32(0)? * 255.0) as u8;
///         out.par_pixels(|_, _| [grey, grey, grey, 255])
///     });
/// let surface = SurfaceDesc::image(1920, 1080, PixelFormat::Rgba8);
/// let builder = LinkBuilder::new(surface).launch(&grey, [Scratch::F32(0.5)]);
/// # let builder = builder.backend(pixelferry::BackendChoice::Cpu).display(pixelferry::DisplayChoice::Memory);
/// let opened = builder.open()?;
/// println!("{}", opened.report);
/// let mut link = opened.link;
/// link.frame(|next| next.launch(opened.kernels[0].as_ref(), &[Arg::F32(0.25)]))?;
/// assert_eq!(link.read_back()?[..4], [63, 63, 63, 255]);
/// # Ok::<(), pixelferry::Error>(())
/// ```
#[derive(Clone)]
pub struct LinkBuilder {
    pub(crate) surface: SurfaceDesc,
    /// Kernels of a frame in order, each with its arguments.
    pub(crate) launches: Vec<(KernelSource, Vec<Scratch>)>,
    pub(crate) backend: BackendChoice,
    pub(super) display: DisplayChoice,
    /// A backend that the program has opened.
    pub(crate) computed_by: Option<Arc<dyn ComputeBackend>>,
    /// A display that the program has opened.
    pub(super) shown_by: Option<Arc<dyn Display>>,
    pub(crate) policy: Policy,
    /// The first pair will be compared with the others while frames are shown.
    pub(super) is_compared: bool,
    /// Name of the work, for frames without declared kernels.
    pub(super) work: String,
}

impl LinkBuilder {
    /// Creates a builder for frames of this surface.
    pub fn new(surface: SurfaceDesc) -> Self {
        Self {
            surface,
            launches: Vec::new(),
            backend: BackendChoice::Auto,
            display: DisplayChoice::Auto,
            computed_by: None,
            shown_by: None,
            policy: Policy::default(),
            is_compared: false,
            work: "the host".into(),
        }
    }

    /// Adds a kernel that each frame launches, after those declared before, with arguments of the kinds that it will have.
    #[must_use]
    pub fn launch(mut self, kernel: &KernelSource, arguments: impl IntoIterator<Item = Scratch>) -> Self {
        self.launches.push((kernel.clone(), arguments.into_iter().collect()));
        self
    }
}

interop_core::setters!(LinkBuilder {
    /// Changes the surface: a part of a program that draws a picture can complete a builder with the wishes of another part.
    surface(surface: SurfaceDesc);
    /// Sets the backend; the default is to choose one.
    backend(backend: BackendChoice);
    /// Sets the display; the default is to choose one.
    display(display: DisplayChoice);
    /// Computes on the device of this backend: with the backend itself, or with one that is opened inside the display
    /// where that enables faster paths. The display uses the same device if that can draw.
    computed_by(computed_by: &Arc<dyn ComputeBackend> => Some(Arc::clone(computed_by)));
    /// Shows frames on this display, for example a window's or an engine's, whose context is current on this thread.
    shown_by(shown_by: &Arc<dyn Display> => Some(Arc::clone(shown_by)));
    /// Sets how the path is selected for each pair, and where measurements are stored.
    policy(policy: Policy);
    /// Names the work that makes frames where no kernel is declared, or where the same kernels do several works: all that its time
    /// depends on, such as types and strides. A choice is remembered for that work.
    work(work: impl Into<String>);
});
