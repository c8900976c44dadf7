//! OpenGL helpers for scenes that draw with a program of their own.

use crate::scene::SceneError;
use glow::HasContext as _;
use pixelferry::api::gl::{GlBuffer, GlDisplay, GlFunctions, Viewport};

/// A program that reads one attribute of floats from a vertex buffer. It is freed with the context.
pub struct GlProgram {
    gl: GlFunctions,
    program: glow::Program,
    vao: glow::VertexArray,
}

impl GlProgram {
    /// Builds the program from GLSL. The display's context must be current, as it is after asking for a surface's
    /// buffer.
    pub fn new(display: &GlDisplay, vertex: &str, fragment: &str) -> Result<Self, SceneError> {
        let gl = display.gl().clone();
        let program = build(&gl, vertex, fragment)?;
        // SAFETY: the display's context is current.
        let vao = unsafe { gl.create_vertex_array() }.map_err(SceneError::Shader)?;
        Ok(Self { gl, program, vao })
    }

    /// Calls `draw` with the program in use and its attribute 0 read from `buffer` as vectors of `floats` floats.
    pub fn with(&self, viewport: Viewport, buffer: GlBuffer, floats: i32, draw: impl FnOnce(&glow::Context)) {
        let gl = &self.gl;
        // SAFETY: the context is current (the buffer was just requested from it) and owns the objects.
        unsafe {
            gl.viewport(viewport.x, viewport.y, viewport.width as i32, viewport.height as i32);
            gl.use_program(Some(self.program));
            gl.bind_vertex_array(Some(self.vao));
            gl.bind_buffer(glow::ARRAY_BUFFER, Some(buffer.name));
            gl.enable_vertex_attrib_array(0);
            gl.vertex_attrib_pointer_f32(0, floats, glow::FLOAT, false, 0, buffer.offset as i32);
        }
        draw(gl);
        // SAFETY: as above.
        unsafe {
            gl.bind_vertex_array(None);
            gl.use_program(None);
        }
    }
}

fn build(gl: &glow::Context, vertex: &str, fragment: &str) -> Result<glow::Program, SceneError> {
    // SAFETY: the display's context is current on its thread, where this runs, and owns the objects.
    unsafe {
        let program = gl.create_program().map_err(SceneError::Shader)?;
        for (kind, text) in [(glow::VERTEX_SHADER, vertex), (glow::FRAGMENT_SHADER, fragment)] {
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
