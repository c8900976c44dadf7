//! What a compute shader is bound to, and what an engine had bound there.

use super::bind_range::BindRange;
use super::buffer::QueueBuffer;
use super::device::GlDevice;
use glow::HasContext as _;

/// A kind of block.
#[derive(Clone, Copy)]
struct BindingTarget {
    target: u32,
    bound: u32,
    start: u32,
    size: u32,
}

const STORAGE: BindingTarget = BindingTarget {
    target: glow::SHADER_STORAGE_BUFFER,
    bound: glow::SHADER_STORAGE_BUFFER_BINDING,
    start: glow::SHADER_STORAGE_BUFFER_START,
    size: glow::SHADER_STORAGE_BUFFER_SIZE,
};
const UNIFORM: BindingTarget = BindingTarget {
    target: glow::UNIFORM_BUFFER,
    bound: glow::UNIFORM_BUFFER_BINDING,
    start: glow::UNIFORM_BUFFER_START,
    size: glow::UNIFORM_BUFFER_SIZE,
};

/// One place of a kind, as an engine had it.
struct Place {
    kind: BindingTarget,
    index: u32,
    buffer: u32,
    start: i64,
    size: i64,
}

/// A program and its buffers; put back in an engine's context.
pub(crate) struct Bindings<'a> {
    gl: &'a glow::Context,
    device: &'a GlDevice,
    saved: Option<Saved>,
}

struct Saved {
    program: Option<glow::Program>,
    /// Of the targets themselves, which binding a place sets, too.
    general: [Option<glow::Buffer>; 2],
    places: Vec<Place>,
}

impl<'a> Bindings<'a> {
    /// Storage blocks from 0 on, and uniform block 0.
    ///
    /// # Safety
    /// The context of `device` is current, `gl` is of it, and program and buffers are.
    pub(crate) unsafe fn set(
        device: &'a GlDevice,
        gl: &'a glow::Context,
        program: glow::Program,
        storage: &[&QueueBuffer],
        uniform: &QueueBuffer,
    ) -> Self {
        let storage = || (0..).zip(storage).map(|(index, buffer)| (STORAGE, index, buffer.name()));
        let all = || storage().chain([(UNIFORM, 0, uniform.name())]);
        // SAFETY: the caller's promise; the queries are of OpenGL 4.3, of one integer each.
        unsafe {
            let saved = device.is_engine().then(|| Saved {
                program: gl.get_parameter_program(glow::CURRENT_PROGRAM),
                general: [STORAGE, UNIFORM].map(|kind| gl.get_parameter_buffer(kind.bound)),
                places: all()
                    .map(|(kind, index, _)| Place {
                        kind,
                        index,
                        buffer: gl.get_parameter_indexed_i32(kind.bound, index).cast_unsigned(),
                        start: gl.get_parameter_indexed_i64(kind.start, index),
                        size: gl.get_parameter_indexed_i64(kind.size, index),
                    })
                    .collect(),
            });
            for (kind, index, buffer) in all() {
                gl.bind_buffer_base(kind.target, index, Some(buffer));
            }
            gl.use_program(Some(program));
            Self { gl, device, saved }
        }
    }
}

impl Drop for Bindings<'_> {
    fn drop(&mut self) {
        let (gl, saved) = (self.gl, self.saved.as_ref());
        // SAFETY: the context is still current; the values came from it. A size of 0 is a buffer that was bound as a whole.
        unsafe {
            gl.use_program(saved.and_then(|saved| saved.program));
            let Some(saved) = saved else { return };
            let BindRange(bind_range) = self.device.bind_range();
            for Place { kind, index, buffer, start, size } in &saved.places {
                match (isize::try_from(*start), isize::try_from(*size)) {
                    (Ok(start), Ok(size)) if size > 0 => bind_range(kind.target, *index, *buffer, start, size),
                    _ => {
                        let buffer = std::num::NonZeroU32::new(*buffer).map(glow::NativeBuffer);
                        gl.bind_buffer_base(kind.target, *index, buffer);
                    }
                }
            }
            for (kind, buffer) in [STORAGE, UNIFORM].iter().zip(saved.general) {
                gl.bind_buffer(kind.target, buffer);
            }
        }
    }
}
