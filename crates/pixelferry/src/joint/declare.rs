//! What a program declares of its frames.

use crate::backends::BackendChoice;
use crate::display_choice::DisplayChoice;
use interop_core::{Display, KernelSource, Policy, SurfaceDesc};
use std::rc::Rc;
use std::time::Duration;

/// [`Workload::budget`] where nothing else is said.
const BUDGET: Duration = Duration::from_secs(3);

/// An argument to measure with: numbers as they are, memory as a scratch copy that each backend gets for itself.
///
/// ```
/// use pixelferry::{KernelSource, PixelFormat, Scratch, SurfaceDesc, Workload};
///
/// // The kernel takes a time and a table of 1024 floats; it is measured with zeros.
/// let kernel = KernelSource::new("waves");
/// let table = Scratch::Zeros(1024 * size_of::<f32>());
/// let waves = Workload::new(SurfaceDesc::image(640, 480, PixelFormat::Rgba8));
/// let waves = waves.launch(&kernel, [Scratch::F32(0.0), table]);
/// # drop(waves);
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Scratch {
    /// 32-bit signed.
    I32(i32),
    /// 32-bit unsigned.
    U32(u32),
    /// binary32.
    F32(f32),
    /// 64-bit signed.
    I64(i64),
    /// 64-bit unsigned.
    U64(u64),
    /// binary64; a backend that lacks it is not chosen.
    F64(f64),
    /// Memory of so many bytes, all zero.
    Zeros(usize),
    /// Memory that holds these bytes.
    Bytes(Vec<u8>),
}

impl Scratch {
    /// What times depend on.
    pub(super) fn kind(&self) -> String {
        match self {
            Self::I32(v) => format!("i32 {v}"),
            Self::U32(v) => format!("u32 {v}"),
            Self::F32(v) => format!("f32 {v}"),
            Self::I64(v) => format!("i64 {v}"),
            Self::U64(v) => format!("u64 {v}"),
            Self::F64(v) => format!("f64 {v}"),
            Self::Zeros(bytes) => format!("zeros {bytes}"),
            Self::Bytes(bytes) => format!("bytes {}", bytes.len()),
        }
    }
}

/// The frames of a program, before there is memory for them: what is shown, by which kernels, and with what to measure them.
///
/// [`Workload::open`] tries every backend with every display that it is left to choose from, lets these kernels run on scratch
/// memory of each, and keeps the pair whose frames are done first. No kernel runs on memory of the program's.
///
/// ```
/// use pixelferry::{CpuKernelExt as _, ImageDesc, KernelSource, PixelFormat, Scratch, SurfaceDesc, Workload};
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
/// let surface = SurfaceDesc::Image(ImageDesc::new(1920, 1080, PixelFormat::Rgba8));
/// let workload = Workload::new(surface).launch(&grey, [Scratch::F32(0.5)]);
/// # let workload = workload.backend(pixelferry::BackendChoice::Cpu).display(pixelferry::DisplayChoice::Memory);
/// let opened = workload.open()?;
/// println!("{}", opened.report);
/// let kernel = opened.backend.build(&grey)?;
/// # Ok::<(), pixelferry::Error>(())
/// ```
#[derive(Clone)]
pub struct Workload {
    pub(super) surface: SurfaceDesc,
    /// Kernels in their order, with the arguments where they were declared.
    pub(super) launches: Vec<(KernelSource, Option<Vec<Scratch>>)>,
    pub(super) backend: BackendChoice,
    pub(super) display: DisplayChoice,
    pub(super) given: Option<Rc<dyn Display>>,
    pub(super) policy: Policy,
    pub(super) budget: Duration,
}

impl Workload {
    /// Frames of this surface.
    pub fn new(surface: SurfaceDesc) -> Self {
        Self {
            surface,
            launches: Vec::new(),
            backend: BackendChoice::Auto,
            display: DisplayChoice::Auto,
            given: None,
            policy: Policy::default(),
            budget: BUDGET,
        }
    }

    /// A kernel that each frame launches, after those declared before, with arguments to measure it by.
    #[must_use]
    pub fn launch(mut self, kernel: &KernelSource, arguments: impl IntoIterator<Item = Scratch>) -> Self {
        self.launches.push((kernel.clone(), Some(arguments.into_iter().collect())));
        self
    }

    /// A kernel that each frame launches, whose arguments are not known: then nothing is measured, and the cost model decides.
    #[must_use]
    pub fn kernel(mut self, kernel: &KernelSource) -> Self {
        self.launches.push((kernel.clone(), None));
        self
    }

    /// Stays on this backend.
    #[must_use]
    pub fn backend(mut self, backend: BackendChoice) -> Self {
        self.backend = backend;
        self
    }

    /// Stays on this display.
    #[must_use]
    pub fn display(mut self, display: DisplayChoice) -> Self {
        self.display = display;
        self
    }

    /// Shows on this display, a window's or an engine's, whose context is current on this thread.
    #[must_use]
    pub fn shown_by(mut self, display: &Rc<dyn Display>) -> Self {
        self.given = Some(Rc::clone(display));
        self
    }

    /// How the path is chosen for each pair, and where what was found is kept.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Time for everything, 3 s where nothing is said: no pair is begun after it, and what was begun is ended. The first that
    /// works is opened in any case.
    #[must_use]
    pub fn budget(mut self, budget: Duration) -> Self {
        self.budget = budget;
        self
    }
}
