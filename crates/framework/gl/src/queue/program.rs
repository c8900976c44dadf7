//! The type [`ComputeProgram`].

use super::bindings::Bindings;
use super::buffer::QueueBuffer;
use super::device::GlDevice;
use super::shape::ProgramShape;
use crate::context::deferred_deletes::ObjectName;
use crate::objects::image_unit::{self, BoundImage};
use glow::HasContext as _;
use interop_core::Result;

/// A compute shader in a display's context. Any thread may hold and drop it.
#[derive(Debug)]
pub(crate) struct ComputeProgram {
    name: glow::Program,
    /// Location of the numbers that a run sets; `None` if the program has none.
    numbers: Option<glow::UniformLocation>,
    device: GlDevice,
}

impl Drop for ComputeProgram {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        self.device.unmake(ObjectName::Program(self.name));
    }
}

/// Makes stores visible to buffer textures, uploads, vertices, indices, copies, mappings and other shaders.
const STORED: u32 = glow::TEXTURE_FETCH_BARRIER_BIT
    | glow::PIXEL_BUFFER_BARRIER_BIT
    | glow::VERTEX_ATTRIB_ARRAY_BARRIER_BIT
    | glow::ELEMENT_ARRAY_BARRIER_BIT
    | glow::BUFFER_UPDATE_BARRIER_BIT
    | glow::UNIFORM_BARRIER_BIT
    | glow::COMMAND_BARRIER_BIT
    | glow::SHADER_STORAGE_BARRIER_BIT;

impl ComputeProgram {
    /// Compiles GLSL; the inner error is the driver's log. `numbers` is the name of the uniform array of `uvec4` that
    /// [`ComputeProgram::run`] sets.
    ///
    /// # Errors
    /// [`interop_core::Error::WrongContext`]; [`interop_core::Error::Driver`] where no object could be created.
    pub(crate) fn build(device: &GlDevice, text: &str, numbers: &str) -> Result<Result<Self, String>> {
        let gl = device.enter()?;
        device.checked("glLinkProgram", || {
            // SAFETY: the context is current and has OpenGL 4.3; names are made, used and deleted here.
            unsafe {
                let name = gl.create_program().map_err(|why| device.no_name("glCreateProgram", &why))?;
                device.made(ObjectName::Program(name));
                let mut program = Self { name, numbers: None, device: device.clone() };
                let shader = gl.create_shader(glow::COMPUTE_SHADER);
                let shader = shader.map_err(|why| device.no_name("glCreateShader", &why))?;
                gl.shader_source(shader, text);
                gl.compile_shader(shader);
                let compiled = gl.get_shader_compile_status(shader);
                let log = if compiled { String::new() } else { gl.get_shader_info_log(shader) };
                if compiled {
                    gl.attach_shader(name, shader);
                }
                // The shader lives until the program is deleted.
                gl.delete_shader(shader);
                if !compiled {
                    return Ok(Err(log));
                }
                gl.link_program(name);
                if !gl.get_program_link_status(name) {
                    return Ok(Err(gl.get_program_info_log(name)));
                }
                program.numbers = gl.get_uniform_location(name, numbers);
                Ok(Ok(program))
            }
        })?
    }

    /// Returns its bindings; `numbers` is the name that it was built with.
    ///
    /// # Errors
    /// [`interop_core::Error::WrongContext`]; [`interop_core::Error::Unsupported`] where the driver lacks the queries.
    pub(crate) fn shape(&self, numbers: &str) -> Result<ProgramShape> {
        self.device.enter()?;
        // SAFETY: the context is current, and the program is of it, linked with its compute shader.
        let shape = || unsafe { ProgramShape::of(&self.device, self.name, numbers) };
        self.device.checked("glGetProgramResourceiv", shape)?
    }

    /// Queues a run: these buffers are the storage blocks from 0 on, the texture is image unit 0, and the uniform array
    /// of numbers has these words, in whole vectors of four. All later commands see its stores.
    ///
    /// # Errors
    /// [`interop_core::Error::WrongContext`]; [`interop_core::Error::Driver`] in builds with debug
    /// assertions.
    ///
    /// # Safety
    /// The buffers belong to this context. With them the program accesses only memory inside them, has no undefined
    /// behaviour of GLSL, and terminates. It has no other blocks, images or textures.
    pub(crate) unsafe fn run(
        &self,
        storage: &[&QueueBuffer],
        texture: Option<BoundImage>,
        numbers: &[u32],
        [across, down]: [u32; 2],
    ) -> Result<()> {
        let device = &self.device;
        let gl = device.enter()?;
        let run = || {
            // SAFETY: the context is current, program and buffers are of it; what the program does is the caller's promise.
            unsafe {
                let _bindings = Bindings::set(device, gl, self.name, storage, texture);
                let images = texture.map_or(0, |_| image_unit::STORED);
                gl.uniform_4_u32_slice(self.numbers.as_ref(), numbers);
                // Stores are not ordered with earlier commands: draws that still read the memory, and shaders that
                // wrote it.
                gl.memory_barrier(glow::SHADER_STORAGE_BARRIER_BIT | images);
                gl.dispatch_compute(across, down, 1);
                gl.memory_barrier(STORED | images);
            }
        };
        // Asking for errors makes a threaded driver wait.
        if cfg!(debug_assertions) {
            return device.checked("glDispatchCompute", run);
        }
        run();
        Ok(())
    }
}
