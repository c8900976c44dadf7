//! Draws into an engine's images: the pixels that every display comes to, in targets that take stores and in those that do not.

use crate::colours::{are_as_the_reference, floats_are_not_cut_off, light_goes_from_a_kernel};
use crate::engine::Engine;
use crate::engine_objects::Object as _;
use crate::engine_surfaces::Canvas;
use ash::vk;
use interop_core::conformance::{DrawCase, in_place, stored};
use interop_core::describe::color::Curve;
use interop_core::{
    AlphaMode, DrawOptions, Error, Extent, Filter, Fit, ImageAccess, ImageDesc, Manner, PixelFormat, Region,
    ShowTarget as _, Surface, SurfaceDesc, TargetEncoding,
};
use pixelferry_testing::by_level;
use pixelferry_vulkan::sharing::vk_format;
use pixelferry_vulkan::{EngineImage, VulkanDisplay, ash};
use std::sync::Arc;

use vk::ImageUsageFlags as Usages;

const COPIED: Usages = Usages::from_raw(Usages::TRANSFER_SRC.as_raw() | Usages::TRANSFER_DST.as_raw());
const STORED: Usages = Usages::from_raw(COPIED.as_raw() | Usages::STORAGE.as_raw());

/// An engine and its display.
struct Scene {
    engine: Engine,
    display: Arc<VulkanDisplay>,
}

/// Kinds of targets.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Kind {
    usage: Usages,
    blue_first: bool,
}

impl Kind {
    const ALL: [Self; 3] = [
        Self { usage: STORED, blue_first: false },
        Self { usage: COPIED, blue_first: false },
        Self { usage: COPIED, blue_first: true },
    ];

    /// Format of the image for a drawing, and the usage that such an image can have.
    fn of(self, case: &DrawCase) -> (vk::Format, Usages) {
        let encodes = case.options.target == TargetEncoding::SrgbFormat;
        match (case.target, encodes, self.blue_first) {
            (PixelFormat::Rgba8, true, true) => (vk::Format::B8G8R8A8_SRGB, COPIED),
            (PixelFormat::Rgba8, true, false) => (vk::Format::R8G8B8A8_SRGB, COPIED),
            (PixelFormat::Rgba8, false, true) => (vk::Format::B8G8R8A8_UNORM, COPIED),
            (other, ..) => (vk_format(other), self.usage),
        }
    }
}

impl Scene {
    fn make(bare: bool) -> Option<Self> {
        let engine = Engine::make(bare)?;
        Some(Self { display: engine.display(), engine })
    }

    fn canvas(&self, format: vk::Format, extent: Extent, usage: Usages) -> Canvas<'_> {
        Canvas::of_usage(&self.engine, &self.display, format, extent, (usage, vk::ImageLayout::GENERAL))
    }

    fn draw(&self, to: &EngineImage, region: Region, surface: &Surface, options: DrawOptions) -> Result<(), Error> {
        // SAFETY: the image is as it says, of the display's family, and goes when the display is done with it.
        unsafe { self.display.image_target(to, region) }.unwrap().draw(surface, options)
    }

    /// The target's numbers after a drawing, red first.
    fn drawn(&self, kind: Kind, case: &DrawCase, surface: &Surface) -> Vec<u8> {
        let (format, usage) = kind.of(case);
        let canvas = self.canvas(format, DrawCase::AREA, usage);
        let encodes = case.options.target == TargetEncoding::SrgbFormat;
        let [r, g, b, a] = case.before;
        let [r, g, b] = [r, g, b].map(|v| if encodes { Curve::Srgb.decode(v) } else { v });
        canvas.clear(vk::ImageLayout::GENERAL, [r, g, b, a]);
        self.draw(&canvas.about, DrawCase::AREA.full(), surface, case.options).unwrap();
        let mut got = canvas.got();
        if kind.blue_first && case.target == PixelFormat::Rgba8 {
            got.chunks_exact_mut(4).for_each(|pixel| pixel.swap(0, 2));
        }
        got
    }
}

