//! Takes a scene from the program's OpenGL texture to the device, blurs it there and shows the result: the way back.

#![deny(clippy::print_stdout, clippy::print_stderr)] // they panic where the reader has gone

use clap::Parser;
use glow::HasContext as _;
use pixelferry::api::gl::{EngineTexture, GlDisplay, GlFunctions, glow};
use pixelferry::{
    CpuKernelExt as _, Extent, ImageDesc, Intake, Kernel, KernelSource, Link, LinkBuilder, LinkCore, LinkOptions,
    OpenedLink, PixelFormat, Policy, RowOrder, SurfaceDesc,
};
use pixelferry_demo::scene::FrameTarget;
use pixelferry_demo::{Scene, SceneError, SceneOptions, run};
use std::process::ExitCode;
use std::sync::Arc;

/// Render with OpenGL, blur what was rendered on the compute device, and show that.
#[derive(Parser)]
struct Cli {
    #[command(flatten)]
    options: SceneOptions,
}

const VERTEX: &str = "#version 330 core
uniform float turn;
out vec3 colour;
void main() {
    int corner = gl_VertexID % 3, which = gl_VertexID / 3;
    float a = turn * (1.0 + 0.3 * float(which)) + 2.0943951 * float(corner);
    vec2 at = vec2(-0.6 + 0.6 * float(which), 0.0) + 0.5 * vec2(cos(a), sin(a));
    colour = vec3(corner == 0, corner == 1, corner == 2) * 0.8 + 0.2;
    gl_Position = vec4(at, 0.0, 1.0);
}";

const FRAGMENT: &str = "#version 330 core
in vec3 colour;
out vec4 pixel;
void main() { pixel = vec4(colour, 1.0); }";

/// Computes the mean of 9 x 9 pixels in integers. Rows of scene and target are in the order of OpenGL.
fn blur() -> KernelSource {
    let opencl = "kernel void blur(PF_IMAGE(uchar4, out), global const uchar4 *scene) {
           int x = get_global_id(0), y = get_global_id(1);
           if (x >= out_width || y >= out_height) return;
           uint4 sum = 0;
           for (int j = -4; j <= 4; j++)
             for (int i = -4; i <= 4; i++)
               sum += convert_uint4(scene[clamp(y + j, 0, out_height - 1) * out_width + clamp(x + i, 0, out_width - 1)]);
           PF_STORE(out, x, y, convert_uchar4(sum / 81));
         }";
    let cuda = "__global__ void blur(PF_IMAGE(uchar4, out), const uchar4 *scene) {
           int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
           if (x >= out_width || y >= out_height) return;
           unsigned r = 0, g = 0, b = 0, a = 0;
           for (int j = -4; j <= 4; j++)
             for (int i = -4; i <= 4; i++) {
               int row = min(max(y + j, 0), out_height - 1), column = min(max(x + i, 0), out_width - 1);
               uchar4 c = scene[row * out_width + column];
               r += c.x; g += c.y; b += c.z; a += c.w;
             }
           PF_STORE(out, x, y, make_uchar4(r / 81, g / 81, b / 81, a / 81));
         }";
    let wgsl = "@group(1) @binding(0) var<storage, read> scene: array<u32>;
         @compute @workgroup_size(8, 8)
         fn blur(@builtin(global_invocation_id) id: vec3<u32>) {
           if (!pf_inside(id.xy)) { return; }
           let size = vec2<i32>(pf_size());
           var sum = vec4<u32>(0u);
           for (var j = -4; j <= 4; j++) {
             for (var i = -4; i <= 4; i++) {
               let row = clamp(i32(id.y) + j, 0, size.y - 1);
               let word = scene[row * size.x + clamp(i32(id.x) + i, 0, size.x - 1)];
               sum += (vec4<u32>(word) >> vec4<u32>(0u, 8u, 16u, 24u)) & vec4<u32>(255u);
             }
           }
           pf_store(id.xy, vec4<f32>(sum / vec4<u32>(81u)) / 255.0);
         }";
    // SAFETY: both write pixels below the width and height only, and read as many of the scene.
    unsafe { KernelSource::new("blur").opencl_c(opencl).cuda_cpp(cuda) }.wgsl(wgsl).cpu_image(|out, args| {
        let (scene, width, height) = (args.memory::<[u8; 4]>(0)?, out.width() as i32, out.height() as i32);
        out.par_pixels(|x, y| {
            let mut sum = [0_u32; 4];
            for (i, j) in (-4..=4).flat_map(|j| (-4..=4).map(move |i| (i, j))) {
                let (row, column) = ((y as i32 + j).clamp(0, height - 1), (x as i32 + i).clamp(0, width - 1));
                let pixel = scene[(row * width + column) as usize];
                sum.iter_mut().zip(pixel).for_each(|(s, p)| *s += u32::from(p));
            }
            sum.map(|s| (s / 81) as u8)
        })
    })
}

/// The program's own OpenGL code, which does not depend on pixelferry.
struct Engine {
    gl: GlFunctions,
    program: glow::Program,
    vertices: glow::VertexArray,
    framebuffer: glow::Framebuffer,
    texture: glow::Texture,
    size: (u32, u32),
}

