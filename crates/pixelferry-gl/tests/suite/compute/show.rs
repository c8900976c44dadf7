//! Frame and draw as one call: what is stored into the target is what a draw puts there.

use super::common::{Both, PAINT, both};
use crate::common::assert_same;
use crate::engine::Engine;
use crate::state::{engine_framebuffers, make_unusual, unchanged};
use interop_core::describe::panics::catch;
use interop_core::{
    AlphaMode, Arg, ComputeBackend as _, Detour, DrawOptions, Encoding, Error, Fit, ImageDesc, Kernel, KernelSource,
    Link, LinkOptions, Manner, PathId, PixelFormat, Policy, Region, RowOrder, Showed, SurfaceDesc, Unwritten,
};
use pixelferry_gl::{GlBackend, OffscreenTarget, Viewport};
use std::sync::Arc;

const WORDS: &str = "@compute @workgroup_size(8, 8)
fn paint(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x == 0u && id.y > 1000u) { pf_put(0u, pf_get(0u)); }
  pf_store(id.xy, vec4<f32>(f32(id.x) / 255.0, f32(id.y) / 255.0, pf_arg_f32(0), 1.0));
}";

/// Offset of a target's viewport, which is no whole of it.
const AT: (i32, i32) = (3, 2);
const SIZE: (u32, u32) = (21, 13);

struct Scene {
    both: Both,
    kernel: Arc<dyn Kernel>,
    link: Link,
    options: DrawOptions,
}

impl Scene {
    /// `None` after saying SKIPPED.
    fn new(desc: ImageDesc, rule: Unwritten) -> Option<Self> {
        Self::by(desc, rule, PAINT, Policy::default())
    }

    fn by(desc: ImageDesc, rule: Unwritten, text: &'static str, policy: Policy) -> Option<Self> {
        let both = both()?;
        let kernel = both.backend.build(&KernelSource::new("paint").wgsl(text)).unwrap();
        let desc = SurfaceDesc::Image(desc).with_unwritten(rule);
        let link = Link::open(both.backend.clone(), both.display.clone(), desc, LinkOptions::new(policy)).unwrap();
        Some(Self { both, kernel, link, options: DrawOptions::default().with_grey(false) })
    }

    fn target(&self, format: PixelFormat) -> OffscreenTarget {
        let target = self.both.display.create_offscreen_target_of(SIZE.0 + 8, SIZE.1 + 9, format).unwrap();
        target.bind().unwrap();
        self.both.display.clear([0.25; 4]).unwrap();
        target
    }

    fn viewport() -> Viewport {
        Viewport { x: AT.0, y: AT.1, width: SIZE.0, height: SIZE.1 }
    }

    fn show_in(&mut self, viewport: Viewport, level: f32) -> Result<Showed, Error> {
        let (display, kernel) = (self.both.display.clone(), self.kernel.clone());
        let mut place = display.bound_target(viewport);
        self.link.show(&mut place, self.options, |next| next.launch(kernel.as_ref(), &[Arg::F32(level)]))
    }

    /// A frame in the target that is bound.
    fn show(&mut self, level: f32) -> Showed {
        self.show_in(Self::viewport(), level).unwrap()
    }

    /// Shows frames until one is not tried any more.
    fn settled(&mut self) -> Showed {
        assert_eq!(self.show(0.0), Showed::Drawn(Detour::First));
        self.show(0.25)
    }

    fn detour(&mut self) -> Detour {
        match self.settled_or_drawn() {
            Showed::Drawn(why) => why,
            other => panic!("{other}"),
        }
    }

    fn settled_or_drawn(&mut self) -> Showed {
        match self.show(0.0) {
            Showed::Drawn(Detour::First) => self.show(0.25),
            other => other,
        }
    }
}

/// Which of the two ways is quicker is the machine's; the tests are about both.
fn goes(way: &Showed) -> bool {
    assert!(matches!(way, Showed::Straight | Showed::Drawn(Detour::Slower { .. })), "{way}");
    *way == Showed::Straight
}

#[test]
fn a_frame_that_goes_straight_is_what_a_draw_gives() {
    let mut straight = 0;
    for format in PixelFormat::ALL {
        for (order, rule) in [(RowOrder::TopDown, Unwritten::Overwrite), (RowOrder::BottomUp, Unwritten::Clear)] {
            let desc = ImageDesc::new(SIZE.0, SIZE.1, format).with_row_order(order);
            let Some(mut scene) = Scene::new(desc, rule) else { return };
            let mut pixels = Vec::new();
            for drawn in [false, true] {
                let target = scene.target(format);
                scene.options.manner = drawn.then_some(Manner::Triangle);
                let ways: Vec<_> = [0.125, 0.75, 0.5].map(|level| scene.show(level)).into_iter().collect();
                match &ways[..] {
                    [Showed::Drawn(Detour::First), one, other] if !drawn && format != PixelFormat::Bgra8 => {
                        assert_eq!(one, other, "{format}");
                        straight += usize::from(goes(one));
                    }
                    all => assert!(all.iter().all(|way| matches!(way, Showed::Drawn(_))), "{format}: {all:?}"),
                }
                pixels.push(target.read_pixels().unwrap());
                target.unbind().unwrap();
            }
            assert_same(&format!("{format}, {order:?}, {rule}"), &pixels[1], &pixels[0]);
        }
    }
    assert!(straight > 0, "none went straight");
}

