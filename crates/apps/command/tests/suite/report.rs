//! `pixelferry report`: what a reader of a bug needs is in it, and nothing private.

use crate::{pixelferry, texts};
use std::path::PathBuf;
use std::process::Command;

/// A machine and a user that nobody is to know of. Drivers write into the home.
const SECRETS: [(&str, &str); 8] = [
    ("HOME", concat!(env!("CARGO_TARGET_TMPDIR"), "/secrethome/mallory")),
    ("USER", "mallory"),
    ("LOGNAME", "mallory"),
    ("HOSTNAME", "vault17.example.org"),
    ("VK_DRIVER_FILES", concat!(env!("CARGO_TARGET_TMPDIR"), "/secrethome/mallory/icd.json")),
    ("LD_LIBRARY_PATH", "/home/eve/lib:/opt/vault17/lib"),
    ("CUDA_VISIBLE_DEVICES", "GPU-deadbeef-0123-4567-89ab-cdef01234567"),
    ("AWS_SECRET_ACCESS_KEY", "hunter2"),
];
const PRIVATE: [&str; 6] = ["secrethome", "mallory", "vault17", "eve/", "deadbeef", "hunter2"];

fn report(file: &str) -> Command {
    let mut command = pixelferry(&["report", file]);
    // What was measured is kept in the secret home otherwise.
    command.envs(SECRETS).env("PIXELFERRY_PROFILES", "off").env("PIXELFERRY_MODE", "latency");
    command.env("__EGL_VENDOR_LIBRARY_FILENAMES", "/dev/null/none.json");
    command
}

#[test]
fn nothing_private_is_in_it() {
    let file = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("report.md");
    let output = report(file.to_str().unwrap()).output().unwrap();
    let [said, errors] = texts(&output);
    assert!(output.status.success(), "{said}{errors}");
    let text = std::fs::read_to_string(&file).unwrap();
    for private in PRIVATE {
        assert!(!text.contains(private), "{private}: {text}");
    }
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let is_word = |word: &str| !word.is_empty() && word != "localhost";
    let words = || text.split(|letter: char| !letter.is_alphanumeric() && letter != '_' && letter != '-');
    assert!(!is_word(host.trim()) || words().all(|word| word != host.trim()), "{text}");
    assert!(!text.contains("uuid "), "{text}");
    let expected = [
        "# pixelferry 0.",
        "PIXELFERRY_MODE=latency",
        "VK_DRIVER_FILES=~/icd.json",
        "LD_LIBRARY_PATH=/home/USER/lib:/opt/HOST/lib",
        "CUDA_VISIBLE_DEVICES=GPU-UUID",
        "## Doctor",
        "By default: ",
    ];
    for part in expected {
        assert!(text.contains(part), "{part}: {text}");
    }
    #[cfg(target_os = "linux")]
    assert!(text.contains("no-egl-vendor-file") && text.contains("- system: linux"), "{text}");
    assert!(said.contains("report.md"), "{said}");
}

#[test]
fn it_can_go_to_standard_output_and_not_everywhere() {
    let output = report("-").output().unwrap();
    let [said, _] = texts(&output);
    assert!(output.status.success() && said.contains("## Probe"), "{said}");
    let output = report("/dev/null/none/report.md").output().unwrap();
    let [said, errors] = texts(&output);
    assert_eq!((output.status.code(), said.as_str()), (Some(1), ""));
    assert!(errors.contains("cannot write /dev/null/none/report.md"), "{errors}");
}
