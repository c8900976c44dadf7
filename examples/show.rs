//! A kernel of one's own in a window: the first program of the README.

use pixelferry::prelude::*;

fn main() -> pixelferry::Result<()> {
    let rings = KernelSource::new("rings").cpu_image(|out, args| {
        let t = args.f32(0)?;
        out.par_pixels(|x, y| [(127.0 + 127.0 * (0.1 * (x as f32).hypot(y as f32) - t).sin()) as u8, 90, 160, 255])
    });
    pixelferry::show(Show::new(rings).arguments(|time| [Arg::F32(time)]))
}
