//! What this context can do, asked once. glow panics where a function is missing, so every call above GL 3.3 is
//! gated here.

use crate::os;
use glow::HasContext as _;
use interop_core::{Error, Result};

/// `GL_AMD_pinned_memory`: the target through which a buffer takes host memory in place.
pub(crate) const EXTERNAL_VIRTUAL_MEMORY_BUFFER_AMD: u32 = 0x9160;

/// Lowest version that this crate works with.
pub const MIN_VERSION: (u32, u32) = (3, 3);

/// Versions and extensions of one context.
#[derive(Debug, Clone, Default)]
pub(crate) struct Features {
    pub version: (u32, u32),
    /// GL 4.5, `ARB_direct_state_access`.
    pub dsa: bool,
    /// `glGetTextureParameteriv` says what kind a texture is: GL 4.5. Mesa refuses it in the compatibility profile.
    pub texture_kinds: bool,
    /// GL 4.2, `ARB_texture_storage`.
    pub texture_storage: bool,
    /// GL 4.4, `ARB_buffer_storage`.
    pub buffer_storage: bool,
    /// GL 4.2: `glMemoryBarrier`; the client-mapped bit needs 4.4.
    pub client_mapped_barrier: bool,
    /// Compute shaders that store into images: GL 4.3, or `ARB_compute_shader`, which builds on GL 4.2.
    pub compute: bool,
    /// GL 4.0: draw buffers blend each in its own way, so that only the first is ours to change.
    pub indexed_blending: bool,
    /// GL 4.1: several viewports, so that only the first is ours to change.
    pub indexed_viewports: bool,
    /// `AMD_pinned_memory`.
    pub pinned_memory: bool,
    /// `EXT_memory_object`.
    pub memory_object: bool,
    /// `EXT_memory_object_fd`, on Windows `_win32`.
    pub memory_import: bool,
    /// `EXT_memory_object_win32` or `EXT_semaphore_win32`, which name the adapter.
    pub luid: bool,
    /// `EXT_semaphore_fd`, on Windows `_win32`.
    pub semaphore_import: bool,
    /// `NV_timeline_semaphore`.
    pub timeline_semaphore: bool,
    pub max_texture_side: u32,
    pub max_buffer_texels: u64,
    pub map_alignment: usize,
}

impl Features {
    /// Asks the current context. With `limit`, only what that version has in core is used.
    ///
    /// # Safety
    /// The context is current and is at least of [`MIN_VERSION`].
    pub(crate) unsafe fn query(gl: &glow::Context, limit: Option<(u32, u32)>) -> Self {
        let actual = (gl.version().major, gl.version().minor);
        let version = limit.map_or(actual, |l| l.min(actual));
        let has = |core: (u32, u32), extension: &str| {
            version >= core || (limit.is_none() && gl.supported_extensions().contains(extension))
        };
        let never = (u32::MAX, 0);
        let get = |name: u32| {
            // SAFETY: the caller's promise; each name is a single integer of GL 3.3 or gated below.
            u32::try_from(unsafe { gl.get_parameter_i32(name) }).unwrap_or(0)
        };
        let mut viewport = [0; 2];
        // SAFETY: MAX_VIEWPORT_DIMS is two integers.
        unsafe { gl.get_parameter_i32_slice(glow::MAX_VIEWPORT_DIMS, &mut viewport) };
        let viewport = viewport.map(|v| u32::try_from(v).unwrap_or(0));
        let core = !gl.version().is_embedded && get(glow::CONTEXT_PROFILE_MASK) & glow::CONTEXT_CORE_PROFILE_BIT != 0;
        Self {
            version,
            dsa: has((4, 5), "GL_ARB_direct_state_access"),
            texture_kinds: core && has((4, 5), "GL_ARB_direct_state_access"),
            texture_storage: has((4, 2), "GL_ARB_texture_storage"),
            buffer_storage: has((4, 4), "GL_ARB_buffer_storage"),
            client_mapped_barrier: version >= (4, 4),
            compute: version >= (4, 2) && has((4, 3), "GL_ARB_compute_shader"),
            indexed_blending: version >= (4, 0),
            indexed_viewports: version >= (4, 1),
            pinned_memory: has(never, "GL_AMD_pinned_memory"),
            memory_object: has(never, "GL_EXT_memory_object"),
            memory_import: has(never, "GL_EXT_memory_object") && has(never, os::MEMORY_EXTENSION),
            luid: has(never, "GL_EXT_memory_object_win32") || has(never, "GL_EXT_semaphore_win32"),
            semaphore_import: has(never, "GL_EXT_semaphore") && has(never, os::SEMAPHORE_EXTENSION),
            timeline_semaphore: has(never, "GL_NV_timeline_semaphore"),
            max_texture_side: get(glow::MAX_TEXTURE_SIZE).min(viewport[0]).min(viewport[1]),
            max_buffer_texels: u64::from(get(glow::MAX_TEXTURE_BUFFER_SIZE)),
            map_alignment: if version >= (4, 2) { get(glow::MIN_MAP_BUFFER_ALIGNMENT).max(1) as usize } else { 1 },
        }
    }
}

/// Major and minor number of a desktop `GL_VERSION`; `None` for OpenGL ES and for what is no version.
pub(crate) fn parse_version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split([' ', '.']);
    Some((numbers.next()?.parse().ok()?, numbers.next()?.parse().ok()?))
}

/// Refuses what is older than [`MIN_VERSION`], or no desktop OpenGL; `text` is how the driver calls it.
pub(crate) fn check_version(version: Option<(u32, u32)>, text: &str) -> Result<()> {
    if version.is_some_and(|v| v >= MIN_VERSION) {
        return Ok(());
    }
    Err(Error::Unsupported {
        operation: "GlDisplay",
        device: format!("OpenGL {text}"),
        reason: format!("desktop OpenGL {}.{} or later is needed", MIN_VERSION.0, MIN_VERSION.1),
    })
}

/// The OpenGL ES that computes.
pub(crate) const ES_COMPUTE: (u8, u8) = (3, 1);

/// Refuses what is no OpenGL ES, or one without compute shaders; `text` is how the driver calls it.
pub(crate) fn check_es_version(text: &str) -> Result<()> {
    let version = text.strip_prefix("OpenGL ES ").and_then(parse_version);
    if version.is_some_and(|v| v >= (ES_COMPUTE.0.into(), ES_COMPUTE.1.into())) {
        return Ok(());
    }
    Err(Error::Unsupported {
        operation: "EsContext::headless",
        device: text.to_owned(),
        reason: format!("compute shaders need OpenGL ES {}.{} or later", ES_COMPUTE.0, ES_COMPUTE.1),
    })
}

#[cfg(test)]
mod tests {
    use super::{check_es_version, parse_version};

    #[test]
    fn versions_of_es() {
        for good in ["OpenGL ES 3.1 Mesa 22.3.6", "OpenGL ES 3.2 NVIDIA 580.159"] {
            assert!(check_es_version(good).is_ok());
        }
        for bad in ["OpenGL ES 3.0 Mesa", "4.5 (Core Profile) Mesa", "", "OpenGL ES"] {
            assert!(check_es_version(bad).unwrap_err().to_string().contains("3.1"));
        }
    }

    #[test]
    fn versions() {
        assert_eq!(parse_version("4.5 (Core Profile) Mesa 22.3.6"), Some((4, 5)));
        assert_eq!(parse_version("4.6.0 NVIDIA 580.159"), Some((4, 6)));
        assert_eq!(parse_version("OpenGL ES 3.2 Mesa"), None);
        assert_eq!(parse_version(""), None);
    }
}
