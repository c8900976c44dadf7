//! Every example shows the same picture on every backend, or says why it cannot.

use compute_arrays::{Arrays, Expr, Philox, philox4x32};
use image::RgbaImage;
use pixelferry::{BackendChoice, DisplayChoice, Error, QueueOptions, open_backend, open_headless};
use pixelferry_tests::{Need, few, need};
use std::path::PathBuf;
use std::process::Command;

/// The first four are scenes.
const EXAMPLES: [&str; 5] = ["sine", "plasma", "fluid", "filter", "rendered"];

/// `file` is of one test, as tests run beside one another.
fn picture(example: &str, backend: &str, file: &str) -> RgbaImage {
    let folder = std::env::current_exe().unwrap().parent().unwrap().parent().unwrap().join("examples");
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(file);
    let _ = std::fs::remove_file(&out);
    // One frame of a filter is enough work for threads that were not optimized.
    let frames = if example == "filter" { "1" } else { "6" };
    let is_scene = example != "rendered";
    let mut command = Command::new(folder.join(if is_scene { "scenes" } else { example }));
    command.args(is_scene.then_some(example));
    command.args(["--headless", "--size", "240x160", "--frames", frames, "--backend", backend, "--out"]).arg(&out);
    // The lateness of a frame differs between paths, and only the demo's loop waits for the last one.
    command.args(["--frames-behind", "0"]);
    let output = command.output().unwrap();
    let text = [&output.stdout[..], &output.stderr].map(String::from_utf8_lossy).concat();
    assert!(output.status.success() && !text.contains("panicked"), "{example} on {backend}: {text}");
    image::open(&out).unwrap().into_rgba8()
}

/// Compares the examples; at the shortest level, `short` of them are enough.
fn same_on(backend: &str, driver: Need, choice: BackendChoice, short: usize) {
    if need(Need::Egl, open_headless(DisplayChoice::Gl)).is_none() || need(driver, open_backend(choice, &[])).is_none()
    {
        return;
    }
    for example in few(&EXAMPLES, short).iter().copied() {
        let (a, b) = (
            picture(example, backend, &format!("{example}_{backend}.png")),
            picture(example, "cpu", &format!("{example}_as_on_{backend}.png")),
        );
        assert_eq!(a.dimensions(), (240, 160), "{example}");
        assert_eq!(a.dimensions(), b.dimensions(), "{example}");
        let far = a.iter().zip(b.iter()).filter(|(a, b)| a.abs_diff(**b) > 2).count();
        println!("{example} on {backend}: {far} of {} channels differ", a.len());
        assert!(far * 1000 <= a.len(), "{example} on {backend}: {far} of {} channels differ", a.len());
        let (low, high) = (a.iter().min().unwrap(), a.iter().max().unwrap());
        assert!(high - low > 50, "{example} on {backend}: the picture is flat");
    }
}

pixelferry_tests::tests! {
    every_example_is_the_same_on_opengl => same_on("gl", Need::Egl, BackendChoice::Gl, 5);
    every_example_is_the_same_on_wgpu => same_on("wgpu", Need::Lavapipe, BackendChoice::Wgpu, 2);
}

/// Operations that shaders cannot do are refused with a typed error, which names the device and what to use instead.
#[test]
fn queues_and_wide_types_say_what_to_use_instead() {
    for (driver, choice) in [(Need::Egl, BackendChoice::Gl), (Need::Lavapipe, BackendChoice::Wgpu)] {
        let Some(backend) = need(driver, open_backend(choice, &[])) else { continue };
        let arrays = Arrays::new(backend.clone()).unwrap();
        let wide = arrays.empty::<f64>(&[4]).map(drop);
        let queue = backend.queue(QueueOptions::in_order()).map(drop);
        for error in [wide, queue].map(Result::unwrap_err) {
            let Error::Unsupported { device, reason, .. } = &error else { panic!("{error:?}") };
            assert_eq!(*device, backend.device().to_string());
            assert!(reason.contains("CUDA, OpenCL or threads"), "{error}");
        }
    }
}

/// The facade's arrays on the facade's backends.
#[test]
fn arrays_compute_in_shaders() {
    for (driver, choice) in [(Need::Egl, BackendChoice::Gl), (Need::Lavapipe, BackendChoice::Wgpu)] {
        let Some(backend) = need(driver, open_backend(choice, &[])) else { continue };
        let arrays = Arrays::new(backend).unwrap();
        let ramp = arrays.tabulate(&[1000], Expr::index().cast::<u32>()).unwrap();
        let running = (&ramp * 2).cumulative_sum().unwrap();
        assert_eq!((ramp.sum().unwrap(), running.view().item(&[999]).unwrap()), (499_500, 999_000));
        let mut random = arrays.empty::<u32>(&[4]).unwrap();
        Philox::new(3).integers(&mut random).unwrap();
        assert_eq!(random.to_vec().unwrap(), philox4x32([0; 4], [3, 0]));
    }
}
