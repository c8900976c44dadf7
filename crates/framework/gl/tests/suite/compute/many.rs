//! Many frames by kernels in the context that draws, each compared on the device: contexts come and go, sizes, formats, paths and
//! ways of drawing change. A frame once read zeros on NVIDIA's driver (580.159), and never again.

use super::common::both;
use glow::HasContext as _;
use interop_core::{
    Arg, DrawOptions, ImageAccess, ImageDesc, Kernel, KernelSource, Link, LinkOptions, Manner, PathId, PixelFormat,
    Policy, ShowOutcome, SurfaceDesc, Unwritten,
};
use pixelferry_gl::{GlDisplay, OffscreenTarget, Viewport};
use pixelferry_testing::{Dice, by_level};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

/// Colours that 8 bits hold as they are, by place and number of the frame.
const PAINT: &str = "@compute @workgroup_size(16, 16)
fn paint(@builtin(global_invocation_id) id: vec3<u32>) {
  let n = pf_arg_u32(0);
  let word = ((id.x + n) & 255u) | (((id.y ^ (n >> 8u)) & 255u) << 8u) | ((n & 255u) << 16u) | 0xff000000u;
  pf_store(id.xy, unpack4x8unorm(word));
}";

/// Counts pixels of image unit 1 that are not frame `n`'s.
const COUNT: &str = "#version 430 core
layout(local_size_x = 16, local_size_y = 16) in;
layout(rgba8, binding = 1) readonly uniform image2D target;
layout(std430, binding = 0) buffer Wrong { uint wrong; };
uniform uint n;
void main() {
  ivec2 size = imageSize(target), at = ivec2(gl_GlobalInvocationID.xy);
  if (any(greaterThanEqual(at, size))) return;
  uvec2 id = uvec2(at.x, size.y - 1 - at.y);
  uint word = ((id.x + n) & 255u) | (((id.y ^ (n >> 8u)) & 255u) << 8u) | ((n & 255u) << 16u) | 0xff000000u;
  if (packUnorm4x8(imageLoad(target, at)) != word) atomicAdd(wrong, 1u);
}";

/// The program that compares, by hand in the display's context, which is current.
struct Count {
    display: Arc<GlDisplay>,
    program: glow::Program,
    wrong: glow::Buffer,
}

impl Count {
    fn new(display: &Arc<GlDisplay>) -> Self {
        let gl: &glow::Context = display.gl();
        // SAFETY: the context is current; the names are of it.
        unsafe {
            let (program, shader) = (gl.create_program().unwrap(), gl.create_shader(glow::COMPUTE_SHADER).unwrap());
            gl.shader_source(shader, COUNT);
            gl.compile_shader(shader);
            assert!(gl.get_shader_compile_status(shader), "{}", gl.get_shader_info_log(shader));
            gl.attach_shader(program, shader);
            gl.link_program(program);
            gl.delete_shader(shader);
            let wrong = gl.create_buffer().unwrap();
            gl.bind_buffer(glow::SHADER_STORAGE_BUFFER, Some(wrong));
            gl.buffer_data_size(glow::SHADER_STORAGE_BUFFER, 4, glow::DYNAMIC_READ);
            Self { display: display.clone(), program, wrong }
        }
    }

    /// Pixels of the target that are not those of frame `n`.
    fn wrong(&self, target: &OffscreenTarget, n: u32) -> u32 {
        let gl: &glow::Context = self.display.gl();
        let ((width, height), mut bytes) = (target.size(), [0; 4]);
        // SAFETY: the context is current; buffer and texture are of it, and the shader keeps inside of both.
        unsafe {
            gl.memory_barrier(glow::SHADER_IMAGE_ACCESS_BARRIER_BIT);
            gl.bind_buffer_base(glow::SHADER_STORAGE_BUFFER, 0, Some(self.wrong));
            gl.buffer_sub_data_u8_slice(glow::SHADER_STORAGE_BUFFER, 0, &bytes);
            gl.bind_image_texture(1, Some(target.texture()), 0, false, 0, glow::READ_ONLY, glow::RGBA8);
            gl.use_program(Some(self.program));
            gl.uniform_1_u32(gl.get_uniform_location(self.program, "n").as_ref(), n);
            gl.dispatch_compute(width.div_ceil(16), height.div_ceil(16), 1);
            gl.memory_barrier(glow::BUFFER_UPDATE_BARRIER_BIT);
            gl.get_buffer_sub_data(glow::SHADER_STORAGE_BUFFER, 0, &mut bytes);
        }
        u32::from_ne_bytes(bytes)
    }
}

