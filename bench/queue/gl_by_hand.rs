//! The bench's frame written by hand on OpenGL 4.3: two programs with a barrier between them, and nothing else.

use crate::shaders::groups;
use crate::{Subject, Work};
use glow::HasContext as _;
use measure::gl_program;
use pixelferry::api::gl::{GlDisplay, HeadlessOptions, glow};
use pixelferry::{Display as _, Manner};
use std::sync::Arc;

/// One row. The display provides the context and draws nothing.
struct ByHand {
    work: Work,
    context: Arc<GlDisplay>,
    kernel: (glow::Program, Option<glow::UniformLocation>),
    draw: glow::Program,
    memory: glow::Buffer,
    texture: glow::Texture,
    framebuffer: glow::Framebuffer,
    vertices: glow::VertexArray,
    size: (u32, u32),
}

const HEAD: &str = "#version 430 core
    layout(std430, binding = 0) buffer Memory { uint memory[]; };";

fn kernel(width: u32, height: u32) -> String {
    format!(
        "{HEAD}
         layout(local_size_x = 16, local_size_y = 16) in;
         uniform uint n;
         void main() {{
           uvec2 p = gl_GlobalInvocationID.xy;
           if (p.x >= {width}u || p.y >= {height}u) return;
           memory[p.y * {width}u + p.x] = ((p.x + n) & 255u) | ((p.y & 255u) << 8) | ((n & 255u) << 16) | 0xff000000u;
         }}"
    )
}

/// The kernel that stores directly to the texture.
fn straight(width: u32, height: u32) -> String {
    format!(
        "#version 430 core
         layout(local_size_x = 16, local_size_y = 16) in;
         layout(rgba8, binding = 0) writeonly uniform image2D canvas;
         uniform uint n;
         void main() {{
           uvec2 p = gl_GlobalInvocationID.xy;
           if (p.x >= {width}u || p.y >= {height}u) return;
           uint word = ((p.x + n) & 255u) | ((p.y & 255u) << 8) | ((n & 255u) << 16) | 0xff000000u;
           imageStore(canvas, ivec2(p), unpackUnorm4x8(word));
         }}"
    )
}

const COVER: &str = "#version 430 core
    void main() { gl_Position = vec4((gl_VertexID & 1) * 4 - 1, (gl_VertexID >> 1) * 4 - 1, 0, 1); }";

fn draw(manner: Manner, width: u32, height: u32) -> String {
    match manner {
        Manner::Compute => format!(
            "{HEAD}
             layout(local_size_x = 16, local_size_y = 16) in;
             layout(rgba8, binding = 0) writeonly uniform image2D canvas;
             void main() {{
               uvec2 p = gl_GlobalInvocationID.xy;
               if (p.x >= {width}u || p.y >= {height}u) return;
               imageStore(canvas, ivec2(p), unpackUnorm4x8(memory[p.y * {width}u + p.x]));
             }}"
        ),
        Manner::Triangle => format!(
            "{HEAD}
             out vec4 colour;
             void main() {{
               uvec2 p = uvec2(gl_FragCoord.xy);
               colour = unpackUnorm4x8(memory[p.y * {width}u + p.x]);
             }}"
        ),
    }
}

/// Returns every row of this size.
pub fn subjects(width: u32, height: u32) -> Vec<Box<dyn Subject>> {
    let context = match GlDisplay::headless(HeadlessOptions::default()) {
        Ok(context) if context.gl().version().major >= 4 => context,
        Ok(context) => {
            println!("SKIPPED OpenGL by hand: {} has {}", context.device(), context.device().driver);
            return Vec::new();
        }
        Err(error) => {
            println!("SKIPPED OpenGL by hand: {error}");
            return Vec::new();
        }
    };
    Work::ALL.into_iter().map(|work| Box::new(ByHand::new(&context, work, width, height)) as _).collect()
}

