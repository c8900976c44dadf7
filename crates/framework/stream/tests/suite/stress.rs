//! Frames with subscribers that are slow, paused, killed and forked, all at once. Meant for sanitizers, too: scripts/sanitize.

use super::fork::Fork;
use super::published::{Process, SOON, Stream, backend, fresh_name, given_name};
use pixelferry_stream::{NextFrame, StreamFrame, Subscriber};
use pixelferry_testing::{Dice, by_level, pass_in_child};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

#[test]
fn subscribers_of_every_kind_meet_whole_frames() {
    pass_in_child("suite::stress::child_publishes", None, &[], &["RAN ON "]);
}

/// Bytes of a frame: all the same, by its number.
fn value(number: u64) -> u8 {
    (number % 251) as u8
}

#[track_caller]
fn check(frame: &mut StreamFrame<'_>) -> u64 {
    let number = frame.number();
    let bytes = frame.read().unwrap();
    assert!(bytes.iter().all(|byte| *byte == value(number)), "frame {number} is another's: {:?}", &bytes[..8]);
    number
}

/// Takes and compares until the stream has ended; between two looks at a frame it waits for `pause`. Returns how many came.
fn take(name: &str, pause: Option<Duration>) -> u64 {
    let mut subscriber = Subscriber::open(name, &backend()).unwrap();
    let (mut taken, mut last) = (0, 0);
    loop {
        match subscriber.next(SOON).unwrap() {
            NextFrame::Frame(mut frame) => {
                let number = check(&mut frame);
                assert!(number > last, "frame {number} after {last}");
                if let Some(pause) = pause {
                    std::thread::sleep(pause);
                    check(&mut frame);
                }
                (taken, last) = (taken + 1, number);
            }
            NextFrame::Nothing => panic!("nothing came after {last}"),
            NextFrame::Ended => return taken,
        }
    }
}

/// Says that it is over, also where a test fails.
struct OnEnd<'o>(&'o AtomicBool);

impl Drop for OnEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

#[test]
#[ignore = "run in a process of its own"]
fn child_publishes() {
    let frames: u64 = by_level(3_000, 20_000, 100_000);
    let stream = Stream::open(&fresh_name());
    let name = stream.name.clone();
    let (begun, over, comings) = (AtomicU64::new(0), AtomicBool::new(false), AtomicU64::new(0));
    let counted = std::thread::scope(|scope| {
        let mut stream = stream;
        let takers: Vec<_> = [None, None, Some(Duration::from_millis(3)), Some(Duration::from_millis(40))]
            .into_iter()
            .map(|pause| {
                scope.spawn({
                    let name = &name;
                    move || take(name, pause)
                })
            })
            .collect();
        // Keeps the first frame that it gets, and asks for nothing until the stream has ended.
        let paused = scope.spawn(|| {
            let mut subscriber = Subscriber::open(&name, &backend()).unwrap();
            let NextFrame::Frame(mut frame) = subscriber.next(SOON).unwrap() else { panic!("no frame") };
            let first = check(&mut frame);
            begun.fetch_add(1, Ordering::SeqCst);
            while !over.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(5));
                assert_eq!(check(&mut subscriber.frame().unwrap()), first);
            }
            let NextFrame::Frame(mut frame) = subscriber.next(SOON).unwrap() else { panic!("no last frame") };
            assert_eq!(check(&mut frame), frames);
            assert!(matches!(subscriber.next(SOON).unwrap(), NextFrame::Ended));
        });
        // Come and go.
        let comes = scope.spawn(|| {
            while !over.load(Ordering::SeqCst) {
                let Ok(mut subscriber) = Subscriber::open(&name, &backend()) else { continue };
                if let NextFrame::Frame(mut frame) = subscriber.next(SOON).unwrap() {
                    check(&mut frame);
                    comings.fetch_add(1, Ordering::SeqCst);
                }
            }
        });
        let over = OnEnd(&over);
        let mut shown = 0;
        while begun.load(Ordering::SeqCst) == 0 || stream.display.subscribers() < 5 {
            shown += 1;
            stream.show(value(shown));
            std::thread::sleep(Duration::from_millis(1));
        }
        let mut dice = Dice(5);
        let (mut killed, mut forks, mut process) = (0, 0, None);
        while shown < frames {
            shown += 1;
            if dice.below(400) == 0 {
                stream.resize(16 + dice.below(64) as u32);
                stream.churn(dice.below(40));
            }
            let published = stream.show(value(shown));
            assert_eq!(published.number, shown);
            assert!(published.subscribers >= 5, "{} of five are left", published.subscribers);
            if shown % 500 == 0 {
                // Its end is another one's beginning.
                drop(process.replace(Process::start("suite::stress::child_takes", &name)));
                killed += 1;
            }
            if shown % 700 == 0 {
                let child = Fork::new(|| {
                    let bytes = vec![0; stream.link.desc().byte_len().unwrap()];
                    let error = stream.link.frame(|frame| frame.write(&bytes)).unwrap_err().to_string();
                    assert!(error.contains("spawn"), "{error}");
                    assert!(stream.display.publish(&stream.link.shown().unwrap()).is_err());
                });
                assert!(child.passes(), "a forked child");
                forks += 1;
            }
        }
        drop(process);
        // Who is slow has as long as it wants: the stream ends for everybody at once.
        drop((stream, over));
        paused.join().unwrap();
        comes.join().unwrap();
        let taken: Vec<_> = takers.into_iter().map(|taker| taker.join().unwrap()).collect();
        assert!(taken.iter().all(|taken| *taken > 0), "{taken:?}");
        format!("{frames} frames, of which subscribers took {taken:?}; {killed} were killed, {forks} forked")
    });
    println!("RAN ON {counted}, {} came and went", comings.load(Ordering::SeqCst));
}

#[test]
#[ignore = "run by the test above, in a process of its own"]
fn child_takes() {
    let mut subscriber = Subscriber::open(&given_name(), &backend()).unwrap();
    // A process that forked keeps its copies for a while after it was killed.
    let _fork = Fork::new(|| std::thread::sleep(Duration::from_millis(300)));
    while let NextFrame::Frame(mut frame) = subscriber.next(SOON).unwrap() {
        check(&mut frame);
    }
}
