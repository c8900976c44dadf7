//! Guards for GL state that a call changes.
//!
//! In an engine's context each guard saves the old values and restores them when it is dropped. In a context of this
//! crate nothing is queried (a query makes a threaded driver wait); the guards only restore the defaults of state that
//! would disturb other uploads.

use crate::api::host_state::{Calls, READS, UPLOADS};
use crate::context::context_state::ContextState;
use crate::objects::neutral_state::NeutralState;
use glow::HasContext as _;

/// Pixel unpack parameters, pixel transfer state, and the unpack buffer.
pub(crate) struct Unpack<'a> {
    shared: &'a ContextState,
    /// The buffer that an engine had bound.
    before: Option<glow::Buffer>,
    row_length: i32,
    bound: bool,
    // Restored after everything else.
    _calmed: Option<NeutralState<'a>>,
}

impl<'a> Unpack<'a> {
    /// Sets rows of `row_length` pixels (0: tight) without alignment, from `buffer` or from client memory.
    pub(crate) fn set(shared: &'a ContextState, row_length: i32, buffer: Option<glow::Buffer>) -> Self {
        let gl = &shared.gl;
        let calmed = shared.is_engine().then(|| NeutralState::set(shared, UPLOADS, true));
        // SAFETY: the context is current; parameters and targets are of GL 3.3 and ES 3.0, the buffer is of this context.
        unsafe {
            let before = calmed.as_ref().and_then(|_| gl.get_parameter_buffer(glow::PIXEL_UNPACK_BUFFER_BINDING));
            if calmed.is_none() {
                gl.pixel_store_i32(glow::UNPACK_ALIGNMENT, 1);
            }
            gl.pixel_store_i32(glow::UNPACK_ROW_LENGTH, row_length);
            gl.bind_buffer(glow::PIXEL_UNPACK_BUFFER, buffer);
            Self { shared, before, row_length, bound: buffer != before, _calmed: calmed }
        }
    }
}

impl Drop for Unpack<'_> {
    fn drop(&mut self) {
        let gl = &self.shared.gl;
        // SAFETY: the context is still current; the buffer came from it.
        unsafe {
            if self.row_length != 0 {
                gl.pixel_store_i32(glow::UNPACK_ROW_LENGTH, 0);
            }
            if self.bound {
                gl.bind_buffer(glow::PIXEL_UNPACK_BUFFER, self.before);
            }
        }
    }
}

/// Pixel pack parameters, pixel transfer state, and the pack buffer; always restored, because reading back is slow
/// anyway.
pub(crate) struct Pack<'a> {
    shared: &'a ContextState,
    buffer: Option<glow::Buffer>,
    // Restored after everything else.
    _calmed: NeutralState<'a>,
}

impl<'a> Pack<'a> {
    /// Sets tight rows into client memory.
    pub(crate) fn tight(shared: &'a ContextState) -> Self {
        Self::set(shared, 0, None)
    }

    /// Sets rows of this many pixels (0: tight) into a buffer, or into client memory.
    pub(crate) fn set(shared: &'a ContextState, row_length: i32, into: Option<glow::Buffer>) -> Self {
        let (gl, calmed) = (&shared.gl, NeutralState::set(shared, READS, true));
        // SAFETY: the context is current; names are of GL 3.3 and ES 3.0.
        unsafe {
            let buffer = gl.get_parameter_buffer(glow::PIXEL_PACK_BUFFER_BINDING);
            gl.pixel_store_i32(glow::PACK_ROW_LENGTH, row_length);
            gl.bind_buffer(glow::PIXEL_PACK_BUFFER, into);
            Self { shared, buffer, _calmed: calmed }
        }
    }
}

impl Drop for Pack<'_> {
    fn drop(&mut self) {
        let gl = &self.shared.gl;
        // SAFETY: the context is still current; the buffer came from it.
        unsafe {
            gl.pixel_store_i32(glow::PACK_ROW_LENGTH, 0);
            gl.bind_buffer(glow::PIXEL_PACK_BUFFER, self.buffer);
        }
    }
}

