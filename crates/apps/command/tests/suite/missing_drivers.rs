//! `pixelferry probe --json` and `demo` with this and that driver missing: the right answer, never a crash.

use crate::pixelferry;
use ::pixelferry::PathId;
use pixelferry_tests::{Need, by_level, few, need};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Output;

/// Paths are timed at any level.
const TIMED: (&str, &str) = ("PIXELFERRY_CALIBRATE_MS", "");
const NO_EGL: (&str, &str) = ("__EGL_VENDOR_LIBRARY_FILENAMES", "/dev/null/none.json");

fn empty_folder(name: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// The loader takes the first file of the name, and this one is no library.
fn no_library() -> PathBuf {
    let folder = empty_folder("no-library");
    std::fs::write(folder.join("libOpenCL.so.1"), "not a library\n".repeat(100)).unwrap();
    folder
}

fn run(arguments: &[&str], env: &[(&str, &str)]) -> Output {
    pixelferry(arguments).envs(env.iter().copied()).output().unwrap()
}

fn probe(env: &[(&str, &str)]) -> Value {
    let output = run(&["probe", "--json", "--size", "64x48"], env);
    let stderr = String::from_utf8_lossy(&output.stderr);
    // A shared path, or the host.
    assert!(matches!(output.status.code(), Some(0 | 3)), "{:?}: {stderr}", output.status);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|e| panic!("{e}: {stderr}"))
}

fn backend<'a>(report: &'a Value, api: &str) -> &'a Value {
    let backends = report["backends"].as_array().unwrap();
    backends.iter().find(|b| b["api"] == api).unwrap()
}

/// The device that OpenCL reports, or why it has none.
fn opencl_device(report: &Value) -> Result<String, String> {
    let opencl = backend(report, "opencl");
    match opencl["status"].as_str() {
        Some("available") => Ok(opencl["devices"][0]["driver"].to_string() + &opencl["devices"][0]["name"].to_string()),
        _ => Err(opencl["reason"].to_string()),
    }
}

fn names(diagnoses: &Value) -> Vec<&str> {
    diagnoses.as_array().unwrap().iter().map(|d| d["name"].as_str().unwrap()).collect()
}

/// Checks that, whatever is missing, threads compute into memory, each path states its state, and one is chosen.
fn check_report(report: &Value) {
    assert_eq!(backend(report, "cpu")["status"], "available");
    assert_eq!((&report["schema"], &report["schema_version"]), (&"pixelferry-probe".into(), &1.into()));
    assert!(!report["chosen"]["path"].is_null(), "{report:#}");
    for pairing in report["pairings"].as_array().unwrap() {
        assert_eq!(pairing["paths"].as_array().unwrap().len(), PathId::ALL.len());
        let chosen = pairing["paths"].as_array().unwrap().iter().filter(|p| p["state"] == "chosen").count();
        assert_eq!(chosen, 1, "{pairing:#}");
        for path in pairing["paths"].as_array().unwrap() {
            let state = path["state"].as_str().unwrap();
            assert!(["not-offered", "chosen", "verified"].contains(&state), "{path:#}");
            if state == "not-offered" {
                assert!(path["reason"].as_str().unwrap().len() > 10, "{path:#}");
            }
        }
    }
}

#[test]
fn pocl_alone() {
    let report = probe(&[("OCL_ICD_VENDORS", "pocl.icd")]);
    check_report(&report);
    if let Some(device) = need(Need::Pocl, opencl_device(&report)) {
        assert!(device.contains("PoCL") || device.contains("pocl"), "{device}");
        assert_eq!(report["chosen"]["compute"]["api"], "opencl");
    }
}

#[test]
fn rusticl_alone() {
    let rusticl = [("OCL_ICD_VENDORS", "rusticl.icd"), ("RUSTICL_ENABLE", "llvmpipe")];
    // Its way to OpenGL is driven by the suites of backends.
    let report = probe(&[&rusticl[..], by_level(&[NO_EGL], &[], &[])].concat());
    check_report(&report);
    if let Some(device) = need(Need::Rusticl, opencl_device(&report)) {
        assert!(device.contains("rusticl") || device.contains("llvmpipe"), "{device}");
        assert_eq!(report["chosen"]["compute"]["api"], "opencl");
    }
}

