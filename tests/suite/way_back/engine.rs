//! An engine of any API, and what kernels see of what it rendered.

use pixelferry::{
    ComputeBackend, CpuKernelExt as _, Display, Error, ImageDesc, Intake, KernelSource, Link, LinkOptions,
    MemoryDisplay, PathId, PixelFormat, Surface, SurfaceDesc,
};
use std::collections::BTreeSet;
use std::sync::Arc;

pub const WIDTH: i32 = 37;
pub const HEIGHT: i32 = 11;
pub const BYTES: u64 = 1000;

/// Returns what was rendered, with red, green and blue turned round.
fn negative() -> KernelSource {
    let opencl = "kernel void negative(PF_IMAGE(uchar4, out), global const uchar4 *scene) {
           uint x = get_global_id(0), y = get_global_id(1);
           if (x >= out_width || y >= out_height) return;
           uchar4 c = scene[y * out_width + x];
           PF_STORE(out, x, y, (uchar4)(255 - c.x, 255 - c.y, 255 - c.z, c.w));
         }";
    let cuda = "__global__ void negative(PF_IMAGE(uchar4, out), const uchar4 *scene) {
           unsigned x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
           if (x >= out_width || y >= out_height) return;
           uchar4 c = scene[y * out_width + x];
           PF_STORE(out, x, y, make_uchar4(255 - c.x, 255 - c.y, 255 - c.z, c.w));
         }";
    let wgsl = "@group(1) @binding(0) var<storage, read> scene: array<u32>;
         @compute @workgroup_size(8, 8)
         fn negative(@builtin(global_invocation_id) id: vec3<u32>) {
           let size = pf_size();
           if (id.x >= size.x || id.y >= size.y) { return; }
           let c = unpack4x8unorm(scene[id.y * size.x + id.x]);
           pf_store(id.xy, vec4<f32>(1.0 - c.xyz, c.w));
         }";
    // SAFETY: both write pixels below the width and height only, and read as many of the scene.
    unsafe { KernelSource::new("negative").opencl_c(opencl).cuda_cpp(cuda) }.wgsl(wgsl).cpu_image(|out, args| {
        let (scene, width) = (args.memory::<[u8; 4]>(0)?, out.width());
        out.par_pixels(|x, y| {
            let [r, g, b, a] = scene[(y * width + x) as usize];
            [255 - r, 255 - g, 255 - b, a]
        })
    })
}

/// An engine: a texture and a buffer of its own, [`WIDTH`] by [`HEIGHT`] pixels of RGBA8, and [`BYTES`] and more bytes.
pub trait Engine {
    fn display(&self) -> Arc<dyn Display>;

    /// Lets a frame of the engine's be in its texture. Its rows, in the display's order.
    fn render(&self, n: u32) -> Vec<u8>;

    /// Lets bytes be in its buffer.
    fn fill(&self, n: u8) -> Vec<u8>;

    /// The texture as a surface.
    fn image(&self) -> Surface;

    /// The buffer as a surface.
    fn bytes(&self) -> Surface;

    /// Returns what the engine reads of its texture.
    fn pixels(&self) -> Vec<u8>;

    /// Returns what it reads of the first bytes of its buffer.
    fn contents(&self) -> Vec<u8>;

    /// Checks that the engine's named object stays its own.
    fn check_is_there(&self) {}
}

/// Colours of a frame of the engine's: a background, and a square that moves.
pub struct Scene {
    pub background: [u8; 4],
    pub square: [u8; 4],
    /// Left, first row, width, height.
    pub at: [i32; 4],
}

impl Scene {
    pub fn new(n: u32) -> Self {
        Self { background: [0, 51, 0, 255], square: [255, 102, n as u8 * 17, 255], at: [3 + n as i32, 2, 5, 4] }
    }

    pub fn rows(&self) -> Vec<u8> {
        let [x, y, width, height] = self.at;
        let inside = |column: i32, row: i32| (x..x + width).contains(&column) && (y..y + height).contains(&row);
        (0..HEIGHT)
            .flat_map(|row| (0..WIDTH).map(move |column| (column, row)))
            .flat_map(|(column, row)| if inside(column, row) { self.square } else { self.background })
            .collect()
    }
}

/// Bytes that a frame of the engine's leaves in its buffer.
pub fn filling(n: u8) -> Vec<u8> {
    (0..BYTES).map(|at| (at as u8).wrapping_mul(3).wrapping_add(n)).collect()
}

/// One path, or the one that is chosen.
fn open(backend: &Arc<dyn ComputeBackend>, engine: &dyn Engine, source: Surface, by: Option<PathId>) -> Option<Intake> {
    let (backend, display) = (Arc::clone(backend), engine.display());
    match by {
        None => Some(Intake::open(backend, display, source).unwrap()),
        Some(path) => match Intake::open_by(backend, display, source, path) {
            Ok(intake) => Some(intake),
            Err(Error::Unavailable { reason, .. }) => {
                println!("{path} is not offered: {reason}");
                None
            }
            Err(other) => panic!("{path}: {other}"),
        },
    }
}

/// These paths between the two, and the one that is chosen; panics where one brings other bytes. The paths that brought the right ones.
pub fn check(backend: &Arc<dyn ComputeBackend>, engine: &dyn Engine, paths: &[PathId]) -> BTreeSet<&'static str> {
    let kernel = backend.build(&negative()).unwrap();
    let shown: [Arc<dyn Display>; 2] = [engine.display(), MemoryDisplay::new()];
    let mut ran = BTreeSet::new();
    for by in paths.iter().copied().map(Some).chain([None]) {
        engine.render(9);
        let Some(mut scene) = open(backend, engine, engine.image(), by) else { continue };
        let image = ImageDesc::new(WIDTH as u32, HEIGHT as u32, PixelFormat::Rgba8);
        let desc = SurfaceDesc::Image(image.with_row_order(engine.display().caps().native_row_order));
        for to in &shown {
            let mut link = Link::open(Arc::clone(backend), Arc::clone(to), desc, LinkOptions::default()).unwrap();
            for n in 0..4 {
                let mut expected = engine.render(n);
                let input = scene.take().unwrap();
                link.frame(|next| next.launch(kernel.as_ref(), &[input.arg()])).unwrap();
                drop(input);
                // The engine goes on at once.
                engine.render(n + 5);
                for pixel in expected.chunks_exact_mut(4) {
                    pixel[..3].iter_mut().for_each(|c| *c = 255 - *c);
                }
                assert!(link.read_back().unwrap() == expected, "{} to {}, frame {n}", scene.path(), to.device());
            }
        }
        engine.fill(0);
        if by == Some(PathId::IN_QUEUE_TEXTURE) {
            // A buffer is no texture.
            ran.insert(scene.path().name());
            continue;
        }
        let Some(mut vertices) = open(backend, engine, engine.bytes(), by) else { panic!("{by:?} of a buffer") };
        for n in 0..4 {
            let expected = engine.fill(n);
            assert!(vertices.take().unwrap().read().unwrap() == expected, "{}, bytes, frame {n}", vertices.path());
        }
        println!("TAKEN BY {} to {}", scene.path(), backend.device());
        if by.is_none() {
            scene.rows().iter().for_each(|row| println!("  {row}"));
            assert!(scene.rows().iter().any(|row| row.path == scene.path() && row.found.is_ok()));
        }
        ran.insert(scene.path().name());
    }
    engine.check_is_there();
    ran
}
