//! Draws with meaning: encodings, alpha, tone maps, fits, into every kind of target. What every display draws alike; their
//! suites have this file.

use cpu_fallback::{CpuBackend, CpuKernelExt as _};
use half::f16;
use interop_core::conformance::{self, DrawCase};
use interop_core::{
    AlphaMode, ComputeBackend, Display, DrawOptions, Encoding, ImageAccess, ImageDesc, KernelSource, Link, LinkOptions,
    Manner, PixelFormat, RowOrder, Surface, SurfaceDesc, TargetEncoding,
};
use std::sync::Arc;

/// Rows the other way round.
pub fn flipped(pixels: &[u8], row: usize) -> Vec<u8> {
    pixels.chunks_exact(row).rev().flatten().copied().collect()
}

/// The case's image, with the row first that the display's memory begins with.
pub fn surface(display: &dyn Display, case: &DrawCase, access: ImageAccess) -> Surface {
    let desc = SurfaceDesc::Image(case.image.with_access(access));
    let row = case.image.extent.width as usize * case.image.format.bytes_per_pixel();
    let pixels = match display.caps().native_row_order {
        RowOrder::BottomUp => flipped(&case.pixels, row),
        _ => case.pixels.clone(),
    };
    let made = match access {
        ImageAccess::Texture => conformance::stored(display, &desc, &pixels),
        _ => conformance::in_place(display, &desc, &pixels),
    };
    made.unwrap()
}

/// `case`, drawn by `manner`.
pub fn by(manner: Manner, case: &DrawCase) -> DrawCase {
    DrawCase { options: case.options.with_manner(manner), ..case.clone() }
}

/// Draws each by either manner; all of it in tight rows, top row first, is as the reference.
pub fn are_as_the_reference(
    display: &dyn Display,
    cases: impl IntoIterator<Item = DrawCase>,
    access: ImageAccess,
    mut draw: impl FnMut(&DrawCase, &Surface, Manner) -> Vec<u8>,
) {
    let mut wrong = Vec::new();
    for case in cases {
        let surface = surface(display, &case, access);
        for manner in Manner::ALL {
            let case = by(manner, &case);
            wrong.extend(case.check(&draw(&case, &surface, manner)).err());
        }
    }
    assert!(wrong.is_empty(), "{} wrong, the first: {}", wrong.len(), wrong[0]);
}

pub fn floats_are_not_cut_off(display: &dyn Display, draw: impl FnOnce(&DrawCase, &Surface) -> Vec<u8>) {
    let mut cases = DrawCase::all().into_iter();
    let light = |c: &DrawCase| c.image.encoding == Encoding::Linear && c.options.exposure == 3.0;
    let case = cases.find(|c| c.target == PixelFormat::Rgba16F && light(c)).unwrap();
    let pixels = draw(&case, &surface(display, &case, ImageAccess::Texture));
    let reds = pixels.chunks_exact(8).map(|pixel| interop_core::describe::color::load(PixelFormat::Rgba16F, pixel)[0]);
    let brightest = reds.fold(0.0, f32::max);
    assert!(brightest > 20.0, "{brightest}");
}

/// A frame that a kernel computes, by a link, into a target of 4x2 that keeps what is brighter than white. `draw` gives the
/// target's pixels.
pub fn light_goes_from_a_kernel(display: Arc<dyn Display>, draw: impl FnOnce(&Surface, DrawOptions) -> Vec<u8>) {
    let image = ImageDesc::new(4, 2, PixelFormat::Rgba16F);
    let image = image.with_encoding(Encoding::Linear).with_alpha(AlphaMode::Opaque);
    let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
    let light = KernelSource::new("light")
        .cpu_image(|out, _| out.par_pixels(|x, y| [x as f32 * 4.0, y as f32 * -0.5, 0.25, 0.0].map(f16::from_f32)));
    let kernel = backend.build(&light).unwrap();
    let mut link = Link::open(backend, display, SurfaceDesc::Image(image), LinkOptions::default()).unwrap();
    link.frame(|frame| frame.launch(kernel.as_ref(), &[])).unwrap();
    let options = DrawOptions::default().with_target(TargetEncoding::Linear);
    let bytes = draw(link.shown().unwrap().surface(), options);
    let found: Vec<f32> = bytes.chunks_exact(2).map(|b| f16::from_ne_bytes([b[0], b[1]]).to_f32()).collect();
    let expected = (0..8).flat_map(|at| [(at % 4) as f32 * 4.0, (at / 4) as f32 * -0.5, 0.25, 1.0]).collect::<Vec<_>>();
    assert_eq!(found, expected);
}
