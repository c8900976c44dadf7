//! Kernels that store to the display's textures, beside the same kernels in linear memory.

use super::common::{Both, both};
use crate::suite::images::{self, queue};
use interop_core::{
    ComputeBackend, Display, ImageDesc, Kernel, KernelSource, PathId, PixelFormat, RawMemory, SurfaceDesc, Unwritten,
};
use pixelferry_gl::glow::{self, HasContext as _};
use std::sync::Arc;

/// [`images::MIXED`] in GLSL.
const GLSL: &str = "layout(local_size_x = 4, local_size_y = 8) in;
void main() {
  uvec2 at = gl_GlobalInvocationID.xy;
  uint number = at.x * 3u + at.y * 7u;
  uvec4 mixed = uvec4(number, number * 5u, number * 11u, 255u - number) & uvec4(255u);
  pf_store(at, vec4(mixed) / 255.0 * pf_arg_f32(0));
}";

/// Those of [`images`], too.
pub fn kernels(backend: &dyn ComputeBackend) -> Vec<Arc<dyn Kernel>> {
    // SAFETY: the text writes by `pf_store` alone.
    let glsl = backend.build(&unsafe { KernelSource::new("k").glsl(GLSL) }).unwrap();
    images::kernels(backend).into_iter().chain([glsl]).collect()
}

#[test]
fn every_format_holds_what_linear_memory_does() {
    let Some(Both { backend, display }) = both() else { return };
    let display: Arc<dyn Display> = display;
    images::every_format_holds_what_linear_memory_does((&backend, &display), &kernels(backend.as_ref()));
}

#[test]
fn bytes_of_a_texture_are_read_and_written_where_they_lie() {
    let Some(Both { backend, display }) = both() else { return };
    for format in PixelFormat::ALL {
        let desc = SurfaceDesc::image(7, 5, format);
        let surface = display.create_surface(&desc).unwrap();
        let handle = surface.export(queue(backend.as_ref())).unwrap();
        let mut texture = backend.import_surface(&handle, &desc).unwrap();
        images::bytes_of_an_image_are_read_and_written_where_they_lie(backend.as_ref(), texture.as_mut(), format);
        drop(surface);
        let refused = texture.read(0, &mut vec![0; texture.len()]).unwrap_err().to_string();
        assert!(refused.contains("dropped"), "{refused}");
    }
}

/// By the number alone, as an engine's own compute shader would.
#[test]
fn a_frame_is_a_texture_of_the_context() {
    let Some(Both { backend, display }) = both() else { return };
    let desc = ImageDesc::new(4, 3, PixelFormat::Rgba8).with_unwritten(Unwritten::Overwrite);
    let shown: Arc<dyn Display> = display.clone();
    let mut link = images::link((&backend, &shown), desc, PathId::IN_QUEUE_TEXTURE);
    for n in 0..5 {
        link.frame(|next| {
            // SAFETY: only pixels of the view are written, in the context, before the frame is finished.
            let raw = unsafe { next.raw() }?;
            let RawMemory::GlTexture { texture, level, first, step } = raw.memory() else { panic!("{raw:?}") };
            assert_eq!((level, first.0, step.abs()), (0, 0, 1));
            let name = glow::NativeTexture(texture.try_into().expect("a name"));
            let gl = display.gl();
            // SAFETY: the context is current, and the texture is 4x3 RGBA8.
            unsafe {
                gl.bind_texture(glow::TEXTURE_2D, Some(name));
                let pixels = glow::PixelUnpackData::Slice(Some(&[n; 48]));
                gl.tex_sub_image_2d(glow::TEXTURE_2D, 0, 0, 0, 4, 3, glow::RGBA, glow::UNSIGNED_BYTE, pixels);
            }
            Ok(())
        })
        .unwrap();
        assert_eq!(link.read_back().unwrap(), [n; 48]);
    }
}

#[test]
fn handles_of_others_are_refused() {
    let (Some(Both { backend, display }), Some(other)) = (both(), both()) else { return };
    let current = || display.make_current().unwrap();
    let shown: Arc<dyn Display> = display.clone();
    images::handles_of_others_are_refused((&backend, &shown), other.backend.as_ref(), current);
}

#[test]
fn an_image_above_the_limit_of_buffers_is_a_texture() {
    let Some(Both { backend, display }) = both() else { return };
    let (display, limit) = (display as Arc<dyn Display>, "GL_MAX_SHADER_STORAGE_BLOCK_SIZE");
    crate::suite::large_images::an_image_above_the_limit_of_buffers_is_a_texture(&backend, &display, limit);
}
