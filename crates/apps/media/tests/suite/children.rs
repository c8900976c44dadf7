//! Children of a program that ends, in every way in which one can.

use interop_core::describe::child_process::ChildProcess;
use pixelferry_testing::wait_until;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const ENDING: &str = "PIXELFERRY_TEST_ENDING";
const MARK: &str = "child ";

fn sleeper() -> ChildProcess {
    let mut command = Command::new("sleep");
    // Its standard streams stay open: it is to end by nothing else.
    command.arg("600").stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    ChildProcess::start(command).unwrap()
}

/// True while a process runs. What has ended is listed until its parent takes its status, which an orphan's may never do.
fn runs(process: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    stat.rsplit(')').next().and_then(|rest| rest.trim_start().chars().next()).is_some_and(|state| !"ZX".contains(state))
}

#[test]
#[ignore = "the program that ends, run by the test"]
#[allow(clippy::exit)] // one of the ways to end
fn program_that_ends() {
    let ending = std::env::var(ENDING).expect("the test starts it");
    // One of a thread that is gone long before the program is.
    let children = [std::thread::spawn(sleeper).join().unwrap(), sleeper()];
    std::thread::sleep(Duration::from_millis(200));
    for child in &children {
        assert!(runs(child.id()), "a child ended with the thread that asked for it");
        println!("\n{MARK}{}", child.id());
    }
    std::io::stdout().flush().unwrap();
    match ending.as_str() {
        "return" => {}
        // What nothing drops.
        "leak" => std::mem::forget(children),
        "panic" => panic!("on purpose"),
        "exit" => std::process::exit(0),
        "abort" => std::process::abort(),
        _ => std::thread::sleep(Duration::from_secs(600)),
    }
}

fn program(ending: &str) -> (Child, Vec<u32>) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let name = concat!(module_path!(), "::program_that_ends");
    command.args([name.split_once("::").unwrap().1, "--exact", "--include-ignored", "--nocapture"]);
    command.env(ENDING, ending).env("RUST_BACKTRACE", "0");
    let mut program = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let lines = BufReader::new(program.stdout.take().unwrap()).lines().map_while(Result::ok);
    let children = lines.filter_map(|line| line.strip_prefix(MARK)?.parse().ok()).take(2).collect();
    (program, children)
}

#[cfg(target_os = "linux")]
#[test]
fn no_child_outlives_its_program() {
    for ending in ["return", "leak", "panic", "exit", "abort", "KILL", "TERM", "HUP"] {
        let (mut program, children) = program(ending);
        assert_eq!(children.len(), 2, "{ending}");
        if ending.chars().all(char::is_uppercase) {
            assert!(children.iter().all(|child| runs(*child)), "{ending}");
            let sent = Command::new("kill").args([format!("-{ending}"), program.id().to_string()]).status().unwrap();
            assert!(sent.success());
        }
        program.wait().unwrap();
        wait_until(&format!("the end of children, after {ending}"), || !children.iter().any(|child| runs(*child)));
    }
}

#[test]
fn a_child_ends_when_it_is_dropped_and_one_that_is_none_is_an_error() {
    let child = sleeper();
    let process = child.id();
    assert!(runs(process) || cfg!(not(target_os = "linux")));
    drop(child);
    assert!(!runs(process));
    let error = ChildProcess::start(Command::new("no such program")).unwrap_err();
    assert_eq!(error.kind(), std::io::ErrorKind::NotFound);
}