impl Drop for Count {
    fn drop(&mut self) {
        let gl: &glow::Context = self.display.gl();
        // SAFETY: the context is current; the names are of it.
        unsafe {
            gl.delete_program(self.program);
            gl.delete_buffer(self.wrong);
        }
    }
}

fn expected((width, height): (u32, u32), n: u32) -> Vec<u8> {
    let pixel = |x: u32, y: u32| [x.wrapping_add(n) as u8, (y ^ (n >> 8)) as u8, n as u8, 255];
    (0..height).flat_map(|y| (0..width).flat_map(move |x| pixel(x, y))).collect()
}

#[test]
fn frame_after_frame_is_right() {
    let (frames, largest) = by_level((600, 64), (3000, 256), (100_000, 1024));
    // Some twice, so that enough frames go straight.
    let formats =
        [PixelFormat::Rgba8, PixelFormat::Rgba8, PixelFormat::Bgra8, PixelFormat::Rgba16F, PixelFormat::Rgba32F];
    let paths = [PathId::IN_QUEUE_IN_PLACE, PathId::IN_QUEUE_TEXTURE];
    let (mut dice, mut n) = (Dice(42), 0);
    let mut seen = BTreeMap::<String, u32>::new();
    // Two contexts at a time, of which one goes when another comes.
    let mut before = None;
    while n < frames {
        let Some(both) = both() else { return };
        let count = Count::new(&both.display);
        let kernel: Arc<dyn Kernel> = both.backend.build(&KernelSource::new("paint").wgsl(PAINT)).unwrap();
        for _ in 0..1 + dice.below(4) {
            let size = (1 + dice.below(largest) as u32, 1 + dice.below(largest) as u32);
            let (format, path) = (*dice.pick(&formats), *dice.pick(&paths));
            let access = if path == PathId::IN_QUEUE_TEXTURE { ImageAccess::Texture } else { ImageAccess::Any };
            let image = ImageDesc::new(size.0, size.1, format).with_access(access);
            let desc = SurfaceDesc::Image(image).with_unwritten(*dice.pick(&[
                Unwritten::Overwrite,
                Unwritten::Overwrite,
                Unwritten::Keep,
            ]));
            let options = LinkOptions::new(Policy::default().with_force(path).with_budget(Duration::ZERO));
            let mut link = Link::open(both.backend.clone(), both.display.clone(), desc, options).unwrap();
            let target = both.display.create_offscreen_target(size.0, size.1).unwrap();
            target.bind().unwrap();
            let draws = match dice.pick(&[None, None, Some(Manner::Compute), Some(Manner::Triangle)]) {
                Some(manner) => DrawOptions::default().with_manner(*manner),
                None => DrawOptions::default(),
            };
            for _ in 0..8 + dice.below(60) {
                n += 1;
                let mut place = both.display.bound_target(Viewport::full(size.0, size.1));
                let way = link.show(&mut place, draws, |frame| frame.launch(kernel.as_ref(), &[Arg::U32(n)])).unwrap();
                let way = if way == ShowOutcome::Straight { "straight".into() } else { format!("{path}, drawn") };
                let wrong = count.wrong(&target, n);
                assert_eq!(wrong, 0, "frame {n}, {size:?} {format} {way} {draws:?}: so many pixels are wrong");
                if n.is_multiple_of(100) {
                    assert!(target.read_pixels().unwrap() == expected(size, n), "frame {n}, {size:?} {format} {way}");
                }
                *seen.entry(way).or_default() += 1;
            }
        }
        // The compared context is current; that before it goes on its own.
        drop((count, before.replace(both)));
    }
    println!("{n} frames, none wrong: {seen:?}");
    assert!(seen.len() > 1, "one way alone was taken: {seen:?}");
}
