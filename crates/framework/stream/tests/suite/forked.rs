//! A publisher or a subscriber whose process forks: the child refuses, and is in nobody's way.

use super::fork::Fork;
use super::published::{Process, SOON, Stream, StreamThreads, backend, fresh_name, given_name};
use interop_core::{Display, StagingKind};
use pixelferry_stream::{NextFrame, StreamDisplay, StreamOptions, Subscriber, streams};
use pixelferry_testing::{pass_in_child, wait_until};
use rustix::process::{Pid, Signal, kill_process};
use std::path::PathBuf;

/// Each in a process of its own, where nobody else forks or has threads of streams.
macro_rules! alone {
    ($($test:ident: $child:ident),*) => {
        $(
            #[test]
            fn $test() {
                pass_in_child(concat!("suite::forked::", stringify!($child)), None, &[], &["RAN ON "]);
            }
        )*
    };
}

alone!(
    a_child_is_refused_and_changes_nothing: child_is_refused,
    a_closed_stream_ends_although_a_child_lives: child_closes,
    a_publisher_with_a_child_waits_when_a_subscriber_goes: child_waits,
    a_subscriber_that_is_killed_gives_its_place_back: child_loses_a_subscriber,
    a_killed_publisher_frees_its_name: child_loses_its_publisher
);

/// Each error that `ask` gives says what to do.
#[track_caller]
fn refused<T>(asked: interop_core::Result<T>) {
    let error = asked.err().expect("the parent's object was used").to_string();
    assert!(error.contains("spawn"), "{error}");
}

#[test]
#[ignore = "run in a process of its own"]
fn child_is_refused() {
    let mut stream = Stream::open(&fresh_name());
    let mut subscriber = stream.subscribe();
    stream.show(1);
    assert!(matches!(subscriber.next(SOON).unwrap(), NextFrame::Frame(_)));
    // The display's own objects go, too.
    let mut asked = Some((stream, subscriber));
    let child = Fork::new(|| {
        let (mut stream, mut subscriber) = asked.take().unwrap();
        assert!(subscriber.frame().is_none() && subscriber.memory().is_none());
        refused(subscriber.next(SOON).map(|_| ()));
        refused(stream.link.frame(|frame| frame.write(&[9; 64 * 64])));
        refused(stream.display.publish(&stream.link.shown().unwrap()));
        let display: &dyn Display = stream.display.as_ref();
        refused(display.create_staging(StagingKind::Persistent, 4096).map(|_| ()));
        refused(display.create_surface(stream.link.desc()).map(|_| ()));
        refused(display.create_in_place_surface(stream.link.desc()).map(|_| ()));
        refused(display.finish());
        assert!(!stream.display.is_awaited() && stream.display.subscribers() == 0);
        drop(subscriber);
        drop(stream);
    });
    let (mut stream, mut subscriber) = asked.take().unwrap();
    assert!(child.passes());
    for value in 2..20 {
        assert_eq!(stream.show(value).subscribers, 1);
        assert!(subscriber.frame().unwrap().read().unwrap() == [1; 64 * 64], "the child let the frame go");
    }
    let NextFrame::Frame(mut frame) = subscriber.next(SOON).unwrap() else { panic!("no frame") };
    assert_eq!((frame.number(), frame.read().unwrap()), (19, vec![19; 64 * 64]));
    // The publisher's thread is there, and welcomes.
    assert!(matches!(stream.subscribe().next(SOON).unwrap(), NextFrame::Frame(_)));
    println!("RAN ON a forked child");
}

#[test]
#[ignore = "run in a process of its own"]
fn child_closes() {
    let mut stream = Stream::open(&fresh_name());
    let mut subscriber = stream.subscribe();
    stream.show(1);
    let name = stream.name.clone();
    let _child = Fork::idle();
    drop(stream);
    assert!(matches!(subscriber.next(SOON).unwrap(), NextFrame::Frame(_)));
    assert!(matches!(subscriber.next(SOON).unwrap(), NextFrame::Ended));
    let error = Subscriber::open(&name, &backend()).unwrap_err().to_string();
    assert!(error.contains("no process publishes it"), "{error}");
    drop(Stream::open(&name));
    println!("RAN ON a stream that was closed");
}

