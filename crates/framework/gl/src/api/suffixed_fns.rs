//! Functions of OpenGL ES under the suffixed names of their extensions, which glow does not load.

use crate::api::features::{Features, Suffix};
use std::ffi::{CStr, c_void};

pub(crate) type Switch = unsafe extern "system" fn(switch: u32, index: u32);
type ColorMask = unsafe extern "system" fn(index: u32, red: u8, green: u8, blue: u8, alpha: u8);
type BlendFunc = unsafe extern "system" fn(index: u32, u32, u32, u32, u32);
type BlendEquation = unsafe extern "system" fn(index: u32, color: u32, alpha: u32);
type ViewportArray = unsafe extern "system" fn(first: u32, count: i32, values: *const f32);
type TexBuffer = unsafe extern "system" fn(target: u32, format: u32, buffer: u32);
type BufferStorage = unsafe extern "system" fn(target: u32, bytes: isize, data: *const c_void, flags: u32);

/// Blending and masks of one draw buffer: `GL_EXT_draw_buffers_indexed` or `GL_OES_draw_buffers_indexed`.
#[derive(Clone, Copy)]
pub(crate) struct IndexedFns {
    pub enable: Switch,
    pub disable: Switch,
    pub color_mask: ColorMask,
    pub blend_func: BlendFunc,
    pub blend_equation: BlendEquation,
}

impl IndexedFns {
    /// Loads five functions in the order of the fields: all or none.
    ///
    /// # Safety
    /// `load` returns null or the address of the GL function of that name for the current context.
    unsafe fn load(load: &mut dyn FnMut(&CStr) -> *const c_void, names: [&CStr; 5]) -> Option<Self> {
        let [enable, disable, mask, function, equation] = names.map(load);
        // SAFETY: null becomes `None`; other addresses are functions of these signatures by the caller's promise
        // (GL_EXT_draw_buffers_indexed, "New Procedures and Functions").
        unsafe {
            Some(Self {
                enable: std::mem::transmute::<*const c_void, Option<Switch>>(enable)?,
                disable: std::mem::transmute::<*const c_void, Option<Switch>>(disable)?,
                color_mask: std::mem::transmute::<*const c_void, Option<ColorMask>>(mask)?,
                blend_func: std::mem::transmute::<*const c_void, Option<BlendFunc>>(function)?,
                blend_equation: std::mem::transmute::<*const c_void, Option<BlendEquation>>(equation)?,
            })
        }
    }
}

/// Several viewports and their scissor tests: `GL_OES_viewport_array`.
#[derive(Clone, Copy)]
pub(crate) struct ViewportFns {
    viewports: ViewportArray,
    pub enable: Switch,
    pub disable: Switch,
}

impl ViewportFns {
    /// Takes all functions or none.
    ///
    /// # Safety
    /// Each is null or the function of its name for the current context.
    unsafe fn of([viewports, enable, disable]: [*const c_void; 3]) -> Option<Self> {
        // SAFETY: null becomes `None`; other addresses are functions of these signatures by the caller's promise.
        unsafe {
            Some(Self {
                viewports: std::mem::transmute::<*const c_void, Option<ViewportArray>>(viewports)?,
                enable: std::mem::transmute::<*const c_void, Option<Switch>>(enable)?,
                disable: std::mem::transmute::<*const c_void, Option<Switch>>(disable)?,
            })
        }
    }
}

/// Function pointers of one context. Drivers may return functions that the context does not have, so its extensions
/// decide.
#[derive(Default)]
pub(crate) struct SuffixedFns {
    indexed_ext: Option<IndexedFns>,
    indexed_oes: Option<IndexedFns>,
    tex_buffer_ext: Option<TexBuffer>,
    tex_buffer_oes: Option<TexBuffer>,
    viewports: Option<ViewportFns>,
    buffer_storage: Option<BufferStorage>,
}

impl SuffixedFns {
    /// Loads the functions.
    ///
    /// # Safety
    /// `load` returns null or the address of the GL function of that name for the current context.
    pub(crate) unsafe fn load(load: &mut dyn FnMut(&CStr) -> *const c_void) -> Self {
        let (tex_buffer_ext, tex_buffer_oes) = (load(c"glTexBufferEXT"), load(c"glTexBufferOES"));
        let viewports = [load(c"glViewportArrayvOES"), load(c"glEnableiOES"), load(c"glDisableiOES")];
        let buffer_storage = load(c"glBufferStorageEXT");
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
        // SAFETY: null becomes `None`; other addresses are functions of these signatures by the caller's promise
        // (GL_EXT_texture_buffer, GL_OES_viewport_array, GL_EXT_buffer_storage: "New Procedures and Functions").
        unsafe {
            Self {
                indexed_ext: IndexedFns::load(load, ext),
                indexed_oes: IndexedFns::load(load, oes),
                tex_buffer_ext: std::mem::transmute::<*const c_void, Option<TexBuffer>>(tex_buffer_ext),
                tex_buffer_oes: std::mem::transmute::<*const c_void, Option<TexBuffer>>(tex_buffer_oes),
                viewports: ViewportFns::of(viewports),
                buffer_storage: std::mem::transmute::<*const c_void, Option<BufferStorage>>(buffer_storage),
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
            Suffix::Ext => self.tex_buffer_ext,
            Suffix::Oes => self.tex_buffer_oes,
        }
    }

    /// Removes features whose functions are missing; a display with another loader may lack functions.
    pub(crate) fn limit(&self, mut features: Features) -> Features {
        if features.es {
            features.buffer_storage &= self.buffer_storage.is_some();
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
        let function = self.buffer_storage.filter(|_| features.es && features.buffer_storage);
        // SAFETY: the caller's promise; null is no content.
        function.map(|function| unsafe { function(target, bytes, std::ptr::null(), flags) }).is_some()
    }
}
