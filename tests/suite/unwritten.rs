//! Kernels that write only some pixels of a frame: what the others are where a link changes its path, its rule or its size.
//! `interop_core::conformance` tries each rule on each path.

use pixelferry::api::wgpu::wgpu;
use pixelferry::{
    Arg, ComputeBackend, CpuKernelExt as _, Display, DisplayChoice, ImageAccess, ImageDesc, Kernel, KernelSource, Link,
    LinkOptions, MemoryDisplay, Mode, PixelFormat, Policy, Profiles, RowOrder, SurfaceDesc, Unwritten, WriteFrame,
    open_headless,
};
use pixelferry_tests::faults::{BackendDouble, DisplayDouble, Fault, Faults, Step};
use pixelferry_tests::{Level, Need, few, level, need, offered, on_each_backend};
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

const WIDTH: u32 = 37;
const HEIGHT: u32 = 11;

/// Stores columns `first` to `end` of a frame, nothing else.
fn columns() -> KernelSource {
    let opencl = "kernel void columns(PF_IMAGE(uchar4, out), uint first, uint end, uint n) {
           uint x = get_global_id(0), y = get_global_id(1);
           if (x < out_width && y < out_height && x >= first && x < end) PF_STORE(out, x, y, (uchar4)(n, x, y, 255));
         }";
    let cuda = "__global__ void columns(PF_IMAGE(uchar4, out), unsigned first, unsigned end, unsigned n) {
           unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
           if (x < out_width && y < out_height && x >= first && x < end)
             PF_STORE(out, x, y, make_uchar4(n, x, y, 255));
         }";
    // SAFETY: both write pixels below the width and height only, and take numbers.
    unsafe { KernelSource::new("columns").opencl_c(opencl).cuda_cpp(cuda) }.cpu_image(|out, args| {
        let (first, end, n) = (args.u32(0)?, args.u32(1)?, args.u32(2)?);
        out.par_rows::<[u8; 4]>(|y, row| (first..end).for_each(|x| row[x as usize] = pixel(x, y, n)))
    })
}

const fn pixel(x: u32, y: u32, n: u32) -> [u8; 4] {
    [n as u8, x as u8, y as u8, 255]
}

/// A backend with the kernel.
type Compute = (Arc<dyn ComputeBackend>, Arc<dyn Kernel>);

/// A link, and the pictures that its frames came to.
struct Run {
    link: Link,
    kernel: Arc<dyn Kernel>,
    pictures: Vec<Vec<u8>>,
    /// The oldest that may be on show.
    floor: usize,
    what: String,
}

fn launch(kernel: &dyn Kernel, frame: &mut WriteFrame<'_>, columns: &Range<u32>, n: u32) -> pixelferry::Result<()> {
    frame.launch(kernel, &[Arg::U32(columns.start), Arg::U32(columns.end), Arg::U32(n)])
}

impl Run {
    fn new((backend, kernel): &Compute, link: Link) -> Self {
        let what = format!("{} to {} by {}", backend.device(), link.display().device(), link.path());
        let zero = vec![0; (WIDTH * HEIGHT * 4) as usize];
        Self { link, kernel: Arc::clone(kernel), pictures: vec![zero], floor: 0, what }
    }

    /// A frame of the whole surface, of which only some columns are written.
    fn frame(&mut self, columns: Range<u32>, n: u32) {
        let was = self.link.path();
        let shown = self.on_show();
        let kernel = Arc::clone(&self.kernel);
        self.link.frame(|frame| launch(kernel.as_ref(), frame, &columns, n)).unwrap();
        self.wrote(&columns, n);
        if self.pictures.len() == 2 || self.link.path() != was {
            // The first frame of a path is shown at once.
            self.floor = self.pictures.len() - 1;
        }
        self.check(&format!("after {n} in columns {columns:?}, where picture {shown} was on show"));
    }

    /// The first after something changed that the path's name does not tell: shown at once.
    fn first_frame(&mut self, columns: Range<u32>, n: u32) {
        let kernel = Arc::clone(&self.kernel);
        self.link.frame(|frame| launch(kernel.as_ref(), frame, &columns, n)).unwrap();
        self.wrote(&columns, n);
        self.floor = self.pictures.len() - 1;
        self.check(&format!("after {n} in columns {columns:?}, the first frame"));
    }

    /// One more picture: that before it with these columns written.
    fn wrote(&mut self, columns: &Range<u32>, n: u32) {
        let mut picture = self.pictures.last().unwrap().clone();
        for (i, bytes) in picture.chunks_exact_mut(4).enumerate() {
            let (x, y) = (i as u32 % WIDTH, i as u32 / WIDTH);
            if columns.contains(&x) {
                bytes.copy_from_slice(&pixel(x, y, n));
            }
        }
        self.pictures.push(picture);
    }

    /// Returns the index of the picture that must be on show.
    fn on_show(&self) -> usize {
        let newest = self.pictures.len() - 1;
        newest.saturating_sub(self.link.frames_behind()).max(self.floor)
    }

    fn check(&mut self, when: &str) {
        let (expected, shown) = (&self.pictures[self.on_show()], self.link.read_back().unwrap());
        if let Some(at) = expected.chunks(4).zip(shown.chunks(4)).position(|(a, b)| a != b) {
            let (x, y) = (at as u32 % WIDTH, at as u32 / WIDTH);
            let (expected, shown) = (&expected[4 * at..4 * at + 4], &shown[4 * at..4 * at + 4]);
            panic!("{}, {when}: pixel ({x}, {y}) is {shown:?}, not {expected:?}", self.what);
        }
    }

