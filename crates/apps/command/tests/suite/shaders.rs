//! `pixelferry demo --backend gl|wgpu`: every scene's picture is that of the threads.

use crate::texts;
use image::RgbaImage;
use pixelferry::{BackendChoice, DisplayChoice, open_backend, open_headless};
use pixelferry_tests::{Need, few, need};
use std::path::PathBuf;

/// The shortest level takes two: a line and a picture. The demo compares the kernels of the others.
const SCENES: [&[&str]; 6] = [
    &["sine"],
    &["plasma", "--tone", "aces", "--format", "rgba16f"],
    &["plasma"],
    &["fluid"],
    &["fluid", "--format", "rgba16f", "--alpha", "straight"],
    &["filter"],
];

/// `device` is how the device is told.
fn picture(scene: &[&str], backend: &str, device: &str, file: &str) -> RgbaImage {
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(file);
    let _ = std::fs::remove_file(&out);
    let mut command = crate::pixelferry(&[]);
    // One frame of a filter is enough work for threads that were not optimized.
    let frames = if scene[0] == "filter" { "1" } else { "6" };
    command.arg("demo").args(scene).args(["--headless", "--size", "240x160", "--frames", frames]);
    command.args(["--frames-behind", "0", "--backend", backend, "--out"]).arg(&out);
    #[cfg(feature = "overlay")]
    command.arg("--plain");
    let output = command.output().unwrap();
    let text = texts(&output).concat();
    assert!(output.status.success() && !text.contains("panicked"), "{scene:?} on {backend}: {text}");
    assert!(text.contains(&format!(": {device}")), "{scene:?} on {backend}: {text}");
    image::open(&out).unwrap().into_rgba8()
}

fn same_on(backend: &str, driver: Need, choice: BackendChoice) {
    if need(Need::Egl, open_headless(DisplayChoice::Gl)).is_none() || need(driver, open_backend(choice, &[])).is_none()
    {
        return;
    }
    let device = if choice == BackendChoice::Gl { "OpenGL " } else { "wgpu " };
    for (at, scene) in few(&SCENES, 2).iter().enumerate() {
        let found = picture(scene, backend, device, &format!("shaders_{at}_{backend}.png"));
        let wanted = picture(scene, "cpu", "CPU ", &format!("shaders_{at}_as_on_{backend}.png"));
        assert_eq!((found.dimensions(), wanted.dimensions()), ((240, 160), (240, 160)), "{scene:?}");
        // Points and lines have soft edges: rounding moves one by a part of a pixel.
        let far = found.iter().zip(wanted.iter()).filter(|(a, b)| a.abs_diff(**b) > 2).count();
        println!("{scene:?} on {backend}: {far} of {} channels differ", found.len());
        assert!(far * 1000 <= found.len(), "{scene:?} on {backend}: {far} of {} channels differ", found.len());
        let (low, high) = (found.iter().min().unwrap(), found.iter().max().unwrap());
        assert!(high - low > 50, "{scene:?} on {backend}: the picture is flat");
    }
}

pixelferry_tests::tests! {
    every_scene_is_the_same_on_opengl => same_on("gl", Need::Egl, BackendChoice::Gl);
    #[cfg(feature = "wgpu")]
    every_scene_is_the_same_on_wgpu => same_on("wgpu", Need::Lavapipe, BackendChoice::Wgpu);
}
