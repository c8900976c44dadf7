//! Streams between programs in C and C++, each in a process of its own, and publishers that are killed.

use crate::common::{Language, build, done, root, run};
use pixelferry_testing::{Need, need};
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// A publisher that runs; killed when it is dropped.
struct Publisher(Child);

impl Publisher {
    /// Starts it, and waits until its stream is there.
    fn start(program: &Path, name: &str) -> Self {
        let mut publisher = Self(run(program).args(["publish", name]).spawn().unwrap());
        pixelferry_testing::wait_until("the stream", || {
            assert!(publisher.0.try_wait().unwrap().is_none(), "the publisher ended");
            pixelferry::stream::streams().unwrap().iter().any(|one| one.name == name)
        });
        publisher
    }

    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn a_c_program_takes_what_another_publishes() {
    let Some(program) = build(Language::C, &root().join("examples/stream.c"), &[]) else { return };
    let name = format!("c-{}", std::process::id());
    let _publisher = Publisher::start(&program, &name);
    assert!(done(run(&program).args(["subscribe", &name])).contains("20 frames, every pixel as computed"));
}

#[test]
fn a_forked_process_is_refused_and_changes_nothing() {
    let Some(program) = build(Language::C, &root().join("tests/programs/forked_stream.c"), &[]) else { return };
    let name = format!("c-forked-{}", std::process::id());
    assert!(done(run(&program).arg(&name)).contains("the parent goes on"));
}

/// What a subscriber says up to the line in which it is content with the pixels. None where its driver is not there.
fn content(subscriber: &mut Command, driver: Option<Need>) -> Option<(Child, BufReader<std::process::ChildStdout>)> {
    let mut child = subscriber.stdout(Stdio::piped()).spawn().unwrap();
    let mut said = BufReader::new(child.stdout.take().unwrap());
    let mut line = String::new();
    said.read_line(&mut line).unwrap();
    if let Some(driver) = driver
        && line.contains("PIXELFERRY_ERROR_UNAVAILABLE")
    {
        child.wait().unwrap();
        return need(driver, Err(line));
    }
    assert!(line.contains("every pixel as published"), "{line}");
    Some((child, said))
}

#[test]
fn a_cpp_program_keeps_the_last_frame_of_a_killed_publisher() {
    let Some(program) = build(Language::Cpp, &root().join("tests/programs/stream.cpp"), &[]) else { return };
    for (backend, driver) in [("cpu", None), ("opencl", Some(Need::Pocl))] {
        let name = format!("cpp-{backend}-{}", std::process::id());
        let mut publisher = Publisher::start(&program, &name);
        let subscribes = &mut run(&program);
        let Some((mut child, mut said)) = content(subscribes.args(["subscribe", &name, backend]), driver) else {
            continue;
        };
        publisher.kill();
        let mut rest = String::new();
        said.read_to_string(&mut rest).unwrap();
        assert!(child.wait().unwrap().success() && rest.contains("the last frame stays"), "{backend}: {rest}");
    }
}
