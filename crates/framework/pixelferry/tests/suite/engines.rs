//! The engines: their pictures, lost contexts and devices, windows on threads, and what windows that come and go
//! leave behind.

use crate::camera::View;
use image::RgbaImage;
use pixelferry::{BackendChoice, open_backend};
use pixelferry_tests::{Need, Usage, Xvfb, by_level, need, receive};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;

/// Pages that allocators keep here and there.
const RSS_SLACK: u64 = 12 << 20;

/// Messages of an engine on a machine where nothing draws.
const ABSENT: [&str; 3] = ["lists no device", "No suitable graphics adapter", "libvulkan"];

/// Built with these tests, beside them.
fn engine(name: &str) -> Command {
    let folder = std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().join("examples");
    let mut command = Command::new(folder.join(name));
    command.env("OCL_ICD_VENDORS", "/dev/null/none").env_remove("WAYLAND_DISPLAY");
    command
}

/// The last frame, drawn without a window.
fn picture(name: &str, file: &str, arguments: &[&str]) -> Option<(RgbaImage, String)> {
    picture_by(engine(name), name, file, arguments)
}

fn picture_by(mut command: Command, name: &str, file: &str, arguments: &[&str]) -> Option<(RgbaImage, String)> {
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(file);
    let _ = fs::remove_file(&out);
    command.args(["--headless", "--size", "240x160", "--out"]).arg(&out).args(arguments);
    let output = command.output().unwrap();
    let text = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
    if !output.status.success() && ABSENT.iter().any(|s| text.contains(s)) {
        need::<()>(if name == "engine_gl" { Need::Egl } else { Need::Lavapipe }, Err(text));
        return None;
    }
    if !output.status.success() && text.contains("OpenCL is not available") {
        need::<()>(Need::Pocl, Err(text));
        return None;
    }
    assert!(output.status.success(), "{name} {arguments:?}: {text}");
    assert!(!text.contains("panicked"), "{text}");
    Some((image::open(&out).unwrap().into_rgba8(), text))
}

/// Different colours in the sky, the planet, the sea and the radar.
fn assert_whole(picture: &RgbaImage) {
    let (w, h) = picture.dimensions();
    let places = [(w / 2, h / 20), (w / 2, h * 2 / 5), (w / 4, h * 9 / 10), (w * 7 / 8, h * 4 / 5)];
    let colours: Vec<_> = places.iter().map(|(x, y)| picture.get_pixel(*x, *y).0).collect();
    for (i, colour) in colours.iter().enumerate() {
        assert!(colour[..3].iter().any(|c| *c > 12), "black at {:?}: {colours:?}", places[i]);
        let near = |other: &[u8; 4]| colour.iter().zip(other).all(|(a, b)| a.abs_diff(*b) < 8);
        assert!(!colours[..i].iter().any(near), "nothing to be told apart: {colours:?}");
    }
}

fn assert_same(a: &RgbaImage, b: &RgbaImage) {
    assert_eq!(a.dimensions(), b.dimensions());
    let far = a.iter().zip(b.iter()).filter(|(a, b)| a.abs_diff(**b) > 2).count();
    assert!(far * 1000 <= a.len(), "{far} of {} channels differ", a.len());
}

fn survives_a_loss(name: &str, backend: &str) {
    // The first frame of links that are made again is not late: no frame is to be.
    let arguments = ["--frames", "9", "--frames-behind", "0", "--backend", backend, "--lose-at", "4"];
    let kept = picture(name, &format!("{name}_{backend}.png"), &arguments[..6]);
    let lost = picture(name, &format!("{name}_{backend}_lost.png"), &arguments);
    let (Some((kept, said)), Some((lost, said_when_lost))) = (kept, lost) else { return };
    assert_whole(&kept);
    assert_same(&kept, &lost);
    let made = |said: &str| said.matches("planet by").count();
    assert_eq!((made(&said), made(&said_when_lost)), (1, 2), "{said_when_lost}");
}

pixelferry_tests::tests! {
    engine_gl_survives_the_loss_of_its_context => survives_a_loss("engine_gl", "auto");
    /// Kernels that run in the engine's own context go with it and are built again.
    kernels_in_engine_gls_context_survive_its_loss => survives_a_loss("engine_gl", "gl");
}

