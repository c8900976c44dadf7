//! The scenes give the same pictures on every backend, late or not, and their CUDA sources compile.

use crate::suite::drivers::Pair;
use pixelferry::api::cuda;
use pixelferry::api::gl::Viewport;
use pixelferry::driver::compute::SourceCode;
use pixelferry::{
    BackendChoice, ComputeBackend, CpuBackend, Display, DisplayChoice, Extent, KernelSource, Language, LinkBuilder,
    MemoryDisplay, PixelFormat, Policy, Profiles, ShowOutcome, SurfaceDesc, Trials, open_headless,
};
use pixelferry_demo::pixels::{Alpha, Pixels, Tone};
use pixelferry_demo::scenes::filter::{Filter, FilterScene};
use pixelferry_demo::scenes::fluid::{Fluid, STEP, Simulation};
use pixelferry_demo::scenes::plasma::Plasma;
use pixelferry_demo::scenes::sine::{POINTS, Sine};
use pixelferry_demo::{Scene, SceneError};
use pixelferry_tests::faults::{BackendDouble, FaultStep, Faults};
use pixelferry_tests::{Need, by_level, few, need};
use std::path::PathBuf;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

type Make = dyn Fn(LinkBuilder) -> Result<Box<dyn Scene>, SceneError>;

/// A link into plain memory, for a scene to complete.
fn into_memory() -> LinkBuilder {
    let display: Arc<dyn Display> = MemoryDisplay::new();
    LinkBuilder::new(SurfaceDesc::buffer(0)).shown_by(&display)
}

fn by_threads() -> LinkBuilder {
    into_memory().backend(BackendChoice::Cpu)
}

/// The scene after so many frames.
fn after(make: &Make, backend: &Arc<dyn ComputeBackend>, frames: u32) -> Box<dyn Scene> {
    let mut scene = make(into_memory().computed_by(backend)).unwrap();
    for n in 0..frames {
        assert!(scene.advance(n as f32 / 30.0).unwrap());
    }
    scene
}

fn picture(scene: &mut dyn Scene) -> Vec<u8> {
    pixelferry::picture(scene.link()).unwrap().into_raw()
}

fn check_same(a: &[u8], b: &[u8]) {
    assert_eq!(a.len(), b.len());
    let far = a.iter().zip(b).filter(|(a, b)| a.abs_diff(**b) > 1).count();
    assert!(far * 10_000 <= a.len(), "{far} of {} channels differ", a.len());
}

/// Channels may differ by one where two compilers round differently, and hardly any by more.
fn same_picture(pair: &Pair, make: &Make, frames: u32) {
    let [a, b] = pair.each_ref().map(|b| picture(after(make, b, frames).as_mut()));
    check_same(&a, &b);
    let (low, high) = (a.iter().min().unwrap(), a.iter().max().unwrap());
    assert!(high - low > 50, "the picture is flat");
}

pub fn plasma(pair: &Pair) {
    for tone in few(&[Tone::Aces, Tone::None, Tone::Srgb, Tone::Reinhard, Tone::Light], 1).iter().copied() {
        for (format, alpha) in [(PixelFormat::Rgba8, Alpha::Opaque), (PixelFormat::Rgba16F, Alpha::Premultiplied)] {
            println!("{tone:?} {format:?} {alpha:?}");
            let pixels = Pixels { tone, format, alpha };
            same_picture(pair, &move |wanted| Ok(Box::new(Plasma::new(wanted, (321, 123), pixels)?)), 5);
        }
    }
}

/// In every format that a surface has; at the shortest level in one for each way to store a channel.
pub fn formats(pair: &Pair) {
    for format in PixelFormat::ALL.into_iter().step_by(by_level(3, 1, 1)) {
        println!("{format}");
        let pixels = Pixels { format, ..Pixels::default() };
        same_picture(pair, &move |wanted| Ok(Box::new(Plasma::new(wanted, (67, 45), pixels)?)), 2);
    }
}

pub fn fluid(pair: &Pair) {
    let all = [
        Pixels { alpha: Alpha::Straight, ..Pixels::default() },
        Pixels { tone: Tone::Light, format: PixelFormat::Rgba16F, alpha: Alpha::Opaque },
    ];
    for pixels in few(&all, 1).iter().copied() {
        let make = move |wanted| -> Result<Box<dyn Scene>, SceneError> {
            Ok(Box::new(Fluid::new(wanted, (160, 90), pixels)?))
        };
        same_picture(pair, &make, by_level(4, 12, 12));
    }
}

