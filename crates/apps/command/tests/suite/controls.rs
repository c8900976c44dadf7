//! The demo's controls without a window, from the command line.

use crate::{pixelferry, texts};
use std::path::PathBuf;
use std::process::Output;

fn demo(arguments: &[&str], env: &[(&str, &str)]) -> Output {
    let mut command = pixelferry(&["demo", "--backend", "cpu", "--size", "1000x600", "--picture", "160x90"]);
    command.args(arguments).envs(env.iter().copied()).output().unwrap()
}

fn said(output: &Output) -> String {
    texts(output).concat()
}

#[test]
fn frames_and_controls_are_in_the_picture() {
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("controls.png");
    let output = demo(&["fluid", "--frames", "8", "--out", out.to_str().unwrap()], &[]);
    assert!(output.status.success(), "{}", said(&output));
    let text = said(&output);
    assert!(text.contains("8 frames, p50 "), "{text}");
    let picture = image::open(&out).unwrap().into_rgb8();
    assert_eq!((picture.dimensions(), picture.get_pixel(3, 300).0), ((1000, 600), [22, 24, 31]));
}

#[test]
fn one_frame_has_a_time_and_no_percentiles() {
    let output = demo(&["--headless", "--frames", "1"], &[]);
    let text = said(&output);
    assert!(output.status.success() && text.contains("1 frame in ") && !text.contains("p50"), "{text}");
}

#[test]
fn nothing_there_still_gives_the_scene() {
    let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("bare.png");
    let no_egl = [("__EGL_VENDOR_LIBRARY_FILENAMES", "/dev/null/none.json")];
    let output = demo(&["--frames", "2", "--out", out.to_str().unwrap()], &no_egl);
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("without controls: they are drawn with OpenGL; "), "{}", said(&output));
    let picture = image::open(&out).unwrap().into_rgb8();
    let (a, b) = (picture.get_pixel(500, 150), picture.get_pixel(700, 220));
    assert_ne!(a, b, "the scene has one colour only");
}

#[test]
fn where_there_is_no_room_or_no_wish_for_controls_it_is_said() {
    for (arguments, reason) in [
        (&["demo", "--headless", "--frames", "1", "--size", "320x180"][..], "the controls need 1000x600"),
        (&["demo", "--headless", "--frames", "1", "--plain", "--size", "64x36"], "--plain is set"),
        (
            &["demo", "--headless", "--frames", "1", "--display", "memory"],
            "they are drawn with OpenGL; the display is memory",
        ),
    ] {
        let output = pixelferry(arguments).args(["--backend", "cpu"]).output().unwrap();
        assert!(output.status.success() && said(&output).contains(&format!("without controls: {reason}")));
    }
}

#[test]
fn a_look_is_asked_for_with_and_without_controls() {
    let saved = |name: &str, arguments: &[&str]| {
        let out = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let common = ["demo", "--backend", "cpu", "--frames", "1", "--headless", "--out"];
        let output = pixelferry(&common).arg(&out).args(arguments).output().unwrap();
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        (image::open(&out).unwrap().into_rgb8(), said(&output))
    };
    let plain = ["--plain", "--size", "64x36", "--tone", "light"];
    let (dark, _) = saved("dark.png", &plain);
    // Exposed pictures hold light without being asked.
    let (bright, text) = saved("bright.png", &["--plain", "--size", "64x36", "--exposure", "2"]);
    assert!(text.contains("image 64x36 RGBA16F"), "{text}");
    let sum = |picture: &image::RgbImage| picture.iter().map(|v| u64::from(*v)).sum::<u64>();
    assert!(sum(&bright) > sum(&dark) + 64 * 36 * 30, "{} and {}", sum(&bright), sum(&dark));
    let square = ["--size", "1000x600", "--picture", "90x90", "--background", "00ff00"];
    let (picture, _) = saved("background.png", &square);
    assert_eq!([picture.get_pixel(365, 120).0, picture.get_pixel(980, 120).0], [[0, 255, 0]; 2]);
    for (arguments, reason) in [
        (&["--exposure", "99"][..], "stops"),
        (&["--tone-map", "sunny"], "aces-narkowicz"),
        (&["--plain", "--size", "64x36", "--tone", "none", "--exposure", "1", "--out", "no.png"], "encoding"),
    ] {
        let common = ["demo", "--backend", "cpu", "--frames", "1", "--headless", "--display", "memory"];
        let output = pixelferry(&common).args(arguments).output().unwrap();
        assert!(!output.status.success() && said(&output).contains(reason), "{arguments:?}: {}", said(&output));
    }
}
