//! Bindings of a compute shader, and restoring those of an engine.

use super::buffer::QueueBuffer;
use super::device::GlDevice;
use crate::api::host_state::feeds_back;
use crate::objects::image_unit::{BoundImage, SavedUnit};
use crate::objects::state_guards::program_in_use;
use glow::HasContext as _;

/// The binding of one storage block, as an engine had it.
struct BlockBinding {
    index: u32,
    buffer: u32,
    start: i64,
    size: i64,
}

/// A current program with its buffers; restored in an engine's context.
pub(crate) struct Bindings<'a> {
    gl: &'a glow::Context,
    device: &'a GlDevice,
    saved: Option<SavedBindings>,
}

struct SavedBindings {
    /// True where transform feedback was active, during which no other program can be used.
    feeds_back: bool,
    program: Option<glow::Program>,
    /// Buffer bound to the target itself, which binding an indexed place also changes.
    general: Option<glow::Buffer>,
    places: Vec<BlockBinding>,
    image: Option<SavedUnit>,
}

impl<'a> Bindings<'a> {
    /// Binds storage blocks from 0 on, and a texture at image unit 0.
    ///
    /// # Safety
    /// The context of `device` is current, `gl` is of it, and program, buffers and texture are.
    pub(crate) unsafe fn set(
        device: &'a GlDevice,
        gl: &'a glow::Context,
        program: glow::Program,
        storage: &[&QueueBuffer],
        texture: Option<BoundImage>,
    ) -> Self {
        // SAFETY: the caller's promise; the queries are of OpenGL 4.3, of one integer each.
        unsafe {
            let place = |index| BlockBinding {
                index,
                buffer: gl.get_parameter_indexed_i32(glow::SHADER_STORAGE_BUFFER_BINDING, index).cast_unsigned(),
                start: gl.get_parameter_indexed_i64(glow::SHADER_STORAGE_BUFFER_START, index),
                size: gl.get_parameter_indexed_i64(glow::SHADER_STORAGE_BUFFER_SIZE, index),
            };
            let saved = device.is_engine().then(|| SavedBindings {
                image: texture.map(|_| SavedUnit::of(gl)),
                feeds_back: feeds_back(gl),
                program: program_in_use(gl),
                general: gl.get_parameter_buffer(glow::SHADER_STORAGE_BUFFER_BINDING),
                places: (0..).zip(storage).map(|(index, _)| place(index)).collect(),
            });
            if saved.as_ref().is_some_and(|saved| saved.feeds_back) {
                gl.pause_transform_feedback();
            }
            for (index, buffer) in (0..).zip(storage) {
                gl.bind_buffer_base(glow::SHADER_STORAGE_BUFFER, index, Some(buffer.name()));
            }
            if let Some(texture) = texture {
                texture.bind(gl);
            }
            gl.use_program(Some(program));
            Self { gl, device, saved }
        }
    }
}

impl Drop for Bindings<'_> {
    fn drop(&mut self) {
        // In a context of this crate they do not disturb later calls.
        let (gl, Some(saved)) = (self.gl, &self.saved) else { return };
        // SAFETY: the context is still current; the values came from it. A size of 0 is a buffer that was bound as a whole.
        unsafe {
            gl.use_program(saved.program);
            let bind_range = self.device.bind_range().bind_range;
            for BlockBinding { index, buffer, start, size } in &saved.places {
                match (isize::try_from(*start), isize::try_from(*size)) {
                    (Ok(start), Ok(size)) if size > 0 => {
                        bind_range(glow::SHADER_STORAGE_BUFFER, *index, *buffer, start, size);
                    }
                    _ => {
                        let buffer = std::num::NonZeroU32::new(*buffer).map(glow::NativeBuffer);
                        gl.bind_buffer_base(glow::SHADER_STORAGE_BUFFER, *index, buffer);
                    }
                }
            }
            gl.bind_buffer(glow::SHADER_STORAGE_BUFFER, saved.general);
            if let Some(image) = &saved.image {
                image.restore(gl);
            }
            if saved.feeds_back {
                gl.resume_transform_feedback();
            }
        }
    }
}
