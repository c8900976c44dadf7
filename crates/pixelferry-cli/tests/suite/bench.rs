//! `pixelferry bench` as a program: its exit codes and what it says about mistakes.

use std::process::{Command, Output};

fn bench(arguments: &[&str], env: &[(&str, &str)]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pixelferry"));
    command.arg("bench").args(arguments).env_remove("DISPLAY").envs(env.iter().copied()).output().unwrap()
}

const TINY: [&str; 8] = ["--backends", "cpu", "--displays", "memory", "--sizes", "tiny", "--frames", "6"];

#[test]
fn a_verdict_is_said_on_standard_output() {
    let output = bench(&[&TINY[..], &["--modes", "latency"]].concat(), &[]);
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(said.contains("host-round-trip") && said.contains("automatic within"), "{said}");
}

#[test]
fn mistakes_end_with_a_reason() {
    let wrong = |arguments: &[&str], env: &[(&str, &str)], code, says: &str| {
        let output = bench(arguments, env);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains("error:") && said.contains(says), "{arguments:?}: {said}");
    };
    wrong(&["--sizes", "2K"], &[], 2, "1080p");
    wrong(&["--paths", "magic"], &[], 2, "host-round-trip");
    wrong(&["--backends", "quartz"], &[], 1, "no compute backend matches");
    wrong(&["--compare", "/nonexistent/a.json", "/nonexistent/b.json"], &[], 1, "/nonexistent/a.json");
    // It would be measured in every row, whatever its name.
    wrong(&TINY, &[("PIXELFERRY_PATH", "pbo-orphan")], 1, "PIXELFERRY_PATH");
}
