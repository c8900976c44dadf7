//! Processes that have no file descriptors left.

use super::published::{Process, SOON, Stream, StreamThreads, backend, fresh_name, knock, message, socket};
use pixelferry_stream::{NextFrame, StreamDisplay, StreamOptions, Subscriber};
use pixelferry_testing::{pass_in_child, wait_until};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::fs::File;

#[test]
fn a_publisher_without_descriptors_waits_for_some() {
    pass_in_child("suite::scarce::child_publishes", None, &[], &["RAN ON "]);
}

#[test]
fn a_subscriber_without_descriptors_says_so() {
    pass_in_child("suite::scarce::child_subscribes", None, &[], &["RAN ON "]);
}

/// Opens files until this process has room for `left` more.
fn all_but(left: usize) -> Vec<File> {
    let limit = Rlimit { current: Some(128), ..getrlimit(Resource::Nofile) };
    setrlimit(Resource::Nofile, limit).unwrap();
    let mut files: Vec<_> = std::iter::from_fn(|| File::open("/dev/null").ok()).collect();
    files.truncate(files.len() - left);
    files
}

#[test]
#[ignore = "run in a process of its own"]
fn child_publishes() {
    let mut stream = Stream::open(&fresh_name());
    stream.show(1);
    let (knocking, threads) = (socket(), StreamThreads::find());
    let files = all_but(0);
    knock(&knocking, &stream.name);
    threads.wait_until_asleep();
    assert_eq!(message(&knocking), None, "it was heard without a descriptor");
    drop(files);
    let mut heard = None;
    wait_until("a welcome", || {
        heard = heard.take().or_else(|| message(&knocking));
        heard.is_some()
    });
    assert!(heard.unwrap().contains("welcome"));
    threads.wait_until_asleep();
    println!("RAN ON a publisher without descriptors");
}

#[test]
#[ignore = "run in a process of its own"]
fn child_subscribes() {
    let name = fresh_name();
    let (_publisher, mut early) = Process::publisher(&name);
    let backend = backend();
    let (mut joined, mut refused) = (0, 0);
    for left in 0..24 {
        let files = all_but(left);
        let mut taken = Ok(false);
        // The publisher ends a subscription whose messages a busy machine does not read in time.
        wait_until("a frame or an error", || {
            let opened = Subscriber::open(&name, &backend);
            taken = opened.and_then(|mut to| to.next(SOON).map(|next| matches!(next, NextFrame::Frame(_))));
            !matches!(taken, Ok(false))
        });
        drop(files);
        match taken {
            Ok(_) => joined += 1,
            Err(error) => {
                refused += 1;
                let text = error.to_string();
                assert!(text.contains("open files") && text.contains("ulimit"), "with {left} left: {text}");
            }
        }
    }
    println!("RAN ON {joined} that joined and {refused} that were refused");
    assert!(joined > 0 && refused > 4);
    // Who has joined is told of more pieces than it can open, and goes on once it can.
    let files = all_but(0);
    let mut failed = 0;
    wait_until("a piece for which there is no descriptor", || {
        if let Err(error) = early.next(SOON).map(|_| ()) {
            assert!(error.to_string().contains("open files"), "{error}");
            failed += 1;
        }
        failed == 3
    });
    drop(files);
    assert!(matches!(early.next(SOON).unwrap(), NextFrame::Frame(_)) && !early.has_ended());
    let files = all_but(2);
    let error = StreamDisplay::open(&fresh_name(), None, StreamOptions::default()).unwrap_err().to_string();
    drop(files);
    assert!(error.contains("open files"), "{error}");
}
