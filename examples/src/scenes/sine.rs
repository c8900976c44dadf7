//! The classic first program: points of a sine computed into a vertex buffer, drawn as a line strip.

use crate::scene::{Scene, SceneError};
use glow::HasContext as _;
use pixelferry::gl::{GlBuffer, GlDisplay, Viewport};
use pixelferry::{Arg, ComputeBackend, CpuKernelExt, Display, Kernel, KernelSource, Link, LinkOptions, SurfaceDesc};
use std::rc::Rc;
use std::sync::Arc;

/// Points of the line.
pub const POINTS: u32 = 10_000;

/// See the module.
pub struct Sine {
    link: Link,
    kernel: Arc<dyn Kernel>,
    line: Option<Line>,
}

impl Sine {
    /// Its kernels.
    pub fn sources() -> Vec<KernelSource> {
        vec![source()]
    }

    /// A line of [`POINTS`] points.
    pub fn new(
        backend: Arc<dyn ComputeBackend>,
        display: Rc<dyn Display>,
        options: LinkOptions,
    ) -> Result<Self, SceneError> {
        let kernel = backend.build(&source())?;
        let bytes = u64::from(POINTS) * size_of::<[f32; 2]>() as u64;
        let link = Link::open(backend, display, SurfaceDesc::buffer(bytes), options)?;
        Ok(Self { link, kernel, line: None })
    }
}

impl Scene for Sine {
    fn name(&self) -> &'static str {
        "sine"
    }

    fn advance(&mut self, seconds: f32) -> Result<bool, SceneError> {
        let mut frame = self.link.acquire()?;
        frame.launch(self.kernel.as_ref(), &[Arg::F32(seconds)])?;
        frame.finish()?;
        Ok(true)
    }

    fn link(&mut self) -> &mut Link {
        &mut self.link
    }

    fn draw(&mut self, gl: &GlDisplay, viewport: Viewport) -> Result<(), SceneError> {
        let line = match &self.line {
            Some(line) => line,
            None => self.line.insert(Line::new(gl)?),
        };
        let buffer = gl.surface_buffer(self.link.shown()?.surface())?;
        line.draw(viewport, buffer);
        Ok(())
    }
}

/// Two waves on top of each other, from -1 to 1 across.
fn source() -> KernelSource {
    KernelSource::new("sine")
        .opencl_c(
            "kernel void sine(PF_BUFFER(float2, out), float t) {
               uint i = get_global_id(0), n = PF_LEN(out);
               if (i >= n) return;
               float x = 2.0f * i / (n - 1) - 1.0f;
               float y = 0.6f * sin(9.0f * x + 2.0f * t) * cos(1.5f * x) + 0.15f * sin(60.0f * x - 5.0f * t);
               PF_ITEM(out, i) = (float2)(x, y);
             }",
        )
        .cuda_cpp(
            "__global__ void sine(PF_BUFFER(float2, out), float t) {
               unsigned i = blockIdx.x * blockDim.x + threadIdx.x, n = PF_LEN(out);
               if (i >= n) return;
               float x = 2.0f * i / (n - 1) - 1.0f;
               float y = 0.6f * sinf(9.0f * x + 2.0f * t) * cosf(1.5f * x) + 0.15f * sinf(60.0f * x - 5.0f * t);
               PF_ITEM(out, i) = make_float2(x, y);
             }",
        )
        .cpu_buffer(|out, args| {
            let t = args.f32(0)?;
            let last = POINTS as f32 - 1.0;
            out.par_items(|i| -> [f32; 2] {
                let x = 2.0 * i as f32 / last - 1.0;
                let y = 0.6 * (9.0 * x + 2.0 * t).sin() * (1.5 * x).cos() + 0.15 * (60.0 * x - 5.0 * t).sin();
                [x, y]
            })
        })
        .with_items(POINTS as usize)
}

/// The program's own OpenGL: what draws the buffer.
struct Line {
    gl: Rc<glow::Context>,
    program: glow::Program,
    vao: glow::VertexArray,
}

impl Line {
    fn new(display: &GlDisplay) -> Result<Self, SceneError> {
        let gl = Rc::clone(display.gl());
        let program = program(&gl)?;
        // SAFETY: the display's context is current on its thread, where this runs.
        let vao = unsafe { gl.create_vertex_array() }.map_err(SceneError::Shader)?;
        Ok(Self { gl, program, vao })
    }

    fn draw(&self, viewport: Viewport, buffer: GlBuffer) {
        let gl = &self.gl;
        // SAFETY: the context is current (the buffer was just asked of it); the buffer holds POINTS pairs of floats.
        unsafe {
            gl.viewport(viewport.x, viewport.y, viewport.width as i32, viewport.height as i32);
            gl.clear_color(0.05, 0.06, 0.09, 1.0);
            gl.clear(glow::COLOR_BUFFER_BIT);
            gl.use_program(Some(self.program));
            gl.bind_vertex_array(Some(self.vao));
            gl.bind_buffer(glow::ARRAY_BUFFER, Some(buffer.name));
            gl.enable_vertex_attrib_array(0);
            gl.vertex_attrib_pointer_f32(0, 2, glow::FLOAT, false, 0, buffer.offset as i32);
            gl.draw_arrays(glow::LINE_STRIP, 0, POINTS as i32);
            gl.bind_vertex_array(None);
            gl.use_program(None);
        }
    }
}

fn program(gl: &glow::Context) -> Result<glow::Program, SceneError> {
    const VERTEX: &str = "#version 330 core
        layout(location = 0) in vec2 position;
        out float height;
        void main() { height = position.y; gl_Position = vec4(position, 0.0, 1.0); }";
    const FRAGMENT: &str = "#version 330 core
        in float height;
        out vec4 colour;
        void main() { colour = vec4(mix(vec3(0.2, 0.6, 1.0), vec3(1.0, 0.6, 0.2), 0.5 + 0.8 * height), 1.0); }";
    // SAFETY: the display's context is current on its thread, where this runs; the objects are of this context.
    unsafe {
        let program = gl.create_program().map_err(SceneError::Shader)?;
        for (kind, text) in [(glow::VERTEX_SHADER, VERTEX), (glow::FRAGMENT_SHADER, FRAGMENT)] {
            let shader = gl.create_shader(kind).map_err(SceneError::Shader)?;
            gl.shader_source(shader, text);
            gl.compile_shader(shader);
            if !gl.get_shader_compile_status(shader) {
                return Err(SceneError::Shader(gl.get_shader_info_log(shader)));
            }
            gl.attach_shader(program, shader);
            gl.delete_shader(shader);
        }
        gl.link_program(program);
        if !gl.get_program_link_status(program) {
            return Err(SceneError::Shader(gl.get_program_info_log(program)));
        }
        Ok(program)
    }
}
