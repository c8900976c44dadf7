//! What the benchmarks time: one frame handed from compute to display, by the framework, by the same driver calls
//! written by hand, and the memcpy of one frame as the floor.

mod by_hand;
mod framework;

pub use by_hand::ByHand;
pub use framework::Framework;

use pixelferry::gl_display::{GlDisplay, HeadlessOptions};
use pixelferry::{ComputeBackend, CpuBackend, PathId, opencl_backend};
use std::hint::black_box;
use std::rc::Rc;
use std::sync::Arc;

/// Frame sizes.
pub const SIZES: [(&str, u32, u32); 2] = [("1080p", 1920, 1080), ("4K", 3840, 2160)];

/// Something that passes one frame on.
pub trait Subject {
    fn frame(&mut self);
}

/// The floor: one frame copied once, by one thread.
pub struct Memcpy {
    from: Vec<u8>,
    to: Vec<u8>,
}

impl Memcpy {
    pub fn new(width: u32, height: u32) -> Self {
        let bytes = width as usize * height as usize * 4;
        Self { from: vec![7; bytes], to: vec![9; bytes] }
    }
}

impl Subject for Memcpy {
    fn frame(&mut self) {
        self.to.copy_from_slice(black_box(&self.from));
        black_box(&mut self.to);
    }
}

/// The machine's devices.
pub struct Machine {
    pub gl: Rc<GlDisplay>,
    pub opencl: Option<Arc<dyn ComputeBackend>>,
    pub cpu: Arc<dyn ComputeBackend>,
}

impl Machine {
    pub fn open() -> Self {
        let gl = GlDisplay::headless(HeadlessOptions::default()).expect("the benchmark needs OpenGL");
        let opencl = match opencl_backend::OpenClBackend::open_best() {
            Ok(backend) => Some(Arc::new(backend) as Arc<dyn ComputeBackend>),
            Err(e) => {
                println!("SKIPPED OpenCL: {e}");
                None
            }
        };
        let cpu = Arc::new(CpuBackend::new().expect("threads"));
        Self { gl, opencl, cpu }
    }
}

/// One thing to time, with the name of its row and the by-hand subject of the same path.
pub struct Pair {
    pub backend: &'static str,
    pub path: PathId,
    pub framework: Framework,
    pub by_hand: Option<ByHand>,
}

/// Every path that works here at this size, for every backend.
pub fn pairs(machine: &Machine, width: u32, height: u32, with_kernel: bool) -> Vec<Pair> {
    let mut pairs = Vec::new();
    let backends = [("OpenCL", machine.opencl.as_ref()), ("CPU", Some(&machine.cpu))];
    for (name, backend) in backends.into_iter().filter_map(|(n, b)| Some((n, b?))) {
        for path in PathId::ALL {
            match Framework::open(backend, &machine.gl, path, width, height, with_kernel) {
                Ok(framework) => {
                    let by_hand = (name == "OpenCL")
                        .then(|| ByHand::open(machine.gl.gl().clone(), path, width, height, with_kernel));
                    pairs.push(Pair { backend: name, path, framework, by_hand });
                }
                Err(e) => println!("SKIPPED {name} {path}: {e}"),
            }
        }
    }
    pairs
}
