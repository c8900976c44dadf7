//! `pixelferry play`: pictures of texts, texts that are wrong, and a window in which a user edits one.

use crate::view::{ends, wait_for};
use crate::window::RunningChild;
use crate::{pixelferry, texts};
use image::RgbaImage;
use pixelferry_tests::{Need, Rgb, Viewer, Xvfb, need};
use std::path::{Path, PathBuf};
use std::process::Output;

fn folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("play").join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn headless(file: &Path, options: &[&str]) -> Output {
    let out = file.with_extension("png");
    let arguments = ["play", file.to_str().unwrap(), "--size", "64x36", "--out", out.to_str().unwrap()];
    pixelferry(&arguments).args(options).output().unwrap()
}

/// Its picture; `None` where the machine lacks what computes it.
fn picture(file: &Path, options: &[&str]) -> Option<RgbaImage> {
    let output = headless(file, options);
    if !output.status.success() {
        let said = texts(&output)[1].clone();
        assert!(said.contains("not available"), "{said}");
        return need(Need::Egl, Err(said));
    }
    Some(image::open(file.with_extension("png")).unwrap().into_rgba8())
}

#[test]
fn a_picture_is_that_of_the_last_frame() {
    let file = folder("headless").join("time.glsl");
    let text = "// @slider blue 0..1 = 0
void mainImage(out vec4 c, in vec2 at) { c = vec4(iTime, float(iFrame) / 10.0, blue, 0.0); }";
    std::fs::write(&file, text).unwrap();
    let Some(first) = picture(&file, &["--step", "0.1"]) else { return };
    assert!(first.pixels().all(|pixel| pixel.0 == [0, 0, 0, 255]));
    let later = picture(&file, &["--step", "0.1", "--frames", "6", "--set", "blue=1"]).unwrap();
    assert!(later.pixels().all(|pixel| pixel.0.iter().zip([128, 128, 255, 255]).all(|(a, b)| a.abs_diff(b) <= 1)));
    let wrong = texts(&headless(&file, &["--set", "green=1"]))[1].clone();
    assert!(wrong.contains("unknown slider 'green'") && wrong.contains("blue"), "{wrong}");
}

#[test]
fn what_is_wrong_is_told_by_line_and_column() {
    let folder = folder("wrong");
    let of = |name: &str, text: &str, options: &[&str]| {
        let file = folder.join(name);
        std::fs::write(&file, text).unwrap();
        let output = headless(&file, options);
        assert!(!output.status.success(), "{name} passed");
        texts(&output)[1].clone()
    };
    let output = headless(&folder.join("absent.glsl"), &[]);
    let said = texts(&output)[1].clone();
    assert!(said.matches("absent.glsl").count() == 1 || said.contains("not available"), "{said}");
    let said = of("a.txt", "", &[]);
    assert!(said.contains(".glsl (Shadertoy's GLSL)"), "{said}");
    let said = of("a.cl", "kernel void a(PF_IMAGE(uchar4, out)) {}", &["--backend", "gl"]);
    assert!(said.contains("the backend 'gl' does not run OpenCL C; use opencl"), "{said}");
    let said = of("a.glsl", "void mainImage(out vec4 c, in vec2 at) {\n    c = vec4(1.0);\n    c.x = nothing;\n}", &[]);
    if said.contains("not available") {
        need(Need::Egl, Err::<(), _>(said));
        return;
    }
    assert!(said.contains("a.glsl:3:11: `nothing' undeclared"), "{said}");
    for (set, words) in
        [("green=1", "unknown slider 'green'; available: blue, red"), ("red=9", "goes from 0 to 4; 9 is outside")]
    {
        let text = "// @slider blue 0..1\n// @slider red 0..4\nvoid mainImage(out vec4 c, in vec2 at) { c = vec4(red, 0, blue, 1); }";
        let said = of("sliders.glsl", text, &["--set", set]);
        assert!(said.contains(words), "{said}");
    }
    let said = of("mark.glsl", "// @slidr red 0..4\nvoid mainImage(out vec4 c, in vec2 at) { c = vec4(1); }", &[]);
    assert!(said.contains("mark.glsl:1: unknown annotation '@slidr'"), "{said}");
    // A missing brace is found behind the text's last line, where there is nothing of the user's.
    let wgsl = "@compute @workgroup_size(8, 8)\nfn paint(@builtin(global_invocation_id) at: vec3<u32>) {\n    pf_store(at.x, at.y, vec4f(1.0));\n";
    let said = of("brace.wgsl", wgsl, &[]);
    assert!(said.contains("brace.wgsl:3"), "{said}");
    let endless =
        "void mainImage(out vec4 c, in vec2 at) { float x = at.x; while (x > -1.0) x = abs(x) + sin(x); c = vec4(x); }";
    let said = of("endless.glsl", endless, &["--limit", "0.5"]);
    assert!(said.contains("did not end within 0.5 s"), "{said}");
}