/// A buffer bound for copies. `COPY_READ_BUFFER` and `COPY_WRITE_BUFFER` do not affect draws, so in contexts of this
/// crate they stay bound.
pub(crate) struct BoundBuffer<'a> {
    shared: &'a ContextState,
    target: u32,
    saved: Option<Option<glow::Buffer>>,
}

impl<'a> BoundBuffer<'a> {
    /// Binds to `COPY_READ_BUFFER`.
    pub(crate) fn read(shared: &'a ContextState, buffer: glow::Buffer) -> Self {
        Self::bind(shared, glow::COPY_READ_BUFFER, glow::COPY_READ_BUFFER_BINDING, buffer)
    }

    /// Binds to `COPY_WRITE_BUFFER`.
    pub(crate) fn write(shared: &'a ContextState, buffer: glow::Buffer) -> Self {
        Self::bind(shared, glow::COPY_WRITE_BUFFER, glow::COPY_WRITE_BUFFER_BINDING, buffer)
    }

    fn bind(shared: &'a ContextState, target: u32, query: u32, buffer: glow::Buffer) -> Self {
        // SAFETY: the context is current and the buffer is of it; both targets are of GL 3.1.
        let saved = unsafe {
            let saved = shared.is_engine().then(|| shared.gl.get_parameter_buffer(query));
            shared.gl.bind_buffer(target, Some(buffer));
            saved
        };
        Self { shared, target, saved }
    }
}

impl Drop for BoundBuffer<'_> {
    fn drop(&mut self) {
        if let Some(buffer) = self.saved {
            // SAFETY: the context is still current and the binding came from it.
            unsafe { self.shared.gl.bind_buffer(self.target, buffer) }
        }
    }
}

/// A texture bound to the active unit, for calls without direct state access in this context.
pub(crate) struct BoundTexture<'a> {
    shared: &'a ContextState,
    target: u32,
    saved: Option<Option<glow::Texture>>,
}

/// Returns the query of a texture target's binding.
const fn texture_binding(target: u32) -> u32 {
    match target {
        glow::TEXTURE_BUFFER => glow::TEXTURE_BINDING_BUFFER,
        _ => glow::TEXTURE_BINDING_2D,
    }
}

impl<'a> BoundTexture<'a> {
    pub(crate) fn bind(shared: &'a ContextState, target: u32, texture: glow::Texture) -> Self {
        // SAFETY: the context is current and the texture is of it and of that target.
        let saved = unsafe {
            let saved = shared.is_engine().then(|| shared.gl.get_parameter_texture(texture_binding(target)));
            shared.gl.bind_texture(target, Some(texture));
            saved
        };
        Self { shared, target, saved }
    }
}

impl Drop for BoundTexture<'_> {
    fn drop(&mut self) {
        // SAFETY: the context is still current and the binding came from it.
        unsafe { self.shared.gl.bind_texture(self.target, self.saved.flatten()) }
    }
}

/// Returns the current program, if it can be used again: a deleted program disappears when another one is used.
///
/// # Safety
/// The context is current and `gl` is of it.
pub(crate) unsafe fn program_in_use(gl: &glow::Context) -> Option<glow::Program> {
    // SAFETY: the caller's promise; the name comes from the context.
    unsafe {
        let program = gl.get_parameter_program(glow::CURRENT_PROGRAM)?;
        (gl.get_program_parameter_i32(program, glow::DELETE_STATUS) == 0).then_some(program)
    }
}

/// A current program that reads a texture through unit 0.
pub(crate) struct ReadProgram<'a> {
    shared: &'a ContextState,
    target: u32,
    saved: Option<SavedReadProgram>,
    // Restored after the program: no other may be used during transform feedback.
    _calmed: NeutralState<'a>,
}

struct SavedReadProgram {
    program: Option<glow::Program>,
    active_unit: u32,
    /// Texture bound to the target of unit 0.
    texture: Option<glow::Texture>,
}

