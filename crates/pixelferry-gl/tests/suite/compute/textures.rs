//! Kernels that store to the display's textures, beside the same kernels in linear memory.

use super::common::{Both, both, queue};
use crate::common;
use crate::engine::Engine;
use crate::state::{engine_framebuffers, make_unusual, unchanged};
use interop_core::{
    Arg, ComputeBackend, Display, ImageDesc, Kernel, KernelSource, Link, LinkOptions, MemoryShape, PathId, PixelFormat,
    Policy, RawMemory, Region, RowOrder, SurfaceDesc, Target, Unwritten, View,
};
use pixelferry_gl::GlBackend;
use pixelferry_gl::glow::{self, HasContext as _};
use pixelferry_testing::by_level;
use std::rc::Rc;
use std::sync::Arc;

/// Numbers that every format holds exactly, or rounds without a tie.
const WGSL: &str = "@compute @workgroup_size(8, 4)
fn k(@builtin(global_invocation_id) id: vec3<u32>) {
  let number = id.x * 3u + id.y * 7u;
  let mixed = vec4<u32>(number, number * 5u, number * 11u, 255u - number) & vec4<u32>(255u);
  pf_store(id.xy, vec4<f32>(mixed) / 255.0 * pf_arg_f32(0));
}";
const GLSL: &str = "layout(local_size_x = 4, local_size_y = 8) in;
void main() {
  uvec2 at = gl_GlobalInvocationID.xy;
  uint number = at.x * 3u + at.y * 7u;
  uvec4 mixed = uvec4(number, number * 5u, number * 11u, 255u - number) & uvec4(255u);
  pf_store(at, vec4(mixed) / 255.0 * pf_arg_f32(0));
}";
/// Names words, so that it does not store to a texture.
const WORDS: &str = "@compute @workgroup_size(8, 4)
fn k(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x == 0u && id.y > 1000u) { pf_put(0u, pf_get(0u)); }
  pf_store(id.xy, vec4<f32>(vec4<u32>(id.x, id.y, 7u, 255u)) / 255.0 * pf_arg_f32(0));
}";

fn kernels(backend: &dyn ComputeBackend) -> Vec<(&'static str, Arc<dyn Kernel>)> {
    // SAFETY: the text writes by `pf_store` alone.
    let glsl = unsafe { KernelSource::new("k").glsl(GLSL) };
    let sources =
        [("WGSL", KernelSource::new("k").wgsl(WGSL)), ("GLSL", glsl), ("words", KernelSource::new("k").wgsl(WORDS))];
    sources.into_iter().map(|(name, source)| (name, backend.build(&source).unwrap())).collect()
}

fn link(both: &Both, desc: ImageDesc, path: PathId) -> Link {
    let options = LinkOptions::new(Policy::default().with_force(path));
    Link::open(Arc::clone(&both.backend), both.display.clone(), SurfaceDesc::Image(desc), options).unwrap()
}

/// Whole frames, and then a part that leaves the rest.
fn frames(link: &mut Link, kernel: &dyn Kernel) -> Vec<Vec<u8>> {
    let mut found = Vec::new();
    for (number, region) in
        [None, Some(Region::new(3, 2, 9, 5)), None, Some(Region::new(0, 6, 1, 1))].into_iter().enumerate()
    {
        let args = [Arg::F32(1.0 - number as f32 / 8.0)];
        match region {
            None => link.frame(|next| next.launch(kernel, &args)).unwrap(),
            Some(region) => link.frame_region(region, |next| next.launch(kernel, &args)).unwrap(),
        }
        found.push(link.read_back().unwrap());
    }
    found
}

#[test]
fn every_format_holds_what_linear_memory_does() {
    let Some(both) = both() else { return };
    let kernels = kernels(both.backend.as_ref());
    for format in PixelFormat::ALL.into_iter().step_by(by_level(1, 1, 1)) {
        for order in [RowOrder::TopDown, RowOrder::BottomUp] {
            let desc = ImageDesc::new(21, 13, format).with_row_order(order);
            let [mut texture, mut memory] =
                [PathId::IN_QUEUE_TEXTURE, PathId::IN_QUEUE_UPLOAD].map(|path| link(&both, desc, path));
            assert_eq!(texture.path(), PathId::IN_QUEUE_TEXTURE);
            for (name, kernel) in &kernels {
                let [found, expected] = [&mut texture, &mut memory].map(|link| frames(link, kernel.as_ref()));
                for (frame, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    common::assert_same(&format!("{format}, {order:?}, {name}, frame {frame}"), expected, found);
                }
            }
        }
    }
}

