//! Frame and draw as one call, and kernels that store to the display's textures.

use interop_core::{
    Arg, ComputeBackend, Detour, Display as _, DrawOptions, Error, ImageDesc, KernelSource, Link, LinkOptions, Manner,
    PathId, PixelFormat, Policy, RowOrder, Showed, SurfaceDesc, Unwritten,
};
use pixelferry_testing::{Need, by_level, has, need};
use pixelferry_wgpu::{OffscreenTarget, Viewport, WgpuBackend, WgpuDisplay, WgpuOptions};
use std::rc::Rc;
use std::sync::Arc;
use std::time::Duration;

const SIZE: (u32, u32) = (21, 13);

const PAINT: &str = "
@compute @workgroup_size(8, 8)
fn paint(@builtin(global_invocation_id) id: vec3<u32>) {
  pf_store(id.xy, vec4<f32>(f32(id.x) / 255.0, f32(id.y) / 255.0, pf_arg_f32(0), 1.0));
}";
const WORDS: &str = "
@compute @workgroup_size(8, 8)
fn paint(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x == 0u && id.y > 1000u) { pf_put(0u, pf_get(0u)); }
  pf_store(id.xy, vec4<f32>(f32(id.x) / 255.0, f32(id.y) / 255.0, pf_arg_f32(0), 1.0));
}";

type Both = (Rc<WgpuDisplay>, Arc<dyn ComputeBackend>);

/// On Vulkan and on OpenGL.
fn both() -> impl Iterator<Item = Both> {
    [(Need::Lavapipe, wgpu::Backends::VULKAN), (Need::Egl, wgpu::Backends::GL)].into_iter().filter_map(
        |(driver, api)| {
            let display = need(driver, WgpuDisplay::headless(WgpuOptions::default().with_backends(api)))?;
            let name = format!("{} ({})", display.device(), display.device().driver);
            let backend = has("compute shaders", name, WgpuBackend::on(display.shared_device()))?;
            Some((display, Arc::new(backend) as Arc<dyn ComputeBackend>))
        },
    )
}

/// Takes the first path that works, and stores wherever they do.
fn untimed() -> Policy {
    Policy::default().with_budget(Duration::ZERO)
}

struct Scene {
    display: Rc<WgpuDisplay>,
    kernel: Arc<dyn interop_core::Kernel>,
    link: Link,
    options: DrawOptions,
}

impl Scene {
    fn new((display, backend): &Both, desc: ImageDesc, rule: Unwritten, text: &'static str, policy: Policy) -> Self {
        let kernel = backend.build(&KernelSource::new("paint").wgsl(text)).unwrap();
        let desc = SurfaceDesc::Image(desc).with_unwritten(rule);
        let link = Link::open(backend.clone(), display.clone(), desc, LinkOptions::new(policy)).unwrap();
        let options = DrawOptions::default().with_grey(false);
        Self { display: display.clone(), kernel, link, options }
    }

    fn show(&mut self, target: &OffscreenTarget, level: f32) -> Showed {
        let viewport = Viewport { x: 3, y: 2, width: SIZE.0, height: SIZE.1 };
        let mut place = self.display.view_target(target.view(), target.texture().format(), viewport);
        let kernel = self.kernel.as_ref();
        self.link.show(&mut place, self.options, |next| next.launch(kernel, &[Arg::F32(level)])).unwrap()
    }
}

fn goes(way: &Showed) -> bool {
    assert!(matches!(way, Showed::Straight | Showed::Drawn(Detour::Slower { .. })), "{way}");
    *way == Showed::Straight
}