#[test]
fn every_drawing_is_as_the_reference() {
    for (bare, kind) in [(false, Kind::ALL[0]), (true, Kind::ALL[1]), (false, Kind::ALL[2])] {
        let Some(scene) = Scene::make(bare) else { return };
        let cases = DrawCase::all().into_iter().step_by(by_level(24, 1, 1));
        are_as_the_reference(&*scene.display, cases, ImageAccess::Texture, |case, surface, _| {
            scene.drawn(kind, case, surface)
        });
    }
}

#[test]
fn linear_memory_is_drawn_alike() {
    let Some(scene) = Scene::make(false) else { return };
    for kind in Kind::ALL {
        let cases = DrawCase::all().into_iter().step_by(by_level(96, 4, 4));
        are_as_the_reference(&*scene.display, cases, ImageAccess::Any, |case, surface, _| {
            scene.drawn(kind, case, surface)
        });
    }
}

#[test]
fn floats_keep_what_is_brighter_than_white() {
    let Some(scene) = Scene::make(false) else { return };
    for kind in Kind::ALL {
        floats_are_not_cut_off(&*scene.display, |case, surface| scene.drawn(kind, case, surface));
    }
    light_goes_from_a_kernel(scene.display.clone(), |surface, options| {
        let canvas = scene.canvas(vk::Format::R16G16B16A16_SFLOAT, Extent::new(4, 2), STORED);
        scene.draw(&canvas.about, canvas.about.extent.full(), surface, options).unwrap();
        canvas.got()
    });
}

/// A picture of one colour in a region: nothing around that is written, whatever draws, and whatever the fit cuts.
#[test]
fn a_draw_stays_inside_its_region() {
    const ALL: Extent = Extent::new(40, 30);
    let Some(scene) = Scene::make(false) else { return };
    let image = ImageDesc::new(9, 7, PixelFormat::Rgba8);
    let pixels = vec![[10, 20, 30, 128]; 63].concat();
    let regions = [Region::new(5, 3, 9, 7), Region::new(0, 0, 33, 11), Region::new(30, 25, 10, 5)];
    let fits = [Fit::Contain, Fit::Cover, Fit::None, Fit::Stretch, Fit::Integer];
    for (kind, alpha) in Kind::ALL.iter().flat_map(|kind| [AlphaMode::Stored, AlphaMode::Straight].map(|a| (kind, a))) {
        let surface = stored(&*scene.display, &SurfaceDesc::Image(image.with_alpha(alpha)), &pixels).unwrap();
        let format = if kind.blue_first { vk::Format::B8G8R8A8_UNORM } else { vk::Format::R8G8B8A8_UNORM };
        for (region, fit) in regions.iter().flat_map(|region| fits.map(|fit| (*region, fit))) {
            let options = DrawOptions::default().with_fit(fit).with_manner(Manner::Compute);
            let canvas = scene.canvas(format, ALL, kind.usage);
            scene.draw(&canvas.about, region, &surface, options).unwrap();
            let place = fit.placement(image.extent, region.extent()).inside(region.extent());
            for (at, pixel) in canvas.got().chunks_exact(4).enumerate() {
                let (x, y) = (at as u32 % ALL.width, at as u32 / ALL.width);
                let within = |v: u32, start: u32, len: u32| (start..start + len).contains(&v);
                let inside = within(x, region.x + place.x, place.width) && within(y, region.y + place.y, place.height);
                assert_eq!(pixel != [0; 4], inside, "{kind:?} {alpha:?} {region} {fit:?}: {x}, {y} is {pixel:?}");
            }
        }
    }
}

