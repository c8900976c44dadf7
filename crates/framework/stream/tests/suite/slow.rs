//! Subscribers that do not read what they are told.

use super::published::{SOON, Stream, StreamThreads, fresh_name, knock, message, socket};
use pixelferry_stream::{NextFrame, Subscriber};
use pixelferry_testing::wait_until;
use std::time::Duration;

fn taken(subscriber: &mut Subscriber) -> (u64, Vec<u8>) {
    match subscriber.next(SOON).unwrap() {
        NextFrame::Frame(mut frame) => (frame.number(), frame.read().unwrap()),
        other => panic!("no frame: {other:?}"),
    }
}

#[test]
fn a_frame_that_is_read_stays_whatever_its_reader_is_told() {
    let mut stream = Stream::open(&fresh_name());
    let mut subscriber = stream.subscribe();
    stream.show(1);
    assert_eq!(taken(&mut subscriber).1, [1; 64 * 64]);
    stream.churn(500);
    for value in 2..50 {
        let published = stream.show(value);
        assert_eq!(published.subscribers, 1, "who does not read its socket has not gone");
        let mut frame = subscriber.frame().unwrap();
        assert!(frame.read().unwrap() == [1; 64 * 64], "frame 1 has the bytes of frame {}", published.number);
    }
    assert_eq!(taken(&mut subscriber), (49, vec![49; 64 * 64]), "the newest frame, of pieces told of late");
}

#[test]
fn a_paused_subscriber_gets_the_newest_of_hundreds_of_sizes() {
    let mut stream = Stream::open(&fresh_name());
    let mut subscriber = stream.subscribe();
    stream.show(7);
    taken(&mut subscriber);
    for round in 0..3 {
        for side in 9..309 {
            stream.resize(side);
            stream.churn(1);
            stream.show(side as u8);
        }
        assert_eq!(stream.display.subscribers(), 1);
        let (number, bytes) = taken(&mut subscriber);
        assert_eq!((number, bytes.len()), (301 + 300 * round, 308 * 308));
        assert!(bytes.iter().all(|byte| *byte == 308_u32 as u8));
    }
}

#[test]
fn the_last_frame_of_a_closed_stream_reaches_a_paused_subscriber() {
    let mut stream = Stream::open(&fresh_name());
    let mut subscriber = stream.subscribe();
    for side in 9..309 {
        stream.resize(side);
        stream.churn(1);
        stream.show(side as u8);
    }
    drop(stream);
    let (number, bytes) = taken(&mut subscriber);
    assert_eq!((number, bytes.len()), (300, 308 * 308));
    assert!(bytes.iter().all(|byte| *byte == 308_u32 as u8));
    // Asked without waiting, too.
    assert!(matches!(subscriber.next(Duration::ZERO).unwrap(), NextFrame::Ended) && subscriber.has_ended());
    assert_eq!(subscriber.frame().unwrap().number(), 300, "it stays readable");
}

/// Notices that wait in a socket keep the memory of their pieces, so there are few of them however many pieces come and go.
#[test]
fn what_a_silent_subscriber_is_told_is_bounded() {
    let mut stream = Stream::open(&fresh_name());
    let silent = socket();
    knock(&silent, &stream.name);
    wait_until("a subscriber", || stream.display.subscribers() == 1);
    for frame in 0..2000_u32 {
        stream.churn(1);
        stream.show(frame as u8);
    }
    assert_eq!(stream.display.subscribers(), 1);
    let (mut messages, threads) = (Vec::new(), StreamThreads::find());
    loop {
        // What is read makes room for the pieces that there are now.
        threads.wait_until_asleep();
        let before = messages.len();
        messages.extend(std::iter::from_fn(|| message(&silent)));
        if messages.len() == before {
            break;
        }
    }
    assert!(messages[0].contains("welcome"), "{messages:?}");
    assert!(messages.len() < 100, "{} messages of some 4000", messages.len());
    drop(silent);
    wait_until("the end of the subscriber", || stream.display.subscribers() == 0);
}
