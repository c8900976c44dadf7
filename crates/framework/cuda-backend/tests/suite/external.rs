//! Memory of CUDA's that OpenGL opens by a descriptor: `PIXELFERRY_GPU=1`.

use crate::suite::opengl::with_both;
use interop_core::conformance::tight;
use interop_core::describe::pattern::Pattern;
use interop_core::display::{Staging, StagingKind};
use interop_core::{
    BufferView, ComputeBackend, ComputeMemory, Display, Extent, HandleType, ImageAccess, ImageDesc, ImageView,
    PixelFormat, SurfaceDesc, SurfacePart, Target, View,
};
use pixelferry_gl::glow::{self, HasContext as _};
use pixelferry_gl::{DrawOptions, GlDisplay, Viewport};
use std::time::Instant;

type GlMemory = (Box<dyn ComputeMemory>, Staging);

fn open(backend: &dyn ComputeBackend, display: &GlDisplay, bytes: usize) -> GlMemory {
    let (memory, handle) = backend.allocate_shared(bytes, HandleType::OpaqueFd, backend.device()).unwrap();
    let staging = display.create_staging(StagingKind::External(handle), bytes).unwrap();
    assert_eq!((staging.len(), staging.host_block().is_none()), (bytes, true));
    (memory, staging)
}

fn image(width: u32, height: u32, format: PixelFormat) -> SurfaceDesc {
    SurfaceDesc::Image(ImageDesc::new(width, height, format).with_access(ImageAccess::Any))
}

/// Rings made anew and thrown away: OpenGL must have each block where CUDA has it, also when it has had many before.
#[test]
fn every_block_is_the_memory_that_was_exported() {
    let surfaces = [
        image(65, 33, PixelFormat::Rgba8),
        SurfaceDesc::buffer(5000),
        image(256, 64, PixelFormat::Rgba32F),
        SurfaceDesc::buffer(80_000),
        image(33, 17, PixelFormat::Rgba8),
        SurfaceDesc::buffer(4097),
        SurfaceDesc::buffer(1),
        image(16, 16, PixelFormat::Rgba8),
        SurfaceDesc::buffer(3 << 20),
    ];
    with_both(move |backend, display| {
        // Once with names and addresses that are free again each time, once with all kept.
        for keep in [false, true] {
            let (start, mut kept, mut wrong, mut frames) = (Instant::now(), Vec::new(), Vec::new(), 0);
            for _ in 0..if keep { 12 } else { 30 } {
                for desc in surfaces {
                    let view = tight(&desc).unwrap();
                    let bytes = view.span().end;
                    let mut surface = display.create_in_place_surface(&desc).unwrap();
                    let mut ring: Vec<GlMemory> = (0..3).map(|_| open(&backend, &display, bytes)).collect();
                    for (slot, (memory, staging)) in ring.iter_mut().enumerate() {
                        frames += 1;
                        let pattern = Pattern::for_view(&view, frames);
                        backend.write_pattern(Target::new(memory.as_mut(), view).unwrap(), &pattern).unwrap();
                        memory.release().unwrap();
                        surface.read_in_place(staging, &view).unwrap();
                        let mut expected = vec![0; bytes];
                        pattern.write(&view, &mut expected);
                        if surface.read_back(&SurfacePart::full(&desc)).unwrap() != expected {
                            wrong.push(format!("{desc} in slot {slot}"));
                        }
                    }
                    if keep {
                        kept.push(ring);
                    }
                }
            }
            println!("kept {keep}: {} of {frames} blocks wrong, {:?}", wrong.len(), start.elapsed());
            assert!(wrong.is_empty(), "{wrong:?}");
        }
        assert_eq!(display.object_counts().memory_objects, 0);
    });
}

/// Way in which OpenGL reads memory of CUDA.
#[derive(Debug, Clone, Copy, PartialEq)]
enum GlReadMethod {
    Texels,
    Vertices,
    Upload,
}

/// One block stays bound in OpenGL while CUDA writes it anew for each of many small pictures, which are all compared in
/// the end: where caches of the draws' kept bytes, an old picture would show.
#[test]
fn memory_opened_by_opengl_shows_no_old_frame() {
    with_both(|backend, display| {
        for reading in [GlReadMethod::Texels, GlReadMethod::Vertices, GlReadMethod::Upload] {
            let start = Instant::now();
            let wrong = wrong_tiles(&backend, &display, reading);
            println!("{reading:?}: {wrong} of {} frames wrong, {:?}", TILES * TILES, start.elapsed());
            assert_eq!(wrong, 0, "{reading:?}");
            assert_eq!(display.object_counts().memory_objects, 0);
        }
    });
}

const SIDE: u32 = 16;
const TILES: u32 = 40;

const POINTS: &str = "#version 330
layout(location = 0) in vec4 vertex;
flat out vec4 color;
flat out int index;
void main() {
  gl_Position = vec4((vec2(gl_VertexID % 16, gl_VertexID / 16) + 0.5) / 8.0 - 1.0, 0.0, 1.0);
  gl_PointSize = 1.0;
  color = vertex;
  index = gl_VertexID;
}";
const COLORS: &str = "#version 330
flat in vec4 color;
flat in int index;
uniform samplerBuffer texels;
uniform int from_texels;
out vec4 result;
void main() { result = from_texels == 1 ? texelFetch(texels, index) : color; }";