impl<'a> ReadProgram<'a> {
    /// Makes unit 0 active, and sets state that affects these calls as in a new context. `keep` saves and restores in
    /// any context; otherwise a context of this crate keeps program and texture, which do not disturb later calls.
    pub(crate) fn set(
        shared: &'a ContextState,
        (keep, calls): (bool, Calls),
        program: glow::Program,
        target: u32,
        texture: glow::Texture,
    ) -> Self {
        let gl = &shared.gl;
        let keep = keep || shared.is_engine();
        let calmed = NeutralState::set(shared, calls, keep);
        // SAFETY: the context is current, the names are of it, the parameters of GL 3.3.
        unsafe {
            let active_unit = keep.then(|| gl.get_parameter_i32(glow::ACTIVE_TEXTURE) as u32);
            gl.active_texture(glow::TEXTURE0);
            let saved = active_unit.map(|active_unit| SavedReadProgram {
                program: program_in_use(gl),
                active_unit,
                texture: gl.get_parameter_texture(texture_binding(target)),
            });
            gl.use_program(Some(program));
            gl.bind_texture(target, Some(texture));
            Self { shared, target, saved, _calmed: calmed }
        }
    }
}

impl Drop for ReadProgram<'_> {
    fn drop(&mut self) {
        let (gl, Some(saved)) = (&self.shared.gl, &self.saved) else { return };
        // SAFETY: the context is still current with unit 0 active; the values came from it.
        unsafe {
            gl.bind_texture(self.target, saved.texture);
            gl.use_program(saved.program);
            gl.active_texture(saved.active_unit);
        }
    }
}

/// The sampler of unit 0, which must be active.
pub(crate) struct Sampler<'a> {
    shared: &'a ContextState,
    saved: Option<glow::Sampler>,
}

impl<'a> Sampler<'a> {
    /// `keep` saves and restores in any context; otherwise a context of this crate has no sampler bound afterwards.
    pub(crate) fn bind(shared: &'a ContextState, keep: bool, sampler: glow::Sampler) -> Self {
        let (gl, keep) = (&shared.gl, keep || shared.is_engine());
        // SAFETY: the context is current and the sampler is of it.
        unsafe {
            let saved = if keep { gl.get_parameter_sampler(glow::SAMPLER_BINDING) } else { None };
            gl.bind_sampler(0, Some(sampler));
            Self { shared, saved }
        }
    }
}

impl Drop for Sampler<'_> {
    fn drop(&mut self) {
        // SAFETY: the context is still current and the binding came from it.
        unsafe { self.shared.gl.bind_sampler(0, self.saved) }
    }
}

/// Both framebuffer bindings; always restored.
pub(crate) struct Framebuffers<'a> {
    shared: &'a ContextState,
    draw: Option<glow::Framebuffer>,
    read: Option<glow::Framebuffer>,
}

impl<'a> Framebuffers<'a> {
    /// Binds `framebuffer` for drawing and reading.
    pub(crate) fn bind(shared: &'a ContextState, framebuffer: glow::Framebuffer) -> Self {
        Self::to(shared, glow::FRAMEBUFFER, Some(framebuffer))
    }

    /// Binds a framebuffer, or the window's own, for reading.
    pub(crate) fn to_read(shared: &'a ContextState, framebuffer: Option<glow::Framebuffer>) -> Self {
        Self::to(shared, glow::READ_FRAMEBUFFER, framebuffer)
    }

    fn to(shared: &'a ContextState, place: u32, framebuffer: Option<glow::Framebuffer>) -> Self {
        let gl = &shared.gl;
        // SAFETY: the context is current and the framebuffer is of it.
        unsafe {
            let draw = gl.get_parameter_framebuffer(glow::DRAW_FRAMEBUFFER_BINDING);
            let read = gl.get_parameter_framebuffer(glow::READ_FRAMEBUFFER_BINDING);
            gl.bind_framebuffer(place, framebuffer);
            Self { shared, draw, read }
        }
    }
}

impl Drop for Framebuffers<'_> {
    fn drop(&mut self) {
        let gl = &self.shared.gl;
        // SAFETY: the context is still current; both bindings came from it.
        unsafe {
            gl.bind_framebuffer(glow::DRAW_FRAMEBUFFER, self.draw);
            gl.bind_framebuffer(glow::READ_FRAMEBUFFER, self.read);
        }
    }
}
