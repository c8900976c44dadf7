//! Frame and draw as one call, in an image of the engine's: what is stored there is what a copy puts there.

use crate::engine::Engine;
use crate::engine_objects::{Object as _, refused};
use crate::engine_surfaces::Canvas;
use crate::kernels::PAINT;
use crate::shows::{self, Board, Scene, Screen, image, untimed};
use ash::vk;
use interop_core::{
    Arg, ComputeBackend, Detour, Display, DrawOptions, Error, Extent, Fit, ImageDesc, ImageView, LinkCore, PathId,
    PixelFormat, Policy, Region, Result, ShowOutcome, ShowTarget as _, SurfaceDesc, Target, TargetEncoding, Unwritten,
    View, WriteFrame,
};
use pixelferry_vulkan::sharing::vk_format;
use pixelferry_vulkan::{EngineImage, ImageTarget, VulkanBackend, VulkanDisplay, ash};
use std::sync::Arc;

/// The image, and where frames go.
const ALL: Extent = Extent::new(shows::ALL.0, shows::ALL.1);
const AT: Region = Region { x: 3, y: 2, width: shows::SIZE.0, height: shows::SIZE.1 };
const RGBA8: ImageDesc = ImageDesc::new(AT.width, AT.height, PixelFormat::Rgba8);

/// Formats that kernels store to without a feature of the device, but for one that is stored as another.
const STORED: [PixelFormat; 4] = [PixelFormat::Rgba8, PixelFormat::Rgba16F, PixelFormat::R32F, PixelFormat::Rgba32F];

fn every_usage() -> vk::ImageUsageFlags {
    use vk::ImageUsageFlags as Usages;
    Usages::TRANSFER_SRC | Usages::TRANSFER_DST | Usages::STORAGE
}

/// An engine, and a backend in its queue.
struct Own {
    engine: Engine,
    display: Arc<VulkanDisplay>,
    backend: Arc<dyn ComputeBackend>,
    bare: bool,
}

/// An image of the engine's with a place for frames.
struct EngineTarget<'e> {
    target: ImageTarget,
    canvas: Canvas<'e>,
    bare: bool,
}

impl Board for EngineTarget<'_> {
    fn first(&self) -> (usize, usize) {
        (2, 3)
    }

    fn show(
        &mut self,
        link: &mut LinkCore,
        options: DrawOptions,
        frame: &mut dyn FnMut(&mut WriteFrame<'_>) -> Result<()>,
    ) -> Result<ShowOutcome> {
        let shown = link.show(&mut self.target, options, frame);
        assert_eq!(self.target.ready().unwrap().is_some(), !self.bare);
        shown
    }

    fn pixels(&mut self) -> Vec<u8> {
        let got = self.canvas.got();
        assert_eq!(self.target.read_back().unwrap(), got);
        got
    }
}

impl Screen for Own {
    fn sides(&self) -> (Arc<dyn ComputeBackend>, Arc<dyn Display>) {
        (self.backend.clone(), self.display.clone())
    }

    fn board(&self, format: PixelFormat) -> Option<Box<dyn Board + '_>> {
        Some(Box::new(self.place(vk_format(format), every_usage(), AT)))
    }
}

impl Own {
    fn make(bare: bool) -> Option<Self> {
        let engine = Engine::make(bare)?;
        let display = engine.display();
        Some(Self { backend: Arc::new(VulkanBackend::on(&display).unwrap()), engine, display, bare })
    }

    fn canvas(&self, format: vk::Format, usage: vk::ImageUsageFlags) -> Canvas<'_> {
        Canvas::of_usage(&self.engine, &self.display, format, ALL, (usage, vk::ImageLayout::GENERAL))
    }

    fn target(&self, canvas: &Canvas<'_>, region: Region) -> ImageTarget {
        // SAFETY: the image is as it says, of the display's family, and goes when the display is done with it.
        unsafe { self.display.image_target(&canvas.about, region) }.unwrap()
    }

    fn place(&self, format: vk::Format, usage: vk::ImageUsageFlags, region: Region) -> EngineTarget<'_> {
        let canvas = self.canvas(format, usage);
        EngineTarget { target: self.target(&canvas, region), canvas, bare: self.bare }
    }

    /// Frames that write every pixel.
    fn scene(&self, desc: ImageDesc, options: DrawOptions) -> Scene {
        let scene = Scene::new(self, desc, Unwritten::Overwrite, PAINT, untimed());
        Scene { options: options.with_grey(false), ..scene }
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
        let Some(own) = Own::make(bare) else { return };
        let scene = |drawn: bool, desc, rule| {
            let policy = if drawn { untimed().with_force(PathId::IN_QUEUE_UPLOAD) } else { untimed() };
            Scene::new(&own, desc, rule, PAINT, policy)
        };
        let asked = [(); 3].map(|()| ShowOutcome::Drawn(Detour::Asked("in-queue-upload")));
        for (format, ways) in shows::a_frame_that_goes_straight_is_what_a_draw_gives(&own, STORED, scene) {
            let straight = [ShowOutcome::Drawn(Detour::First), ShowOutcome::Straight, ShowOutcome::Straight];
            assert_eq!(ways, [straight, asked.clone()], "{format}");
        }
    }
}

