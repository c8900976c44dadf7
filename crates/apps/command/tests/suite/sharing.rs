//! OpenCL that shares with OpenGL, on the double of `cl_khr_gl_sharing` (`tests/gl_double`): every command opens the backend
//! inside the display, so that the path `direct` is offered.

use crate::{pixelferry, texts};
use pixelferry_tests::{Level, Need, Xvfb, few, from, gl_double, need};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Returns what a command says on standard output, on PoCL behind the double; `None` after having said which driver is missing.
fn said(arguments: &[&str], server: Option<&Xvfb>) -> Option<String> {
    let mut command = pixelferry(arguments);
    command.env("OCL_ICD_VENDORS", "pocl.icd");
    if arguments[0] == "bench" {
        command.env_remove("PIXELFERRY_CALIBRATE_MS");
    }
    command.envs(gl_double(false)).envs(server.map(|server| ("DISPLAY", server.display())));
    let output = command.output().unwrap();
    let [words, errors] = texts(&output);
    for (driver, missing) in [(Need::Pocl, "OpenCL is not available"), (Need::Egl, "(EGL) is not available")] {
        if errors.contains(missing) {
            need::<()>(driver, Err(errors));
            return None;
        }
    }
    // A double on the CPU shares memory of the host.
    let expected = if arguments[0] == "probe" { 3 } else { 0 };
    assert_eq!(output.status.code(), Some(expected), "{arguments:?}: {errors}");
    assert!(errors.contains("GL DOUBLE is in place"), "the loader did not take the layer: {errors}");
    assert!(!errors.contains("GL DOUBLE refuses"), "{arguments:?}: {errors}");
    Some(words)
}

#[test]
fn probe_offers_it_and_proves_it() {
    let Some(report) = said(&["probe", "--json", "--size", "64x48"], None) else { return };
    let report: Value = serde_json::from_str(&report).unwrap();
    let pairings = report["pairings"].as_array().unwrap();
    let apis = |pairing: &Value| (pairing["compute"]["api"].clone(), pairing["display"]["api"].clone());
    let pairing = pairings.iter().find(|pairing| apis(pairing) == ("opencl".into(), "opengl".into()));
    let found = pairing.ok_or("OpenCL is not paired with OpenGL");
    let Some(pairing) = need(Need::Pocl, found) else { return };
    let direct = pairing["paths"].as_array().unwrap().iter().find(|path| path["id"] == "direct").unwrap();
    assert!(["chosen", "verified"].contains(&direct["state"].as_str().unwrap()), "{direct:#}");
    if from(Level::All) {
        let text = said(&["probe", "--all", "--size", "64x48"], None).unwrap();
        assert!(!text.contains("open_in") && !text.contains("opened without"), "{text}");
    }
}

#[test]
fn the_demo_takes_it() {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("sharing");
    std::fs::create_dir_all(&folder).unwrap();
    let picture = |path: &str, more: &[&str]| {
        let out = folder.join(format!("{path}.png"));
        let out: &Path = &out;
        let arguments =
            ["demo", "plasma", "--headless", "--backend", "opencl", "--display", "gl", "--frames", "3", "--path", path];
        let said = said(&[&arguments[..], &["--out", out.to_str().unwrap()], more].concat(), None)?;
        assert!(said.contains(&format!("path: {path}")), "{said}");
        Some(image::open(out).unwrap().into_rgb8())
    };
    let plain = ["--plain", "--size", "64x48"];
    let Some(direct) = picture("direct", &plain) else { return };
    assert!(direct == picture("host-round-trip", &plain).unwrap(), "another picture");
    // Around it the controls; they are in a window, too.
    if from(Level::All) {
        picture("direct", &["--size", "1000x600", "--picture", "64x48"]);
    }
}

/// There the display is opened before the backend.
#[test]
fn the_demo_takes_it_in_a_window() {
    let Some(server) = need(Need::Xvfb, Xvfb::start(1100, 700)) else { return };
    let arguments = ["demo", "plasma", "--backend", "opencl", "--path", "direct", "--frames", "3"];
    for size in few(&["1000x600", "64x48"], 1) {
        let Some(said) = said(&[&arguments[..], &["--size", size]].concat(), Some(&server)) else { return };
        assert!(said.contains("path: direct"), "{said}");
    }
}

#[test]
fn the_bench_measures_it() {
    let arguments =
        ["bench", "--quick", "--backends", "opencl", "--displays", "gl", "--sizes", "tiny", "--frames", "6"];
    let Some(said) = said(&arguments, None) else { return };
    assert!(said.lines().any(|line| line.contains(" direct ") && line.contains('(')) && said.contains('±'), "{said}");
}
