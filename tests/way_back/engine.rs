//! An engine in OpenGL, and what kernels see of what it rendered.

use pixelferry::gl_display::glow::{self, HasContext as _};
use pixelferry::gl_display::{EngineTexture, GlDisplay};
use pixelferry::{
    ComputeBackend, CpuKernelExt as _, Display, Error, Extent, ImageDesc, Intake, KernelSource, Link, LinkOptions,
    MemoryDisplay, PathId, PixelFormat, RowOrder, Surface, SurfaceDesc,
};
use std::collections::BTreeSet;
use std::rc::Rc;
use std::sync::Arc;

pub const WIDTH: i32 = 37;
pub const HEIGHT: i32 = 11;
pub const BYTES: u64 = 1000;

/// What was rendered, with red, green and blue turned round.
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
    // SAFETY: both write pixels below the width and height only, and read as many of the scene.
    unsafe { KernelSource::new("negative").opencl_c(opencl).cuda_cpp(cuda) }.cpu_image(|out, args| {
        let (scene, width) = (args.memory::<[u8; 4]>(0)?, out.width());
        out.par_pixels(|x, y| {
            let [r, g, b, a] = scene[(y * width + x) as usize];
            [255 - r, 255 - g, 255 - b, a]
        })
    })
}

/// The engine: a texture and a buffer of its own.
pub struct Engine {
    pub display: Rc<GlDisplay>,
    pub texture: glow::Texture,
    pub buffer: glow::Buffer,
}

impl Engine {
    pub fn new(display: Rc<GlDisplay>) -> Self {
        let gl = display.gl();
        // SAFETY: the display's context is current, here and below.
        let (texture, buffer) = unsafe {
            let texture = gl.create_texture().unwrap();
            gl.bind_texture(glow::TEXTURE_2D, Some(texture));
            gl.tex_storage_2d(glow::TEXTURE_2D, 1, glow::RGBA8, WIDTH, HEIGHT);
            let buffer = gl.create_buffer().unwrap();
            gl.bind_buffer(glow::ARRAY_BUFFER, Some(buffer));
            gl.buffer_data_size(glow::ARRAY_BUFFER, BYTES as i32 + 24, glow::DYNAMIC_DRAW);
            (texture, buffer)
        };
        Self { display, texture, buffer }
    }

    /// A frame of the engine's: a background, and a square that moves.
    pub fn render(&self, n: u32) -> Vec<u8> {
        let gl = self.display.gl();
        let (background, square) = ([0, 51, 0, 255], [255, 102, n as u8 * 17, 255]);
        let (x, y) = (3 + n as i32, 2);
        let float = |colour: [u8; 4]| colour.map(|c| f32::from(c) / 255.0);
        let clear = |[r, g, b, a]: [f32; 4]| {
            // SAFETY: as above.
            unsafe {
                gl.clear_color(r, g, b, a);
                gl.clear(glow::COLOR_BUFFER_BIT);
            }
        };
        // SAFETY: as above.
        unsafe {
            let framebuffer = gl.create_framebuffer().unwrap();
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
            let (to, at) = (glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0);
            gl.framebuffer_texture_2d(to, at, glow::TEXTURE_2D, Some(self.texture), 0);
            clear(float(background));
            gl.enable(glow::SCISSOR_TEST);
            gl.scissor(x, y, 5, 4);
            clear(float(square));
            gl.disable(glow::SCISSOR_TEST);
            gl.bind_framebuffer(glow::FRAMEBUFFER, None);
            gl.delete_framebuffer(framebuffer);
        }
        let inside = |column: i32, row: i32| (x..x + 5).contains(&column) && (y..y + 4).contains(&row);
        (0..HEIGHT)
            .flat_map(|row| (0..WIDTH).map(move |column| (column, row)))
            .flat_map(|(column, row)| if inside(column, row) { square } else { background })
            .collect()
    }

    /// Bytes that a frame of the engine's leaves in its buffer.
    fn fill(&self, n: u8) -> Vec<u8> {
        let bytes: Vec<u8> = (0..BYTES).map(|at| (at as u8).wrapping_mul(3).wrapping_add(n)).collect();
        let gl = self.display.gl();
        // SAFETY: as above; the buffer is larger.
        unsafe {
            gl.bind_buffer(glow::ARRAY_BUFFER, Some(self.buffer));
            gl.buffer_sub_data_u8_slice(glow::ARRAY_BUFFER, 0, &bytes);
        }
        bytes
    }

    pub fn image(&self) -> Box<dyn Surface> {
        let named = EngineTexture::new(self.texture.0.get(), Extent::new(WIDTH as u32, HEIGHT as u32));
        // SAFETY: the engine's own, which outlives the surface.
        unsafe { self.display.engine_image(named, PixelFormat::Rgba8) }.unwrap()
    }

    pub fn bytes(&self) -> Box<dyn Surface> {
        // SAFETY: as above.
        unsafe { self.display.engine_buffer(self.buffer.0.get(), BYTES) }.unwrap()
    }
}

/// One path, or the one that is chosen.
fn open(
    backend: &Arc<dyn ComputeBackend>,
    engine: &Engine,
    source: Box<dyn Surface>,
    by: Option<PathId>,
) -> Option<Intake> {
    let (backend, display) = (Arc::clone(backend), Rc::clone(&engine.display) as Rc<dyn Display>);
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

/// Every path between the two; panics where one brings other bytes. The paths that brought the right ones.
pub fn check(backend: &Arc<dyn ComputeBackend>, display: Rc<GlDisplay>) -> BTreeSet<&'static str> {
    let engine = Engine::new(display);
    let kernel = backend.build(&negative()).unwrap();
    let shown: [Rc<dyn Display>; 2] = [Rc::clone(&engine.display) as _, MemoryDisplay::new()];
    let mut ran = BTreeSet::new();
    for by in PathId::ALL.into_iter().map(Some).chain([None]) {
        engine.render(9);
        let Some(mut scene) = open(backend, &engine, engine.image(), by) else { continue };
        let image = ImageDesc::new(WIDTH as u32, HEIGHT as u32, PixelFormat::Rgba8);
        let desc = SurfaceDesc::Image(image.with_row_order(RowOrder::BottomUp));
        for to in &shown {
            let mut link = Link::open(Arc::clone(backend), Rc::clone(to), desc, LinkOptions::default()).unwrap();
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
        let Some(mut vertices) = open(backend, &engine, engine.bytes(), by) else { panic!("{by:?} of a buffer") };
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
    let gl = engine.display.gl();
    // SAFETY: the context is current.
    let stayed = unsafe { gl.is_texture(engine.texture) && gl.is_buffer(engine.buffer) };
    assert!(stayed, "what the engine named stays its own");
    ran
}