#[test]
#[ignore = "run in a process of its own"]
fn child_waits() {
    let mut stream = Stream::open(&fresh_name());
    let subscriber = stream.subscribe();
    stream.show(1);
    let _child = Fork::idle();
    drop(subscriber);
    wait_until("the end of the subscriber", || stream.display.subscribers() == 0);
    StreamThreads::find().wait_until_asleep();
    println!("RAN ON a subscriber that went");
}

/// A file by which a process says that it has forked, and whom.
fn note(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("pixelferry-forked-{name}"))
}

fn forks(name: &str) {
    let child = Fork::idle().leave();
    std::fs::write(note(name), format!("{}.", child.as_raw_nonzero())).unwrap();
    std::thread::sleep(SOON * 10);
}

/// The child of another process; killed when this is dropped.
struct Orphan(Pid);

impl Orphan {
    fn of(name: &str) -> Self {
        let mut text = String::new();
        wait_until("a process that forks", || {
            text = std::fs::read_to_string(note(name)).unwrap_or_default();
            text.ends_with('.')
        });
        std::fs::remove_file(note(name)).unwrap();
        Self(Pid::from_raw(text.trim_end_matches('.').parse().unwrap()).unwrap())
    }
}

impl Drop for Orphan {
    fn drop(&mut self) {
        let _ = kill_process(self.0, Signal::KILL);
    }
}

#[test]
#[ignore = "run in a process of its own"]
fn child_loses_a_subscriber() {
    let mut stream = Stream::open(&fresh_name());
    let mut subscriber = Process::start("suite::forked::child_subscribes_and_forks", &stream.name);
    wait_until("a subscriber", || stream.display.subscribers() == 1);
    stream.show(1);
    let _orphan = Orphan::of(&stream.name);
    subscriber.kill();
    wait_until("the end of the subscriber", || stream.display.subscribers() == 0);
    StreamThreads::find().wait_until_asleep();
    println!("RAN ON a subscriber that was killed");
}

#[test]
#[ignore = "run in a process of its own"]
fn child_subscribes_and_forks() {
    let name = given_name();
    let mut subscriber = Subscriber::open(&name, &backend()).unwrap();
    assert!(matches!(subscriber.next(SOON).unwrap(), NextFrame::Frame(_)));
    forks(&name);
}

#[test]
#[ignore = "run in a process of its own"]
fn child_loses_its_publisher() {
    let name = fresh_name();
    let mut publisher = Process::start("suite::forked::child_publishes_and_forks", &name);
    let mut joined = None;
    wait_until("the publisher", || {
        joined = Subscriber::open(&name, &backend()).ok();
        joined.is_some()
    });
    let mut subscriber = joined.unwrap();
    assert!(matches!(subscriber.next(SOON).unwrap(), NextFrame::Frame(_)));
    // Of whose connection the child has a copy.
    let _orphan = Orphan::of(&name);
    let taken = StreamDisplay::open(&name, None, StreamOptions::default()).unwrap_err().to_string();
    assert!(taken.contains("exists already"), "{taken}");
    // Not waited for yet: a process that ended counts, whether its parent knows of it or not.
    publisher.kill();
    assert!(matches!(subscriber.next(SOON).unwrap(), NextFrame::Ended));
    assert!(subscriber.frame().unwrap().read().unwrap() == [1; 64 * 64], "its last frame stays");
    let error = Subscriber::open(&name, &backend()).unwrap_err().to_string();
    assert!(error.contains("no process publishes it"), "{error}");
    assert!(!streams().unwrap().iter().any(|one| one.name == name));
    drop(Stream::open(&name));
    println!("RAN ON a publisher that was killed");
}

#[test]
#[ignore = "run in a process of its own"]
fn child_publishes_and_forks() {
    let mut stream = Stream::open(&given_name());
    wait_until("a subscriber", || stream.display.subscribers() > 0);
    stream.show(1);
    forks(&stream.name);
}
