//! Functions of OpenGL ES under the suffixed names of their extensions, which glow does not load.

use crate::api::features::{Features, Suffix};
use crate::api::functions::functions;
use std::ffi::{CStr, c_void};

pub(crate) type Switch = unsafe extern "system" fn(switch: u32, index: u32);
type TexBuffer = unsafe extern "system" fn(target: u32, format: u32, buffer: u32);

functions! {
    /// Blending and masks of one draw buffer: `GL_EXT_draw_buffers_indexed` or `GL_OES_draw_buffers_indexed`.
    all IndexedFns(names: [&CStr; 5]) {
        pub enable = names[0], fn(switch: u32, index: u32);
        pub disable = names[1], fn(switch: u32, index: u32);
        pub color_mask = names[2], fn(index: u32, red: u8, green: u8, blue: u8, alpha: u8);
        pub blend_func = names[3], fn(index: u32, u32, u32, u32, u32);
        pub blend_equation = names[4], fn(index: u32, color: u32, alpha: u32);
    }
}

functions! {
    /// Several viewports and their scissor tests: `GL_OES_viewport_array`.
    all ViewportFns {
        viewports = c"glViewportArrayvOES", fn(first: u32, count: i32, values: *const f32);
        pub enable = c"glEnableiOES", fn(switch: u32, index: u32);
        pub disable = c"glDisableiOES", fn(switch: u32, index: u32);
    }
}

functions! {
    /// `GL_EXT_texture_buffer`, `GL_OES_texture_buffer` and `GL_EXT_buffer_storage`.
    each BufferFns {
        tex_buffer_ext = c"glTexBufferEXT", fn(target: u32, format: u32, buffer: u32);
        tex_buffer_oes = c"glTexBufferOES", fn(target: u32, format: u32, buffer: u32);
        storage = c"glBufferStorageEXT", fn(target: u32, bytes: isize, data: *const c_void, flags: u32);
    }
}

/// Function pointers of one context. Drivers may return functions that the context does not have, so its extensions
/// decide.
#[derive(Default)]
pub(crate) struct SuffixedFns {
    indexed_ext: Option<IndexedFns>,
    indexed_oes: Option<IndexedFns>,
    viewports: Option<ViewportFns>,
    buffers: BufferFns,
}

impl SuffixedFns {
    /// Loads the functions.
    ///
    /// # Safety
    /// `load` returns null or the address of the GL function of that name for the current context.
    pub(crate) unsafe fn load(load: &mut dyn FnMut(&CStr) -> *const c_void) -> Self {
        let ext = [
            c"glEnableiEXT",
            c"glDisableiEXT",
            c"glColorMaskiEXT",
            c"glBlendFuncSeparateiEXT",
            c"glBlendEquationSeparateiEXT",
        ];
        let oes = [
            c"glEnableiOES",
            c"glDisableiOES",
            c"glColorMaskiOES",
            c"glBlendFuncSeparateiOES",
            c"glBlendEquationSeparateiOES",
        ];
        // SAFETY: the caller's promise.
        unsafe {
            Self {
                indexed_ext: IndexedFns::load(load, ext),
                indexed_oes: IndexedFns::load(load, oes),
                viewports: ViewportFns::load(load),
                buffers: BufferFns::load(load),
            }
        }
    }

    /// Returns the functions where the context has them through an extension.
    pub(crate) fn indexed(&self, features: &Features) -> Option<IndexedFns> {
        match features.suffixed_blending? {
            Suffix::Ext => self.indexed_ext,
            Suffix::Oes => self.indexed_oes,
        }
    }

    fn tex_buffer_of(&self, suffix: Suffix) -> Option<TexBuffer> {
        match suffix {
            Suffix::Ext => self.buffers.tex_buffer_ext,
            Suffix::Oes => self.buffers.tex_buffer_oes,
        }
    }

    /// Removes features whose functions are missing; a display with another loader may lack functions.
    pub(crate) fn limit(&self, mut features: Features) -> Features {
        if features.es {
            features.buffer_storage &= self.buffers.storage.is_some();
            features.indexed_viewports &= self.viewports.is_some();
        }
        if features.suffixed_buffer_textures.is_some_and(|suffix| self.tex_buffer_of(suffix).is_none()) {
            features.buffer_textures = false;
            features.max_buffer_texels = 0;
        }
        features
    }

    /// Calls the extension's `glTexBuffer`, if the context has it through the extension.
    ///
    /// # Safety
    /// The context is current with a texture bound to `TEXTURE_BUFFER`, and the buffer is of it.
    pub(crate) unsafe fn tex_buffer(&self, features: &Features, format: u32, buffer: glow::Buffer) -> bool {
        let function = features.suffixed_buffer_textures.and_then(|suffix| self.tex_buffer_of(suffix));
        // SAFETY: the caller's promise; the context lists the extension.
        function.map(|function| unsafe { function(glow::TEXTURE_BUFFER, format, buffer.0.get()) }).is_some()
    }

    /// Returns the functions where the context has several viewports through the extension.
    pub(crate) fn viewports(&self, features: &Features) -> Option<ViewportFns> {
        self.viewports.filter(|_| features.es && features.indexed_viewports)
    }

    /// Calls `glViewportArrayvOES` for the first viewport, if the context has it.
    ///
    /// # Safety
    /// The context is current, and of these features.
    pub(crate) unsafe fn viewport(&self, features: &Features, values: &[f32; 4]) -> bool {
        // SAFETY: the caller's promise; one viewport is four numbers.
        self.viewports(features).map(|fns| unsafe { (fns.viewports)(0, 1, values.as_ptr()) }).is_some()
    }

    /// Calls `glBufferStorageEXT` without content, if the context has it.
    ///
    /// # Safety
    /// The context is current with a buffer without storage bound to `target`.
    pub(crate) unsafe fn buffer_storage(&self, features: &Features, target: u32, bytes: isize, flags: u32) -> bool {
        let function = self.buffers.storage.filter(|_| features.es && features.buffer_storage);
        // SAFETY: the caller's promise; null is no content.
        function.map(|function| unsafe { function(target, bytes, std::ptr::null(), flags) }).is_some()
    }
}
