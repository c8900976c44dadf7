//! Frame and draw as one call, in an image of the engine's: what is stored there is what a copy puts there.

use crate::engine::Engine;
use crate::engine_objects::{Object as _, refused};
use crate::engine_surfaces::Canvas;
use ash::vk;
use interop_core::{
    Arg, ComputeBackend, Detour, Display as _, DrawOptions, Error, Extent, Fit, ImageDesc, ImageView, Kernel,
    KernelSource, Link, LinkOptions, PathId, PixelFormat, Policy, Region, RowOrder, ShowTarget as _, Showed,
    SurfaceDesc, Target, TargetEncoding, Unwritten, View,
};
use pixelferry_vulkan::sharing::vk_format;
use pixelferry_vulkan::{EngineImage, ImageTarget, VulkanBackend, VulkanDisplay, ash};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

const PAINT: &str = "@compute @workgroup_size(8, 8)
fn paint(@builtin(global_invocation_id) id: vec3<u32>) {
  pf_store(id.xy, vec4<f32>(f32(id.x) / 255.0, f32(id.y) / 255.0, pf_arg_f32(0), 1.0));
}";

/// A frame, the image, and where the one goes in the other.
const SIZE: Extent = Extent::new(21, 13);
const ALL: Extent = Extent::new(29, 22);
const AT: Region = Region { x: 3, y: 2, width: 21, height: 13 };

/// Formats that kernels store to without a feature of the device, but for one that is stored as another.
const STORED: [PixelFormat; 4] = [PixelFormat::Rgba8, PixelFormat::Rgba16F, PixelFormat::R32F, PixelFormat::Rgba32F];

fn every_usage() -> vk::ImageUsageFlags {
    use vk::ImageUsageFlags as Usages;
    Usages::TRANSFER_SRC | Usages::TRANSFER_DST | Usages::STORAGE
}

/// Stores wherever they work.
fn untimed() -> Policy {
    Policy::default().with_budget(Duration::ZERO)
}

fn rgba8() -> ImageDesc {
    ImageDesc::new(SIZE.width, SIZE.height, PixelFormat::Rgba8)
}

struct Scene {
    display: Rc<VulkanDisplay>,
    backend: Arc<dyn ComputeBackend>,
    kernel: Arc<dyn Kernel>,
}

impl Scene {
    fn on(engine: &Engine) -> Self {
        let display = engine.display();
        let backend: Arc<dyn ComputeBackend> = Arc::new(VulkanBackend::on(&display).unwrap());
        let kernel = backend.build(&KernelSource::new("paint").wgsl(PAINT)).unwrap();
        Self { display, backend, kernel }
    }

    fn link(&self, desc: ImageDesc, rule: Unwritten, policy: Policy) -> Link {
        let desc = SurfaceDesc::Image(desc).with_unwritten(rule);
        Link::open(self.backend.clone(), self.display.clone(), desc, LinkOptions::new(policy)).unwrap()
    }

    fn canvas<'e>(&'e self, engine: &'e Engine, format: vk::Format, usage: vk::ImageUsageFlags) -> Canvas<'e> {
        Canvas::of_usage(engine, &self.display, format, ALL, (usage, vk::ImageLayout::GENERAL))
    }

    fn target(&self, canvas: &Canvas<'_>, region: Region) -> ImageTarget {
        // SAFETY: the image is as it says, of the display's family, and goes when the display is done with it.
        unsafe { self.display.image_target(&canvas.about, region) }.unwrap()
    }

    fn show(&self, link: &mut Link, to: &mut ImageTarget, options: DrawOptions, level: f32) -> Result<Showed, Error> {
        let options = options.with_grey(false);
        link.show(to, options, |next| next.launch(self.kernel.as_ref(), &[Arg::F32(level)]))
    }
}

fn plain() -> DrawOptions {
    DrawOptions::default()
}

/// Red, green and blue of an RGBA8 canvas.
fn rgb(canvas: &Canvas<'_>, x: u32, y: u32) -> [u8; 3] {
    let at = (y * ALL.width + x) as usize * 4;
    canvas.got()[at..at + 3].try_into().unwrap()
}