const RED: &str = "vec3(level, 0.0, 0.0)";

/// A text of one colour, with the time in a strip at the top and the pointer in one at the bottom.
fn text(colour: &str) -> String {
    format!(
        "// @slider level 0..1 = 1
void mainImage(out vec4 c, in vec2 at) {{
    c = vec4({colour}, 1.0);
    if (at.y > 470.0) c = vec4(fract(iTime));
    if (at.y < 10.0) c = vec4(iMouse.x / iResolution.x);
}}"
    )
}

#[test]
fn negative_numbers_are_refused_by_what_they_are_for() {
    for (option, says) in [("--step", "seconds above 0"), ("--limit", "seconds above 0"), ("--frames", "from 1 to")] {
        let output = pixelferry(&["play", "a.glsl", "--headless", option, "-1"]).output().unwrap();
        let [_, said] = texts(&output);
        assert!(output.status.code() == Some(2) && said.contains(says), "{option}: {said}");
    }
}

#[test]
fn a_user_edits_a_text_and_never_loses_the_picture() {
    let file = folder("window").join("live.glsl");
    std::fs::write(&file, text(RED)).unwrap();
    let Some(server) = need(Need::Xvfb, Xvfb::start(1024, 640)) else { return };
    let viewer = Viewer::of(server.display()).unwrap();
    let mut window =
        RunningChild::start(&["play", file.to_str().unwrap(), "--size", "640x480", "--limit", "2"], &server);
    let said = |at: &dyn Fn(u32, u32) -> Rgb| {
        let colour = |x, y| at(x, y) == [255, 118, 108];
        (350..470).flat_map(|y| (0..640).map(move |x| (x, y))).filter(|(x, y)| colour(*x, *y)).count()
    };
    let is = |colour: Rgb| move |at: &dyn Fn(u32, u32) -> Rgb| at(100, 100) == colour && at(300, 250) == colour;
    let (red, green) = (is([255, 0, 0]), is([0, 255, 0]));
    wait_for(&mut window, &viewer, "play, the first text", |at| red(at) && said(at) == 0);
    // Faults stand over the picture of the text before: one that does not build, one that does not end.
    for (name, wrong) in [
        ("fault", "vec3(levle)"),
        ("loop", "vec3(0.0), 1.0); float x = at.x; while (x > -1.0) x = abs(x) + sin(x); c = vec4(vec3(x)"),
    ] {
        std::fs::write(&file, text(wrong)).unwrap();
        wait_for(&mut window, &viewer, &format!("play, a {name}"), |at| {
            assert!(red(at), "the picture is gone");
            said(at) > 50
        });
        std::fs::write(&file, text(RED)).unwrap();
        wait_for(&mut window, &viewer, &format!("play, after a {name}"), |at| red(at) && said(at) == 0);
    }
    std::fs::write(&file, text("vec3(0.0, level, 0.0)")).unwrap();
    wait_for(&mut window, &viewer, "play, another text", |at| green(at) && said(at) == 0);
    // The pointer, then the slider.
    viewer.focus((5, 200)).unwrap();
    viewer.drag((100, 240), (320, 240)).unwrap();
    wait_for(&mut window, &viewer, "play, the pointer", |at| at(100, 475)[0].abs_diff(128) <= 2);
    viewer.key(65).unwrap();
    let mut last = None;
    wait_for(&mut window, &viewer, "play, halted", |at| last.replace(at(100, 5)) == Some(at(100, 5)));
    // A slider is seen in a pause, too, while the time stands; the full stop steps it.
    let strip = last.take();
    // The panel knows the pointer by the frame before.
    viewer.point((480, 48)).unwrap();
    let mut polls = 0;
    wait_for(&mut window, &viewer, "play, a slider", |at| {
        polls += 1;
        if polls % 20 == 10 {
            viewer.click(1).unwrap();
        }
        (30..225).contains(&at(100, 100)[1])
    });
    wait_for(&mut window, &viewer, "play, still halted", |at| Some(at(100, 5)) == strip);
    viewer.key(60).unwrap();
    wait_for(&mut window, &viewer, "play, a step", |at| Some(at(100, 5)) != strip);
    ends(&mut window, &viewer);
}
