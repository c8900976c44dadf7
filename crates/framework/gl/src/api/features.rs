//! Features of a context, queried once.

use crate::api::os;
use crate::api::version::{ES_COMPUTE, GlVersion};
use glow::HasContext as _;
use interop_core::PixelFormat;
use interop_core::describe::format::ChannelKind;

/// `GL_AMD_pinned_memory`: the binding target with which a buffer uses host memory in place.
pub(crate) const EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD: u32 = 0x9160;

/// A version that every context has, and a version that no context has.
const ALWAYS: (u32, u32) = (0, 0);
const NEVER: (u32, u32) = (u32::MAX, 0);

/// Suffix of functions that OpenGL ES below 3.2 has only through an extension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Suffix {
    Ext,
    Oes,
}

/// Versions and extensions of one context.
#[derive(Debug, Clone, Default)]
pub(crate) struct Features {
    /// True for OpenGL ES; versions then count those of ES.
    pub es: bool,
    pub version: (u32, u32),
    /// GL 4.5, `ARB_direct_state_access`.
    pub dsa: bool,
    /// `glGetTextureParameteriv` returns the kind of a texture: GL 4.5. Mesa rejects it in the compatibility profile.
    pub texture_kinds: bool,
    /// GL 4.2, `ARB_texture_storage`; ES 3.0.
    pub texture_storage: bool,
    /// The size of a texture's level can be queried: ES 3.1.
    pub level_queries: bool,
    /// GL 4.4, `ARB_buffer_storage`; on ES `EXT_buffer_storage`.
    pub buffer_storage: bool,
    /// `glMemoryBarrier` with the client-mapped bit: GL 4.4; ES 3.1 with `EXT_buffer_storage`.
    pub client_mapped_barrier: bool,
    /// Draws and copies with compute shaders that store into images: GL 4.3, or `ARB_compute_shader`, which requires GL
    /// 4.2. In ES a triangle draws, because its image units support few formats and the content of a framebuffer cannot
    /// be queried.
    pub compute: bool,
    /// Kernels: GL 4.3, ES 3.1.
    pub kernels: bool,
    /// GL 4.0, ES 3.2: draw buffers have separate blending states, and only the first may be changed here.
    pub indexed_blending: bool,
    /// The same in ES below 3.2, through `EXT_draw_buffers_indexed` or `OES_draw_buffers_indexed`.
    pub suffixed_blending: Option<Suffix>,
    /// GL 4.1, in ES `OES_viewport_array`: several viewports, of which only the first may be changed here.
    pub indexed_viewports: bool,
    /// Buffer textures: ES 3.2, or an extension of ES 3.1 with [`Features::suffixed_buffer_textures`].
    pub buffer_textures: bool,
    pub suffixed_buffer_textures: Option<Suffix>,
    /// sRGB encoding can be switched off: in ES `EXT_sRGB_write_control`.
    pub srgb_switch: bool,
    /// 16-bit normalised numbers: in ES `EXT_texture_norm16`.
    pub norm16: bool,
    /// Framebuffers of 16-bit floats: ES 3.2, `EXT_color_buffer_half_float`, or the extension for 32-bit floats.
    pub half_targets: bool,
    /// Framebuffers of 32-bit floats: ES 3.2, `EXT_color_buffer_float`.
    pub float_targets: bool,
    /// `AMD_pinned_memory`.
    pub pinned_memory: bool,
    /// `EXT_memory_object`.
    pub memory_object: bool,
    /// The driver rejects functions of the memory and semaphore extensions that it lists: Mesa 22.3 below ES 3.2.
    pub sharing_refused: bool,
    /// `gl_FragCoord` may count from the end of the framebuffer that the program drew into before, until a uniform of
    /// the program changes. In Mesa (22.3), a program keeps its old constants if another framebuffer is bound while it
    /// is not in use, and it then draws after a clear without any other program's draw in between.
    pub stale_coordinates: bool,
    /// `EXT_memory_object_fd`, on Windows `_win32`.
    pub memory_import: bool,
    /// `EXT_memory_object_win32` or `EXT_semaphore_win32`, which report the adapter's LUID.
    pub luid: bool,
    /// `EXT_semaphore_fd`, on Windows `_win32`.
    pub semaphore_import: bool,
    /// `NV_timeline_semaphore`.
    pub timeline_semaphore: bool,
    pub max_texture_side: u32,
    /// Largest number of draw buffers of a framebuffer.
    pub draw_buffers: u32,
    /// Largest number of texels in a buffer texture; 0 without buffer textures.
    pub max_buffer_texels: u64,
    pub map_alignment: usize,
}

