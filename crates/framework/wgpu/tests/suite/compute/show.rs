//! Frame and draw as one call, and kernels that store to the display's textures.

use crate::kernels::PAINT;
use crate::shows::{self, ALL, Board, SIZE, Scene, Screen, goes, untimed};
use interop_core::{
    Arg, ComputeBackend, Detour, Display, DrawOptions, Error, LinkCore, Manner, PixelFormat, Policy, Result,
    ShowOutcome, WriteFrame,
};
use pixelferry_testing::{Need, by_level, has, need};
use pixelferry_wgpu::{OffscreenTarget, Viewport, WgpuBackend, WgpuDisplay, WgpuOptions};
use std::sync::Arc;

struct Both {
    display: Arc<WgpuDisplay>,
    backend: Arc<dyn ComputeBackend>,
}

/// On Vulkan and on OpenGL.
fn both() -> impl Iterator<Item = Both> {
    [(Need::Lavapipe, wgpu::Backends::VULKAN), (Need::Egl, wgpu::Backends::GL)].into_iter().filter_map(
        |(driver, api)| {
            let display = need(driver, WgpuDisplay::headless(WgpuOptions::default().with_backends(api)))?;
            let name = format!("{} ({})", display.device(), display.device().driver);
            let backend = has("compute shaders", name, WgpuBackend::on(display.shared_device()))?;
            Some(Both { display, backend: Arc::new(backend) })
        },
    )
}

struct Target<'d>(&'d WgpuDisplay, OffscreenTarget);

impl Board for Target<'_> {
    fn first(&self) -> (usize, usize) {
        (2, 3)
    }

    fn show(
        &mut self,
        link: &mut LinkCore,
        options: DrawOptions,
        frame: &mut dyn FnMut(&mut WriteFrame<'_>) -> Result<()>,
    ) -> Result<ShowOutcome> {
        let viewport = Viewport { x: 3, y: 2, width: SIZE.0, height: SIZE.1 };
        link.show(&mut self.0.view_target(self.1.view(), self.1.texture().format(), viewport), options, frame)
    }

    fn pixels(&mut self) -> Vec<u8> {
        self.1.read_pixels().unwrap()
    }
}

impl Screen for Both {
    fn sides(&self) -> (Arc<dyn ComputeBackend>, Arc<dyn Display>) {
        (self.backend.clone(), self.display.clone())
    }

    fn board(&self, format: PixelFormat) -> Option<Box<dyn Board + '_>> {
        let target = self.display.create_offscreen_target_of(ALL.0, ALL.1, format).ok()?;
        Some(Box::new(Target(&self.display, target)))
    }
}

#[test]
fn a_frame_that_goes_straight_is_what_a_draw_gives() {
    let mut straight = 0;
    for both in both() {
        let formats = both.display.caps().image_formats.clone().into_iter().step_by(by_level(3, 1, 1));
        let scene = |drawn: bool, desc, rule| {
            let mut scene = Scene::new(&both, desc, rule, PAINT, untimed());
            scene.options.manner = drawn.then_some(Manner::Triangle);
            scene
        };
        for (format, [ways, _]) in shows::a_frame_that_goes_straight_is_what_a_draw_gives(&both, formats, scene) {
            if ways[0] == ShowOutcome::Drawn(Detour::First) {
                assert_eq!(ways[1..], [ShowOutcome::Straight, ShowOutcome::Straight], "{format}");
                straight += 1;
            } else {
                assert!(ways.iter().all(|way| matches!(way, ShowOutcome::Drawn(_))), "{format}: {ways:?}");
                assert!(!both.backend.caps().image_formats.contains(&format), "{format}: {ways:?}");
            }
        }
    }
    assert!(straight > 0 || both().next().is_none(), "none went straight");
}

/// As a swapchain gives another one for each frame.
#[test]
fn a_texture_for_each_frame() {
    for both in both() {
        let mut scene = Scene::plain(&both, Policy::default());
        shows::targets_take_turns::<1>(&both, &mut scene, (12, 1), |round, _, way| {
            if round == 0 {
                assert_eq!(way, ShowOutcome::Drawn(Detour::First));
            } else {
                goes(&way);
            }
        });
        assert!(matches!(scene.link.shown().err(), None | Some(Error::InTarget)));
        shows::targets_take_turns::<3>(&both, &mut scene, (2, 7), |_, _, _| ());
    }
}

#[test]
fn what_goes_wrong_leaves_a_link_that_works() {
    for both in both() {
        shows::frames_that_fail_leave_a_link_that_works(&both, &mut Scene::plain(&both, untimed()));
        shows::no_surface_has_a_frame_that_went_straight(&both, &mut Scene::plain(&both, untimed()));
    }
}

#[test]
fn what_needs_a_draw_is_drawn_and_says_why() {
    for both in both() {
        shows::what_needs_a_draw_is_drawn_and_says_why(&both, true);
        // A texture that nothing stores to.
        let mut scene = Scene::plain(&both, Policy::default());
        let plain = both.display.wgpu_device().create_texture(&wgpu::TextureDescriptor {
            label: None,
            size: wgpu::Extent3d { width: SIZE.0, height: SIZE.1, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: wgpu::TextureUsages::RENDER_ATTACHMENT,
            view_formats: &[],
        });
        let view = plain.create_view(&wgpu::TextureViewDescriptor::default());
        let mut place = both.display.view_target(&view, plain.format(), Viewport::full(SIZE.0, SIZE.1));
        let (options, kernel) = (scene.options, scene.kernel.clone());
        let way = scene.link.show(&mut place, options, |next| next.launch(kernel.as_ref(), &[Arg::F32(0.5)])).unwrap();
        assert!(way.to_string().contains("STORAGE_BINDING"), "{way}");
    }
}