/// The name of one that is gone may be another's.
#[test]
fn images_come_and_go_and_take_turns() {
    let Some(own) = Own::make(false) else { return };
    let mut scene = Scene::plain(&own, Policy::default());
    shows::targets_take_turns::<3>(&own, &mut scene, (4, 7), |_, turn, way| {
        let slower = matches!(way, ShowOutcome::Drawn(Detour::Slower { .. }));
        assert!(slower || (way == ShowOutcome::Straight) == (turn > 2), "{turn}: {way}");
    });
}

#[test]
fn what_needs_a_draw_is_drawn_and_says_why() {
    let Some(own) = Own::make(false) else { return };
    shows::what_needs_a_draw_is_drawn_and_says_why(&own, false);
}

#[test]
fn what_no_kernel_stores_to_is_copied_and_says_why() {
    use vk::ImageUsageFlags as Usages;
    let Some(own) = Own::make(false) else { return };
    let shown = |format: PixelFormat, target: vk::Format, usage| {
        let mut place = own.place(target, usage, AT);
        let mut scene = own.scene(image(format), plain());
        let [_, way] = [0.25, 0.6].map(|level| scene.show(&mut place, level));
        let at = (2 * ALL.width + 3) as usize * 4;
        let frame = scene.link.read_back().map(|bytes| bytes[..4].to_vec());
        (way.to_string(), place.canvas.got()[at..at + 4].to_vec(), frame)
    };
    let (rgba8, unorm) = (PixelFormat::Rgba8, vk::Format::R8G8B8A8_UNORM);
    let copies = Usages::TRANSFER_SRC | Usages::TRANSFER_DST;
    for (format, target, usage, says, expected) in [
        (rgba8, unorm, copies, "lacks STORAGE", [0, 0, 153, 255]),
        (rgba8, vk::Format::B8G8R8A8_UNORM, copies | Usages::SAMPLED, "STORAGE", [153, 0, 0, 255]),
        (PixelFormat::Rgba16F, unorm, every_usage(), "frames are RGBA16F", [0, 0, 153, 255]),
        // 0.6 of the light.
        (rgba8, vk::Format::R8G8B8A8_SRGB, copies, "R8G8B8A8_SRGB applies its encoding", [0, 0, 203, 255]),
    ] {
        let (said, found, _) = shown(format, target, usage);
        assert!(said.contains(says), "{said}");
        assert_eq!(found, expected, "{said}");
    }
    let (said, _, frame) = shown(PixelFormat::Bgra8, vk::Format::B8G8R8A8_UNORM, every_usage());
    assert!(said.contains("shaders cannot store to B8G8R8A8_UNORM"), "{said}");
    assert_eq!(frame.unwrap(), [153, 0, 0, 255]);
}