#[test]
fn a_frame_that_goes_straight_is_what_a_copy_gives() {
    for bare in [false, true] {
        let Some(engine) = Engine::make(bare) else { return };
        let scene = Scene::on(&engine);
        for format in STORED {
            for (order, rule) in [(RowOrder::TopDown, Unwritten::Overwrite), (RowOrder::BottomUp, Unwritten::Clear)] {
                let desc = ImageDesc::new(SIZE.width, SIZE.height, format).with_row_order(order);
                let found = [untimed(), untimed().with_force(PathId::IN_QUEUE_UPLOAD)].map(|policy| {
                    let canvas = scene.canvas(&engine, vk_format(format), every_usage());
                    let (mut link, mut target) = (scene.link(desc, rule, policy), scene.target(&canvas, AT));
                    let ways =
                        [0.125, 0.75, 0.5].map(|level| scene.show(&mut link, &mut target, plain(), level).unwrap());
                    assert_eq!(target.ready().unwrap().is_some(), !bare);
                    assert_eq!(target.read_back().unwrap(), canvas.got());
                    (ways, canvas.got())
                });
                let [(straight, stored), (drawn, copied)] = found;
                assert_eq!(straight, [Showed::Drawn(Detour::First), Showed::Straight, Showed::Straight], "{format}");
                assert_eq!(drawn, [(); 3].map(|()| Showed::Drawn(Detour::Asked("in-queue-upload"))));
                assert!(stored == copied && stored.iter().any(|byte| *byte != 0), "{format}, {order:?}, {rule}");
            }
        }
    }
}

/// The name of one that is gone may be another's.
#[test]
fn images_come_and_go_and_take_turns() {
    let Some(engine) = Engine::make(false) else { return };
    let scene = Scene::on(&engine);
    let mut link = scene.link(rgba8(), Unwritten::Overwrite, Policy::default());
    for round in 0..4 {
        let canvases = [(); 3].map(|()| scene.canvas(&engine, vk::Format::R8G8B8A8_UNORM, every_usage()));
        let mut targets = canvases.each_ref().map(|canvas| scene.target(canvas, AT));
        for turn in 0..7_u8 {
            let (n, blue) = (usize::from(turn) % 3, round * 50 + turn);
            let way = scene.show(&mut link, &mut targets[n], plain(), f32::from(blue) / 255.0).unwrap();
            let slower = matches!(way, Showed::Drawn(Detour::Slower { .. }));
            assert!(slower || (way == Showed::Straight) == (turn > 2), "{turn}: {way}");
            let seen = [(3, 2), (23, 14), (2, 2), (24, 14)].map(|(x, y)| rgb(&canvases[n], x, y));
            assert_eq!(seen, [[0, 0, blue], [20, 12, blue], [0; 3], [0; 3]]);
        }
    }
}

#[test]
fn what_no_kernel_stores_to_is_copied_and_says_why() {
    use vk::ImageUsageFlags as Usages;
    let Some(engine) = Engine::make(false) else { return };
    let scene = Scene::on(&engine);
    let shown = |format: PixelFormat, image: vk::Format, usage, rule| {
        let canvas = scene.canvas(&engine, image, usage);
        let mut target = scene.target(&canvas, AT);
        let mut link = scene.link(ImageDesc::new(SIZE.width, SIZE.height, format), rule, untimed());
        let ways = [0.25, 0.6].map(|level| scene.show(&mut link, &mut target, plain(), level).unwrap());
        let at =
            (2 * ALL.width + 3) as usize * pixelferry_vulkan::sharing::pixel_format(image).unwrap().bytes_per_pixel();
        (ways[1].to_string(), canvas.got()[at..at + 4].to_vec(), link.read_back().map(|bytes| bytes[..4].to_vec()))
    };
    let (own, unorm) = (PixelFormat::Rgba8, vk::Format::R8G8B8A8_UNORM);
    let copies = Usages::TRANSFER_SRC | Usages::TRANSFER_DST;
    let (overwrite, srgb) = (Unwritten::Overwrite, vk::Format::R8G8B8A8_SRGB);
    for (format, image, usage, rule, says, expected) in [
        (own, unorm, every_usage(), Unwritten::Keep, "kept", [0, 0, 153, 255]),
        (own, unorm, copies, overwrite, "without STORAGE", [0, 0, 153, 255]),
        (own, vk::Format::B8G8R8A8_UNORM, copies | Usages::SAMPLED, overwrite, "STORAGE", [153, 0, 0, 255]),
        (PixelFormat::Rgba16F, unorm, every_usage(), overwrite, "frames are RGBA16F", [0, 0, 153, 255]),
        // 0.6 of the light.
        (own, srgb, copies, overwrite, "R8G8B8A8_SRGB encodes", [0, 0, 203, 255]),
    ] {
        let (said, found, _) = shown(format, image, usage, rule);
        assert!(said.contains(says), "{said}");
        assert_eq!(found, expected, "{said}");
    }
    let (said, _, frame) = shown(PixelFormat::Bgra8, vk::Format::B8G8R8A8_UNORM, every_usage(), overwrite);
    assert!(said.contains("no shader stores to B8G8R8A8_UNORM"), "{said}");
    assert_eq!(frame.unwrap(), [153, 0, 0, 255]);
}