/// With the layer `clgl-layer`: each context has a backend inside it, which goes before the context is lost.
#[cfg(target_os = "linux")]
#[test]
fn engine_gl_shares_with_opencl() {
    let run = |file: &str, path: &str, more: &[&str]| {
        let mut command = engine("engine_gl");
        command
            .env("OCL_ICD_VENDORS", "pocl.icd")
            .env("PIXELFERRY_PATH", path)
            .envs(pixelferry_tests::sharing_layer(false));
        let arguments = [&["--frames", "9", "--frames-behind", "0", "--backend", "opencl"], more].concat();
        picture_by(command, "engine_gl", file, &arguments)
    };
    let Some((direct, said)) = run("engine_gl_direct.png", "direct", &[]) else { return };
    assert!(said.contains("planet by direct, sea by direct, radar by direct"), "{said}");
    let (lost, said) = run("engine_gl_direct_lost.png", "direct", &["--lose-at", "4"]).unwrap();
    assert_eq!(said.matches("planet by direct").count(), 2, "{said}");
    let (copied, _) = run("engine_gl_copied.png", "host-round-trip", &[]).unwrap();
    assert_whole(&direct);
    assert_same(&direct, &lost);
    assert_same(&direct, &copied);
}

pixelferry_tests::tests! {
    engine_wgpu_survives_the_loss_of_its_device => survives_a_loss("engine_wgpu", "auto");
    /// Kernels that run in the engine's own queue go with its device and are built again.
    kernels_in_engine_wgpus_queue_survive_its_loss => survives_a_loss("engine_wgpu", "wgpu");
}

/// Frames that were computed on two APIs' devices look the same, but at edges: one smooths them.
#[test]
fn engine_vulkan_draws_what_engine_wgpu_draws() {
    let arguments = ["--frames", "9", "--frames-behind", "0"];
    let Some((vulkan, said)) = picture("engine_vulkan", "engine_vulkan.png", &arguments) else { return };
    assert!(said.contains("Vulkan") && said.contains("planet by"), "{said}");
    assert_whole(&vulkan);
    let Some((wgpu, _)) = picture("engine_wgpu", "engine_wgpu_beside.png", &arguments) else { return };
    assert_eq!(vulkan.dimensions(), wgpu.dimensions());
    let far = vulkan.iter().zip(wgpu.iter()).filter(|(a, b)| a.abs_diff(**b) > 8).count();
    assert!(far * 50 <= vulkan.len(), "{far} of {} channels differ", vulkan.len());
}

/// Both engines show the same picture as with threads.
fn same_on(backend: &str, driver: Need, choice: BackendChoice) {
    if need(driver, open_backend(choice, &[])).is_none() {
        return;
    }
    for name in ["engine_gl", "engine_wgpu"] {
        let of = |backend: &str, file: &str| {
            let arguments = ["--frames", "6", "--frames-behind", "0", "--backend", backend];
            picture(name, &format!("{name}_{file}.png"), &arguments)
        };
        let (Some((there, _)), Some((here, _))) = (of(backend, backend), of("cpu", &format!("as_on_{backend}"))) else {
            continue;
        };
        assert_whole(&there);
        assert_same(&there, &here);
    }
}

pixelferry_tests::tests! {
    both_engines_are_the_same_on_opengl => same_on("gl", Need::Egl, BackendChoice::Gl);
    both_engines_are_the_same_on_wgpu => same_on("wgpu", Need::Lavapipe, BackendChoice::Wgpu);
}

#[test]
fn a_resize_with_frames_in_flight_ends_in_the_picture_of_that_size() {
    for name in ["engine_gl", "engine_wgpu", "engine_vulkan"] {
        // 300x200 from frame 4 on, 180x120 from frame 6 on.
        let arguments = ["--frames", "8", "--frames-behind", "2", "--churn", "2"];
        let Some((resized, _)) = picture(name, &format!("{name}_resized.png"), &arguments) else { return };
        assert_eq!(resized.dimensions(), (180, 120), "{name}");
        assert_whole(&resized);
    }
}

