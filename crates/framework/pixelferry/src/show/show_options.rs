//! A kernel to show: its options, its link, and a picture instead of a window.

use crate::report::{PairReport, PairState};
use crate::{BackendChoice, LinkBuilder, OpenedLink, SaveError, save_picture_with};
use interop_core::{Arg, DrawOptions, Error, Extent, KernelSource, LinkCore, PixelFormat, Result, SurfaceDesc};
use std::io::Write as _;
use std::path::PathBuf;

/// Returns the arguments of a frame for its time.
type Arguments = Box<dyn FnMut(f32) -> Vec<Arg<'static>>>;

/// A kernel to show, with options; see [`crate::show`].
///
/// ```no_run
/// use pixelferry::prelude::*;
///
/// let grey = KernelSource::new("grey").wgsl(
///     "@compute @workgroup_size(16, 16)
///      fn grey(@builtin(global_invocation_id) id: vec3<u32>) {
///        pf_store(id.xy, vec4(vec3(fract(pf_arg_f32(0))), 1.0));
///      }",
/// );
/// Show::new(grey).size(640, 480).title("Grey").arguments(|time| [Arg::F32(time)]).run()?;
/// # Ok::<(), pixelferry::Error>(())
/// ```
#[must_use = "nothing is shown before run()"]
pub struct Show {
    kernel: KernelSource,
    pub(super) size: Extent,
    format: PixelFormat,
    pub(super) title: String,
    pub(super) arguments: Arguments,
    pub(super) draw: DrawOptions,
    backend: BackendChoice,
    pub(super) frames: Option<u64>,
    picture: PathBuf,
}

impl From<KernelSource> for Show {
    fn from(kernel: KernelSource) -> Self {
        Self::new(kernel)
    }
}

/// Time in seconds of the frame that is saved where there is no window; at 0 many animations are blank.
const STILL: f32 = 1.0;

impl Show {
    /// Shows frames of 1280x720 RGBA8 pixels; the kernel gets no arguments.
    pub fn new(kernel: KernelSource) -> Self {
        Self {
            size: Extent::new(1280, 720),
            format: PixelFormat::Rgba8,
            title: kernel.name().to_owned(),
            arguments: Box::new(|_| Vec::new()),
            draw: DrawOptions::default().with_background([0.1; 3]),
            backend: BackendChoice::Auto,
            frames: None,
            picture: PathBuf::from(format!("{}.png", kernel.name())),
            kernel,
        }
    }

    /// Sets the size of frames, and the initial size of the window, in pixels.
    pub fn size(mut self, width: u32, height: u32) -> Self {
        self.size = Extent::new(width, height);
        self
    }

    /// Sets the pixel format of frames.
    pub fn format(mut self, format: PixelFormat) -> Self {
        self.format = format;
        self
    }

    /// Sets the window's title; the default is the kernel's name.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.title = title.into();
        self
    }

    /// Sets the function that returns the kernel's arguments for each frame, by its time in seconds since the first
    /// one. Only numbers are supported; for memory use [`LinkBuilder`].
    pub fn arguments<A>(mut self, mut of: impl FnMut(f32) -> A + 'static) -> Self
    where
        A: IntoIterator<Item = Arg<'static>>,
    {
        self.arguments = Box::new(move |time| of(time).into_iter().collect());
        self
    }

    /// Sets filter, exposure, tone map and background of draws. Zoom and window determine the fit.
    pub fn draw(mut self, options: DrawOptions) -> Self {
        self.draw = options;
        self
    }

    /// Sets the backend; the default is to choose the fastest.
    pub fn backend(mut self, backend: BackendChoice) -> Self {
        self.backend = backend;
        self
    }

    /// Ends after this many frames; by default when the window is closed.
    pub fn frames(mut self, frames: u64) -> Self {
        self.frames = Some(frames);
        self
    }

    /// Sets the file (`.png`, `.jpg`) of saved pictures; the default is the kernel's name with `.png` in the current
    /// folder.
    pub fn picture(mut self, file: impl Into<PathBuf>) -> Self {
        self.picture = file.into();
        self
    }

    /// Checks whether its picture can be saved, before anything is computed.
    pub(super) fn check(&self) -> Result<()> {
        crate::command::check_picture_file(&self.picture).map_err(unsaved)
    }

    /// Saves the picture that a link shows, and reports it.
    pub(super) fn save(&self, link: &mut LinkCore) -> Result<()> {
        save_picture_with(link, &self.picture, &self.draw).map_err(unsaved)?;
        tell(&format!("{} was saved", self.picture.display()));
        Ok(())
    }

    /// Creates the builder of the link, with the kernel's arguments for measurements.
    pub(super) fn builder(&mut self) -> Result<LinkBuilder> {
        let scratch = (self.arguments)(STILL).into_iter().map(|arg| {
            arg.with_memory(|_| {
                Err(Error::invalid(
                    "show",
                    "an argument is memory, but show takes only numbers; use LinkBuilder for memory",
                ))
            })
        });
        let scratch: Vec<_> = scratch.collect::<Result<_>>()?;
        let surface = SurfaceDesc::image(self.size.width, self.size.height, self.format);
        Ok(LinkBuilder::new(surface).launch(&self.kernel, scratch).backend(self.backend))
    }

    /// Saves one frame as a picture, and reports it.
    pub(super) fn still(mut self, why: &Error) -> Result<()> {
        let OpenedLink { kernels, mut link, report, .. } = self.builder()?.open()?;
        tell_of(&report);
        let kernel = kernels.first().ok_or_else(|| Error::invalid("show", "no kernel was built"))?;
        link.frame(|next| next.launch(kernel.as_ref(), &(self.arguments)(STILL)))?;
        tell(&why.to_string());
        self.save(&mut link)
    }
}

/// Writes a line to standard error; a failure is ignored.
pub(super) fn tell(text: &str) {
    let _ = writeln!(std::io::stderr(), "{text}");
}

/// Reports the devices that run the kernel, and its sources with mistakes.
pub(super) fn tell_of(report: &PairReport) {
    for row in &report.rows {
        match &row.state {
            PairState::Mistaken { reason } => tell(&format!("not on {}: {reason}", row.compute)),
            PairState::Chosen => tell(&format!("computed on {}, drawn on {}", row.compute, row.display)),
            _ => {}
        }
    }
}

fn unsaved(error: SaveError) -> Error {
    match error {
        SaveError::Frame(error) => error,
        other => Error::invalid("show", other.to_string()),
    }
}