#[test]
fn what_a_draw_does_beside_placing_is_drawn() {
    let rgba8 = ImageDesc::new(SIZE.0, SIZE.1, PixelFormat::Rgba8);
    let Some(mut scene) = Scene::new(rgba8, Unwritten::Overwrite) else { return };
    let target = scene.target(PixelFormat::Rgba8);
    let plain = scene.options;
    let says = |scene: &mut Scene, options: DrawOptions, viewport: Viewport| {
        scene.options = options;
        match scene.show_in(viewport, 0.5).unwrap() {
            Showed::Drawn(why) => why.to_string(),
            other => panic!("{other}"),
        }
    };
    let (own, larger) = (Scene::viewport(), Viewport { width: SIZE.0 + 2, ..Scene::viewport() });
    let none = plain.with_fit(Fit::None);
    for (options, viewport, expected) in [
        (plain, larger, "scales"),
        (none.with_background([0.0; 3]), larger, "around"),
        (none, Viewport { width: SIZE.0 - 2, ..own }, "cuts the picture"),
        (plain, Viewport { x: -1, ..own }, "edge"),
        (plain, Viewport { y: 10, ..own }, "edge"),
        (plain.with_manner(Manner::Compute), own, "compute was asked for"),
    ] {
        let said = says(&mut scene, options, viewport);
        assert!(said.contains(expected), "{said}");
    }
    target.unbind().unwrap();
    for (desc, rule, format, expected) in [
        (rgba8, Unwritten::Keep, PixelFormat::Rgba8, "kept"),
        (rgba8, Unwritten::Overwrite, PixelFormat::Rgba16F, "frames are rgba8, the target is rgba16f"),
        (rgba8.with_alpha(AlphaMode::Straight), Unwritten::Overwrite, PixelFormat::Rgba8, "blends"),
        (rgba8.with_encoding(Encoding::Linear), Unwritten::Overwrite, PixelFormat::Rgba8, "changes colours"),
    ] {
        let Some(mut scene) = Scene::new(desc, rule) else { return };
        let target = scene.target(format);
        let said = scene.detour().to_string();
        assert!(said.to_lowercase().contains(expected), "{said}");
        target.unbind().unwrap();
    }
    let policy = Policy::default().with_force(PathId::HOST_ROUND_TRIP);
    let mut scene = Scene::by(rgba8, Unwritten::Overwrite, PAINT, policy).unwrap();
    let target = scene.target(PixelFormat::Rgba8);
    assert_eq!(scene.detour(), Detour::Asked("host-round-trip"));
    target.unbind().unwrap();
    // A kernel that names words would need copies of the target.
    let mut scene = Scene::by(rgba8, Unwritten::Overwrite, WORDS, Policy::default()).unwrap();
    let target = scene.target(PixelFormat::Rgba8);
    let said = scene.detour().to_string();
    assert!(said.contains("words") || said.contains("drawn,"), "{said}");
    assert_eq!(target.read_pixels().unwrap().len(), 29 * 22 * 4);
    target.unbind().unwrap();
}

#[test]
fn no_surface_has_a_frame_that_went_straight() {
    let desc = ImageDesc::new(SIZE.0, SIZE.1, PixelFormat::Rgba8);
    let Some(mut scene) = Scene::new(desc, Unwritten::Overwrite) else { return };
    let target = scene.target(PixelFormat::Rgba8);
    if !goes(&scene.settled()) {
        return target.unbind().unwrap();
    }
    let is_in_target = |error: Option<Error>| assert!(matches!(error, Some(Error::InTarget)), "{error:?}");
    is_in_target(scene.link.shown().err());
    is_in_target(scene.link.read_back().err());
    let kernel = scene.kernel.clone();
    let paint = |link: &mut Link, level: f32| {
        link.frame(|next| next.launch(kernel.as_ref(), &[Arg::F32(level)])).map(|()| link.read_back().unwrap()[2])
    };
    let part = Region::new(1, 1, 2, 2);
    is_in_target(scene.link.frame_region(part, |_| Ok(())).err());
    assert_eq!(paint(&mut scene.link, 1.0).unwrap(), 255);
    scene.link.frame_region(part, |next| next.launch(kernel.as_ref(), &[Arg::F32(0.0)])).unwrap();
    assert_eq!(scene.show(0.5), Showed::Straight);
    // Another size: nothing of before is seen.
    scene.link.resize(SurfaceDesc::image(4, 4, PixelFormat::Rgba8).with_unwritten(Unwritten::Overwrite)).unwrap();
    assert!(scene.link.shown().is_err());
    scene.link.resize(SurfaceDesc::Image(desc).with_unwritten(Unwritten::Overwrite)).unwrap();
    assert!(scene.link.shown().is_err());
    assert_eq!(paint(&mut scene.link, 0.0).unwrap(), 0);
    scene.settled();
    scene.link.clear().unwrap();
    assert!(matches!(scene.link.shown().err(), Some(Error::NothingShown)));
    scene.link.resize(SurfaceDesc::image(0, 0, PixelFormat::Rgba8)).unwrap();
    assert_eq!(scene.show(0.5), Showed::Paused);
    target.unbind().unwrap();
}