    fn flush(&mut self) {
        self.link.flush().unwrap();
        self.floor = self.pictures.len() - 1;
        self.check("after a flush");
    }
}

fn policy(mode: Mode) -> Policy {
    Policy::default().with_mode(mode).with_budget(Duration::ZERO).with_profiles(Profiles::Off)
}

fn modes() -> &'static [Mode] {
    few(&[Mode::Latency, Mode::FramesBehind(1), Mode::FramesBehind(2), Mode::FramesBehind(3)], 2)
}

/// Every surface in every mode; at the shortest level each once.
fn runs() -> impl Iterator<Item = (Mode, SurfaceDesc)> {
    let all = modes().iter().enumerate().flat_map(|(n, mode)| (0..).zip(surfaces()).map(move |run| (n, *mode, run)));
    all.filter(|(n, _, (at, _))| level() > Level::Short || n == at).map(|(_, mode, (_, desc))| (mode, desc))
}

/// Without a word of what unwritten pixels are: they are kept.
fn surfaces() -> [SurfaceDesc; 2] {
    let image = ImageDesc::new(WIDTH, HEIGHT, PixelFormat::Rgba8);
    assert_eq!(image.unwritten, Unwritten::Keep);
    [image, image.with_access(ImageAccess::Any).with_row_order(RowOrder::BottomUp)].map(SurfaceDesc::Image)
}

/// Another path, or another rule for the same surface, goes on from the picture on show; another size from zero.
fn goes_on(compute: &Compute, display: &Rc<dyn Display>) {
    for (mode, desc) in runs() {
        let options = LinkOptions::new(policy(mode));
        let desc = desc.with_unwritten(Unwritten::Overwrite);
        let link = Link::open(Arc::clone(&compute.0), Rc::clone(display), desc, options).unwrap();
        let mut run = Run::new(compute, link);
        run.what += &format!(", {mode:?}");
        run.frame(0..WIDTH, 1);
        run.flush();
        run.link.resize(desc.with_unwritten(Unwritten::Keep)).unwrap();
        run.first_frame(2..3, 2);
        run.frame(4..5, 3);
        run.frame(6..7, 4);
        // Frames that are finished and not shown yet are kept, too.
        run.link.recalibrate().unwrap();
        run.first_frame(8..9, 5);
        run.frame(10..11, 6);
        let wider = SurfaceDesc::image(WIDTH + 1, HEIGHT, PixelFormat::Rgba8);
        run.link.resize(wider).unwrap();
        run.link.frame(|_| Ok(())).unwrap();
        assert_eq!(run.link.read_back().unwrap(), vec![0; wider.byte_len().unwrap()], "{}", run.what);
    }
}

/// A call fails in mid-stream, and the frame is done again on another path, so often; how many paths were left.
fn left_paths((backend, kernel): &Compute, display: &Rc<dyn Display>, times: u32) -> usize {
    let mut left = 0;
    for mode in modes().iter().copied() {
        let faults = Faults::default();
        let backend: Arc<dyn ComputeBackend> = BackendDouble::over(Arc::clone(backend), &faults);
        let display: Rc<dyn Display> = DisplayDouble::over(Rc::clone(display), &faults);
        let desc = surfaces()[1];
        let link = Link::open(Arc::clone(&backend), display, desc, LinkOptions::new(policy(mode))).unwrap();
        let mut run = Run::new(&(backend, Arc::clone(kernel)), link);
        run.what += &format!(" at first, {mode:?}, with faults injected");
        run.frame(0..WIDTH, 1);
        for n in 1..=times {
            for column in 0..5 {
                run.frame(column..column + 1, 10 * n + column);
            }
            // The kernel has run when this is reported.
            faults.arm(Fault::once(Step::Launch));
            run.frame(10 + n..11 + n, n);
            assert!(faults.fired() > 0);
            faults.disarm();
        }
        left += run.link.demoted().len();
    }
    left
}

fn check(backend: &Arc<dyn ComputeBackend>) {
    let gl = need(Need::Egl, open_headless(DisplayChoice::Gl)).map(|display| display.display());
    let options = pixelferry::api::wgpu::WgpuOptions::default().with_backends(wgpu::Backends::VULKAN);
    let vulkan = need(Need::Lavapipe, pixelferry::api::wgpu::WgpuDisplay::headless(options));
    let vulkan = vulkan.map(|display| display as Rc<dyn Display>);
    let memory = Some(MemoryDisplay::new() as Rc<dyn Display>);
    let compute = (Arc::clone(backend), backend.build(&columns()).unwrap());
    for display in [gl, vulkan, memory].into_iter().flatten() {
        goes_on(&compute, &display);
        let paths = offered(backend, &display, &surfaces()[1]).len();
        // The last one has nobody behind it.
        let times = paths.saturating_sub(1).min(4);
        let left = left_paths(&compute, &display, times as u32);
        println!("RAN ON {} to {}: {left} paths left", backend.device(), display.device());
        assert!(times > 0 && left == times * modes().len(), "{paths} paths, {left} paths left");
    }
}

on_each_backend!(check, "RAN ON");
