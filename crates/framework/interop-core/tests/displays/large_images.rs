//! Images that are larger than linear memory may be, in the queue of a display. Suites of such backends have this file.

use super::kernels::WORDS;
use interop_core::{
    Arg, ComputeBackend, Display, KernelSource, Link, LinkOptions, PathId, PixelFormat, Policy, SurfaceDesc, Unwritten,
};
use pixelferry_testing::has;
use std::sync::Arc;
use std::time::Duration;

const STORES: &str = "@compute @workgroup_size(8, 8)
fn paint(@builtin(global_invocation_id) id: vec3<u32>) {
  pf_store(id.xy, vec4<f32>(vec4<u32>(id.x, id.y, id.x + id.y, 255u) & vec4<u32>(255u)) / 255.0);
}";

/// Tests that one goes by the path that binds a texture, and that other paths name the limit (`limit`) and advise that path alone.
pub fn an_image_above_the_limit_of_buffers_is_a_texture(
    backend: &Arc<dyn ComputeBackend>,
    display: &Arc<dyn Display>,
    limit: &str,
) {
    let (most, caps) = (backend.caps().max_allocation, display.caps());
    let width = (most / 4 / 16_000 + 1).max(301);
    let height = most / (4 * width) + 1;
    let told = format!("{width}x{height} on {}, {most} bytes a buffer", display.device());
    let fits = width.max(height) <= u64::from(caps.max_image_side) && width * height * 4 <= caps.max_image_bytes;
    if has("images above the limit of buffers", &told, if fits { Ok(()) } else { Err("buffers are as large") })
        .is_none()
    {
        return;
    }
    let (width, height) = (width as u32, height as u32);
    let open = |path| {
        let policy = Policy::default().with_force(path).with_budget(Duration::ZERO);
        let desc = SurfaceDesc::image(width, height, PixelFormat::Rgba8).with_unwritten(Unwritten::Overwrite);
        Link::open(Arc::clone(backend), Arc::clone(display), desc, LinkOptions::new(policy))
    };
    let kernel = |text: &'static str| backend.build(&KernelSource::new("paint").wgsl(text)).unwrap();
    let mut link = open(PathId::IN_QUEUE_TEXTURE).unwrap();
    println!("RAN: {told}");
    link.frame(|next| next.launch(kernel(STORES).as_ref(), &[])).unwrap();
    let seen = link.read_back().unwrap();
    for (y, pixels) in seen.chunks(4 * width as usize).enumerate() {
        let wanted = |x: usize| [x as u8, y as u8, (x + y) as u8, 255];
        assert!(pixels.chunks(4).enumerate().all(|(x, pixel)| pixel == wanted(x)), "row {y}");
    }
    drop(seen);
    let error = open(PathId::IN_QUEUE_UPLOAD).err().unwrap().to_string();
    assert!(error.contains("more than its largest allocation") && error.contains(limit), "{error}");
    assert!(error.contains("Use one of: in-queue-texture"), "{error}");
    assert!(!error.contains("host-round-trip") && !error.contains("pbo"), "{error}");
    let error = link.frame(|next| next.launch(kernel(WORDS).as_ref(), &[Arg::F32(1.0)])).unwrap_err().to_string();
    assert!(error.contains("addresses words") && error.contains(limit), "{error}");
}
