//! What the command's workers compute: waves of colour that move.

use pixelferry::{Arg, CpuKernelExt, KernelSource, Region};

/// Pixels by their place in the whole picture and the time.
pub fn source() -> KernelSource {
    KernelSource::new("plasma").cpu_image(|out, args| {
        let (left, top, time) = (args.u32(0)?, args.u32(1)?, args.f32(2)?);
        out.par_pixels(|x, y| {
            let (x, y) = ((x + left) as f32 / 40.0, (y + top) as f32 / 40.0);
            let wave = (x + time).sin() + (y - time).cos() + ((x * x + y * y).sqrt() - time).sin();
            let channel = |phase: f32| (127.5 + 127.5 * (wave + phase).sin()) as u8;
            [channel(0.0), channel(2.1), channel(4.2), 255]
        })
    })
}

/// The kernel's arguments for a tile; `args` are the display's: the time as an f32.
pub fn arguments(region: Region, args: &[u8]) -> [Arg<'static>; 3] {
    let time = args.first_chunk().map_or(0.0, |bytes| f32::from_le_bytes(*bytes));
    [Arg::U32(region.x), Arg::U32(region.y), Arg::F32(if time.is_finite() { time } else { 0.0 })]
}