/// Memory as the path imports it.
#[test]
fn bytes_of_a_texture_are_read_and_written_where_they_lie() {
    let Some(Both { backend, display }) = both() else { return };
    for format in PixelFormat::ALL {
        let desc = SurfaceDesc::image(7, 5, format);
        let surface = display.create_surface(&desc).unwrap();
        let handle = surface.export(queue(backend.as_ref())).unwrap();
        let mut texture = backend.import_surface(&handle, &desc).unwrap();
        let bytes = common::expected(&common::tight(&desc), 3);
        texture.write(0, &bytes).unwrap();
        let pixel = format.bytes_per_pixel();
        texture.write(8 * pixel, &bytes[..9 * pixel]).unwrap();
        let mut wanted = bytes.clone();
        wanted[8 * pixel..17 * pixel].copy_from_slice(&bytes[..9 * pixel]);
        let mut found = vec![0; bytes.len()];
        texture.read(0, &mut found).unwrap();
        common::assert_same(&format!("{format}"), &wanted, &found);
        let mut linear = backend.allocate(bytes.len()).unwrap();
        backend.copy(texture.as_ref(), linear.as_mut(), 0..bytes.len()).unwrap();
        linear.read(0, &mut found).unwrap();
        common::assert_same(&format!("{format}, copied"), &wanted, &found);
        if pixel > 1 {
            assert!(texture.write(1, &[0; 1]).is_err(), "half a pixel");
        }
        drop(surface);
        let refused = texture.read(0, &mut found).unwrap_err().to_string();
        assert!(refused.contains("gone"), "{refused}");
    }
}

/// By the number alone, as an engine's own compute shader would.
#[test]
fn a_frame_is_a_texture_of_the_context() {
    let Some(both) = both() else { return };
    let desc = ImageDesc::new(4, 3, PixelFormat::Rgba8).with_unwritten(Unwritten::Overwrite);
    let mut link = link(&both, desc, PathId::IN_QUEUE_TEXTURE);
    for n in 0..5 {
        link.frame(|next| {
            // SAFETY: only pixels of the view are written, in the context, before the frame is finished.
            let raw = unsafe { next.raw() }?;
            let RawMemory::GlTexture { texture, level, first, step } = raw.memory() else { panic!("{raw:?}") };
            assert_eq!((level, first.0, step.abs()), (0, 0, 1));
            let name = glow::NativeTexture(texture.try_into().expect("a name"));
            let gl = both.display.gl();
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
fn an_engines_state_stays() {
    let Some(engine) = Engine::new() else { return };
    let gl = engine.glow();
    engine_framebuffers(&gl);
    make_unusual(&gl, true, true);
    let display = engine.pixelferry(None);
    if display.version() < (4, 3) {
        return;
    }
    let backend: Arc<dyn ComputeBackend> = Arc::new(GlBackend::on(&display).unwrap());
    let kernels = kernels(backend.as_ref());
    let desc = SurfaceDesc::image(21, 13, PixelFormat::Rgba8);
    let surface = display.create_surface(&desc).unwrap();
    let handle = unchanged(&gl, "export", || surface.export(queue(backend.as_ref())).unwrap());
    let mut texture = unchanged(&gl, "import", || backend.import_surface(&handle, &desc).unwrap());
    let View::Image(view) = common::tight(&desc) else { panic!("an image") };
    for (name, kernel) in &kernels {
        unchanged(&gl, name, || {
            let target = Target::new(texture.as_mut(), View::Image(view)).unwrap();
            backend.launch(kernel.as_ref(), target, &[Arg::F32(0.5)]).unwrap();
        });
    }
    unchanged(&gl, "read", || texture.read(0, &mut vec![0; 21 * 13 * 4]).unwrap());
}

#[test]
fn handles_of_others_are_refused() {
    let (Some(one), Some(other)) = (both(), both()) else { return };
    let desc = SurfaceDesc::image(4, 4, PixelFormat::Rgba8);
    assert!(one.display.caps().can_export(queue(one.backend.as_ref()), MemoryShape::Image).is_yes());
    one.display.make_current().unwrap();
    let surface = Rc::clone(&one.display).create_surface(&desc).unwrap();
    let handle = surface.export(queue(one.backend.as_ref())).unwrap();
    assert!(surface.export(queue(other.backend.as_ref())).is_err());
    assert!(other.backend.import_surface(&handle, &desc).is_err());
    let larger = SurfaceDesc::image(5, 4, PixelFormat::Rgba8);
    assert!(one.backend.import_surface(&handle, &larger).is_err());
}

#[test]
fn an_image_above_the_limit_of_buffers_is_a_texture() {
    let Some(Both { backend, display }) = both() else { return };
    let (display, limit) = (display as Rc<dyn Display>, "GL_MAX_SHADER_STORAGE_BLOCK_SIZE");
    crate::large_images::an_image_above_the_limit_of_buffers_is_a_texture(&backend, &display, limit);
}