/// Several in flight, from and into one image beside their targets, which changes its size.
#[test]
fn draws_in_flight_do_not_disturb_each_other() {
    let Some(scene) = Scene::make(false) else { return };
    let surfaces: Vec<_> = (1..=6_u8)
        .map(|level| {
            let desc = SurfaceDesc::Image(ImageDesc::new(6, 4, PixelFormat::Rgba8).with_alpha(AlphaMode::Opaque));
            stored(&*scene.display, &desc, &[level; 96]).unwrap()
        })
        .collect();
    let canvases: Vec<_> =
        (1..=6).map(|n| scene.canvas(vk::Format::B8G8R8A8_UNORM, Extent::new(20 * n, 7 * (7 - n)), COPIED)).collect();
    let options = DrawOptions::default().with_filter(Filter::Linear);
    for (canvas, surface) in canvases.iter().zip(&surfaces) {
        scene.draw(&canvas.about, canvas.about.extent.full(), surface, options).unwrap();
    }
    for (canvas, level) in canvases.iter().zip(1..) {
        assert!(canvas.got().chunks_exact(4).all(|pixel| pixel == [level, level, level, 255]), "{level}");
    }
}

#[test]
fn what_no_shader_reads_or_stores_is_refused_and_says_why() {
    let Some(scene) = Scene::make(false) else { return };
    let plain = DrawOptions::default();
    let desc = |format| SurfaceDesc::Image(ImageDesc::new(4, 4, format));
    let light = plain.with_background([0.5; 3]).with_fit(Fit::Contain);
    let region = Region::new(0, 0, 12, 6);
    let said = |canvas: &Canvas<'_>, surface: &Surface, options| {
        scene.draw(&canvas.about, region, surface, options).unwrap_err().to_string()
    };
    let rgba8 = stored(&*scene.display, &desc(PixelFormat::Rgba8), &[9; 64]).unwrap();
    // Made without shaderStorageImageExtendedFormats.
    let bytes = scene.canvas(vk::Format::R8_UNORM, Extent::new(12, 6), STORED);
    let refused = said(&bytes, &rgba8, light);
    assert!(refused.contains("shaders cannot store to") && refused.contains("cannot fill the bars"), "{refused}");
    let unread = scene.canvas(vk::Format::R8G8B8A8_UNORM, Extent::new(12, 6), Usages::TRANSFER_DST);
    let blends = ImageDesc::new(4, 4, PixelFormat::Rgba8).with_alpha(AlphaMode::Straight);
    let blends = stored(&*scene.display, &SurfaceDesc::Image(blends), &[9; 64]).unwrap();
    let refused = said(&unread, &blends, plain);
    assert!(refused.contains("TRANSFER_SRC") && refused.contains("cannot blend"), "{refused}");
    let canvas = scene.canvas(vk::Format::R8G8B8A8_UNORM, Extent::new(12, 6), STORED);
    for (format, usage, says) in [
        (vk::Format::R8G8B8A8_SRGB, COPIED | Usages::SAMPLED, "decodes"),
        (vk::Format::R8G8B8A8_UNORM, COPIED, "SAMPLED"),
    ] {
        let source = scene.canvas(format, Extent::new(4, 4), usage);
        let refused = said(&canvas, &source.surface(), light);
        assert!(refused.contains(says), "{refused}");
    }
    // A quarter of the pixels, from a buffer.
    let rows =
        in_place(&*scene.display, &SurfaceDesc::Image(ImageDesc::new(4, 4, PixelFormat::Rgba8)), &[9; 64]).unwrap();
    scene.draw(&canvas.about, region, &rows, light).unwrap();
    let (inside, beside): (Vec<_>, Vec<_>) = canvas.got().chunks_exact(4).map(<[u8]>::to_vec).partition(|p| p[0] == 9);
    assert_eq!((inside.len(), beside.len()), (36, 36));
    // Half of 255 lies between two numbers, and drivers take either.
    let is_half = |pixel: &Vec<u8>| pixel[..3].iter().all(|channel| [127, 128].contains(channel)) && pixel[3] == 255;
    assert!(beside.iter().all(is_half), "{:?}", beside[0]);
}