impl Engine {
    /// Creates the scene. The context must be current.
    fn new(gl: GlFunctions, size: (u32, u32)) -> Result<Self, String> {
        // SAFETY: the context is current, and the names are of it.
        unsafe {
            let program = gl.create_program()?;
            for (kind, text) in [(glow::VERTEX_SHADER, VERTEX), (glow::FRAGMENT_SHADER, FRAGMENT)] {
                let shader = gl.create_shader(kind)?;
                gl.shader_source(shader, text);
                gl.compile_shader(shader);
                gl.attach_shader(program, shader);
                gl.delete_shader(shader);
            }
            gl.link_program(program);
            if !gl.get_program_link_status(program) {
                return Err(gl.get_program_info_log(program));
            }
            let (vertices, texture, framebuffer) =
                (gl.create_vertex_array()?, gl.create_texture()?, gl.create_framebuffer()?);
            gl.bind_texture(glow::TEXTURE_2D, Some(texture));
            gl.tex_storage_2d(glow::TEXTURE_2D, 1, glow::RGBA8, size.0 as i32, size.1 as i32);
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
            let (to, at) = (glow::FRAMEBUFFER, glow::COLOR_ATTACHMENT0);
            gl.framebuffer_texture_2d(to, at, glow::TEXTURE_2D, Some(texture), 0);
            gl.bind_framebuffer(glow::FRAMEBUFFER, None);
            Ok(Self { gl, program, vertices, framebuffer, texture, size })
        }
    }

    /// Renders a frame into the texture.
    fn render(&self, turn: f32) {
        let gl = &self.gl;
        // SAFETY: the context is current, and the names are of it.
        unsafe {
            let before = gl.get_parameter_framebuffer(glow::DRAW_FRAMEBUFFER_BINDING);
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(self.framebuffer));
            gl.viewport(0, 0, self.size.0 as i32, self.size.1 as i32);
            gl.clear_color(0.05, 0.06, 0.1, 1.0);
            gl.clear(glow::COLOR_BUFFER_BIT);
            gl.use_program(Some(self.program));
            gl.bind_vertex_array(Some(self.vertices));
            gl.uniform_1_f32(gl.get_uniform_location(self.program, "turn").as_ref(), turn);
            gl.draw_arrays(glow::TRIANGLES, 0, 9);
            gl.bind_vertex_array(None);
            gl.use_program(None);
            gl.bind_framebuffer(glow::FRAMEBUFFER, before);
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // SAFETY: scenes end while their context is current; an invalid name is ignored.
        unsafe {
            self.gl.delete_framebuffer(self.framebuffer);
            self.gl.delete_texture(self.texture);
            self.gl.delete_vertex_array(self.vertices);
            self.gl.delete_program(self.program);
        }
    }
}

struct RenderedScene {
    kernels: Vec<Arc<dyn Kernel>>,
    // Before the texture that it reads.
    scene: Intake,
    link: Link,
    engine: Engine,
}

impl RenderedScene {
    fn new(wanted: LinkBuilder, size: (u32, u32)) -> Result<Self, SceneError> {
        let image = ImageDesc::new(size.0, size.1, PixelFormat::Rgba8).with_row_order(RowOrder::BottomUp);
        let wanted = wanted.surface(SurfaceDesc::Image(image)).launch(&blur(), []);
        let OpenedLink { backend, kernels, display, link, .. } = wanted.open()?;
        let gl = display.downcast_ref::<GlDisplay>().ok_or_else(|| SceneError::NeedsOpenGl {
            scene: "rendered",
            display: display.device().to_string(),
            instead: "use --display gl".into(),
        })?;
        let engine = Engine::new(gl.gl().clone(), size).map_err(SceneError::Shader)?;
        let texture = EngineTexture::new(engine.texture.0.get(), Extent::new(size.0, size.1));
        // SAFETY: the engine's own texture, which goes after what reads it.
        let rendered = unsafe { gl.engine_image(texture, PixelFormat::Rgba8) }?;
        let scene = Intake::open(backend, display, rendered)?;
        Ok(Self { kernels, scene, link, engine })
    }
}

impl Scene for RenderedScene {
    fn name(&self) -> &'static str {
        "rendered"
    }

    fn advance_in(&mut self, seconds: f32, _: &mut FrameTarget<'_>) -> Result<bool, SceneError> {
        self.engine.render(seconds);
        let scene = self.scene.take()?;
        self.link.frame(|next| next.launch(self.kernels[0].as_ref(), &[scene.arg()]))?;
        Ok(true)
    }

    fn link(&mut self) -> &mut LinkCore {
        &mut self.link
    }

    fn set_policy(&mut self, policy: Policy) -> pixelferry::Result<()> {
        let (backend, display) = (Arc::clone(self.link.backend()), Arc::clone(self.link.display()));
        self.link = Link::open(backend, display, *self.link.desc(), LinkOptions::new(policy))?;
        Ok(())
    }

    fn about(&mut self) -> Option<String> {
        Some(format!("rendered by OpenGL, taken back by {}", self.scene.path()))
    }
}

fn main() -> ExitCode {
    let options = Cli::parse().options;
    let size = options.size_or(720, 480);
    run(&options, size, |wanted| Ok(Box::new(RenderedScene::new(wanted, size)?)))
}
