//! Image unit 0, through which shaders store into textures.

use crate::context::context_state::ContextState;
use glow::HasContext as _;
use std::num::NonZeroU32;

/// Size of a work group, as the shaders declare it. The largest texture (2^15 texels) needs 2^12 groups on a side;
/// 65535 are always available.
const GROUP: (u32, u32) = (32, 8);

/// Makes stores visible to sampling, drawing, uploads and reads of the texture, and to shaders that load or store it
/// themselves.
pub(crate) const STORED: u32 = glow::TEXTURE_FETCH_BARRIER_BIT
    | glow::FRAMEBUFFER_BARRIER_BIT
    | glow::TEXTURE_UPDATE_BARRIER_BIT
    | glow::SHADER_IMAGE_ACCESS_BARRIER_BIT;

/// The bound image: one layer of a level, seen as `format`.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BoundImage {
    pub texture: glow::Texture,
    pub level: i32,
    pub layer: i32,
    pub access: u32,
    pub format: u32,
}

impl BoundImage {
    /// # Safety
    /// The context of `gl` is current and has image units; the texture is of it.
    pub(crate) unsafe fn bind(self, gl: &glow::Context) {
        let Self { texture, level, layer, access, format } = self;
        // SAFETY: the caller's promise.
        unsafe { gl.bind_image_texture(0, Some(texture), level, false, layer, access, format) }
    }
}

/// The saved state of image unit 0.
pub(crate) struct SavedUnit {
    texture: Option<glow::Texture>,
    level: i32,
    layered: bool,
    layer: i32,
    access: u32,
    format: u32,
}

impl SavedUnit {
    /// # Safety
    /// The context of `gl` is current and has image units.
    pub(crate) unsafe fn of(gl: &glow::Context) -> Self {
        // SAFETY: the caller's promise; the state is single integers.
        let get = |parameter| unsafe { gl.get_parameter_indexed_i32(parameter, 0) };
        let unsigned = |parameter| u32::try_from(get(parameter)).unwrap_or(0);
        Self {
            texture: NonZeroU32::new(unsigned(glow::IMAGE_BINDING_NAME)).map(glow::NativeTexture),
            level: get(glow::IMAGE_BINDING_LEVEL),
            layered: get(glow::IMAGE_BINDING_LAYERED) != 0,
            layer: get(glow::IMAGE_BINDING_LAYER),
            access: unsigned(glow::IMAGE_BINDING_ACCESS),
            format: unsigned(glow::IMAGE_BINDING_FORMAT),
        }
    }

    /// # Safety
    /// The context that it is of is current, and `gl` is of it.
    pub(crate) unsafe fn restore(&self, gl: &glow::Context) {
        let Self { texture, level, layered, layer, access, format } = *self;
        // SAFETY: the caller's promise; the values came from the context.
        unsafe { gl.bind_image_texture(0, texture, level, layered, layer, access, format) }
    }
}

/// Image unit 0, restored in an engine's context, and in any context if it must be kept.
pub(crate) struct ImageUnit<'a> {
    shared: &'a ContextState,
    saved: Option<SavedUnit>,
}

impl<'a> ImageUnit<'a> {
    /// Binds the image. The context must be current and have compute shaders.
    pub(crate) fn bind(shared: &'a ContextState, keep: bool, bound: BoundImage) -> Self {
        // SAFETY: the context is current and has image units; the texture is of it.
        unsafe {
            let saved = (keep || shared.is_engine()).then(|| SavedUnit::of(&shared.gl));
            bound.bind(&shared.gl);
            Self { shared, saved }
        }
    }

    /// Runs the current program for an area of this size, after all earlier draws and before all later reads.
    ///
    /// # Safety
    /// Everything that the program reads and stores lies inside the bound objects.
    pub(crate) unsafe fn run(&self, width: u32, height: u32) {
        let gl = &self.shared.gl;
        // SAFETY: the context is current and has compute shaders; the rest is the caller's promise.
        unsafe {
            // Stores are not ordered with earlier commands: draws that still sample or write the texture, and shaders
            // that wrote the source.
            gl.memory_barrier(STORED);
            gl.dispatch_compute(width.div_ceil(GROUP.0), height.div_ceil(GROUP.1), 1);
            gl.memory_barrier(STORED);
        }
    }
}

impl Drop for ImageUnit<'_> {
    fn drop(&mut self) {
        if let Some(saved) = &self.saved {
            // SAFETY: the context is still current.
            unsafe { saved.restore(&self.shared.gl) }
        }
    }
}
