//! Either side killed in mid-frame, again and again: the other goes on, and nothing is left.

use super::publisher::{Publisher, PublisherArgs};
use pixelferry::stream::{NextFrame, Subscriber, streams};
use pixelferry::{BackendChoice, PixelFormat, open_backend};
use pixelferry_tests::{Dice, Need, Usage, by_level, pass_in_child, wait_until};
use std::process::{Command, Stdio};
use std::time::Duration;

const SOON: Duration = Duration::from_secs(30);
const NAME: &str = "PIXELFERRY_TEST_TAKES";

/// Kernels of CUDA where a GPU is asked for, else threads, on both sides.
fn told() -> PublisherArgs {
    let backend = if Need::Nvidia.is_required() { BackendChoice::Cuda } else { BackendChoice::Cpu };
    PublisherArgs { backend, size: (256, 256), format: PixelFormat::Rgba8, path: None, frames: None }
}

/// Kills a publisher while frames cross; the last one stays whole.
#[test]
fn a_killed_publisher_leaves_its_last_frame() {
    pass_in_child("streams::killed::child_publishers_are_killed", None, &[], &["RAN ON "]);
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_publishers_are_killed() {
    let told = told();
    let backend = open_backend(told.backend, &[]).unwrap();
    let name = format!("killed-{}", std::process::id());
    let mut dice = Dice(7);
    let rounds = by_level(20, 100, 1000);
    let mut before = None;
    println!("RAN ON {} with {rounds} publishers", backend.device());
    for round in 0..rounds {
        // The same name each time: what the last one left is in nobody's way.
        let mut publisher = Publisher::named(&name, &told);
        let mut subscriber = publisher.when_there(|name| Subscriber::open(name, &backend));
        let frames = dice.below(20) + 1;
        for _ in 0..frames {
            let NextFrame::Frame(mut frame) = subscriber.next(SOON).unwrap() else { panic!("no frame") };
            assert!(frame.read().unwrap() == told.frame(frame.number()));
        }
        std::thread::sleep(Duration::from_micros(dice.below(3000) as u64));
        publisher.kill();
        wait_until("the end of the publisher", || matches!(subscriber.next(SOON).unwrap(), NextFrame::Ended));
        let mut last = subscriber.frame().unwrap();
        assert!(last.read().unwrap() == told.frame(last.number()), "the last frame stays");
        drop(subscriber);
        assert!(!streams().unwrap().iter().any(|one| one.name == name), "a socket is left");
        let now = Usage::here().unwrap();
        if round == rounds / 2 {
            before = Some(now);
        }
        if let Some(before) = before {
            assert_eq!((now.descriptors, now.threads), (before.descriptors, before.threads), "round {round}");
            assert!(now.rss < before.rss + (8 << 20), "round {round}: {before:?} {now:?}");
        }
    }
}

/// Kills subscribers while they read: the publisher does not notice.
#[test]
fn a_killed_subscriber_costs_the_publisher_nothing() {
    let told = told();
    let mut publisher = Publisher::start(&told);
    let backend = open_backend(told.backend, &[]).unwrap();
    let mut watches = publisher.when_there(|name| Subscriber::open(name, &backend));
    let mut dice = Dice(9);
    let rounds = by_level(20, 100, 1000);
    let mut before = None;
    for round in 0..rounds {
        let mut takes = Command::new(std::env::current_exe().unwrap())
            .args(["streams::killed::child_takes", "--exact", "--ignored", "--nocapture"])
            .env(NAME, &publisher.name)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(10 + dice.below(30) as u64));
        takes.kill().unwrap();
        takes.wait().unwrap();
        let NextFrame::Frame(mut frame) = watches.next(SOON).unwrap() else { panic!("no frame in round {round}") };
        assert!(frame.read().unwrap() == told.frame(frame.number()));
        // Counted once it has noticed.
        let now = settled(publisher.process.id(), before);
        if round == rounds / 2 {
            before = Some(now);
        }
        if let Some(before) = before {
            // A subscriber who is killed while it keeps a frame may let the ring have another piece, which stays; one kept by
            // every second of them would be more.
            let most = before.descriptors + 2 + (round - rounds / 2) / 2;
            assert!(now.descriptors <= most && now.threads == before.threads, "round {round}: {before:?} {now:?}");
            assert!(now.rss < before.rss + (8 << 20), "round {round}: {before:?} {now:?}");
        }
    }
}

/// Usage of a process, when it is as it was before, or has not become so for long.
fn settled(process: u32, before: Option<Usage>) -> Usage {
    let is_same = |now: &Usage| before.is_some_and(|before| now.descriptors <= before.descriptors);
    for _ in 0..20 {
        let now = Usage::of(process).unwrap();
        if is_same(&now) {
            return now;
        }
        std::thread::sleep(Duration::from_millis(if before.is_some() { 10 } else { 1 }));
    }
    Usage::of(process).unwrap()
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_takes() {
    let name = std::env::var(NAME).expect("the test above names its stream");
    let told = told();
    let backend = open_backend(told.backend, &[]).unwrap();
    let mut subscriber = Subscriber::open(&name, &backend).unwrap();
    loop {
        let NextFrame::Frame(mut frame) = subscriber.next(SOON).unwrap() else { panic!("no frame") };
        assert!(frame.read().unwrap() == told.frame(frame.number()));
    }
}