#[test]
fn an_empty_icd_folder_is_a_reason_with_a_remedy() {
    let folder = empty_folder("no-icd");
    let report = probe(&[("OCL_ICD_VENDORS", folder.to_str().unwrap())]);
    check_report(&report);
    let opencl = backend(&report, "opencl");
    assert_eq!(opencl["status"], "unavailable");
    assert!(opencl["hint"].as_str().unwrap().contains("pocl-opencl-icd"), "{opencl:#}");
    assert!(names(&report["diagnoses"]).contains(&"no-opencl"), "{:#}", report["diagnoses"]);
    assert_eq!(report["chosen"]["compute"]["api"], "cpu");
}

#[test]
fn no_opencl_library_is_a_reason_with_a_remedy() {
    let report = probe(&[("LD_LIBRARY_PATH", no_library().to_str().unwrap())]);
    check_report(&report);
    let opencl = backend(&report, "opencl");
    assert_eq!(opencl["status"], "unavailable");
    assert!(opencl["hint"].as_str().unwrap().contains("ocl-icd-libopencl1"), "{opencl:#}");
    assert_eq!(report["chosen"]["compute"]["api"], "cpu");
}

/// A library that is there and does not open is reported with the loader's own words.
#[test]
#[cfg(target_os = "linux")]
fn libraries_that_do_not_open_are_told_with_why() {
    let folder = empty_folder("broken-libraries");
    for name in ["libOpenCL.so.1", "libcuda.so.1", "libcuda.so", "libEGL.so.1", "libEGL.so", "libvulkan.so.1"] {
        std::fs::write(folder.join(name), "not a library\n".repeat(100)).unwrap();
    }
    let folder = folder.to_str().unwrap();
    let report = probe(&[("LD_LIBRARY_PATH", folder)]);
    check_report(&report);
    let why = |list: &str, key: &str, value: &str| {
        let list = report[list].as_array().unwrap();
        list.iter().find(|one| one[key] == value).map(|one| one["reason"].as_str().unwrap_or_default().to_owned())
    };
    let reasons = [
        ("libOpenCL.so.1", why("backends", "api", "opencl")),
        ("libcuda.so", why("backends", "api", "cuda")),
        ("libEGL.so", why("displays", "kind", "gl-headless")),
        // Only where it is built with wgpu.
        ("libvulkan.so", Some(why("displays", "kind", "wgpu").unwrap_or("libvulkan.so invalid ELF header".into()))),
    ];
    for (library, reason) in reasons {
        let reason = reason.unwrap();
        assert!(reason.contains(library) && reason.contains("invalid ELF header"), "{library}: {reason}");
    }
}

#[test]
fn no_egl_vendor_leaves_the_display_in_memory() {
    let report = probe(&[NO_EGL, ("OCL_ICD_VENDORS", "pocl.icd")]);
    check_report(&report);
    let displays = report["displays"].as_array().unwrap();
    let gl = displays.iter().find(|d| d["kind"] == "gl-headless").unwrap();
    assert_eq!(gl["status"], "unavailable", "{gl:#}");
    assert!(gl["hint"].as_str().unwrap().contains("libegl1"), "{gl:#}");
    assert!(names(&report["diagnoses"]).contains(&"no-opengl"), "{:#}", report["diagnoses"]);
    assert_eq!(report["chosen"]["display"]["api"], "cpu");
}

#[test]
fn a_picture_is_made_with_nothing_there() {
    let folder = empty_folder("nothing");
    let out = folder.join("nothing.png");
    let output = run(
        &["demo", "--headless", "--size", "160x120", "--frames", "2", "--out", out.to_str().unwrap()],
        &[NO_EGL, ("LD_LIBRARY_PATH", no_library().to_str().unwrap())],
    );
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(said.contains("path"), "the path in use is not said: {said}");
    let picture = image::open(&out).unwrap().into_rgb8();
    assert_eq!(picture.dimensions(), (160, 120));
    let first = *picture.get_pixel(0, 0);
    assert!(picture.pixels().any(|p| *p != first), "the picture has one colour only");
}

#[test]
fn what_the_environment_asks_for_is_done_and_said() {
    let forced = [("PIXELFERRY_PATH", "host-round-trip"), ("PIXELFERRY_PROFILES", "off")];
    let report = probe(&[&forced[..], by_level(&[NO_EGL], &[], &[])].concat());
    for pairing in report["pairings"].as_array().unwrap() {
        assert!(names(&pairing["diagnoses"]).contains(&"override-in-force"), "{:#}", pairing["diagnoses"]);
    }
    assert_eq!(report["chosen"]["path"], "host-round-trip");
    let demo = ["demo", "--headless", "--display", "memory", "--size", "64x48", "--frames", "1"];
    let output = run(&demo, &forced);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && said.contains("forced by PIXELFERRY_PATH"), "{said}");
    let output = run(&demo, &[("PIXELFERRY_PATH", "direct")]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(!output.status.success() && said.contains("Use one of: ") && said.contains("host-round-trip"), "{said}");
}