/// By a blit where the image takes no stores. Whatever else a draw does is the conformance of drawings.
#[test]
fn frames_that_do_not_fit_are_stretched_and_cut() {
    let Some(engine) = Engine::make(false) else { return };
    let scene = Scene::on(&engine);
    for usage in [every_usage(), every_usage() & !vk::ImageUsageFlags::STORAGE] {
        let canvas = scene.canvas(&engine, vk::Format::R8G8B8A8_UNORM, usage);
        let shows = |desc: ImageDesc, region: Region, options: DrawOptions| {
            let mut link = scene.link(desc, Unwritten::Overwrite, untimed());
            scene.show(&mut link, &mut scene.target(&canvas, region), options, 0.5).map(|way| way.to_string())
        };
        let seen = |places: [(u32, u32); 2]| places.map(|(x, y)| rgb(&canvas, x, y));
        // Twice as wide, and each column twice.
        let small = ImageDesc::new(10, 11, PixelFormat::Rgba8);
        let said = shows(small, Region::new(4, 3, 20, 11), plain()).unwrap();
        assert!(said.contains("scales"), "{said}");
        assert_eq!(seen([(4, 3), (5, 3)]), [[0, 0, 128]; 2]);
        assert_eq!(seen([(6, 3), (23, 13)]), [[1, 0, 128], [9, 10, 128]]);
        assert_eq!(rgb(&canvas, 24, 13), [0; 3]);
        // The middle of it, all of it in the middle, and both scaled and cut.
        let said = shows(rgba8(), Region::new(0, 0, 11, 13), plain().with_fit(Fit::None)).unwrap();
        assert!(said.contains("cuts"), "{said}");
        assert_eq!(seen([(0, 0), (10, 12)]), [[5, 0, 128], [15, 12, 128]]);
        shows(small, Region::new(0, 0, 29, 22), plain().with_fit(Fit::Integer)).unwrap();
        assert_eq!(seen([(4, 0), (23, 21)]), [[0, 0, 128], [9, 10, 128]]);
        shows(small, Region::new(0, 0, 20, 6), plain().with_fit(Fit::Cover)).unwrap();
        assert_eq!(seen([(0, 0), (19, 5)]), [[0, 4, 128], [9, 6, 128]]);
        let refused = shows(rgba8(), AT, plain().with_target(TargetEncoding::SrgbFormat)).unwrap_err().to_string();
        assert!(refused.contains("does not encode"), "{refused}");
    }
}

#[test]
fn frames_that_fail_and_sizes_that_change_leave_a_link_that_works() {
    let Some(engine) = Engine::make(false) else { return };
    let scene = Scene::on(&engine);
    let canvas = scene.canvas(&engine, vk::Format::R8G8B8A8_UNORM, every_usage());
    let mut target = scene.target(&canvas, AT);
    let mut link = scene.link(rgba8(), Unwritten::Overwrite, untimed());
    let ways = |link: &mut Link, target: &mut ImageTarget| {
        [0.0, 0.5].map(|level| scene.show(link, target, plain(), level).unwrap())
    };
    let tried = [Showed::Drawn(Detour::First), Showed::Straight];
    assert_eq!(ways(&mut link, &mut target), tried);
    assert!(matches!(link.shown().err(), Some(Error::InTarget)));
    assert!(matches!(link.read_back().err(), Some(Error::InTarget)));
    let own = || Error::InvalidInput { operation: "the program", problem: "its own".into() };
    let failed = link.show(&mut target, plain(), |next| {
        next.launch(scene.kernel.as_ref(), &[Arg::F32(1.0)])?;
        Err(own())
    });
    assert!(failed.unwrap_err().to_string().contains("its own"));
    assert_eq!(rgb(&canvas, 3, 2), [0, 0, 255], "what it wrote stays");
    assert_eq!(scene.show(&mut link, &mut target, plain(), 0.0).unwrap(), Showed::Straight);
    assert_eq!(rgb(&canvas, 3, 2), [0; 3]);
    link.frame(|next| next.launch(scene.kernel.as_ref(), &[Arg::F32(1.0)])).unwrap();
    assert_eq!(link.read_back().unwrap()[..4], [0, 0, 255, 255]);
    link.resize(SurfaceDesc::image(8, 8, PixelFormat::Rgba8).with_unwritten(Unwritten::Overwrite)).unwrap();
    assert!(scene.show(&mut link, &mut target, plain(), 0.5).unwrap().to_string().contains("scales"));
    let mut part = scene.target(&canvas, Region::new(21, 14, 8, 8));
    assert_eq!(ways(&mut link, &mut part), tried);
    assert_eq!(rgb(&canvas, 28, 21), [7, 7, 128]);
    link.resize(SurfaceDesc::image(0, 0, PixelFormat::Rgba8)).unwrap();
    assert_eq!(scene.show(&mut link, &mut part, plain(), 0.5).unwrap(), Showed::Paused);
}

