//! `pixelferry probe` for people, for scripts and as data.

use crate::{pixelferry, texts};
use serde_json::Value;
use std::path::PathBuf;
use std::process::Output;

/// Threads and memory alone, so that the answer is known.
const BARE: [(&str, &str); 3] = [
    ("OCL_ICD_VENDORS", "/dev/null/none"),
    ("__EGL_VENDOR_LIBRARY_FILENAMES", "/dev/null/none.json"),
    ("VK_DRIVER_FILES", "/dev/null/none.json"),
];

fn probe(arguments: &[&str]) -> Output {
    pixelferry(&["probe"]).args(arguments).env("PIXELFERRY_PROFILES", "off").envs(BARE).output().unwrap()
}

#[test]
fn the_answer_is_five_lines_and_an_exit_code() {
    let output = probe(&["--size", "64x48"]);
    let [said, errors] = texts(&output);
    assert_eq!(output.status.code(), Some(3), "{said}{errors}");
    let words: Vec<_> = said.lines().filter_map(|line| line.split_whitespace().next()).collect();
    assert_eq!(words, ["WGSL", "C", "host", "GPU", "next"], "{said}");
    let lines: Vec<_> = said.lines().collect();
    // A work that no device does has the reason.
    assert!(
        lines[0].contains("no path works (image 64x48") && lines[1].contains("CUDA: ") && lines[3].contains("CUDA: "),
        "{said}"
    );
    let host = lines[2];
    assert!(host.contains("CPU ") && host.contains("plain memory with "), "{said}");
    #[cfg(target_os = "linux")]
    assert!(said.contains("unset __EGL_VENDOR_LIBRARY_FILENAMES"), "{said}");
    let [_, log] = texts(&probe(&["--size", "64x48", "-vv"]));
    assert!(log.contains("trying the paths from CPU"), "{log}");
    // Nothing has room for this.
    let output = probe(&["--size", "100000x100000"]);
    let [said, _] = texts(&output);
    assert_eq!(output.status.code(), Some(4), "{said}");
    assert!(said.lines().count() == 5 && said.contains("more than its largest buffer"), "{said}");
}

#[test]
fn all_rows_are_there_where_they_are_asked_for() {
    let [said, _] = texts(&probe(&["--all", "--size", "64x48"]));
    for part in ["\nCompute\n", "\nDisplay\n", "takes kernels in host functions", "host-round-trip", "By default: CPU"]
    {
        assert!(said.contains(part), "{part}: {said}");
    }
}

#[test]
fn a_report_goes_to_standard_output_or_to_a_file_beside_the_text() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("probe.json");
    let _ = std::fs::remove_file(&file);
    let output = probe(&["--size", "64x48", "--json", file.to_str().unwrap()]);
    let [said, errors] = texts(&output);
    assert_eq!((output.status.code(), said.lines().count()), (Some(3), 5), "{said}{errors}");
    let saved: Value = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    for dash in [&["--json", "-"][..], &["--json"]] {
        let [said, _] = texts(&probe(&[dash, &["--size", "64x48"]].concat()));
        let said: Value = serde_json::from_str(&said).unwrap();
        for report in [&said, &saved] {
            assert_eq!((&report["schema"], &report["sharing"]), (&"pixelferry-probe".into(), &"host".into()));
        }
        let cpu = said["backends"].as_array().unwrap().iter().find(|backend| backend["api"] == "cpu").unwrap();
        assert_eq!(cpu["languages"], serde_json::json!(["rust"]));
    }
    let output = probe(&["--json", "/dev/null/none/a.json"]);
    let [said, errors] = texts(&output);
    assert_eq!((output.status.code(), said.as_str()), (Some(1), ""), "{errors}");
    assert!(errors.contains("cannot write /dev/null/none/a.json"), "{errors}");
}

/// A script that makes a picture on any machine does not fail where frames pass through the host.
#[cfg(target_os = "linux")]
#[test]
fn the_first_command_of_a_clone_takes_the_host_for_an_answer() {
    use std::os::unix::fs::PermissionsExt as _;

    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("stand-in");
    std::fs::create_dir_all(&folder).unwrap();
    let run = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../scripts/run");
    let of = |command: &str, code: i32| {
        // Stands for cargo, and is found before it.
        let cargo = folder.join("cargo");
        std::fs::write(&cargo, format!("#!/bin/sh\necho \"ran $*\"\nexit {code}\n")).unwrap();
        std::fs::set_permissions(&cargo, std::fs::Permissions::from_mode(0o755)).unwrap();
        let text = std::fs::read_to_string(run).unwrap();
        // Without what it installs.
        let (head, tail) = text.split_once("ensure_linker\n").unwrap();
        let (_, tail) = tail.split_once("ensure_rust\n").unwrap();
        let library = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../scripts/lib.sh");
        let head = head.replace("$(dirname \"${BASH_SOURCE[0]}\")/lib.sh", library);
        let path = format!("{}:{}", folder.display(), std::env::var("PATH").unwrap());
        let mut script = std::process::Command::new("bash");
        let output =
            script.args(["-c", &(head + tail), "run", command]).env("PATH", path).env("LC_ALL", "C").output().unwrap();
        (output.status.code(), texts(&output))
    };
    let (code, [said, information]) = of("probe", 3);
    assert_eq!(code, Some(0), "{said}{information}");
    assert!(said.contains("-- probe") && information.contains("pass through the host"), "{said}{information}");
    for (command, code) in [("probe", 4), ("demo", 3), ("probe", 0)] {
        let (found, [_, information]) = of(command, code);
        assert_eq!((found, information.as_str()), (Some(code), ""), "{command}");
    }
}

/// Of other programs' words nobody learns what the answer is.
#[test]
fn nothing_but_the_answer_is_said_where_there_is_no_desktop() {
    let mut probe = pixelferry(&["probe", "--size", "16x16"]);
    probe.env_remove("XDG_RUNTIME_DIR").env_remove("MESA_VK_DEVICE_SELECT");
    let output = probe.output().unwrap();
    let [out, err] = texts(&output);
    assert!(out.lines().count() == 5 && err.is_empty(), "{out}{err}");
    let timed = |line: &str| [" us per frame (", "not timed", "no path works ("].iter().any(|word| line.contains(word));
    assert!(out.lines().take(4).all(timed), "{out}");
}
