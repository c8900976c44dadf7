//! The picture that programs with foreign engines show: the kernel that computes it, its position in the window, and
//! how the window must look.

use pixelferry::{CpuKernelExt as _, Extent, KernelSource, LinkCore};

/// Size of the picture.
pub const EXTENT: Extent = Extent::new(256, 192);
/// Size of the window.
pub const WINDOW: Extent = Extent::new(336, 240);
/// Offset of the picture's top left corner from the window's.
pub const AT: [u32; 2] = [24, 16];
/// Colour that the engine clears the window to.
pub const BACKGROUND: [u8; 3] = [40, 60, 80];
/// Programs compute this many frames, each from its number, and then keep showing the last.
pub const LAST_FRAME: u32 = 40;

const OPENCL: &str = "kernel void weave(PF_IMAGE(uchar4, out), uint frame) {
    uint x = get_global_id(0), y = get_global_id(1);
    if (x >= out_width || y >= out_height) return;
    PF_STORE(out, x, y, (uchar4)(x, y, (x ^ y) + 3 * frame, 255));
}";

const WGSL: &str = "@compute @workgroup_size(8, 8)
fn weave(@builtin(global_invocation_id) id: vec3<u32>) {
    let blue = ((id.x ^ id.y) + 3u * pf_arg_u32(0)) & 255u;
    pf_store(id.xy, vec4<f32>(vec3<f32>(vec3<u32>(id.xy & vec2<u32>(255u), blue)), 255.0) / 255.0);
}";

/// The kernel. Its argument is the frame's number. All pixels of a frame differ.
pub fn source() -> KernelSource {
    let threads = KernelSource::new("weave").wgsl(WGSL).cpu_image(|out, args| {
        let frame = args.u32(0)?;
        out.par_pixels(|x, y| pixel(x, y, frame))
    });
    // SAFETY: each work item stores its own pixel, below the width and height, and takes a number.
    unsafe { threads.opencl_c(OPENCL) }
}

fn pixel(x: u32, y: u32, frame: u32) -> [u8; 4] {
    [x as u8, y as u8, (x ^ y).wrapping_add(frame.wrapping_mul(3)) as u8, 255]
}

/// The pixels of a picture of any size, RGBA, top row first.
pub fn pixels(extent: Extent, frame: u32) -> Vec<u8> {
    (0..extent.height).flat_map(|y| (0..extent.width).flat_map(move |x| pixel(x, y, frame))).collect()
}

/// The window's pixels with this frame, RGBA, top row first.
pub fn window(frame: u32) -> Vec<u8> {
    let [red, green, blue] = BACKGROUND;
    let rows = 0..WINDOW.height;
    let pixels = rows.flat_map(|y| (0..WINDOW.width).map(move |x| (x.wrapping_sub(AT[0]), y.wrapping_sub(AT[1]))));
    pixels
        .flat_map(|(x, y)| match x < EXTENT.width && y < EXTENT.height {
            true => pixel(x, y, frame),
            false => [red, green, blue, 255],
        })
        .collect()
}

/// Prints the compute device and the path, for `look`.
pub fn tell(link: &LinkCore) {
    println!("{}, {}", link.path(), link.backend().device().name);
}
