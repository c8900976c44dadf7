//! Draws, compared with the reference and with values computed by hand.

use crate::{noise, on_every_display, surface};
use compute_display::ComputeDisplay;
use cpu_fallback::CpuBackend;
use cuda_backend::CudaBackend;
use half::f16;
use interop_core::conformance::DrawCase;
use interop_core::describe::color::{load, store};
use interop_core::draw::{Plan, paint};
use interop_core::{
    AlphaMode, Display, DrawOptions, Error, Extent, Filter, Fit, ImageDesc, ImageView, PixelFormat, Region, Surface,
    SurfaceDesc,
};
use opencl_backend::OpenClBackend;
use pixelferry_testing::by_level;
use std::sync::Arc;

#[test]
fn every_drawing_is_as_the_reference() {
    on_every_display(|display| {
        let all = DrawCase::all();
        assert!(all.len() > 250, "{}", all.len());
        for case in all.into_iter().step_by(by_level(11, 1, 1)) {
            let Extent { width, height } = DrawCase::AREA;
            let mut target = display.create_offscreen_target_of(width, height, case.target).unwrap();
            target.clear(case.before).unwrap();
            let surface = surface(display, &case.image, &case.pixels);
            display.draw(&surface, &mut target, DrawCase::AREA.full(), case.options).unwrap();
            case.check(&target.read_pixels().unwrap()).unwrap();
        }
    });
}

/// Every format into every format, as it is, weighed, and blended over what is there.
#[test]
fn every_format_is_drawn_into_every_format() {
    let image = |format: PixelFormat| ImageDesc::new(7, 5, format);
    let (area, at) = (Extent::new(11, 9), (2, 1));
    let whole = Extent::new(16, 12);
    let plain = DrawOptions::default();
    let ways = [
        (plain.with_fit(Fit::None), AlphaMode::Stored),
        (plain.with_filter(Filter::Linear), AlphaMode::Stored),
        (plain, AlphaMode::Premultiplied),
    ];
    on_every_display(|display| {
        let cells = PixelFormat::ALL.iter().flat_map(|from| PixelFormat::ALL.map(|to| (*from, to)));
        // Every row and every column of the matrix at least once.
        for (from, to) in cells.step_by(by_level(PixelFormat::ALL.len() - 1, 1, 1)) {
            for (options, alpha) in ways {
                let image = image(from).with_alpha(alpha);
                let pixels = numbers(from, image.extent.pixels() as usize);
                let (mut expected, shape) = (numbers(to, whole.pixels() as usize), (from, to, options.fit));
                let mut target = display.create_offscreen_target_of(whole.width, whole.height, to).unwrap();
                target.memory_mut().write(0, &expected).unwrap();
                let plan = Plan::new(&image, area, &options).unwrap();
                let views = [(image.extent, from), (whole, to)]
                    .map(|(extent, format)| ImageView::packed(extent, format, 1, 0, false).unwrap());
                paint(&plan, (&pixels, &views[0]), (&mut expected, &views[1]), at).unwrap();
                let viewport = Region::new(at.0, at.1, area.width, area.height);
                let surface = surface(display, &image, &pixels);
                display.draw(&surface, &mut target, viewport, options).unwrap();
                let found = target.read_pixels().unwrap();
                for (n, (found, expected)) in pairs(to, &found, &expected).enumerate() {
                    let (a, b) = (load(to, found), load(to, expected));
                    let least = if to == PixelFormat::Rgb10A2 { 1.01 / 3.0 } else { 1.01 / 255.0 };
                    let near = a.iter().zip(b).all(|(a, b)| (a - b).abs() <= least);
                    // One step of the channel that has the fewest, and of a byte elsewhere.
                    assert!(near, "{shape:?}: pixel {n} is {a:?}, not {b:?}");
                }
            }
        }
    });
}

fn pairs<'a>(format: PixelFormat, a: &'a [u8], b: &'a [u8]) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
    assert_eq!(a.len(), b.len());
    a.chunks_exact(format.bytes_per_pixel()).zip(b.chunks_exact(format.bytes_per_pixel()))
}

/// Pixels of numbers within 0 and 1, no channel above alpha.
fn numbers(format: PixelFormat, pixels: usize) -> Vec<u8> {
    let mut bytes = vec![0; pixels * format.bytes_per_pixel()];
    let random = noise(4 * pixels);
    for (pixel, n) in bytes.chunks_exact_mut(format.bytes_per_pixel()).zip(random.chunks_exact(4)) {
        let alpha = f32::from(n[3]) / 255.0;
        let [r, g, b] = [n[0], n[1], n[2]].map(|v| f32::from(v) / 255.0 * alpha);
        store(format, [r, g, b, alpha], pixel);
    }
    bytes
}