#[test]
fn frames_that_fail_leave_a_link_that_works() {
    let desc = ImageDesc::new(SIZE.0, SIZE.1, PixelFormat::Rgba8);
    let Some(mut scene) = Scene::new(desc, Unwritten::Overwrite) else { return };
    let target = scene.target(PixelFormat::Rgba8);
    let way = scene.settled();
    goes(&way);
    let (display, kernel) = (scene.both.display.clone(), scene.kernel.clone());
    let mut place = display.bound_target(Scene::viewport());
    let options = scene.options;
    let wrong = || Error::InvalidInput { operation: "the program", problem: "its own".into() };
    let failed = scene.link.show(&mut place, options, |_| Err(wrong())).unwrap_err();
    assert!(failed.to_string().contains("its own"), "{failed}");
    assert_eq!(scene.link.show(&mut place, options, |next| next.write(&[9; 21 * 13 * 4])).unwrap(), way);
    assert_eq!(target.read_pixels().unwrap().iter().filter(|byte| **byte == 9).count(), 21 * 13 * 4);
    let panicked = catch(|| scene.link.show(&mut place, options, |_| panic!("in a frame")));
    assert!(panicked.is_err());
    scene.link.frame(|next| next.launch(kernel.as_ref(), &[Arg::F32(1.0)])).unwrap();
    assert_eq!(scene.link.read_back().unwrap()[2], 255);
    // A driver that fails once: the frame is done again, drawn.
    let mut turns = 0;
    let drawn = scene.link.show(&mut place, options, |next| {
        turns += 1;
        if turns == 1 && way == Showed::Straight {
            return Err(Error::Unsupported { operation: "", device: "a double".into(), reason: "it failed".into() });
        }
        next.launch(kernel.as_ref(), &[Arg::F32(0.0)])
    });
    assert!(matches!(drawn.unwrap(), Showed::Drawn(Detour::Failed(_) | Detour::Slower { .. })));
    assert!(matches!(scene.show(0.5), Showed::Drawn(_)), "it is not tried again");
    target.unbind().unwrap();
}

#[test]
fn targets_take_turns_and_names_stand_for_others() {
    let desc = ImageDesc::new(SIZE.0, SIZE.1, PixelFormat::Rgba8);
    let Some(mut scene) = Scene::new(desc, Unwritten::Overwrite) else { return };
    let first = [(); 3].map(|()| scene.target(PixelFormat::Rgba8));
    let shows = |scene: &mut Scene, target: &OffscreenTarget, level: f32| {
        target.bind().unwrap();
        scene.show(level);
        let pixels = target.read_rgba8().unwrap();
        // Row 0 is the top one there.
        let at = |x: u32, from_bottom: u32| ((21 - from_bottom) * 29 + x) as usize * 4;
        assert_eq!(pixels[at(3, 2) + 2], (level * 255.0_f32).round() as u8);
        assert_eq!(pixels[at(2, 2) + 2], 64, "what lies around stays");
    };
    for turn in 0..9 {
        shows(&mut scene, &first[turn % 3], [0.2, 0.4, 0.6][turn % 3]);
    }
    drop(first);
    for level in [0.2, 0.4, 0.8] {
        let another = scene.target(PixelFormat::Rgba8);
        shows(&mut scene, &another, level);
        shows(&mut scene, &another, 1.0 - level);
    }
}

#[test]
fn an_engines_state_stays() {
    let Some(engine) = Engine::new() else { return };
    let gl = engine.glow();
    engine_framebuffers(&gl);
    make_unusual(&gl, true, true);
    let display = engine.pixelferry(None);
    if display.version() < (4, 5) {
        return;
    }
    let backend = Arc::new(GlBackend::on(&display).unwrap());
    let kernel = backend.build(&KernelSource::new("paint").wgsl(PAINT)).unwrap();
    let target = display.create_offscreen_target(SIZE.0, SIZE.1).unwrap();
    target.bind().unwrap();
    let desc = SurfaceDesc::image(SIZE.0, SIZE.1, PixelFormat::Rgba8).with_unwritten(Unwritten::Overwrite);
    let mut link = Link::open(backend, display.clone(), desc, LinkOptions::default()).unwrap();
    for _ in 0..3 {
        unchanged(&gl, "show", || {
            let mut place = display.bound_target(Viewport::full(SIZE.0, SIZE.1));
            link.show(&mut place, DrawOptions::default(), |next| next.launch(kernel.as_ref(), &[Arg::F32(0.5)]))
                .unwrap()
        });
    }
    drop(link);
    target.unbind().unwrap();
}