/// Windows that are resized, closed and opened again, `PIXELFERRY_WINDOWS` times.
fn leaks_nothing(name: &str, line: &str, windows: u32, more: &[&str]) {
    let Some(server) = need(Need::Xvfb, Xvfb::start(800, 600)) else { return };
    let times =
        std::env::var("PIXELFERRY_WINDOWS").map_or_else(|_| by_level(8, 12, 100), |n| n.parse().expect("a number"));
    let mut command = engine(name);
    let frames = (4 * times).to_string();
    command.env("DISPLAY", server.display()).args(["--size", "96x64", "--churn", "1", "--frames", &frames]).args(more);
    // glibc has a heap for each thread, up to 8 for each core, and each of them keeps what a driver's compiler left: 300 MB,
    // which look like a leak until all are there.
    command.env("MALLOC_ARENA_MAX", "1");
    // Paths that are compared meanwhile have 35 MB or none, as it happens; over 80 windows that does not grow.
    command.env("PIXELFERRY_TRIALS", "off");
    // Every window has what audits need.
    command.env("PIXELFERRY_AUDIT", "1");
    command.args(["--windows", &windows.to_string()]).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let process = child.id();
    let (printed, lines) = mpsc::channel();
    let stdout = BufReader::new(child.stdout.take().unwrap());
    let reader = thread::spawn(move || stdout.lines().try_for_each(|text| printed.send(text.unwrap())));
    let mut seen = Vec::new();
    loop {
        match receive(&lines) {
            Ok(text) if text.contains(line) => seen.extend(Usage::of(process).map(|usage| (text, usage))),
            Ok(_) => {}
            Err(RecvTimeoutError::Disconnected) => break,
            Err(RecvTimeoutError::Timeout) => {
                child.kill().unwrap();
                panic!("it hangs after {} windows", seen.len());
            }
        }
    }
    reader.join().unwrap().unwrap();
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(seen.len() as u32 >= times * windows / 2, "{} windows were closed", seen.len());
    // The first half fills the drivers' caches.
    let (middle, last) = (&seen[seen.len() / 2], &seen[seen.len() - 2]);
    println!("{name}: {middle:?} -> {last:?} in {} windows", seen.len());
    let ((_, middle), (_, last)) = (middle, last);
    // Other windows may be open or not at the time, and a driver takes 25 MB for one: the most of each half counts.
    let most = |half: &[(String, Usage)]| half.iter().map(|(_, usage)| usage.rss).max();
    let (early, late) = seen.split_at(seen.len() / 2);
    assert!(
        most(late) <= most(early).map(|rss| rss + RSS_SLACK),
        "memory grew from {:?} to {:?}",
        most(early),
        most(late)
    );
    let near = |a: usize, b: usize| a.abs_diff(b) <= 4 * windows as usize;
    assert!(near(last.descriptors, middle.descriptors), "descriptors: {middle:?} to {last:?}");
    assert!(near(last.threads, middle.threads), "threads: {middle:?} to {last:?}");
    for (text, _) in &seen {
        // Objects with which the display draws and audits stay until it goes itself.
        let left = text.split("left: ").nth(1).unwrap_or_default();
        let counts = left.split(|c: char| !c.is_ascii_digit()).filter_map(|n| n.parse::<u32>().ok());
        assert!(counts.into_iter().all(|n| n <= 6), "GL objects: {text}");
    }
}

#[test]
fn windows_of_engine_gl_on_two_threads_leave_nothing_behind() {
    leaks_nothing("engine_gl", "GL objects left", 2, &["--lose-at", "9"]);
}

#[test]
fn windows_of_engine_wgpu_leave_nothing_behind() {
    leaks_nothing("engine_wgpu", "windows closed", 2, &["--lose-at", "9"]);
}

/// The depth of a point on the line of sight, `distance` before the eye.
fn depth(nearest: f32, distance: f32) -> f32 {
    let View { camera, eye, .. } = View::new((640, 360), 100, 3.0, nearest);
    let ahead = [-eye[0], 1.35 - eye[1], -eye[2]];
    let far = ahead.iter().map(|a| a * a).sum::<f32>().sqrt();
    let point = [0, 1, 2].map(|i| eye[i] + distance * ahead[i] / far);
    let at = |row: usize| (0..3).map(|c| camera[c][row] * point[c]).sum::<f32>() + camera[3][row];
    assert!(at(0).abs() < 1e-4 && at(1).abs() < 1e-4, "not in the middle of the screen");
    at(2) / at(3)
}

#[test]
fn depth_runs_from_the_nearest_plane_to_one() {
    for nearest in [-1.0, 0.0] {
        assert!((depth(nearest, 0.1) - nearest).abs() < 1e-3);
        assert!((depth(nearest, 60.0) - 1.0).abs() < 1e-3);
    }
}
