//! Draws into plain memory: against numbers worked out by hand, and against the reference.

use cpu_fallback::{MemoryDisplay, OffscreenTarget};
use half::f16;
use interop_core::conformance::{DrawCase, stored};
use interop_core::{
    AlphaMode, Display, DrawOptions, Encoding, Error, Extent, Filter, Fit, ImageDesc, PixelFormat, Region, Surface,
    SurfaceDesc, TargetEncoding, ToneMap,
};
use std::sync::Arc;

fn surface(display: &MemoryDisplay, image: &ImageDesc, pixels: &[u8]) -> Surface {
    stored(display, &SurfaceDesc::Image(*image), pixels).unwrap()
}

struct Bench {
    display: Arc<MemoryDisplay>,
    target: OffscreenTarget,
}

impl Bench {
    fn new(width: u32, height: u32, format: PixelFormat) -> Self {
        let display = MemoryDisplay::new();
        let target = display.create_offscreen_target_of(width, height, format).unwrap();
        Self { display, target }
    }

    /// Draws one row of RGBA floats over all of the target.
    fn floats(&mut self, row: &[[f32; 4]], encoding: Encoding, alpha: AlphaMode, options: DrawOptions) -> Vec<u8> {
        let image = ImageDesc::new(row.len() as u32, 1, PixelFormat::Rgba32F).with_encoding(encoding).with_alpha(alpha);
        let surface = surface(&self.display, &image, bytemuck::cast_slice(row));
        let (width, height) = self.target.size();
        let all = Region::new(0, 0, width, height);
        self.display.draw(&surface, &mut self.target, all, options).unwrap();
        self.target.read_pixels().to_vec()
    }
}

fn plain() -> DrawOptions {
    DrawOptions::default()
        .with_filter(Filter::Nearest)
        .with_fit(Fit::Stretch)
        .with_grey(true)
        .with_background(None)
        .with_exposure(0.0)
        .with_tone_map(ToneMap::None)
        .with_target(TargetEncoding::Srgb)
        .with_manner(None)
}

#[test]
fn the_plain_draw_is_the_default() {
    assert_eq!(plain(), DrawOptions::default());
}

#[test]
fn light_becomes_numbers() {
    let mut bench = Bench::new(2, 1, PixelFormat::Rgba8);
    let row = [[0.5, 0.214_041, 0.002, 1.0], [2.0, -1.0, 0.25, 0.5]];
    let shown = bench.floats(&row, Encoding::Linear, AlphaMode::Stored, plain());
    assert_eq!(shown, [188, 127, 7, 255, 255, 0, 137, 128]);
    let brighter = plain().with_exposure(1.0);
    assert_eq!(bench.floats(&row, Encoding::Linear, AlphaMode::Opaque, brighter)[..2], [255, 175]);
    let gamma = bench.floats(&row, Encoding::Gamma22, AlphaMode::Opaque, plain());
    // 0.5 ^ 2.2 = 0.21764, which sRGB writes as 0.5037.
    assert_eq!(gamma[0], 128);
}

#[test]
fn tone_maps_bring_light_down() {
    let mut bench = Bench::new(1, 1, PixelFormat::Rgba32F);
    let mut shown = |v: f32, tone_map| {
        let options = plain().with_tone_map(tone_map).with_target(TargetEncoding::Linear);
        let bytes = bench.floats(&[[v, v, v, 1.0]], Encoding::Linear, AlphaMode::Stored, options);
        bytemuck::pod_read_unaligned::<f32>(&bytes[..4])
    };
    let near = |found: f32, wanted: f32| assert!((found - wanted).abs() < 2e-4, "{found} is not {wanted}");
    near(shown(3.0, ToneMap::None), 3.0);
    near(shown(3.0, ToneMap::Clamp), 1.0);
    near(shown(3.0, ToneMap::Reinhard { white: f32::INFINITY }), 0.75);
    near(shown(2.0, ToneMap::Reinhard { white: 4.0 }), 2.0 * (1.0 + 2.0 / 16.0) / 3.0);
    near(shown(1.0, ToneMap::AcesNarkowicz), 0.8038);
    // By hand: (1.0245786 - 0.000090537) / (0.983729 + 0.432951 + 0.238081), between matrices that keep grey.
    near(shown(1.0, ToneMap::AcesHill), 0.6191);
}

#[test]
fn translucent_pixels_are_blended() {
    let mut bench = Bench::new(1, 1, PixelFormat::Rgba8);
    let red = [[1.0, 0.0, 0.0, 0.4]];
    bench.target.clear([0.0, 0.0, 1.0, 1.0]);
    // The target's numbers are blended: 0.4 and 0.6 of 255.
    assert_eq!(bench.floats(&red, Encoding::Linear, AlphaMode::Straight, plain()), [102, 0, 153, 255]);
    bench.target.clear([0.0, 0.0, 1.0, 1.0]);
    let format = plain().with_target(TargetEncoding::SrgbFormat);
    assert_eq!(bench.floats(&red, Encoding::Linear, AlphaMode::Straight, format), [170, 0, 203, 255]);
    let over = plain().with_background([0.0, 0.0, 1.0]);
    assert_eq!(bench.floats(&red, Encoding::Linear, AlphaMode::Straight, over), [170, 0, 203, 255], "light is blended");
    assert_eq!(bench.floats(&red, Encoding::Unmanaged, AlphaMode::Straight, over), [102, 0, 153, 255]);
    let premultiplied = [[0.4, 0.0, 0.0, 0.4]];
    assert_eq!(bench.floats(&premultiplied, Encoding::Linear, AlphaMode::Premultiplied, over), [170, 0, 203, 255]);
    bench.target.clear([0.2, 0.2, 0.2, 0.2]);
    assert_eq!(bench.floats(&red, Encoding::Srgb, AlphaMode::Stored, plain()), [255, 0, 0, 102], "nothing is blended");
    assert_eq!(bench.floats(&red, Encoding::Srgb, AlphaMode::Opaque, plain()), [255, 0, 0, 255]);
}