impl Features {
    /// Queries the current context. With `limit`, only core features of that version are used.
    ///
    /// # Safety
    /// The context is current and has at least [`crate::MIN_VERSION`] or [`crate::MIN_ES_VERSION`].
    pub(crate) unsafe fn query(gl: &glow::Context, limit: Option<(u32, u32)>) -> Self {
        let GlVersion { es, number } = GlVersion::of(gl);
        let version = limit.map_or(number, |l| l.min(number));
        let listed = |extension: &str| limit.is_none() && gl.supported_extensions().contains(extension);
        // The version and the extension that provide a feature, for OpenGL and for OpenGL ES.
        let has = |(desktop, desktop_extension): ((u32, u32), &str), (of_es, es_extension): ((u32, u32), &str)| {
            let (since, extension) = if es { (of_es, es_extension) } else { (desktop, desktop_extension) };
            version >= since || listed(extension)
        };
        let by_suffix = |extension: &str, listed: &dyn Fn(&str) -> bool| {
            let of = |prefix: &str| es && listed(&format!("GL_{prefix}_{extension}"));
            of("EXT").then_some(Suffix::Ext).or_else(|| of("OES").then_some(Suffix::Oes))
        };
        // Extensions that an engine may have enabled, whatever the limit.
        let in_context = |extension: &str| gl.supported_extensions().contains(extension);
        let get = |name: u32| {
            // SAFETY: the caller's promise; each name is a single integer of GL 3.3 and ES 3.0, or gated below.
            u32::try_from(unsafe { gl.get_parameter_i32(name) }).unwrap_or(0)
        };
        let mut viewport = [0; 2];
        // SAFETY: MAX_VIEWPORT_DIMS is two integers.
        unsafe { gl.get_parameter_i32_slice(glow::MAX_VIEWPORT_DIMS, &mut viewport) };
        let viewport = viewport.map(|v| u32::try_from(v).unwrap_or(0));
        let core = !es && get(glow::CONTEXT_PROFILE_MASK) & glow::CONTEXT_CORE_PROFILE_BIT != 0;
        let (no_es, any_desktop) = ((NEVER, ""), (ALWAYS, ""));
        let direct_access = ((4, 5), "GL_ARB_direct_state_access");
        let buffer_storage = has(((4, 4), "GL_ARB_buffer_storage"), (NEVER, "GL_EXT_buffer_storage"));
        let suffixed_buffer_textures = by_suffix("texture_buffer", &listed).filter(|_| version == (3, 1));
        let buffer_textures = has(any_desktop, ((3, 2), "")) || suffixed_buffer_textures.is_some();
        let float_targets = has(any_desktop, ((3, 2), "GL_EXT_color_buffer_float"));
        let desktop_compute = version >= (4, 2) && has(((4, 3), "GL_ARB_compute_shader"), no_es);
        Self {
            es,
            version,
            dsa: has(direct_access, no_es),
            texture_kinds: core && has(direct_access, no_es),
            texture_storage: has(((4, 2), "GL_ARB_texture_storage"), (ALWAYS, "")),
            level_queries: has(any_desktop, ((3, 1), "")),
            buffer_storage,
            client_mapped_barrier: if es { version >= (3, 1) && buffer_storage } else { version >= (4, 4) },
            compute: desktop_compute,
            kernels: has(((4, 3), ""), (ES_COMPUTE, "")),
            indexed_blending: if es { number >= (3, 2) } else { version >= (4, 0) },
            suffixed_blending: by_suffix("draw_buffers_indexed", &in_context).filter(|_| number < (3, 2)),
            indexed_viewports: has(((4, 1), ""), no_es) || (es && in_context("GL_OES_viewport_array")),
            buffer_textures,
            suffixed_buffer_textures,
            srgb_switch: has(any_desktop, (NEVER, "GL_EXT_sRGB_write_control")),
            norm16: has(any_desktop, (NEVER, "GL_EXT_texture_norm16")),
            half_targets: float_targets || has(any_desktop, (NEVER, "GL_EXT_color_buffer_half_float")),
            float_targets,
            pinned_memory: has((NEVER, "GL_AMD_pinned_memory"), no_es),
            memory_object: listed("GL_EXT_memory_object"),
            // Set when the device's identity is queried.
            sharing_refused: false,
            stale_coordinates: gl.version().vendor_info.contains("Mesa"),
            memory_import: listed("GL_EXT_memory_object") && listed(os::MEMORY_EXTENSION),
            luid: listed("GL_EXT_memory_object_win32") || listed("GL_EXT_semaphore_win32"),
            semaphore_import: listed("GL_EXT_semaphore") && listed(os::SEMAPHORE_EXTENSION),
            timeline_semaphore: listed("GL_NV_timeline_semaphore"),
            max_texture_side: get(glow::MAX_TEXTURE_SIZE).min(viewport[0]).min(viewport[1]),
            draw_buffers: get(glow::MAX_DRAW_BUFFERS).clamp(1, 16),
            max_buffer_texels: if buffer_textures { u64::from(get(glow::MAX_TEXTURE_BUFFER_SIZE)) } else { 0 },
            map_alignment: if has(((4, 2), ""), no_es) {
                get(glow::MIN_MAP_BUFFER_ALIGNMENT).max(1) as usize
            } else {
                1
            },
        }
    }

    /// Returns the requirement for persistent mapping that the context does not meet.
    pub(crate) const fn needed_to_map(&self) -> &'static str {
        if self.es {
            "persistent mapping needs GL_EXT_buffer_storage in OpenGL ES, which the driver does not list"
        } else {
            "persistent mapping needs OpenGL 4.4 or GL_ARB_buffer_storage, which the driver does not list"
        }
    }

    /// Returns the requirement for images of a format that the context does not meet; reading back draws them into
    /// textures of the same format.
    pub(crate) fn lacks_for(&self, format: PixelFormat) -> Option<&'static str> {
        let (has, what) = match format.channel_kind() {
            ChannelKind::Unorm16 => (self.norm16, "GL_EXT_texture_norm16"),
            ChannelKind::Float16 => (self.half_targets, "OpenGL ES 3.2, GL_EXT_color_buffer_float and _half_float"),
            ChannelKind::Float32 => (self.float_targets, "OpenGL ES 3.2 and GL_EXT_color_buffer_float"),
            _ => (true, ""),
        };
        (!has).then_some(what)
    }
}
