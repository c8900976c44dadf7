//! pixelferry: the paths `in-queue-*`, on every display that computes in its own queue.

use crate::{Subject, Work};
use measure::Screen;
use pixelferry::api::gl::{GlDisplay, HeadlessOptions};
use pixelferry::api::wgpu::WgpuDisplay;
use pixelferry::api::wgpu::{WgpuBackend, WgpuOptions};
use pixelferry::{
    Arg, ComputeBackend, ComputeMemory, Display, DrawOptions, Extent, ImageAccess, ImageDesc, Kernel, KernelSource,
    Link, LinkOptions, PathId, PixelFormat, Policy, SurfaceDesc, Target, Unwritten,
};
use pixelferry_gl::GlBackend;
use std::sync::Arc;

pub const KERNEL: &str = "
    @compute @workgroup_size(16, 16)
    fn ramp(@builtin(global_invocation_id) id: vec3<u32>) {
      let n = pf_arg_u32(0);
      pf_store(id.xy, unpack4x8unorm(((id.x + n) & 255u) | ((id.y & 255u) << 8u) | ((n & 255u) << 16u) | 0xff000000u));
    }";

/// Frames of a link, drawn to a texture.
struct Ours {
    work: Work,
    link: Link,
    kernel: Arc<dyn Kernel>,
    backend: Arc<dyn ComputeBackend>,
    alone: Box<dyn ComputeMemory>,
    screen: Screen,
    extent: Extent,
    /// How the last frame was shown.
    way: String,
}

/// Returns every row of this size, including those of wgpu written by hand.
pub fn subjects(width: u32, height: u32) -> Vec<Box<dyn Subject>> {
    let mut rows = Vec::new();
    for (api, found) in [("wgpu", on_wgpu(width, height)), ("OpenGL", on_gl(width, height))] {
        match found {
            Ok(found) => rows.extend(found),
            Err(error) => println!("SKIPPED pixelferry on {api}: {error}"),
        }
    }
    rows
}

fn on_wgpu(width: u32, height: u32) -> pixelferry::Result<Vec<Box<dyn Subject>>> {
    let display = WgpuDisplay::headless(WgpuOptions::default())?;
    let backend: Arc<dyn ComputeBackend> = Arc::new(WgpuBackend::on(display.shared_device())?);
    println!("pixelferry on {}, {}", display.device(), display.device().driver);
    let row = |work| {
        let screen = Screen::wgpu(&display, (width, height))?;
        Ours::open(work, &backend, display.clone(), screen, Extent::new(width, height))
    };
    let mut rows: Vec<_> = Work::ALL.into_iter().map(row).collect::<Result<_, _>>()?;
    rows.extend(crate::wgpu_by_hand::subjects(&display, width, height));
    Ok(rows)
}

fn on_gl(width: u32, height: u32) -> pixelferry::Result<Vec<Box<dyn Subject>>> {
    let display = GlDisplay::headless(HeadlessOptions::default())?;
    let backend: Arc<dyn ComputeBackend> = Arc::new(GlBackend::on(&display)?);
    println!("pixelferry on {}, {}", display.device(), display.device().driver);
    let row = |work| {
        let screen = Screen::gl(&display, (width, height))?;
        Ours::open(work, &backend, display.clone(), screen, Extent::new(width, height))
    };
    Work::ALL.into_iter().map(row).collect()
}

impl Ours {
    fn open(
        work: Work,
        backend: &Arc<dyn ComputeBackend>,
        display: Arc<dyn Display>,
        screen: Screen,
        extent: Extent,
    ) -> pixelferry::Result<Box<dyn Subject>> {
        let image = ImageDesc::new(extent.width, extent.height, PixelFormat::Rgba8).with_access(ImageAccess::Any);
        let path = if work == Work::Straight { PathId::IN_QUEUE_TEXTURE } else { PathId::IN_QUEUE_IN_PLACE };
        let policy = Policy::default().with_force(path);
        let desc = SurfaceDesc::Image(image.with_unwritten(Unwritten::Overwrite));
        let mut row = Self {
            work,
            link: Link::open(Arc::clone(backend), display, desc, LinkOptions::new(policy))?,
            kernel: backend.build(&KernelSource::new("ramp").wgsl(KERNEL))?,
            alone: backend.allocate(desc.byte_len()?)?,
            backend: Arc::clone(backend),
            screen,
            extent,
            way: String::new(),
        };
        row.compute(12);
        Ok(Box::new(row))
    }

    fn compute(&mut self, n: u32) {
        let Self { link, kernel, .. } = self;
        link.frame(|frame| frame.launch(kernel.as_ref(), &[Arg::U32(n)])).expect("a frame");
    }
}

impl Subject for Ours {
    fn name(&self) -> String {
        let api = match &self.screen {
            Screen::Wgpu(..) => "wgpu",
            Screen::Gl(..) => "OpenGL",
        };
        format!("pixelferry on {api}, {}", self.work.name())
    }

    fn begin(&mut self) {
        if let Screen::Gl(display, _) = &self.screen {
            display.make_current().expect("the context");
        }
    }

    fn frame(&mut self, n: u32) {
        match self.work {
            Work::Kernel => {
                let target = Target::image(self.alone.as_mut(), self.extent, PixelFormat::Rgba8).expect("a target");
                self.backend.launch(self.kernel.as_ref(), target, &[Arg::U32(n)]).expect("a launch");
            }
            Work::Straight | Work::Both(_) => {
                let Self { link, kernel, screen, extent, .. } = self;
                let options =
                    self.work.draws().map_or(DrawOptions::default(), |m| DrawOptions::default().with_manner(m));
                let size = (extent.width, extent.height);
                let way = screen.show(link, size, options, |frame| frame.launch(kernel.as_ref(), &[Arg::U32(n)]));
                self.way = way.expect("a frame").to_string();
            }
            Work::Draw(manner) => {
                let shown = self.link.shown().expect("a frame");
                let size = (self.extent.width, self.extent.height);
                self.screen.draw(&shown, size, DrawOptions::default().with_manner(manner)).expect("a draw");
            }
        }
    }

    fn finish(&mut self) {
        self.screen.finish().expect("the device finishes");
    }

    fn pixels(&mut self) -> Option<Vec<u8>> {
        if !self.work.shows() {
            return None;
        }
        if self.work == Work::Straight {
            println!("{}: {}", self.name(), self.way);
        }
        Some(self.screen.pixels().expect("pixels"))
    }
}
