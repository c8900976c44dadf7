//! The command's words and pictures where its output cannot be written, and outputs that it refuses before it works.

use crate::{pixelferry, texts};
use pixelferry_tests::few;
use std::fs::{self, OpenOptions};
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Command, Stdio};

fn command(arguments: &[&str]) -> Command {
    let mut command = pixelferry(arguments);
    command.env("PIXELFERRY_PROFILES", "off");
    command
}

/// A folder of the test's own, empty.
fn folder(test: &str) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(test);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A demo that is quick anywhere.
const DEMO: [&str; 7] = ["demo", "--headless", "--backend", "cpu", "--display", "memory", "--frames"];
/// With the controls, whose loop is another.
const SIZES: [&[&str]; 2] = [&["--size", "160x120"], &["--size", "1000x600", "--picture", "160x120"]];

fn demo(more: &[&str]) -> Vec<&'static str> {
    let all = [&DEMO[..], &["2"], more].concat();
    all.into_iter().map(|text| &*text.to_owned().leak()).collect()
}

#[test]
fn a_picture_is_saved_though_nobody_reads_what_is_said() {
    let folder = folder("closed-pipe");
    // Open at first and closed after one line, as with `| head -1`, or closed from the start.
    let cases = [(0, true), (1, false), (0, false), (1, true)];
    for (size, reads) in few(&cases, 2).iter().copied() {
        let out = folder.join(format!("{size}-{reads}.png"));
        let arguments = demo(&[SIZES[size], &["--out", out.to_str().unwrap()]].concat());
        let mut child = command(&arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut reader = BufReader::new(child.stdout.take().unwrap());
        if reads {
            reader.read_line(&mut String::new()).unwrap();
        }
        drop(reader);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{:?}: {}", output.status, texts(&output)[1]);
        assert!(out.exists(), "{arguments:?}");
    }
}

#[test]
fn a_full_disk_is_an_error_with_a_reason() {
    let full = || OpenOptions::new().write(true).open("/dev/full").unwrap();
    let probe = ["probe", "--size", "16x16"].map(Into::into).to_vec();
    for arguments in [demo(SIZES[0]), demo(SIZES[1]), probe] {
        let output = command(&arguments.iter().map(|text| &**text).collect::<Vec<_>>())
            // Threads into memory are enough to say.
            .envs([("OCL_ICD_VENDORS", "/dev/null/none"), ("__EGL_VENDOR_LIBRARY_FILENAMES", "/dev/null/none")])
            .stdout(full())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let output = output.wait_with_output().unwrap();
        let [_, said] = texts(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {said}");
        assert!(said.contains("error: cannot write to standard output: No space left"), "{arguments:?}: {said}");
    }
    // Nowhere to say anything: the work is done all the same.
    let mut quiet = command(&demo(SIZES[0]));
    let status = quiet.env("PIXELFERRY_LOG", "debug").stdout(Stdio::null()).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(0));
    let status = command(&["probe", "--buffer", "0"]).stderr(full()).status().unwrap();
    assert_eq!(status.code(), Some(1));
}

#[test]
fn files_that_cannot_be_written_are_refused_before_anything_is_computed() {
    let folder = folder("refused");
    for name in ["absent/a.png", "a.webp", "a", "."] {
        let out = folder.join(name);
        for size in SIZES {
            let output = command(&demo(&[size, &["--out", out.to_str().unwrap()]].concat())).output().unwrap();
            let [said, refused] = texts(&output);
            assert_eq!(output.status.code(), Some(1), "{name}: {refused}");
            assert!(!said.contains("path:"), "a path was opened: {said}");
            let reason = if name.ends_with(".png") { "No such file" } else { ".png or .jpg" };
            assert!(refused.contains("cannot save the picture to") && refused.contains(reason), "{name}: {refused}");
        }
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "something was left behind");
}

#[test]
fn a_line_with_controls_is_refused_where_nothing_draws_it() {
    let out = folder("line-with-controls").join("line.png");
    let arguments = ["demo", "sine", "--headless", "--backend", "cpu", "--display", "memory", "--frames", "2"];
    let output = command(&[&arguments[..], &["--out", out.to_str().unwrap()]].concat()).output().unwrap();
    let [said, refused] = texts(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(refused.contains("sine needs OpenGL to be drawn") && !said.contains("frames, p50"), "{said}{refused}");
    assert!(!out.exists());
}

#[test]
fn without_a_screen_the_command_names_its_own_option() {
    for size in [&["--plain"][..], &[]] {
        let output = command(&[&["demo", "--backend", "cpu"], size].concat()).output().unwrap();
        let [_, refused] = texts(&output);
        assert_eq!(output.status.code(), Some(1), "{refused}");
        assert!(refused.contains("a window is not available"), "{refused}");
        // The library, which other programs use, names no option.
        assert!(refused.trim_end().ends_with("Without a window: --headless, or --out FILE."), "{refused}");
        assert_eq!(refused.matches("--headless").count(), 1, "{refused}");
    }
}
