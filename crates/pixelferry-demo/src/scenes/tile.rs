//! The classic second program: a texture of 4x4 pixels on a quad, of which each frame writes a part.
//!
//! The first frame writes all pixels from the host, every later one 2x2 of them by a kernel; what no frame touches stays as
//! it was, on every path.

use crate::gl_program::GlProgram;
use crate::scene::{Scene, SceneError};
use glow::HasContext as _;
use pixelferry::api::gl::{GlDisplay, Viewport};
use pixelferry::{
    Arg, ComputeBackend, CpuKernelExt, Display, ImageDesc, Kernel, KernelSource, Link, LinkOptions, PixelFormat,
    Region, SurfaceDesc, Unwritten,
};
use std::rc::Rc;
use std::sync::Arc;

/// Pixels of a side of the texture.
pub const SIDE: u32 = 4;
/// Pixels of a side of what a frame writes.
pub const PART: u32 = 2;
/// Frames before the next part is written elsewhere.
const PAUSE: u32 = 6;

/// A texture on a quad, of which each frame writes a part.
pub struct Tile {
    link: Link,
    kernel: Arc<dyn Kernel>,
    frame: u32,
    quad: Option<(GlProgram, Option<glow::UniformLocation>)>,
}

impl Tile {
    /// Its kernels.
    pub fn sources() -> Vec<KernelSource> {
        vec![source()]
    }

    /// A chessboard that gets colours.
    pub fn new(
        backend: Arc<dyn ComputeBackend>,
        display: Rc<dyn Display>,
        options: LinkOptions,
    ) -> Result<Self, SceneError> {
        let kernel = backend.build(&source())?;
        // Every pixel of a part is written; what lies around the part stays in any case.
        let image = ImageDesc::new(SIDE, SIDE, PixelFormat::Rgba8).with_unwritten(Unwritten::Overwrite);
        let mut link = Link::open(backend, display, SurfaceDesc::Image(image), options)?;
        link.frame(|frame| frame.write(&chessboard()))?;
        Ok(Self { link, kernel, frame: 0, quad: None })
    }
}

/// Dark and light grey, rows from the top.
pub fn chessboard() -> Vec<u8> {
    let light = |i: u32| (i % SIDE + i / SIDE).is_multiple_of(2);
    (0..SIDE * SIDE).flat_map(|i| if light(i) { [200, 200, 200, 255] } else { [60, 60, 60, 255] }).collect()
}

/// Returns what frame `n` writes: the parts of the texture in turn.
pub fn part(n: u32) -> Region {
    let (per_row, step) = (SIDE / PART, n / PAUSE);
    Region::new(step % per_row * PART, step / per_row % per_row * PART, PART, PART)
}

impl Scene for Tile {
    fn name(&self) -> &'static str {
        "tile"
    }

    fn advance(&mut self, seconds: f32) -> Result<bool, SceneError> {
        let Self { link, kernel, frame, .. } = self;
        link.frame_region(part(*frame), |frame| frame.launch(kernel.as_ref(), &[Arg::F32(seconds)]))?;
        *frame = frame.wrapping_add(1);
        Ok(true)
    }

    fn link(&mut self) -> &mut Link {
        &mut self.link
    }

    fn draw(&mut self, gl: &GlDisplay, viewport: Viewport) -> Result<(), SceneError> {
        let shown = self.link.shown()?;
        let texture = gl.surface_texture(shown.surface())?;
        let (quad, aspect) = match &self.quad {
            Some(quad) => quad,
            None => {
                let program = GlProgram::new(gl, VERTEX, FRAGMENT)?;
                let aspect = program.uniform("aspect");
                self.quad.insert((program, aspect))
            }
        };
        let draw = |gl: &glow::Context| {
            // SAFETY: the context is current; the four corners come from the shader.
            unsafe {
                gl.uniform_1_f32(aspect.as_ref(), viewport.width as f32 / viewport.height.max(1) as f32);
                gl.clear_color(0.05, 0.06, 0.09, 1.0);
                gl.clear(glow::COLOR_BUFFER_BIT);
                gl.draw_arrays(glow::TRIANGLE_STRIP, 0, 4);
            }
        };
        Ok(gl.timed("quad", || quad.with_texture(viewport, texture, draw))?)
    }
}

/// A colour for each pixel of the part, all of them changing with time.
fn source() -> KernelSource {
    texts(
        "tint",
        "kernel void tint(PF_IMAGE(uchar4, out), float t) {
               int x = get_global_id(0), y = get_global_id(1);
               if (x >= out_width || y >= out_height) return;
               float p = 1.3f * t + 1.7f * (x + out_width * y);
               PF_STORE(out, x, y, pf_rgba8(0.5f + 0.5f * cos((float3)(p) + (float3)(0.0f, 2.1f, 4.2f)), 1.0f));
             }",
        "__global__ void tint(PF_IMAGE(uchar4, out), float t) {
               int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
               if (x >= out_width || y >= out_height) return;
               float p = 1.3f * t + 1.7f * (x + out_width * y);
               float3 c = make_float3(0.5f + 0.5f * cosf(p), 0.5f + 0.5f * cosf(p + 2.1f), 0.5f + 0.5f * cosf(p + 4.2f));
               PF_STORE(out, x, y, pf_rgba8(c, 1.0f));
             }",
    )
        .wgsl(
            "@compute @workgroup_size(8, 8)
             fn tint(@builtin(global_invocation_id) id: vec3<u32>) {
               let p = 1.3 * pf_arg_f32(0) + 1.7 * f32(id.x + pf_size().x * id.y);
               pf_store(id.xy, vec4<f32>(0.5 + 0.5 * cos(p + vec3<f32>(0.0, 2.1, 4.2)), 1.0));
             }",
        )
        .cpu_image(|out, args| {
            let (t, width) = (args.f32(0)?, out.width());
            out.par_pixels(|x, y| {
                let p = 1.3 * t + 1.7 * (x + width * y) as f32;
                crate::convert::rgba8([0.0, 2.1, 4.2].map(|phase: f32| 0.5 + 0.5 * (p + phase).cos()), 1.0)
            })
        })
}

/// A kernel's text in both languages.
fn texts(name: &'static str, opencl: &'static str, cuda: &'static str) -> KernelSource {
    // SAFETY: both write pixels below the target's width and height only, and take a number.
    unsafe { KernelSource::new(name).opencl_c(opencl).cuda_cpp(cuda) }
}

const VERTEX: &str = "#version 330 core
    uniform float aspect;
    out vec2 at;
    void main() {
        at = vec2(gl_VertexID & 1, gl_VertexID >> 1);
        vec2 p = 1.3 * (at - 0.5);
        // Tilted, so that it is a quad in space and no blit.
        float depth = 1.0 + 0.35 * p.y;
        gl_Position = vec4(p.x / aspect, p.y, 0.0, depth);
    }";
/// Nearest texels, whatever the texture's own sampling: 16 squares are what there is to see.
const FRAGMENT: &str = "#version 330 core
    in vec2 at;
    uniform sampler2D picture;
    out vec4 pixel;
    void main() {
        ivec2 size = textureSize(picture, 0);
        pixel = texelFetch(picture, min(ivec2(at * vec2(size)), size - 1), 0);
    }";
