//! The table at the end of `scripts/test` names each failed test, because the output before it may be cut.

use std::io::Write as _;
use std::process::{Command, Stdio};

/// Returns the last `lines` of the table that `scripts/table.awk` makes of this output, and whether it reports a
/// failure.
fn table(printed: &str, lines: usize) -> (String, bool) {
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../scripts/table.awk");
    let mut awk = Command::new("awk");
    let mut awk = awk.args(["-f", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("awk starts");
    let (mut stdin, printed) = (awk.stdin.take().unwrap(), printed.to_owned());
    // A pipe cannot hold the whole text.
    let writes = std::thread::spawn(move || stdin.write_all(printed.as_bytes()));
    let output = awk.wait_with_output().unwrap();
    writes.join().unwrap().unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    let all: Vec<&str> = text.lines().collect();
    (all[all.len().saturating_sub(lines)..].join("\n"), !output.status.success())
}

/// The output of a binary with one test that passes and these failing ones, each with this many lines.
fn binary(name: &str, failed: &[&str], lines: usize) -> String {
    let mut text = format!("@binary {name} suite\n\nrunning {} tests\ntest works ... ok <0.1s>\n", failed.len() + 1);
    failed.iter().for_each(|test| text += &format!("test {test} ... FAILED <0.1s>\n"));
    text += "\nsuccesses:\n\n---- works stdout ----\nfine\n\nsuccesses:\n    works\n\nfailures:\n\n";
    for test in failed {
        text += &format!("---- {test} stdout ----\n{}", "    noise\n".repeat(lines));
        // A test that ran itself again shows the list of that process.
        text += "failures:\n    of_a_child\n\n";
        text += &format!("thread '{test}' (7) panicked at tests/suite/{test}.rs:1:2:\nit went wrong\n\n");
    }
    text += "\nfailures:\n";
    failed.iter().for_each(|test| text += &format!("    {test}\n"));
    text += &format!(
        "\ntest result: FAILED. 1 passed; {} failed; 0 ignored; finished in 1.00s\n\n@ended 101\n",
        failed.len()
    );
    text
}

#[test]
fn each_failed_test_has_its_name_in_the_last_lines() {
    // More failures than the table lists reasons for.
    let many: Vec<String> = (0..60).map(|test| format!("area::test_{test}")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    let printed = binary("loud", &many, 200) + &binary("quiet", &["one::fails", "two::fails"], 0);
    let (last, failed) = table(&printed, 2);
    let all = many.join(", ");
    let expected = format!(
        "| | loud suite | FAILED with status 101: {all} |\n| | quiet suite | FAILED with status 101: one::fails, two::fails |"
    );
    assert_eq!((last, failed), (expected, true));
}

#[test]
fn a_crash_names_what_it_stopped_and_what_failed_before() {
    let printed = "@binary crashed suite\n\nrunning 3 tests\ntest works ... ok <0.1s>\ntest breaks ... FAILED <0.1s>\n\
                   not ended: area::crashes\n@ended 139\n";
    let expected =
        "| | crashed suite | FAILED with status 139, without a result: breaks, area::crashes (did not end) |"
            .to_owned();
    assert_eq!(table(printed, 1), (expected, true));
}

#[test]
fn an_example_of_the_documentation_that_fails_has_its_name_there() {
    let name = "crates/shown/src/lib.rs - shown (line 7)";
    let printed = format!(
        "   Doc-tests shown\n\nrunning 1 test\ntest {name} ... FAILED\n\nfailures:\n\n---- {name} stdout ----\n\
         error[E0433]\n\nfailures:\n    {name}\n\n\
         test result: FAILED. 0 passed; 1 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.50s\n"
    );
    assert_eq!(table(&printed, 1), (format!("| | shown documentation | FAILED: {name} |"), true));
}

#[test]
fn nothing_is_said_to_fail_where_all_passed() {
    let printed = "@binary fine suite\n\nrunning 1 test\ntest works ... ok <0.1s>\n\nsuccesses:\n\n---- works stdout ----\n\
                   failures:\n    of_a_child\n\n\nsuccesses:\n    works\n\n\
                   test result: ok. 1 passed; 0 failed; 0 ignored; finished in 1.00s\n\n@ended 0\n";
    assert_eq!(table(printed, 1), ("| 1.0 | binaries: 1 | 1 passed, 0 failed |".to_owned(), false));
}
