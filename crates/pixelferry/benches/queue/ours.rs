//! pixelferry: the paths `in-queue-*`, on every display that computes in its own queue.

use crate::{Subject, Work};
use pixelferry::wgpu_backend::{WgpuBackend, WgpuOptions};
use pixelferry::wgpu_display::{self, WgpuDisplay};
use pixelferry::{
    Arg, ComputeBackend, ComputeMemory, Display, DrawOptions, Extent, ImageAccess, ImageDesc, Kernel, KernelSource,
    Link, LinkOptions, PathId, PixelFormat, Policy, SurfaceDesc, Target, Unwritten,
};
use std::rc::Rc;
use std::sync::Arc;

const KERNEL: &str = "
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
    display: Rc<WgpuDisplay>,
    target: wgpu_display::OffscreenTarget,
    extent: Extent,
}

/// Every row of this size.
pub fn subjects(width: u32, height: u32) -> Vec<Box<dyn Subject>> {
    let display = match WgpuDisplay::headless(WgpuOptions::default()) {
        Ok(display) => display,
        Err(error) => {
            println!("SKIPPED pixelferry on wgpu: {error}");
            return Vec::new();
        }
    };
    let backend: Arc<dyn ComputeBackend> = match WgpuBackend::on(display.shared_device()) {
        Ok(backend) => Arc::new(backend),
        Err(error) => {
            println!("SKIPPED pixelferry on wgpu: {error}");
            return Vec::new();
        }
    };
    println!("pixelferry on {}, {}", display.device(), display.device().driver);
    let row = |work| -> Box<dyn Subject> {
        let image = ImageDesc::new(width, height, PixelFormat::Rgba8).with_access(ImageAccess::Any);
        let policy = Policy { force: Some(PathId::IN_QUEUE_IN_PLACE), ..Policy::default() };
        let desc = SurfaceDesc::Image(image.with_unwritten(Unwritten::Overwrite));
        let screen = Rc::clone(&display) as Rc<dyn Display>;
        let link = Link::open(Arc::clone(&backend), screen, desc, LinkOptions { policy }).expect("a link");
        let mut row = Ours {
            work,
            link,
            kernel: backend.build(&KernelSource::new("ramp").wgsl(KERNEL)).expect("a kernel"),
            alone: backend.allocate((width * height * 4) as usize).expect("memory"),
            backend: Arc::clone(&backend),
            target: display.create_offscreen_target(width, height).expect("a target"),
            display: Rc::clone(&display),
            extent: Extent::new(width, height),
        };
        row.compute(12);
        Box::new(row)
    };
    Work::ALL.into_iter().map(row).collect()
}

impl Ours {
    fn compute(&mut self, n: u32) {
        let Self { link, kernel, .. } = self;
        link.frame(|frame| frame.launch(kernel.as_ref(), &[Arg::U32(n)])).expect("a frame");
    }
}

impl Subject for Ours {
    fn name(&self) -> String {
        format!("pixelferry on wgpu, {}", self.work.name())
    }

    fn frame(&mut self, n: u32) {
        match self.work {
            Work::Kernel => {
                let target = Target::image(self.alone.as_mut(), self.extent, PixelFormat::Rgba8).expect("a target");
                self.backend.launch(self.kernel.as_ref(), target, &[Arg::U32(n)]).expect("a launch");
            }
            Work::Both(_) => self.compute(n),
            Work::Draw(_) => {}
        }
        if let Some(manner) = self.work.draws() {
            let shown = self.link.shown().expect("a frame");
            let options = DrawOptions { manner: Some(manner), ..DrawOptions::default() };
            let viewport = wgpu_display::Viewport::full(self.extent.width, self.extent.height);
            let (view, format) = (self.target.view(), self.target.texture().format());
            self.display.draw_to(shown.surface(), view, format, None, viewport, options).expect("a draw");
        }
    }

    fn finish(&mut self) {
        self.display.finish().expect("the device finishes");
    }

    fn pixels(&mut self) -> Option<Vec<u8>> {
        self.work.draws().map(|_| self.target.read_rgba8().expect("pixels"))
    }
}