#[test]
fn wrong_arguments_are_explained() {
    for arguments in [&["probe", "--size", "0x4"][..], &["probe", "--format", "BGRA"], &["demo", "--path", "magic"]] {
        let output = run(arguments, &[]);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(said.contains("error:") && said.contains("--"), "{said}");
    }
    let output = run(&["probe", "--buffer", "0"], &[]);
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stderr).contains("at least 1"));
}

/// Messages on a wrong value name the variable.
#[test]
fn variables_with_wrong_values_are_named() {
    let headless =
        ["demo", "plasma", "--plain", "--headless", "--backend", "cpu", "--frames", "1", "--display", "memory"];
    for (name, value, wanted) in [
        ("PIXELFERRY_PATH", "bogus", "host-round-trip"),
        ("PIXELFERRY_SYNC", "bogus", "shared-event"),
        ("PIXELFERRY_MODE", "bogus", "throughput"),
        ("PIXELFERRY_CALIBRATE_MS", "bogus", "whole number"),
        ("PIXELFERRY_DRAW", "bogus", "compute"),
        ("PIXELFERRY_LOG", "[bogus", "info"),
    ] {
        let output = run(&headless, &[(name, value)]);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success(), "{name}: {stderr}");
        for part in [name, value, wanted] {
            assert!(stderr.contains(part), "{part}: {stderr}");
        }
    }
}

/// A scene that only OpenGL draws is refused before its frames are computed, with the reason there really is.
#[test]
fn a_line_is_not_computed_for_a_display_that_draws_none() {
    let out = empty_folder("line").join("line.png");
    let sine = |display: &str, env: &[(&str, &str)]| {
        let common =
            ["demo", "sine", "--plain", "--headless", "--backend", "cpu", "--frames", "2", "--display", display];
        let output = run(&[&common[..], &["--out", out.to_str().unwrap()]].concat(), env);
        assert!(!output.status.success() && !out.exists());
        let [stdout, stderr] = [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned());
        assert!(!stdout.contains("frames in"), "frames were computed: {stdout}");
        stderr
    };
    let said = sine("memory", &[]);
    assert!(said.contains("sine needs OpenGL to be drawn") && said.contains("plain memory"), "{said}");
    assert!(said.contains("--display gl") && !said.contains("libegl1"), "{said}");
    let said = sine("auto", &[NO_EGL]);
    assert!(said.contains("EGL lists no devices") && said.contains("libegl1"), "{said}");
}

/// With everything, without OpenCL, and without anything but threads and memory.
#[test]
fn what_is_chosen_together_is_chosen_among_what_is_there() {
    let folder = empty_folder("together");
    let no_opencl = ("OCL_ICD_VENDORS", folder.to_str().unwrap());
    let nothing = [no_opencl, NO_EGL, ("VK_DRIVER_FILES", "/dev/null/none.json")];
    for env in few(&[&[][..], &nothing, &[no_opencl]], 2) {
        let env: Vec<_> = env.iter().copied().chain([("PIXELFERRY_PROFILES", "off"), TIMED]).collect();
        let output = run(&["probe", "--together", "--json", "--size", "64x48"], &env);
        let stderr = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{:?}: {stderr}", output.status);
        let report: Value = serde_json::from_slice(&output.stdout).unwrap();
        let rows = report["rows"].as_array().unwrap();
        let chosen: Vec<_> = rows.iter().filter(|row| row["state"] == "chosen").collect();
        assert!(chosen.len() == 1 && chosen[0]["median_us"].as_f64().unwrap() > 0.0, "{env:?}: {report:#}");
        let opencl = rows.iter().find(|row| row["compute"].as_str().unwrap().starts_with("OpenCL"));
        let is_there = opencl.is_some_and(|row| row["state"] != "failed");
        assert!(!is_there || !env.contains(&no_opencl), "{report:#}");
        if env.contains(&NO_EGL) {
            assert!(chosen[0]["display"].as_str().unwrap().starts_with("CPU"), "{report:#}");
        }
    }
}
