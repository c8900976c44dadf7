//! Capabilities of an OpenGL context: the memory and the semaphores that it can export and import.

use crate::api::features::Features;
use crate::api::os;
use crate::api::raw::RawFns;
use crate::api::version::GlVersion;
use crate::api::vulkan::loader_support;
use interop_core::{
    DisplayCaps, HandleType, HostBlock, MemoryCap, MemoryShape, PixelFormat, RowOrder, SemaphoreCap, Support, SyncKind,
};

/// glow takes sizes and offsets of buffers as 32-bit integers.
pub(crate) const MAX_BUFFER_BYTES: u64 = i32::MAX as u64;

/// Rows of linear memory begin at cache lines: at a width of 1021 pixels, a draw by llvmpipe that reads tight rows in
/// place takes 7 % longer. This is a multiple of every pixel's size, because `GL_UNPACK_ROW_LENGTH` counts pixels.
const ROW_PITCH_ALIGNMENT: usize = 64;

pub(crate) fn caps(features: &Features, raw: &RawFns) -> DisplayCaps {
    let persistent = Support::when(features.buffer_storage, features.needed_to_map());
    let linear = |handle, support| MemoryCap::new(handle, MemoryShape::Linear, support);
    let image = |handle, support| MemoryCap::new(handle, MemoryShape::Image, support);
    let host_export = linear(HandleType::HostPointer, persistent.clone()).aligned(features.map_alignment, 1);
    let pinned = Support::when(features.pinned_memory, "the driver does not list GL_AMD_pinned_memory");
    let host_import = linear(HandleType::HostPointer, pinned).aligned(HostBlock::PAGE, HostBlock::PAGE);
    let handles = listed(features, features.memory_import, os::MEMORY_EXTENSION)
        .and(|| loaded(raw.memory_objects.is_some(), os::MEMORY_EXTENSION));
    DisplayCaps::new(features.max_texture_side, MAX_BUFFER_BYTES, RowOrder::BottomUp)
        // Pixels also come from client memory; the driver rejects a texture that is too large.
        .with_max_image_bytes(u64::MAX)
        .with_imports(vec![
            host_import,
            linear(HandleType::OPAQUE, handles.clone()),
            image(HandleType::OPAQUE, handles.clone()),
        ])
        // Every texture and buffer has a name; the compute side determines whether it can open it.
        .with_exports(vec![
            host_export,
            linear(HandleType::OPAQUE, handles.clone().and(loader_support)),
            image(HandleType::OPAQUE, handles.clone().and(loader_support)),
            linear(HandleType::GlObject, Support::Yes),
            image(HandleType::GlObject, Support::Yes),
        ])
        .with_semaphores(semaphores(features, raw))
        .with_orphaned_staging(Support::Yes)
        .with_persistent_staging(persistent)
        .with_image_formats(image_formats(features))
        .with_lacked_formats(lacked_formats(features))
        .with_in_place_images(Support::when(features.max_buffer_texels > 0, no_buffer_textures(features)))
        .with_in_place_buffers(Support::Yes)
        .with_max_in_place_pixels(features.max_buffer_texels)
        .with_row_pitch_alignment(ROW_PITCH_ALIGNMENT)
}

fn image_formats(features: &Features) -> Vec<PixelFormat> {
    PixelFormat::ALL.into_iter().filter(|format| features.lacks_for(*format).is_none()).collect()
}

fn lacked_formats(features: &Features) -> Vec<(PixelFormat, String)> {
    let version = GlVersion { es: features.es, number: features.version };
    let lacked = |format| features.lacks_for(format).map(|what| (format, format!("{what} (it is {version})")));
    PixelFormat::ALL.into_iter().filter_map(lacked).collect()
}

const fn no_buffer_textures(features: &Features) -> &'static str {
    if features.es {
        "buffer textures need OpenGL ES 3.2, or GL_EXT_texture_buffer on 3.1"
    } else {
        "the driver does not support buffer textures"
    }
}

/// Returns the support for an extension that shares with other APIs.
fn listed(features: &Features, is: bool, extension: &str) -> Support {
    let refused = || Support::No(format!("the driver lists {extension}, but rejects its functions"));
    let listed = Support::when(is, format!("the driver does not list {extension}"));
    listed.and(|| if features.sharing_refused { refused() } else { Support::Yes })
}

fn loaded(are: bool, extension: &str) -> Support {
    Support::when(are, format!("the functions of {extension} were not loaded; use GlDisplay::from_loader"))
}

fn semaphores(features: &Features, raw: &RawFns) -> Vec<SemaphoreCap> {
    let (import, timeline) = (os::SEMAPHORE_EXTENSION, "GL_NV_timeline_semaphore");
    let functions = raw.semaphores.as_ref();
    let gl_binary = listed(features, features.semaphore_import, import).and(|| loaded(functions.is_some(), import));
    let gl_timeline = gl_binary
        .clone()
        .and(|| listed(features, features.timeline_semaphore, timeline))
        .and(|| loaded(functions.is_some_and(|f| f.has_timeline()), timeline));
    vec![
        SemaphoreCap::new(SyncKind::BinarySemaphore, gl_binary.and(loader_support)),
        SemaphoreCap::new(SyncKind::TimelineSemaphore, gl_timeline.and(loader_support)),
    ]
}