#[test]
fn what_is_no_place_for_frames_is_refused() {
    let Some(engine) = Engine::make(false) else { return };
    let scene = Scene::on(&engine);
    let canvas = scene.canvas(&engine, vk::Format::R8G8B8A8_UNORM, every_usage());
    let good = canvas.about;
    // SAFETY: what is wrong is found out before it is used; what is right is as it says.
    let target = |about: EngineImage, region| unsafe { scene.display.image_target(&about, region) };
    refused(target(EngineImage { image: vk::Image::null(), ..good }, AT), "null");
    refused(target(EngineImage { usage: vk::ImageUsageFlags::STORAGE, ..good }, AT), "without TRANSFER_DST");
    refused(target(EngineImage { format: vk::Format::R32_UINT, ..good }, AT), "no frame has the format R32_UINT");
    refused(target(EngineImage { layout: vk::ImageLayout::UNDEFINED, ..good }, AT), "UNDEFINED");
    refused(target(EngineImage { extent: Extent::new(0, 8), ..good }, AT), "0x8");
    refused(target(good, Region::new(9, 0, 21, 13)), "outside");
    refused(target(good, Region::new(9, 0, 0, 13)), "empty");
    let unread = EngineImage { usage: vk::ImageUsageFlags::TRANSFER_DST, ..good };
    refused(target(unread, AT).unwrap().read_back(), "without TRANSFER_SRC");
    refused(target(good, AT).unwrap().draw(&canvas.surface(), plain()), "own image");
    // A link of another display.
    let Some(others) = Engine::make(false) else { return };
    let other = Scene::on(&others);
    let mut link = other.link(rgba8(), Unwritten::Overwrite, untimed());
    let shown = other.show(&mut link, &mut target(good, AT).unwrap(), plain(), 0.5);
    assert!(matches!(shown, Err(Error::Foreign { .. })), "{shown:?}");
}

/// Safe code may keep a target's handle, and what was opened by it, for as long as it likes; the engine keeps its image only as long as
/// the target.
#[test]
fn a_target_that_is_gone_is_written_by_nobody() {
    let Some(engine) = Engine::make(false) else { return };
    let scene = Scene::on(&engine);
    let canvas = scene.canvas(&engine, vk::Format::R8G8B8A8_UNORM, every_usage());
    let mut target = scene.target(&canvas, AT);
    let (handle, kept) = target.handle().unwrap();
    let (later, kept_later) = target.handle().unwrap();
    let desc = SurfaceDesc::image(ALL.width, ALL.height, PixelFormat::Rgba8);
    let mut opened = scene.backend.import_surface(&handle, &desc).unwrap();
    let whole = ImageView::packed(ALL, PixelFormat::Rgba8, 1, 0, false).unwrap();
    let mut launch = || {
        let to = Target::new(opened.as_mut(), View::Image(whole)).unwrap();
        scene.backend.launch(scene.kernel.as_ref(), to, &[Arg::F32(0.5)])
    };
    launch().unwrap();
    scene.display.finish().unwrap();
    drop(target);
    refused(launch(), "gone");
    drop(canvas);
    refused(launch(), "gone");
    refused(opened.read(0, &mut [0; 4]), "gone");
    refused(opened.write(0, &[0; 4]), "gone");
    refused(scene.backend.import_surface(&later, &desc).map(drop), "gone");
    drop((kept, kept_later));
}
