//! The classic first program: computes points of a sine into a vertex buffer and draws them as a line strip.

use super::c_kernel::c_kernel;
use super::open;
use crate::scene::{FrameTarget, Scene, SceneError};
use glow::HasContext as _;
use pixelferry::api::gl::{GlDisplay, OwnedObject, Viewport};
use pixelferry::{Arg, AutoLink, CpuKernelExt, Kernel, KernelSource, LinkBuilder, SurfaceDesc, Unwritten};
use std::sync::Arc;

/// Number of points.
pub const POINTS: u32 = 10_000;

/// A line strip along a sine.
pub struct Sine {
    link: AutoLink<Arc<dyn Kernel>>,
    line: Option<LineProgram>,
}

/// Draws the points as a line.
struct LineProgram {
    program: OwnedObject<glow::Program>,
    array: OwnedObject<glow::VertexArray>,
}

impl LineProgram {
    /// The display's context must be current, as it is after asking for a surface's buffer.
    fn new(display: &GlDisplay) -> Result<Self, SceneError> {
        let program = display.link_program(&[(glow::VERTEX_SHADER, VERTEX), (glow::FRAGMENT_SHADER, FRAGMENT)])?;
        // SAFETY: the display's context is current; nothing else deletes the array.
        let array = unsafe { display.gl().create_vertex_array().map(|array| display.own(array)) };
        Ok(Self { program, array: array.map_err(SceneError::Shader)? })
    }
}

impl Sine {
    /// Its kernels.
    pub fn sources() -> [KernelSource; 1] {
        [source()]
    }

    /// A line of [`POINTS`] points.
    pub fn new(wanted: LinkBuilder) -> Result<Self, SceneError> {
        let bytes = u64::from(POINTS) * size_of::<[f32; 2]>() as u64;
        // The kernel writes every vertex.
        let vertices = SurfaceDesc::buffer(bytes).with_unwritten(Unwritten::Overwrite);
        let link = open(wanted, vertices, &Self::sources(), |_, [kernel]| Ok(kernel))?;
        Ok(Self { link, line: None })
    }
}

impl Scene for Sine {
    fn name(&self) -> &'static str {
        "sine"
    }

    fn advance_in(&mut self, seconds: f32, _: &mut FrameTarget<'_>) -> Result<bool, SceneError> {
        self.link.frame(|frame, kernel| frame.launch(kernel.as_ref(), &[Arg::F32(seconds)]))?;
        Ok(true)
    }

    own_link!();

    fn draw(&mut self, display: &GlDisplay, viewport: Viewport) -> Result<(), SceneError> {
        let shown = self.link.link().shown()?;
        let buffer = display.surface_buffer(shown.surface())?;
        let line = match &self.line {
            Some(line) => line,
            None => self.line.insert(LineProgram::new(display)?),
        };
        let gl = display.gl();
        let draw = || {
            // SAFETY: the context is current (the buffer was just requested from it) and owns the objects; the buffer
            // contains POINTS pairs of floats.
            unsafe {
                gl.viewport(viewport.x, viewport.y, viewport.width as i32, viewport.height as i32);
                gl.use_program(Some(line.program.get()));
                gl.bind_vertex_array(Some(line.array.get()));
                gl.bind_buffer(glow::ARRAY_BUFFER, Some(buffer.name));
                gl.enable_vertex_attrib_array(0);
                gl.vertex_attrib_pointer_f32(0, 2, glow::FLOAT, false, 0, buffer.offset as i32);
                gl.clear_color(0.05, 0.06, 0.09, 1.0);
                gl.clear(glow::COLOR_BUFFER_BIT);
                gl.draw_arrays(glow::LINE_STRIP, 0, POINTS as i32);
                gl.bind_vertex_array(None);
                gl.use_program(None);
            }
        };
        Ok(display.timed("line", draw)?)
    }
}

/// The sum of two waves, for x from -1 to 1.
fn source() -> KernelSource {
    let text = "KERNEL sine(PF_BUFFER(float2, out), float t) {
               unsigned i = THREAD_X, n = PF_LEN(out);
               if (i >= n) return;
               float x = 2.0f * i / (n - 1) - 1.0f;
               float2 point;
               point.x = x; point.y = 0.6f * sin(9.0f * x + 2.0f * t) * cos(1.5f * x) + 0.15f * sin(60.0f * x - 5.0f * t);
               PF_ITEM(out, i) = point;
             }";
    let wgsl = "@compute @workgroup_size(64)
         fn sine(@builtin(global_invocation_id) id: vec3<u32>) {
           let i = pf_index(id);
           let n = pf_items();
           let t = pf_arg_f32(0);
           if (i >= n) { return; }
           let x = 2.0 * f32(i) / f32(n - 1u) - 1.0;
           pf_put_f32(2u * i, x);
           pf_put_f32(2u * i + 1u, 0.6 * sin(9.0 * x + 2.0 * t) * cos(1.5 * x) + 0.15 * sin(60.0 * x - 5.0 * t));
         }";
    // SAFETY: the kernel writes only items below the target's length, and takes one number.
    let source = unsafe { c_kernel("sine", text) }.wgsl(wgsl);
    source.with_items(POINTS as usize).cpu_buffer(|out, args| {
        let t = args.f32(0)?;
        let last = POINTS as f32 - 1.0;
        out.par_items(|i| -> [f32; 2] {
            let x = 2.0 * i as f32 / last - 1.0;
            let y = 0.6 * (9.0 * x + 2.0 * t).sin() * (1.5 * x).cos() + 0.15 * (60.0 * x - 5.0 * t).sin();
            [x, y]
        })
    })
}

const VERTEX: &str = "#version 330 core
    layout(location = 0) in vec2 position;
    out float height;
    void main() { height = position.y; gl_Position = vec4(position, 0.0, 1.0); }";
const FRAGMENT: &str = "#version 330 core
    in float height;
    out vec4 colour;
    void main() { colour = vec4(mix(vec3(0.2, 0.6, 1.0), vec3(1.0, 0.6, 0.2), 0.5 + 0.8 * height), 1.0); }";
