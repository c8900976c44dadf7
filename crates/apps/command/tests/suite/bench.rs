//! `pixelferry bench` as a program: its exit codes and what it says about mistakes.

use crate::{pixelferry, texts};
use std::process::Output;

fn bench(arguments: &[&str], env: &[(&str, &str)]) -> Output {
    let mut command = pixelferry(&["bench"]);
    command.args(arguments).env_remove("PIXELFERRY_CALIBRATE_MS").envs(env.iter().copied()).output().unwrap()
}

const TINY: [&str; 9] = ["--quick", "--backends", "cpu", "--displays", "memory", "--sizes", "tiny", "--frames", "6"];

#[test]
fn a_verdict_is_said_on_standard_output() {
    let output = bench(&TINY, &[]);
    let [said, errors] = texts(&output);
    assert!(output.status.success(), "{errors}");
    assert!(said.contains("host-round-trip") && said.contains("automatic within"), "{said}");
}

#[test]
fn mistakes_end_with_a_reason() {
    let wrong = |arguments: &[&str], env: &[(&str, &str)], code, says: &str| {
        let output = bench(arguments, env);
        let [_, said] = texts(&output);
        assert_eq!(output.status.code(), Some(code), "{arguments:?}: {said}");
        assert!(said.contains("error:") && said.contains(says), "{arguments:?}: {said}");
    };
    wrong(&["--sizes", "2K"], &[], 2, "1080p");
    wrong(&["--backends", "quartz"], &[], 1, "no compute backend matches");
    // It would be measured in every row, whatever its name.
    wrong(&TINY, &[("PIXELFERRY_PATH", "pbo-orphan")], 1, "PIXELFERRY_PATH");
}
