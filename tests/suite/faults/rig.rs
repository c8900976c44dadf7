//! The two doubles, a kernel, and who listens to the log.

use pixelferry::{
    Arg, ComputeBackend, CpuKernelExt, Display, Extent, ImageAccess, ImageDesc, Kernel, KernelSource, Link, LinkCore,
    LinkOptions, Mode, PixelFormat, Policy, Profiles, Region, Result, RowOrder, SurfaceDesc, SyncKind, Target, View,
    WriteFrame,
};
use pixelferry_tests::sharing::{self, Faults};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};

pub struct Rig {
    pub faults: Faults,
    pub backend: Arc<dyn ComputeBackend>,
    pub display: Arc<dyn Display>,
    pub kernel: Arc<dyn Kernel>,
}

impl Rig {
    pub fn new() -> Self {
        let faults = Faults::default();
        let backend = sharing::backend(&faults);
        let kernel = backend.build(&source()).unwrap();
        let display = sharing::display(&faults);
        Self { faults, backend, display, kernel }
    }

    /// A link to a display of its own, with which nothing was proved before.
    pub fn open(&self, desc: SurfaceDesc, policy: Policy) -> Result<Link> {
        self.open_on(&sharing::display(&self.faults), desc, policy)
    }

    pub fn open_on(&self, display: &Arc<dyn Display>, desc: SurfaceDesc, policy: Policy) -> Result<Link> {
        Link::open(Arc::clone(&self.backend), Arc::clone(display), desc, LinkOptions::new(policy))
    }

    /// Lets the kernel write frame `n`.
    pub fn compute(&self, frame: &mut WriteFrame<'_>, n: u32) -> Result<()> {
        frame.launch(self.kernel.as_ref(), &[Arg::U32(n)])
    }

    /// Lets the kernel write frame `n` into a part of the whole surface that the frame was begun for.
    pub fn compute_inside(&self, frame: &mut WriteFrame<'_>, part: Region, n: u32) -> Result<()> {
        let (memory, view) = frame.target()?.into_parts();
        let View::Image(mut view) = view else { panic!("the surface is no image") };
        view.offset = view.row_start(part.y) + part.x as usize * view.format.bytes_per_pixel();
        view.extent = part.extent();
        self.backend.launch(self.kernel.as_ref(), Target::new(memory, View::Image(view))?, &[Arg::U32(n)])
    }

    /// Returns what is on show, read with no fault in the way.
    pub fn shown(&self, link: &mut LinkCore) -> Result<Vec<u8>> {
        self.faults.paused(|| link.read_back())
    }
}

/// The static order, nothing remembered.
pub fn policy(mode: Mode, sync: Option<SyncKind>) -> Policy {
    Policy::default().with_budget(Duration::ZERO).with_profiles(Profiles::Off).with_mode(mode).with_sync(sync)
}

/// Rows the other way round than the display keeps them.
pub const fn image(width: u32, height: u32) -> ImageDesc {
    ImageDesc::new(width, height, PixelFormat::Rgba8).with_access(ImageAccess::Any).with_row_order(RowOrder::BottomUp)
}

fn pixel(x: u32, y: u32, n: u32) -> [u8; 4] {
    [(x * 5 + n * 3) as u8, (y ^ n) as u8, n as u8, 255]
}

fn source() -> KernelSource {
    KernelSource::new("numbered").cpu_image(|out, args| {
        let n = args.u32(0)?;
        out.par_pixels(|x, y| pixel(x, y, n))
    })
}

/// Puts frame `n` into `region` of the tight rows of a whole picture.
pub fn paint(picture: &mut [u8], extent: Extent, region: Region, n: u32) {
    for y in 0..region.height {
        for x in 0..region.width {
            let at = 4 * ((region.y + y) as usize * extent.width as usize + (region.x + x) as usize);
            picture[at..at + 4].copy_from_slice(&pixel(x, y, n));
        }
    }
}

/// Counts the warnings that say that a path was left.
#[derive(Clone, Default)]
pub struct Log(Arc<AtomicUsize>);

impl Log {
    pub fn left(&self) -> usize {
        self.0.load(Ordering::SeqCst)
    }
}

struct Message(bool);

impl Visit for Message {
    fn record_debug(&mut self, field: &Field, value: &dyn std::fmt::Debug) {
        self.0 |= field.name() == "message" && format!("{value:?}") == "a path failed and was replaced";
    }
}

impl tracing::Subscriber for Log {
    fn enabled(&self, metadata: &tracing::Metadata<'_>) -> bool {
        *metadata.level() <= tracing::Level::WARN
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &tracing::Event<'_>) {
        let mut message = Message(false);
        event.record(&mut message);
        self.0.fetch_add(usize::from(message.0), Ordering::SeqCst);
    }

    fn enter(&self, _: &Id) {}

    fn exit(&self, _: &Id) {}
}
