//! OpenCL that shares with OpenGL, by the layer `clgl-layer`: every command opens the backend inside the display, so that the
//! path `direct` is offered.

use crate::{pixelferry, texts};
use pixelferry_tests::{Level, Need, Xvfb, few, from, need, sharing_layer};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Returns what a command says on standard output, on PoCL behind the layer; `None` after having said which driver is missing.
fn said(arguments: &[&str], server: Option<&Xvfb>) -> Option<String> {
    let mut command = pixelferry(arguments);
    command.env("OCL_ICD_VENDORS", "pocl.icd");
    if arguments[0] == "bench" {
        command.env_remove("PIXELFERRY_CALIBRATE_MS");
    }
    command.envs(sharing_layer(false)).envs(server.map(|server| ("DISPLAY", server.display())));
    let output = command.output().unwrap();
    let [words, errors] = texts(&output);
    for (driver, missing) in [(Need::Pocl, "OpenCL is not available"), (Need::Egl, "(EGL) is not available")] {
        if errors.contains(missing) {
            need::<()>(driver, Err(errors));
            return None;
        }
    }
    // `probe` says so where nothing is shared on a GPU.
    let expected = if arguments[0] == "probe" { 3 } else { 0 };
    assert_eq!(output.status.code(), Some(expected), "{arguments:?}: {errors}");
    assert!(!errors.contains("pixelferry-clgl"), "{arguments:?}: the layer refused something: {errors}");
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

/// The program gets the layer, its arguments and the terminal, and its exit code is that of the command.
#[cfg(target_os = "linux")]
#[test]
fn any_program_runs_with_the_layer() {
    let [(_, layer), _] = sharing_layer(true);
    let clgl = |arguments: &[&str]| {
        let mut command = pixelferry(&[&["clgl", "--layer", &layer], arguments].concat());
        let output =
            command.env("OCL_ICD_VENDORS", "pocl.icd").env("OPENCL_LAYERS", "/other/layer.so").output().unwrap();
        let [words, errors] = texts(&output);
        (output.status.code(), words, errors)
    };
    let (code, devices, errors) = clgl(&["devices"]);
    let found = if errors.contains("is not available") { Err(errors) } else { Ok((code, devices)) };
    let Some((code, devices)) = need(Need::Pocl, found) else { return };
    assert!(code == Some(0) && devices.contains("shares with OpenGL"), "{code:?}: {devices}");
    let script = "echo \"$OPENCL_LAYERS $1\"; exit 7";
    let (code, said, errors) = clgl(&["run", "sh", "-c", script, "--", "--flag"]);
    assert_eq!((code, said), (Some(7), format!("{layer}:/other/layer.so --flag\n")), "{errors}");
    assert!(errors.contains(&layer) && errors.contains("shares with OpenGL"), "{errors}");
    let (code, _, errors) = clgl(&["run", "no-such-program"]);
    assert!(code == Some(1) && errors.contains("cannot run no-such-program"), "{errors}");
    let missing = pixelferry(&["clgl", "--layer", "/no/layer.so", "devices"]).output().unwrap();
    let [_, errors] = texts(&missing);
    assert!(errors.contains("/no/layer.so: No such file") && errors.contains("cargo build"), "{errors}");
}
