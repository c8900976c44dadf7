//! Kernels that store to any image of a display's, beside the same kernels in linear memory. Suites of backends in its queue have this
//! file.

use super::kernels::WORDS;
use interop_core::conformance::{expected, same_bytes, tight};
use interop_core::{
    Arg, ComputeBackend, ComputeMemory, Display, HandleType, ImageDesc, Kernel, KernelSource, Link, LinkCore,
    LinkOptions, MemoryShape, PathId, PixelFormat, Policy, Region, RowOrder, SurfaceDesc,
};
use std::sync::Arc;

/// Numbers that every format holds exactly, or rounds without a tie.
pub const MIXED: &str = "@compute @workgroup_size(8, 4)
fn k(@builtin(global_invocation_id) id: vec3<u32>) {
  let number = id.x * 3u + id.y * 7u;
  let mixed = vec4<u32>(number, number * 5u, number * 11u, 255u - number) & vec4<u32>(255u);
  pf_store(id.xy, vec4<f32>(mixed) / 255.0 * pf_arg_f32(0));
}";

/// A backend in the queue of a display.
pub type Sides<'a> = (&'a Arc<dyn ComputeBackend>, &'a Arc<dyn Display>);

/// Returns what names the memory of a backend in a display's queue.
pub fn queue(backend: &dyn ComputeBackend) -> HandleType {
    HandleType::QueueBuffer(backend.caps().display_queue().unwrap())
}

/// [`MIXED`], which stores to an image, and a kernel that does not.
pub fn kernels(backend: &dyn ComputeBackend) -> Vec<Arc<dyn Kernel>> {
    let sources = [KernelSource::new("k").wgsl(MIXED), KernelSource::new("paint").wgsl(WORDS)];
    sources.map(|source| backend.build(&source).unwrap()).into()
}

pub fn link((backend, display): Sides<'_>, desc: ImageDesc, path: PathId) -> Link {
    let options = LinkOptions::new(Policy::default().with_force(path));
    Link::open(Arc::clone(backend), Arc::clone(display), SurfaceDesc::Image(desc), options).unwrap()
}

/// Whole frames, and parts that leave the rest.
fn frames(link: &mut LinkCore, kernel: &dyn Kernel) -> Vec<Vec<u8>> {
    let regions = [None, Some(Region::new(3, 2, 9, 5)), None, Some(Region::new(0, 6, 1, 1))];
    let frame = |(number, region)| {
        let args = [Arg::F32(1.0 - number as f32 / 8.0)];
        match region {
            None => link.frame(|next| next.launch(kernel, &args)).unwrap(),
            Some(region) => link.frame_region(region, |next| next.launch(kernel, &args)).unwrap(),
        }
        link.read_back().unwrap()
    };
    regions.into_iter().enumerate().map(frame).collect()
}

pub fn every_format_holds_what_linear_memory_does(sides: Sides<'_>, kernels: &[Arc<dyn Kernel>]) {
    for format in PixelFormat::ALL {
        for order in [RowOrder::TopDown, RowOrder::BottomUp] {
            let desc = ImageDesc::new(21, 13, format).with_row_order(order);
            let paths = [PathId::IN_QUEUE_TEXTURE, PathId::IN_QUEUE_UPLOAD];
            let mut links = paths.map(|path| link(sides, desc, path));
            assert_eq!(links.each_ref().map(|link| link.path()), paths);
            for (number, kernel) in kernels.iter().enumerate() {
                let [found, expected] = links.each_mut().map(|link| frames(link, kernel.as_ref()));
                for (frame, (found, expected)) in found.iter().zip(&expected).enumerate() {
                    same_bytes(&format!("{format}, {order:?}, kernel {number}, frame {frame}"), expected, found)
                        .unwrap();
                }
            }
        }
    }
}

/// Memory of 7x5 pixels, as the path imports it.
pub fn bytes_of_an_image_are_read_and_written_where_they_lie(
    backend: &dyn ComputeBackend,
    image: &mut dyn ComputeMemory,
    format: PixelFormat,
) {
    let desc = SurfaceDesc::image(7, 5, format);
    let (pixel, mut wanted) = (format.bytes_per_pixel(), expected(&tight(&desc).unwrap(), 3));
    image.write(0, &wanted).unwrap();
    image.write(8 * pixel, &wanted[..9 * pixel]).unwrap();
    wanted.copy_within(..9 * pixel, 8 * pixel);
    let mut found = vec![0; wanted.len()];
    image.read(0, &mut found).unwrap();
    same_bytes(format.name(), &wanted, &found).unwrap();
    let mut linear = backend.allocate(wanted.len()).unwrap();
    backend.copy(image, linear.as_mut(), 0..wanted.len()).unwrap();
    linear.read(0, &mut found).unwrap();
    same_bytes(&format!("{format}, copied"), &wanted, &found).unwrap();
    assert!(pixel == 1 || image.write(1, &[0; 1]).is_err(), "half a pixel");
}

/// `current` makes the first one's context current, where there are contexts.
pub fn handles_of_others_are_refused((one, display): Sides<'_>, other: &dyn ComputeBackend, current: impl Fn()) {
    let (handle, desc) = (queue(one.as_ref()), SurfaceDesc::image(4, 4, PixelFormat::Rgba8));
    assert!(display.caps().can_export(handle, MemoryShape::Image).is_yes());
    current();
    let surface = display.create_surface(&desc).unwrap();
    let image = surface.export(handle).unwrap();
    assert!(surface.export(queue(other)).is_err());
    assert!(other.import_surface(&image, &desc).is_err());
    assert!(one.import_surface(&image, &SurfaceDesc::image(5, 4, PixelFormat::Rgba8)).is_err());
}
