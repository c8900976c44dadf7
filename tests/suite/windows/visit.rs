//! The life of a window: a few sizes, a few frames of each by another path, and a look at the screen.

use super::canvas::Canvas;
use pixelferry::{
    Arg, ComputeBackend, CpuBackend, Display, Extent, ImageAccess, ImageDesc, Kernel, Link, LinkOptions, Manner,
    PathId, PixelFormat, Policy, SurfaceDesc,
};
use pixelferry_tests::{Patience, Rgb, Viewer, ramp, ramp_pixel};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Sizes of every window, in turn.
pub const SIZES: [Extent; 3] = [Extent::new(160, 120), Extent::new(208, 88), Extent::new(112, 136)];

const FRAMES_PER_SIZE: u32 = 2;

/// Tools that last as long as the process.
pub struct Tools {
    pub viewer: Viewer,
    backend: Arc<dyn ComputeBackend>,
    kernel: Arc<dyn Kernel>,
    /// Manner in which each draw must be done, if the environment says so.
    manner: Option<Manner>,
    /// Those that the first window could be shown by.
    paths: OnceLock<Vec<PathId>>,
}

impl Tools {
    pub fn new(viewer: Viewer) -> Self {
        let backend = Arc::new(CpuBackend::new().unwrap());
        let kernel = backend.build(&ramp()).unwrap();
        let manner = std::env::var(Manner::VARIABLE).ok().map(|name| name.parse().unwrap());
        Self { viewer, backend, kernel, manner, paths: OnceLock::new() }
    }

    fn link(&self, display: &Arc<dyn Display>, size: Extent, path: PathId) -> pixelferry::Result<Link> {
        let options = LinkOptions::new(Policy::default().with_force(path));
        Link::open(Arc::clone(&self.backend), Arc::clone(display), desc(size), options)
    }

    fn paths(&self, display: &Arc<dyn Display>) -> &[PathId] {
        self.paths.get_or_init(|| {
            let opens = |path: &PathId| self.link(display, SIZES[0], *path).is_ok();
            let paths = PathId::ALL.into_iter().filter(opens).collect();
            println!("{}: {paths:?}", display.device());
            paths
        })
    }

    /// Waits until the screen shows frame `n` there.
    fn await_frame(&self, at: (i16, i16), size: Extent, n: u32) {
        let (width, height) = (size.width, size.height);
        let pixels = (0..width * height).map(|i| ramp_pixel(i % width, i / width, n));
        let expected: Vec<Rgb> = pixels.map(|[r, g, b, _]| [r, g, b]).collect();
        let mut patience = Patience::new();
        loop {
            let shown = self.viewer.pixels(at, (width as u16, height as u16)).unwrap();
            if shown == expected {
                return;
            }
            if patience.is_over() {
                let wrong = shown.iter().zip(&expected).filter(|(a, b)| a != b).count();
                panic!("{wrong} of {} pixels on the screen are not of frame {n}", expected.len());
            }
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

fn desc(size: Extent) -> SurfaceDesc {
    let image = ImageDesc::new(size.width, size.height, PixelFormat::Rgba8);
    SurfaceDesc::Image(image.with_access(ImageAccess::Any))
}

/// An open window. Fields are dropped in this order.
pub struct Visit {
    link: Option<Link>,
    canvas: Box<dyn Canvas>,
    tools: Arc<Tools>,
    /// Its place on the screen.
    at: (i16, i16),
    number: usize,
    /// Number of sizes that it had.
    turn: usize,
}

impl Visit {
    /// `number` says which paths it begins with, and which frames are its own.
    pub fn new(canvas: Box<dyn Canvas>, tools: Arc<Tools>, at: (i16, i16), number: usize) -> Self {
        Self { link: None, canvas, tools, at, number, turn: 0 }
    }

    /// To be called with every size that the window gets. False once it had them all and may go.
    pub fn sized(&mut self, size: Extent) -> bool {
        // An earlier size may be reported again.
        if SIZES.get(self.turn) != Some(&size) {
            return self.turn < SIZES.len();
        }
        self.canvas.resize(size);
        let link = match self.link.take().filter(|_| self.turn == 1) {
            Some(mut link) => {
                link.resize(desc(size)).unwrap();
                self.link.insert(link)
            }
            None => {
                let display = self.canvas.display();
                let paths = self.tools.paths(&display);
                let path = paths[(self.number + self.turn) % paths.len()];
                self.link.insert(self.tools.link(&display, size, path).unwrap())
            }
        };
        let first = (self.number * SIZES.len() + self.turn) as u32 * FRAMES_PER_SIZE;
        for n in first..first + FRAMES_PER_SIZE {
            link.frame(|frame| frame.launch(self.tools.kernel.as_ref(), &[Arg::U32(n)])).unwrap();
            self.canvas.show(link, size);
            let drawn = self.canvas.display().drawn().unwrap();
            assert!(self.tools.manner.is_none_or(|manner| drawn.manner == manner), "{drawn}");
        }
        self.tools.await_frame(self.at, size, first + FRAMES_PER_SIZE - 1);
        self.turn += 1;
        let Some(next) = SIZES.get(self.turn) else { return false };
        // X11 answers by an event.
        let _ = self.canvas.window().request_inner_size(winit_size(*next));
        true
    }
}

/// `size` in winit's type.
pub fn winit_size(size: Extent) -> pixelferry::api::gl::winit::dpi::PhysicalSize<u32> {
    pixelferry::api::gl::winit::dpi::PhysicalSize::new(size.width, size.height)
}