/// By a blit where the image takes no stores. Whatever else a draw does is the conformance of drawings.
#[test]
fn frames_that_do_not_fit_are_stretched_and_cut() {
    let Some(own) = Own::make(false) else { return };
    for usage in [every_usage(), every_usage() & !vk::ImageUsageFlags::STORAGE] {
        let canvas = own.canvas(vk::Format::R8G8B8A8_UNORM, usage);
        let shows = |desc: ImageDesc, region: Region, options: DrawOptions| {
            let (mut scene, mut target) = (own.scene(desc, options), own.target(&canvas, region));
            let (kernel, options) = (scene.kernel, scene.options);
            let way = scene.link.show(&mut target, options, |next| next.launch(kernel.as_ref(), &[Arg::F32(0.5)]));
            way.map(|way| way.to_string())
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
        let said = shows(RGBA8, Region::new(0, 0, 11, 13), plain().with_fit(Fit::None)).unwrap();
        assert!(said.contains("cuts"), "{said}");
        assert_eq!(seen([(0, 0), (10, 12)]), [[5, 0, 128], [15, 12, 128]]);
        shows(small, Region::new(0, 0, 29, 22), plain().with_fit(Fit::Integer)).unwrap();
        assert_eq!(seen([(4, 0), (23, 21)]), [[0, 0, 128], [9, 10, 128]]);
        shows(small, Region::new(0, 0, 20, 6), plain().with_fit(Fit::Cover)).unwrap();
        assert_eq!(seen([(0, 0), (19, 5)]), [[0, 4, 128], [9, 6, 128]]);
        let refused = shows(RGBA8, AT, plain().with_target(TargetEncoding::SrgbFormat)).unwrap_err().to_string();
        assert!(refused.contains("does not encode"), "{refused}");
    }
}

#[test]
fn frames_that_fail_and_sizes_that_change_leave_a_link_that_works() {
    let Some(own) = Own::make(false) else { return };
    shows::frames_that_fail_leave_a_link_that_works(&own, &mut Scene::plain(&own, untimed()));
    shows::no_surface_has_a_frame_that_went_straight(&own, &mut Scene::plain(&own, untimed()));
    let mut part = own.place(vk::Format::R8G8B8A8_UNORM, every_usage(), Region::new(21, 14, 8, 8));
    let mut small = own.scene(ImageDesc::new(8, 8, PixelFormat::Rgba8), plain());
    assert_eq!(small.settled(&mut part), ShowOutcome::Straight);
    small.show(&mut part, 0.5);
    assert_eq!(rgb(&part.canvas, 28, 21), [7, 7, 128]);
}

#[test]
fn what_is_no_place_for_frames_is_refused() {
    let Some(own) = Own::make(false) else { return };
    let mut place = own.place(vk::Format::R8G8B8A8_UNORM, every_usage(), AT);
    let good = place.canvas.about;
    // SAFETY: what is wrong is found out before it is used; what is right is as it says.
    let target = |about: EngineImage, region| unsafe { own.display.image_target(&about, region) };
    refused(target(EngineImage { image: vk::Image::null(), ..good }, AT), "null");
    refused(target(EngineImage { usage: vk::ImageUsageFlags::STORAGE, ..good }, AT), "without TRANSFER_DST");
    refused(target(EngineImage { format: vk::Format::R32_UINT, ..good }, AT), "frames cannot have the format R32_UINT");
    refused(target(EngineImage { layout: vk::ImageLayout::UNDEFINED, ..good }, AT), "UNDEFINED");
    refused(target(EngineImage { extent: Extent::new(0, 8), ..good }, AT), "0x8");
    refused(target(good, Region::new(9, 0, 21, 13)), "outside");
    refused(target(good, Region::new(9, 0, 0, 13)), "empty");
    let unread = EngineImage { usage: vk::ImageUsageFlags::TRANSFER_DST, ..good };
    refused(target(unread, AT).unwrap().read_back(), "without TRANSFER_SRC");
    refused(target(good, AT).unwrap().draw(&place.canvas.surface(), plain()), "own image");
    // A link of another display.
    let Some(other) = Own::make(false) else { return };
    let shown = Scene::plain(&other, untimed()).try_show(&mut place, 0.5);
    assert!(matches!(shown, Err(Error::Foreign { .. })), "{shown:?}");
}

/// Safe code may keep a target's handle, and what was opened by it, for as long as it likes; the engine keeps its image only as long as
/// the target.
#[test]
fn a_target_that_is_gone_is_written_by_nobody() {
    let Some(own) = Own::make(false) else { return };
    let EngineTarget { mut target, canvas, .. } = own.place(vk::Format::R8G8B8A8_UNORM, every_usage(), AT);
    let kernel = Scene::plain(&own, untimed()).kernel;
    let (handle, kept) = target.handle().unwrap();
    let (later, kept_later) = target.handle().unwrap();
    let desc = SurfaceDesc::image(ALL.width, ALL.height, PixelFormat::Rgba8);
    let mut opened = own.backend.import_surface(&handle, &desc).unwrap();
    let whole = ImageView::packed(ALL, PixelFormat::Rgba8, 1, 0, false).unwrap();
    let mut launch = || {
        let to = Target::new(opened.as_mut(), View::Image(whole)).unwrap();
        own.backend.launch(kernel.as_ref(), to, &[Arg::F32(0.5)])
    };
    launch().unwrap();
    own.display.finish().unwrap();
    drop(target);
    refused(launch(), "dropped");
    drop(canvas);
    refused(launch(), "dropped");
    refused(opened.read(0, &mut [0; 4]), "dropped");
    refused(opened.write(0, &[0; 4]), "dropped");
    refused(own.backend.import_surface(&later, &desc).map(drop), "dropped");
    drop((kept, kept_later));
}
