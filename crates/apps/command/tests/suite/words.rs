//! Words of the command: its version, what help lists, and how much is said in which colours.

use crate::{pixelferry, texts};

const DEMO: [&str; 11] =
    ["demo", "--headless", "--backend", "cpu", "--display", "memory", "--frames", "1", "--size", "64x36", "-vv"];

#[test]
fn the_version_names_the_command_and_how_it_was_built() {
    let [said, _] = texts(&pixelferry(&["--version"]).output().unwrap());
    assert!(said.starts_with(&format!("pixelferry {} (", env!("CARGO_PKG_VERSION"))), "{said}");
    assert_eq!(said.contains("features ") && said.contains("bench"), cfg!(feature = "bench"), "{said}");
    let git = std::process::Command::new("git").args(["rev-parse", "--short=10", "HEAD"]).output();
    if let Some(commit) = git.ok().filter(|git| git.status.success()).map(|git| texts(&git)[0].trim().to_owned()) {
        assert!(said.contains(&format!("commit {commit}")), "{said} is not of {commit}");
    }
}

#[test]
fn help_lists_values_and_exit_codes_and_no_tool_of_ours() {
    let help = |command: &str| texts(&pixelferry(&[command, "--help"]).output().unwrap())[0].clone();
    let demo = help("demo");
    for part in ["external-in-place", "contain", "aces-narkowicz", "RGBA16F", "--frames-behind"] {
        assert!(demo.contains(part), "{part}: {demo}");
    }
    let probe = help("probe");
    for part in ["RGB10A2", "overwrite", "3  probe: frames pass through the host only", "4  probe: no path works"] {
        assert!(probe.contains(part), "{part}: {probe}");
    }
    #[cfg(feature = "bench")]
    {
        let bench = help("bench");
        assert!(bench.contains("RGBA32F"), "{bench}");
    }
    assert!(help("doctor").contains("5  doctor: something was found"));
}

#[test]
fn a_file_to_save_to_is_no_window() {
    let out = std::path::PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("no-window.png");
    let _ = std::fs::remove_file(&out);
    let arguments = ["demo", "--backend", "cpu", "--display", "memory", "--frames", "1", "--size", "64x36", "--out"];
    let output = pixelferry(&arguments).arg(&out).output().unwrap();
    assert!(output.status.success() && out.exists(), "{}", texts(&output)[1]);
    let output = pixelferry(&["demo", "--display", "memory"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
}

#[test]
fn more_or_less_is_logged_and_colours_are_for_terminals() {
    let logged =
        |arguments: &[&str]| texts(&pixelferry(arguments).env("PIXELFERRY_LOG", "off").output().unwrap())[1].clone();
    assert_eq!(logged(&DEMO[..DEMO.len() - 1]), "", "the variable says off");
    let verbose = logged(&DEMO);
    assert!(verbose.contains(" INFO ") && !verbose.contains('\u{1b}'), "{verbose}");
    let colored = logged(&[&DEMO[..], &["--color", "always"]].concat());
    assert!(colored.contains('\u{1b}'), "{colored}");
    assert_eq!(logged(&[&DEMO[..], &["-qqq"]].concat()), "");
    let refused = |color: &str| texts(&pixelferry(&["prob", "--color", color]).output().unwrap())[1].clone();
    assert!(refused("always").contains('\u{1b}') && !refused("auto").contains('\u{1b}'));
}

/// An option that would do nothing is refused.
#[cfg(feature = "view")]
#[test]
fn options_without_an_effect_are_refused() {
    for (arguments, option) in [
        (&["view", "a.npy", "--explain", "--record", "b.y4m"][..], "--record"),
        (&["view", "a.npy", "--explain", "--keep", "3"], "--keep"),
        (&["view", "a.npy", "--save", "a.png", "--keep", "3"], "--keep"),
        (&["demo", "plasma", "--plain", "--headless", "--input", "a.png"], "--input"),
        (&["demo", "--rate", "5"], "--record"),
        (&["play", "a.glsl", "--frames", "5"], "--headless"),
    ] {
        let output = crate::pixelferry(arguments).output().unwrap();
        let said = crate::texts(&output)[1].clone();
        assert!(!output.status.success() && said.contains(option), "{arguments:?}: {said}");
    }
}