/// Frames after which a comparison must have begun.
const MOST_FRAMES: u32 = 5000;

/// Compares all the time.
fn often() -> Policy {
    let trials = Trials::Spread { share: 1.0, within: Duration::from_secs(3600) };
    Policy::default().with_profiles(Profiles::Off).with_trials(trials)
}

/// A fluid that another backend goes on with, and then the first one again, flows like one that stays on threads.
pub fn fluid_on_the_move([driver, _]: &Pair) {
    let policy = Policy::default().with_profiles(Profiles::Off);
    let [mut moved, mut stays] = [into_memory().policy(often()), by_threads().policy(policy)]
        .map(|wanted| Fluid::new(wanted, (160, 90), Pixels::default()).unwrap());
    let api = driver.device().api;
    let (mut last, mut moves) = (moved.link().backend().device().api, Vec::new());
    for n in 0..MOST_FRAMES {
        for scene in [&mut moved, &mut stays] {
            assert!(scene.advance(n as f32 / 30.0).unwrap());
        }
        let now = moved.link().backend().device().api;
        if now != last {
            println!("frame {n}: {last} -> {now}");
            moves.push((last, now));
            last = now;
        }
        check_same(&picture(&mut moved), &picture(&mut stays));
        if moves.iter().any(|(_, to)| *to == api) && moves.iter().any(|(from, _)| *from == api) {
            return;
        }
        // A backend is opened on a thread of its own meanwhile.
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("it never went over to {api} and away from it: {moves:?}");
}

/// Another path of the backend goes on where the one before was: it takes one step for a frame, and not all of them again.
#[test]
fn a_fluid_that_goes_over_takes_no_step_again() {
    let faults = Faults::default();
    let backend: Arc<dyn ComputeBackend> = BackendDouble::over(Arc::new(CpuBackend::new().unwrap()), &faults);
    let wanted = into_memory().computed_by(&backend).policy(often());
    let mut fluid = Fluid::new(wanted, (64, 36), Pixels::default()).unwrap();
    let (first, mut others) = (fluid.link().path(), 0);
    for n in 0..MOST_FRAMES {
        let before = faults.calls(FaultStep::Launch);
        assert!(fluid.advance(0.0).unwrap());
        let launches = faults.calls(FaultStep::Launch) - before;
        assert!(launches < 60, "frame {n}: {launches} launches");
        let is_first = fluid.link().path() == first;
        others += u32::from(!is_first);
        if is_first && others > 0 {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
    panic!("it never went over to another path and back");
}

/// Returns the flow out of the inner cells, root mean square, per second.
fn divergence(flow: &[[f32; 4]], cells: Extent) -> f32 {
    let (w, h) = (cells.width as usize, cells.height as usize);
    let inner = (2..h - 2).flat_map(|y| (2..w - 2).map(move |x| y * w + x));
    let out = inner.map(|i| 0.5 * h as f32 * (flow[i + 1][0] - flow[i - 1][0] + flow[i + w][1] - flow[i - w][1]));
    let squares: Vec<f32> = out.map(|d| d * d).collect();
    (squares.iter().sum::<f32>() / squares.len() as f32).sqrt()
}

#[test]
fn the_fluid_flows_and_does_not_pile_up() {
    let cells = Extent::new(96, 54);
    let open = |cells| {
        let backend: Arc<dyn ComputeBackend> = Arc::new(CpuBackend::new().unwrap());
        let [step @ .., _] = Fluid::sources(Pixels::default()).map(|kernel| backend.build(&kernel).unwrap());
        Simulation::new(backend, cells, step)
    };
    let mut fluid = open(cells).unwrap();
    let speed = |flow: &[[f32; 4]]| flow.iter().map(|v| v[0].hypot(v[1])).fold(0.0, f32::max);
    for _ in 0..240 {
        fluid.step().unwrap();
    }
    let flow = fluid.read_flow().unwrap();
    let (fastest, piling) = (speed(&flow), divergence(&flow, cells));
    assert!(flow.iter().flatten().all(|v| v.is_finite()));
    // Jets of the order of a height a second; what is pumped in by them is let out again but for a small part.
    assert!((0.2..8.0).contains(&fastest), "{fastest} heights a second after {} s", 240.0 * STEP);
    let shear = fastest * cells.height as f32 / 4.0;
    assert!(piling < 0.05 * shear, "{piling} per second, where a jet shears by {shear}");
    for wrong in [Extent::new(0, 4), Extent::new(4, 5000)] {
        assert!(matches!(open(wrong), Err(pixelferry::Error::InvalidInput { .. })));
    }
}

/// A small picture with edges in both directions: the crate's own one takes a second to decode where nothing is optimized.
fn small_picture() -> PathBuf {
    let path = std::env::temp_dir().join(format!("small-{}.png", std::process::id()));
    let pixel = |x: u32, y: u32| {
        image::Rgb([(x * 5 % 256) as u8, if (x / 20 + y / 15).is_multiple_of(2) { 220 } else { 30 }, y as u8])
    };
    image::RgbImage::from_fn(203, 117, pixel).save(&path).unwrap();
    path
}

pub fn filters(pair: &Pair) {
    let picture = small_picture();
    for filter in few(&[Filter::Edges, Filter::Gaussian, Filter::Sobel], 1).iter().copied() {
        let picture = picture.clone();
        same_picture(pair, &move |wanted| Ok(Box::new(FilterScene::open(wanted, &picture, filter)?)), 1);
    }
}

/// A film of 24 frames, in which a bright square crosses slopes of luma and chroma.
static CLIP: LazyLock<PathBuf> = LazyLock::new(|| {
    const SIZE: (usize, usize) = (160, 90);
    let mut film = format!("YUV4MPEG2 W{} H{} F24:1 C420jpeg\n", SIZE.0, SIZE.1).into_bytes();
    for n in 0..24 {
        film.extend(b"FRAME\n");
        let luma =
            |x: usize, y: usize| if (x / 5).abs_diff(n) < 4 && y / 30 == 1 { 230 } else { 20 + x as u8 / 2 + y as u8 };
        film.extend((0..SIZE.0 * SIZE.1).map(|i| luma(i % SIZE.0, i / SIZE.0)));
        for shift in [0, 128] {
            film.extend((0..SIZE.0 / 2 * (SIZE.1 / 2)).map(|i| ((i % (SIZE.0 / 2)) * 3 + shift + n) as u8));
        }
    }
    let path = std::env::temp_dir().join(format!("pixelferry-clip-{}.y4m", std::process::id()));
    std::fs::write(&path, film).unwrap();
    path
});

fn clip(wanted: LinkBuilder) -> Result<Box<dyn Scene>, SceneError> {
    Ok(Box::new(FilterScene::open(wanted, &CLIP, Filter::Gaussian)?))
}

pub fn video(pair: &Pair) {
    same_picture(pair, &clip, by_level(4, 24, 24));
}

#[test]
fn a_video_ends() {
    let mut scene = clip(by_threads()).unwrap();
    assert_eq!(scene.frames(), Some(24));
    for _ in 0..24 {
        assert!(scene.advance(0.0).unwrap());
    }
    assert!(!scene.advance(0.0).unwrap(), "there is a 25th frame");
}

/// Kernels of the display's queue store into the framebuffer; the picture is the one that a draw gives.
#[test]
fn pictures_of_opengl_go_straight() {
    const SIZE: (u32, u32) = (203, 117);
    let picture = small_picture();
    let pixels = Pixels::default();
    let Some(screen) = need(Need::Egl, open_headless(DisplayChoice::Gl)) else { return };
    let gl = Arc::clone(screen.gl().expect("an OpenGL display was asked for"));
    let target = gl.create_offscreen_target(SIZE.0, SIZE.1).unwrap();
    target.bind().unwrap();
    let viewport = Viewport::full(SIZE.0, SIZE.1);
    let wanted = LinkBuilder::new(SurfaceDesc::buffer(0)).backend(BackendChoice::Gl).shown_by(&screen.display());
    let wanted = wanted.policy(Policy::default().with_budget(Duration::ZERO));
    let makes: [&Make; 3] = [
        &move |wanted| Ok(Box::new(Plasma::new(wanted, SIZE, pixels)?)),
        &move |wanted| Ok(Box::new(Fluid::new(wanted, SIZE, pixels)?)),
        &move |wanted| Ok(Box::new(FilterScene::open(wanted, &picture, Filter::Edges)?)),
    ];
    for make in makes {
        let made = || make(wanted.clone()).unwrap();
        let (mut drawn, mut straight, mut showed) = (made(), made(), None);
        for n in 0..3 {
            assert!(drawn.advance(n as f32).unwrap());
            assert!(straight.show(n as f32, (&gl, viewport), &mut showed).unwrap());
        }
        assert_eq!(showed, Some(ShowOutcome::Straight), "{}", straight.name());
        let found = target.read_pixels().unwrap();
        gl.clear([0.0; 4]).unwrap();
        drawn.draw(&gl, viewport).unwrap();
        assert!(found == target.read_pixels().unwrap(), "{}", straight.name());
    }
    target.unbind().unwrap();
}

pub fn sine(pair: &Pair) {
    let make = |wanted| -> Result<Box<dyn Scene>, SceneError> { Ok(Box::new(Sine::new(wanted)?)) };
    let points = |backend| -> Vec<f32> {
        let bytes = after(&make, backend, 2).link().read_back().unwrap();
        bytes.chunks_exact(4).map(|b| f32::from_ne_bytes(b.try_into().unwrap())).collect()
    };
    let [a, b] = pair.each_ref().map(points);
    assert_eq!(a.len(), 2 * POINTS as usize);
    assert!(a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-4), "the lines differ");
    assert!((a[0] + 1.0).abs() < 1e-6 && (a[a.len() - 2] - 1.0).abs() < 1e-6, "the line does not span the screen");
}

#[test]
fn files_that_cannot_be_read_are_explained() {
    let folder = std::env::temp_dir().join(format!("pixelferry-demo-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    };
    let cases = [
        (folder.join("absent.png"), "cannot read the picture"),
        (write("no.png", b"not a picture"), "cannot read the picture"),
        (folder.join("absent.y4m"), "cannot read the video"),
        (write("no.y4m", b"not a video"), "cannot read the video"),
        (write("mono.y4m", b"YUV4MPEG2 W4 H4 F25:1 Cmono\nFRAME\n0123456789abcdef"), "no colours"),
        (write("deep.y4m", b"YUV4MPEG2 W4 H4 F25:1 C420p10\n"), "420p10"),
    ];
    for (path, expected) in cases {
        let opened = FilterScene::open(by_threads(), &path, Filter::Edges);
        let said = opened.err().expect("a broken file was taken").to_string();
        assert!(said.contains(expected) && said.contains(path.to_str().unwrap()), "{said}");
    }
}

#[test]
fn cuda_sources_compile() {
    let pixels = |tone, format, alpha| Pixels { tone, format, alpha };
    let in_all = PixelFormat::ALL.map(|format| Plasma::sources(Pixels { format, ..Pixels::default() }));
    let sources: Vec<KernelSource> = [
        in_all.concat(),
        Plasma::sources(pixels(Tone::None, PixelFormat::Rgba8, Alpha::Opaque)).to_vec(),
        Plasma::sources(pixels(Tone::Srgb, PixelFormat::Rgba16F, Alpha::Straight)).to_vec(),
        Plasma::sources(pixels(Tone::Reinhard, PixelFormat::Rgba8, Alpha::Premultiplied)).to_vec(),
        Plasma::sources(pixels(Tone::Aces, PixelFormat::Rgba16F, Alpha::Opaque)).to_vec(),
        Fluid::sources(pixels(Tone::None, PixelFormat::Rgba8, Alpha::Premultiplied)).to_vec(),
        Fluid::sources(pixels(Tone::Light, PixelFormat::Rgba16F, Alpha::Straight)).to_vec(),
        Sine::sources().to_vec(),
        FilterScene::sources().to_vec(),
    ]
    .concat();
    for source in sources {
        let Some(SourceCode::Text(text)) = source.source(Language::CudaCpp) else {
            panic!("{} has no CUDA C++", source.name());
        };
        let variants = if text.contains("PF_BUFFER") {
            vec![cuda::Variant::Linear]
        } else {
            vec![cuda::Variant::Linear, cuda::Variant::Surface]
        };
        for variant in variants {
            match cuda::compile_ptx(source.name(), text, 75, variant) {
                Err(e) if !matches!(e, pixelferry::Error::Unavailable { .. }) => panic!("{}: {e}", source.name()),
                compiled => match need(Need::Nvrtc, compiled) {
                    Some(ptx) => assert!(ptx.text.contains(".entry")),
                    None => return,
                },
            }
        }
    }
}