/// Binary16 by the kernels' own arithmetic, every one of them and back.
#[test]
fn every_half_goes_to_a_float_and_back() {
    on_every_display(|display| {
        let halves: Vec<u8> = (0..=u16::MAX).flat_map(u16::to_ne_bytes).collect();
        let all = Region::new(0, 0, 256, 256);
        let options = DrawOptions::default().with_grey(false);
        let from = surface(display, &ImageDesc::new(256, 256, PixelFormat::R16F), &halves);
        let mut floats = display.create_offscreen_target_of(256, 256, PixelFormat::R32F).unwrap();
        display.draw(&from, &mut floats, all, options).unwrap();
        let found = floats.read_pixels().unwrap();
        for (bits, found) in (0..=u16::MAX).zip(found.chunks_exact(4)) {
            let (found, wanted) = (f32::from_ne_bytes(found.try_into().unwrap()), f16::from_bits(bits).to_f32());
            assert!(found == wanted || (found.is_nan() && wanted.is_nan()), "{bits:#06x}: {found}, not {wanted}");
        }
        let back = surface(display, &ImageDesc::new(256, 256, PixelFormat::R32F), &found);
        let mut target = display.create_offscreen_target_of(256, 256, PixelFormat::R16F).unwrap();
        display.draw(&back, &mut target, all, options).unwrap();
        for (bits, found) in (0..=u16::MAX).zip(target.read_pixels().unwrap().chunks_exact(2)) {
            let found = f16::from_ne_bytes(found.try_into().unwrap());
            let wanted = f16::from_bits(bits);
            assert!(found.to_bits() == bits || (found.is_nan() && wanted.is_nan()), "{bits:#06x} became {found:?}");
        }
    });
}

#[test]
fn bytes_go_through_to_the_last_bit() {
    on_every_display(|display| {
        for format in PixelFormat::ALL.into_iter().step_by(by_level(5, 1, 1)) {
            let pixels = noise(9 * 4 * format.bytes_per_pixel());
            let surface = surface(display, &ImageDesc::new(9, 4, format), &pixels);
            let mut target = display.create_offscreen_target_of(9, 4, format).unwrap();
            let options = DrawOptions::default().with_grey(false);
            display.draw(&surface, &mut target, Region::new(0, 0, 9, 4), options).unwrap();
            assert_eq!(target.read_pixels().unwrap(), pixels, "{format}");
        }
    });
}

/// A drawn target is memory of the backend, where other code finds it.
#[test]
fn a_target_is_handed_on_where_it_lies() {
    on_every_display(|display| {
        let pixels = noise(5 * 3 * 4);
        let surface = surface(display, &ImageDesc::new(5, 3, PixelFormat::Rgba8), &pixels);
        let mut target = display.create_offscreen_target(5, 3).unwrap();
        display.draw(&surface, &mut target, Region::new(0, 0, 5, 3), DrawOptions::default()).unwrap();
        let backend = display.backend();
        let mut copy = backend.allocate(pixels.len()).unwrap();
        backend.copy(target.memory(), copy.as_mut(), 0..pixels.len()).unwrap();
        let mut found = vec![0; pixels.len()];
        copy.read(0, &mut found).unwrap();
        assert_eq!((found, target.view().span()), (pixels.clone(), 0..60));
        if let Some(opencl) = backend.downcast_ref::<OpenClBackend>() {
            assert_eq!(opencl.buffer_of(target.memory()).unwrap().len(), pixels.len());
        } else if let Some(cuda) = backend.downcast_ref::<CudaBackend>() {
            let address = cuda.address_of(target.memory()).unwrap();
            assert_eq!(cuda.device_of(address).unwrap(), backend.device().ordinal.unwrap_or(0));
        } else {
            panic!("{} is neither", backend.device());
        }
    });
}

#[test]
fn wrong_draws_are_refused_and_change_nothing() {
    on_every_display(|mine| {
        let other = ComputeDisplay::on(Arc::clone(mine.backend())).unwrap();
        let image = ImageDesc::new(2, 1, PixelFormat::R8);
        let surface = surface(mine, &image, &[1, 2]);
        let mut target = mine.create_offscreen_target(2, 1).unwrap();
        let all = Region::new(0, 0, 2, 1);
        let plain = DrawOptions::default();
        assert!(matches!(other.draw(&surface, &mut target, all, plain), Err(Error::Foreign { .. })));
        let mut theirs = other.create_offscreen_target(2, 1).unwrap();
        assert!(matches!(mine.draw(&surface, &mut theirs, all, plain), Err(Error::Foreign { .. })));
        let buffer = mine.create_surface(&SurfaceDesc::buffer(4)).unwrap();
        let light = plain.with_exposure(1.0);
        let cases: [(&Surface, Region, DrawOptions); 4] = [
            (&buffer, all, plain),
            (&surface, Region::new(0, 0, 3, 1), plain),
            (&surface, Region::new(0, 0, 0, 1), plain),
            (&surface, all, light),
        ];
        for (surface, viewport, options) in cases {
            let outcome = mine.draw(surface, &mut target, viewport, options);
            assert!(matches!(outcome, Err(Error::InvalidInput { .. })), "{outcome:?}");
        }
        let empty = mine.create_in_place_surface(&SurfaceDesc::Image(image)).unwrap();
        assert!(matches!(mine.draw(&empty, &mut target, all, plain), Err(Error::NothingShown)));
        assert!(matches!(mine.draw_offscreen(&empty), Err(Error::NothingShown)));
        for (width, height) in [(0, 1), (1, 0), (u32::MAX, u32::MAX), (u32::MAX, 1), (1 << 19, 1 << 19)] {
            let made = mine.create_offscreen_target(width, height).map(|target| target.size());
            assert!(matches!(made, Err(Error::InvalidInput { .. } | Error::Unsupported { .. })), "{made:?}");
        }
        assert_eq!(target.read_pixels().unwrap(), [0; 8]);
    });
}

#[test]
fn backends_that_cannot_draw_are_refused() {
    let error = ComputeDisplay::on(Arc::new(CpuBackend::new().unwrap())).err().unwrap();
    let text = error.to_string();
    assert!(matches!(error, Error::Unsupported { .. }) && text.contains("OpenCL C") && text.contains("PTX"), "{text}");
}