#[test]
fn a_frame_that_goes_straight_is_what_a_draw_gives() {
    let mut straight = 0;
    for both in both() {
        let caps = both.1.caps().clone();
        for format in both.0.caps().image_formats.clone().into_iter().step_by(by_level(3, 1, 1)) {
            for (order, rule) in [(RowOrder::TopDown, Unwritten::Overwrite), (RowOrder::BottomUp, Unwritten::Clear)] {
                let desc = ImageDesc::new(SIZE.0, SIZE.1, format).with_row_order(order);
                let mut pixels = Vec::new();
                let Ok(target) = both.0.create_offscreen_target_of(SIZE.0 + 8, SIZE.1 + 9, format) else { continue };
                for drawn in [false, true] {
                    let mut scene = Scene::new(&both, desc, rule, PAINT, untimed());
                    scene.options.manner = drawn.then_some(Manner::Triangle);
                    let ways = [0.125, 0.75, 0.5].map(|level| scene.show(&target, level));
                    match &ways {
                        [Showed::Drawn(Detour::First), one, other] if !drawn => {
                            assert_eq!(one, other, "{format}");
                            assert_eq!(*one, Showed::Straight, "{format}");
                            straight += 1;
                        }
                        all => {
                            assert!(all.iter().all(|way| matches!(way, Showed::Drawn(_))), "{format}: {all:?}");
                            assert!(drawn || !caps.image_formats.contains(&format), "{format}: {all:?}");
                        }
                    }
                    pixels.push(target.read_pixels().unwrap());
                }
                assert!(pixels[0] == pixels[1], "{format}, {order:?}, {rule}, {}", both.0.device().driver);
            }
        }
    }
    assert!(straight > 0 || both().next().is_none(), "none went straight");
}

/// As a swapchain gives another one for each frame.
#[test]
fn a_texture_for_each_frame() {
    for both in both() {
        let desc = ImageDesc::new(SIZE.0, SIZE.1, PixelFormat::Rgba8);
        let mut scene = Scene::new(&both, desc, Unwritten::Overwrite, PAINT, Policy::default());
        for n in 0..12_u8 {
            let target = both.0.create_offscreen_target(SIZE.0 + 8, SIZE.1 + 9).unwrap();
            let way = scene.show(&target, f32::from(n) / 255.0);
            assert!(if n == 0 { way == Showed::Drawn(Detour::First) } else { goes(&way) || n > 1 }, "{n}: {way}");
            let pixels = target.read_rgba8().unwrap();
            let at = |x: usize, y: usize| &pixels[(y * 29 + x) * 4..][..4];
            assert_eq!((at(3, 2), at(23, 14), at(2, 2)), (&[0, 0, n, 255][..], &[20, 12, n, 255][..], &[0; 4][..]));
        }
        assert!(matches!(scene.link.shown().err(), Some(Error::InTarget)) || scene.link.shown().is_ok());
    }
}

#[test]
fn what_needs_a_draw_is_drawn_and_says_why() {
    for both in both() {
        let rgba8 = ImageDesc::new(SIZE.0, SIZE.1, PixelFormat::Rgba8);
        let in_memory = Policy::default().with_force(PathId::IN_QUEUE_UPLOAD);
        for (rule, text, policy, format, expected) in [
            (Unwritten::Keep, PAINT, Policy::default(), PixelFormat::Rgba8, "kept"),
            (Unwritten::Overwrite, WORDS, Policy::default(), PixelFormat::Rgba8, "words"),
            (Unwritten::Overwrite, PAINT, in_memory, PixelFormat::Rgba8, "in-queue-upload was asked for"),
            (Unwritten::Overwrite, PAINT, Policy::default(), PixelFormat::Rgba16F, "the target is"),
        ] {
            let target = both.0.create_offscreen_target_of(SIZE.0 + 8, SIZE.1 + 9, format).unwrap();
            let mut scene = Scene::new(&both, rgba8, rule, text, policy);
            let ways = [0.25, 0.5].map(|level| scene.show(&target, level));
            let said = ways[1].to_string();
            assert!(said.contains(expected) || said.contains("by stores"), "{said}");
            let found = scene.link.read_back().unwrap();
            assert_eq!(found[2], 128, "{said}");
        }
        // A texture that nothing stores to.
        let mut scene = Scene::new(&both, rgba8, Unwritten::Overwrite, PAINT, Policy::default());
        let plain = both.0.wgpu_device().create_texture(&wgpu::TextureDescriptor {
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
        let mut place = both.0.view_target(&view, plain.format(), Viewport::full(SIZE.0, SIZE.1));
        let (options, kernel) = (scene.options, scene.kernel.clone());
        let way = scene.link.show(&mut place, options, |next| next.launch(kernel.as_ref(), &[Arg::F32(0.5)])).unwrap();
        assert!(way.to_string().contains("STORAGE_BINDING"), "{way}");
    }
}