impl ByHand {
    fn new(context: &Arc<GlDisplay>, work: Work, width: u32, height: u32) -> Self {
        context.make_current().expect("the context");
        let gl: &glow::Context = context.gl();
        let manner = work.draws().unwrap_or(Manner::Triangle);
        let text = if work == Work::Straight { straight(width, height) } else { kernel(width, height) };
        let kernel = gl_program(context, &[(glow::COMPUTE_SHADER, &text)]);
        let text = draw(manner, width, height);
        let draw = match manner {
            Manner::Compute => gl_program(context, &[(glow::COMPUTE_SHADER, &text)]),
            Manner::Triangle => gl_program(context, &[(glow::VERTEX_SHADER, COVER), (glow::FRAGMENT_SHADER, &text)]),
        };
        // SAFETY: the context is current on this thread; the names are of it, and sizes are positive.
        let mut row = unsafe {
            let memory = gl.create_buffer().expect("a buffer");
            gl.bind_buffer(glow::SHADER_STORAGE_BUFFER, Some(memory));
            gl.buffer_data_size(glow::SHADER_STORAGE_BUFFER, (width * height * 4) as i32, glow::DYNAMIC_COPY);
            let texture = gl.create_texture().expect("a texture");
            gl.bind_texture(glow::TEXTURE_2D, Some(texture));
            gl.tex_storage_2d(glow::TEXTURE_2D, 1, glow::RGBA8, width as i32, height as i32);
            let framebuffer = gl.create_framebuffer().expect("a framebuffer");
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(framebuffer));
            let point = glow::COLOR_ATTACHMENT0;
            gl.framebuffer_texture_2d(glow::FRAMEBUFFER, point, glow::TEXTURE_2D, Some(texture), 0);
            Self {
                work: Work::Kernel,
                context: Arc::clone(context),
                kernel: (kernel, gl.get_uniform_location(kernel, "n")),
                draw,
                memory,
                texture,
                framebuffer,
                vertices: gl.create_vertex_array().expect("a vertex array"),
                size: (width, height),
            }
        };
        row.begin();
        row.frame(12);
        row.work = work;
        row
    }
}

impl Subject for ByHand {
    fn name(&self) -> String {
        format!("by hand on OpenGL, {}", self.work.name())
    }

    fn begin(&mut self) {
        self.context.make_current().expect("the context");
        let gl: &glow::Context = self.context.gl();
        // SAFETY: as above. What stays bound for as long as this row is measured.
        unsafe {
            gl.bind_buffer_base(glow::SHADER_STORAGE_BUFFER, 0, Some(self.memory));
            gl.bind_image_texture(0, Some(self.texture), 0, false, 0, glow::WRITE_ONLY, glow::RGBA8);
            gl.bind_framebuffer(glow::FRAMEBUFFER, Some(self.framebuffer));
            gl.bind_vertex_array(Some(self.vertices));
            gl.viewport(0, 0, self.size.0 as i32, self.size.1 as i32);
        }
    }

    fn frame(&mut self, n: u32) {
        let gl: &glow::Context = self.context.gl();
        let (across, down) = (groups(self.size.0), groups(self.size.1));
        // SAFETY: as above; shaders keep inside of what is bound.
        unsafe {
            if self.work.computes() {
                gl.use_program(Some(self.kernel.0));
                gl.uniform_1_u32(self.kernel.1.as_ref(), n);
                // Stores are not ordered with what earlier commands still read or write (OpenGL 4.6 core, section 7.13.2).
                gl.memory_barrier(match self.work {
                    Work::Straight => glow::SHADER_IMAGE_ACCESS_BARRIER_BIT,
                    _ => glow::SHADER_STORAGE_BARRIER_BIT,
                });
                gl.dispatch_compute(across, down, 1);
                gl.memory_barrier(match self.work {
                    Work::Straight => glow::FRAMEBUFFER_BARRIER_BIT | glow::TEXTURE_FETCH_BARRIER_BIT,
                    _ => glow::SHADER_STORAGE_BARRIER_BIT,
                });
            }
            let Some(manner) = self.work.draws() else { return };
            gl.use_program(Some(self.draw));
            match manner {
                Manner::Compute => {
                    gl.dispatch_compute(across, down, 1);
                    gl.memory_barrier(glow::FRAMEBUFFER_BARRIER_BIT | glow::TEXTURE_FETCH_BARRIER_BIT);
                }
                Manner::Triangle => gl.draw_arrays(glow::TRIANGLES, 0, 3),
            }
        }
    }

    fn finish(&mut self) {
        // SAFETY: as above.
        unsafe { self.context.gl().finish() }
    }

    fn pixels(&mut self) -> Option<Vec<u8>> {
        if !self.work.shows() {
            return None;
        }
        let (width, height) = self.size;
        let mut bytes = vec![0; (width * height * 4) as usize];
        let gl: &glow::Context = self.context.gl();
        // SAFETY: as above; rows of 4-byte pixels are aligned as they are tight.
        unsafe {
            gl.memory_barrier(glow::FRAMEBUFFER_BARRIER_BIT);
            let data = glow::PixelPackData::Slice(Some(&mut bytes));
            gl.read_pixels(0, 0, width as i32, height as i32, glow::RGBA, glow::UNSIGNED_BYTE, data);
        }
        Some(bytes)
    }
}