#[test]
fn light_is_weighed_as_light() {
    let mut bench = Bench::new(4, 1, PixelFormat::Rgba8);
    let options = plain().with_filter(Filter::Linear);
    let row = [[0.0, 0.0, 0.0, 1.0], [1.0, 1.0, 1.0, 1.0]];
    let reds = |bytes: Vec<u8>| bytes.chunks(4).map(|p| p[0]).collect::<Vec<_>>();
    let managed = reds(bench.floats(&row, Encoding::Srgb, AlphaMode::Stored, options));
    assert_eq!(managed, [0, 137, 225, 255], "a quarter and three quarters of the light");
    let numbers = reds(bench.floats(&row, Encoding::Unmanaged, AlphaMode::Stored, options));
    assert_eq!(numbers, [0, 64, 191, 255]);
    // Transparent pixels have no colour to spread.
    let edge = [[0.0, 1.0, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0]];
    let over = options.with_background([0.0; 3]);
    let bytes = bench.floats(&edge, Encoding::Srgb, AlphaMode::Straight, over);
    assert!(bytes.chunks(4).all(|p| p[1] == 0), "{bytes:?}");
}

#[test]
fn letterbox_and_viewport() {
    let mut bench = Bench::new(6, 3, PixelFormat::Rgba8);
    let image = ImageDesc::new(1, 1, PixelFormat::Rgba8);
    let white = surface(&bench.display, &image, &[255; 4]);
    let options = plain().with_fit(Fit::Contain).with_background([0.2, 0.4, 0.6]);
    bench.display.draw(&white, &mut bench.target, Region::new(1, 1, 4, 2), options).unwrap();
    let (zero, bar, one) = ([0; 4], [51, 102, 153, 255], [255; 4]);
    let row = [zero, bar, one, one, bar, zero].concat();
    assert_eq!(bench.target.read_pixels(), [[0; 24].to_vec(), row.clone(), row].concat());
    let kept = options.with_background(None);
    bench.target.clear([1.0, 0.0, 0.0, 1.0]);
    bench.display.draw(&white, &mut bench.target, Region::new(0, 0, 6, 3), kept).unwrap();
    assert_eq!(bench.target.read_pixels()[..8], [[255, 0, 0, 255], [255; 4]].concat());
}

#[test]
fn halves_go_through_to_the_last_bit() {
    let mut bench = Bench::new(3, 1, PixelFormat::Rgba16F);
    let halves: Vec<f16> =
        (0..12).map(|i| [f16::MAX, f16::NAN, f16::NEG_INFINITY, f16::from_f32(-7.5)][i % 4]).collect();
    for encoding in [Encoding::Unmanaged, Encoding::Linear] {
        let image = ImageDesc::new(3, 1, PixelFormat::Rgba16F).with_encoding(encoding);
        let surface = surface(&bench.display, &image, bytemuck::cast_slice(&halves));
        let options = plain().with_target(TargetEncoding::Linear);
        bench.target.clear([0.0; 4]);
        bench.display.draw(&surface, &mut bench.target, Region::new(0, 0, 3, 1), options).unwrap();
        assert_eq!(bench.target.read_pixels(), bytemuck::cast_slice::<_, u8>(&halves));
    }
}

#[test]
fn every_drawing_is_as_the_reference() {
    let display = MemoryDisplay::new();
    for case in DrawCase::all() {
        let Extent { width, height } = DrawCase::AREA;
        let mut target = display.create_offscreen_target_of(width, height, case.target).unwrap();
        target.clear(case.before);
        let surface = surface(&display, &case.image, &case.pixels);
        display.draw(&surface, &mut target, DrawCase::AREA.full(), case.options).unwrap();
        case.check(target.read_pixels()).unwrap();
    }
}

#[test]
fn wrong_draws_are_refused() {
    let (mine, other) = (MemoryDisplay::new(), MemoryDisplay::new());
    let image = ImageDesc::new(2, 1, PixelFormat::R8);
    let surface = surface(&mine, &image, &[1, 2]);
    let mut target = mine.create_offscreen_target(2, 1).unwrap();
    let all = Region::new(0, 0, 2, 1);
    let foreign = other.draw(&surface, &mut target, all, plain());
    assert!(matches!(foreign, Err(Error::Foreign { .. })));
    let buffer = mine.create_surface(&SurfaceDesc::buffer(4)).unwrap();
    let light = plain().with_exposure(1.0);
    let cases: [(&Surface, Region, DrawOptions); 4] = [
        (&buffer, all, plain()),
        (&surface, Region::new(0, 0, 3, 1), plain()),
        (&surface, Region::new(0, 0, 0, 1), plain()),
        (&surface, all, light),
    ];
    for (surface, viewport, options) in cases {
        let outcome = mine.draw(surface, &mut target, viewport, options);
        assert!(matches!(outcome, Err(Error::InvalidInput { .. })), "{outcome:?}");
    }
    let empty = mine.create_in_place_surface(&SurfaceDesc::Image(image)).unwrap();
    assert!(matches!(mine.draw(&empty, &mut target, all, plain()), Err(Error::NothingShown)));
    assert!(mine.create_offscreen_target(0, 1).is_err());
    assert!(mine.create_offscreen_target(u32::MAX, u32::MAX).is_err());
    assert_eq!(target.read_pixels(), [0; 8]);
}