/// Binds a program that draws 16x16 points from the block, and the block; it stays bound from then on.
fn bind_points(display: &GlDisplay, block: &Staging, view: ImageView, reading: GlReadMethod) {
    let (gl, pixels) = (display.gl(), View::Image(view));
    let mut image = display.create_in_place_surface(&image(SIDE, SIDE, PixelFormat::Rgba8)).unwrap();
    let mut bytes = display.create_in_place_surface(&SurfaceDesc::buffer(view.span().end as u64)).unwrap();
    image.read_in_place(block, &pixels).unwrap();
    bytes.read_in_place(block, &View::Buffer(BufferView { offset: 0, len: view.span().end })).unwrap();
    // SAFETY: the context is current, all names are of it; what is left behind goes with it.
    unsafe {
        let program = gl.create_program().unwrap();
        for (kind, text) in [(glow::VERTEX_SHADER, POINTS), (glow::FRAGMENT_SHADER, COLORS)] {
            let shader = gl.create_shader(kind).unwrap();
            gl.shader_source(shader, text);
            gl.compile_shader(shader);
            assert!(gl.get_shader_compile_status(shader), "{}", gl.get_shader_info_log(shader));
            gl.attach_shader(program, shader);
        }
        gl.link_program(program);
        gl.use_program(Some(program));
        let from_texels = gl.get_uniform_location(program, "from_texels");
        gl.uniform_1_i32(from_texels.as_ref(), i32::from(reading == GlReadMethod::Texels));
        gl.bind_vertex_array(Some(gl.create_vertex_array().unwrap()));
        if reading == GlReadMethod::Texels {
            gl.bind_texture(glow::TEXTURE_BUFFER, Some(display.surface_texture(&image).unwrap().name));
        } else {
            gl.bind_buffer(glow::ARRAY_BUFFER, Some(display.surface_buffer(&bytes).unwrap().name));
            gl.vertex_attrib_pointer_f32(0, 4, glow::UNSIGNED_BYTE, true, 4, 0);
            gl.enable_vertex_attrib_array(0);
        }
        assert_eq!(gl.get_error(), glow::NO_ERROR);
    }
}

/// Draws a frame into each tile of one target; the number of tiles that then do not show theirs.
fn wrong_tiles(backend: &dyn ComputeBackend, display: &GlDisplay, reading: GlReadMethod) -> usize {
    let view = ImageView::packed(Extent::new(SIDE, SIDE), PixelFormat::Rgba8, 1, 0, false).unwrap();
    let (bytes, pixels, gl) = (view.span().end, View::Image(view), display.gl());
    let (mut memory, mut block) = open(backend, display, bytes);
    let desc = SurfaceDesc::image(SIDE, SIDE, PixelFormat::Rgba8);
    let mut texture = display.create_surface(&desc).unwrap();
    let target = display.create_offscreen_target(SIDE * TILES, SIDE * TILES).unwrap();
    target.bind().unwrap();
    if reading != GlReadMethod::Upload {
        bind_points(display, &block, view, reading);
    }
    for tile in 0..TILES * TILES {
        let pattern = Pattern::for_view(&pixels, tile);
        backend.write_pattern(Target::new(memory.as_mut(), pixels).unwrap(), &pattern).unwrap();
        memory.release().unwrap();
        let (x, y) = ((tile % TILES * SIDE) as i32, (tile / TILES * SIDE) as i32);
        if reading == GlReadMethod::Upload {
            texture.upload_staged(&SurfacePart::full(&desc), &mut block, &pixels).unwrap();
            let viewport = Viewport { x, y, width: SIDE, height: SIDE };
            display.draw(&texture, viewport, DrawOptions::default()).unwrap();
            block.wait().unwrap();
        } else {
            // SAFETY: the context is current; the program reads no more of the block than it has.
            unsafe {
                gl.viewport(x, y, SIDE as i32, SIDE as i32);
                gl.draw_arrays(glow::POINTS, 0, (SIDE * SIDE) as i32);
                // Not the block's own fence, which may come with a barrier.
                let fence = gl.fence_sync(glow::SYNC_GPU_COMMANDS_COMPLETE, 0).unwrap();
                gl.client_wait_sync(fence, glow::SYNC_FLUSH_COMMANDS_BIT, i32::MAX);
                gl.delete_sync(fence);
            }
        }
    }
    target.unbind().unwrap();
    let shown = target.read_pixels().unwrap();
    let row = (SIDE * TILES * 4) as usize;
    let rows: Vec<&[u8]> = shown.chunks(row).rev().collect();
    let is_wrong = |tile: &u32| {
        let mut expected = vec![0; bytes];
        Pattern::for_view(&pixels, *tile).write(&pixels, &mut expected);
        let (x, y) = ((tile % TILES * SIDE * 4) as usize, (tile / TILES * SIDE) as usize);
        expected.chunks(SIDE as usize * 4).zip(&rows[y..]).any(|(wanted, row)| row[x..x + wanted.len()] != *wanted)
    };
    (0..TILES * TILES).filter(is_wrong).count()
}
