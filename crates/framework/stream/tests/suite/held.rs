//! Frames that a subscriber keeps while others come.

use super::published::{SOON, Stream, backend, fresh_name};
use interop_core::ComputeBackend;
use pixelferry_stream::{HeldStreamFrame, NextFrame, Subscriber};
use pixelferry_testing::wait_until;

fn taken(subscriber: &mut Subscriber) -> HeldStreamFrame {
    assert!(matches!(subscriber.next(SOON).unwrap(), NextFrame::Frame(_)));
    let held = subscriber.hold().unwrap();
    assert!(subscriber.frame().is_none() && subscriber.memory().is_none() && subscriber.hold().is_none());
    held
}

fn assert_is(frame: &mut HeldStreamFrame, backend: &dyn ComputeBackend, value: u8) {
    let whole = [value; 64 * 64];
    let number = frame.number();
    let mut read = Vec::new();
    let copied = frame.read_with(|bytes| {
        read.extend_from_slice(bytes);
        Ok(())
    });
    copied.unwrap();
    assert!(read == whole, "frame {number} is not {value}");
    // As kernels read it.
    let memory = frame.memory().unwrap();
    let mut copy = backend.allocate(memory.len()).unwrap();
    backend.copy(memory, copy.as_mut(), 0..memory.len()).unwrap();
    let mut seen = vec![0; memory.len()];
    copy.read(0, &mut seen).unwrap();
    assert!(seen[frame.view().span()] == whole, "frame {number} is not {value} for kernels");
}

#[test]
fn held_frames_stay_as_they_are_until_they_are_dropped() {
    let mut stream = Stream::in_place(&fresh_name());
    let backend = backend();
    let mut subscriber = Subscriber::open(&stream.name, &backend).unwrap();
    let mut held = Vec::new();
    for value in 0..HeldStreamFrame::MOST as u8 {
        stream.show(value);
        held.push(taken(&mut subscriber));
    }
    // One more than may be held.
    stream.show(100);
    assert!(matches!(subscriber.next(SOON).unwrap(), NextFrame::Frame(_)));
    assert!(subscriber.hold().is_none());
    for round in 0..200_u32 {
        let value = 101 + (round % 100) as u8;
        stream.show(value);
        for (frame, value) in held.iter_mut().zip(0..) {
            assert_is(frame, backend.as_ref(), value);
        }
        let NextFrame::Frame(mut frame) = subscriber.next(SOON).unwrap() else { panic!("no frame") };
        assert_eq!(frame.read().unwrap(), [value; 64 * 64]);
    }
    // From another thread, as garbage collectors do.
    let mut last = held.split_off(3);
    std::thread::spawn(move || drop(held)).join().unwrap();
    for value in 0..100 {
        stream.show(value);
        assert_is(&mut taken(&mut subscriber), backend.as_ref(), value);
    }
    assert_is(&mut last[2], backend.as_ref(), 5);
}

#[test]
fn held_frames_outlive_the_subscriber_and_the_publisher() {
    let mut stream = Stream::in_place(&fresh_name());
    let backend = backend();
    let mut subscriber = Subscriber::open(&stream.name, &backend).unwrap();
    stream.show(7);
    let mut held = taken(&mut subscriber);
    drop(subscriber);
    for value in 10..60 {
        stream.show(value);
        assert_is(&mut held, backend.as_ref(), 7);
    }
    assert_eq!(stream.display.subscribers(), 1, "its subscription is in use");
    let mut second = Subscriber::open(&stream.name, &backend).unwrap();
    stream.show(8);
    let mut later = taken(&mut second);
    drop(held);
    wait_until("the first subscription's end", || stream.display.subscribers() == 1);
    drop(stream);
    assert_is(&mut later, backend.as_ref(), 8);
    assert!(matches!(second.next(SOON).unwrap(), NextFrame::Ended));
}

#[test]
fn a_frame_that_is_published_again_stays_for_the_reader_of_its_first_time() {
    let mut stream = Stream::in_place(&fresh_name());
    let mut subscriber = stream.subscribe();
    stream.show(1);
    assert!(matches!(subscriber.next(SOON).unwrap(), NextFrame::Frame(_)));
    let again = stream.display.publish(&stream.link.shown().unwrap()).unwrap();
    assert!(!again.copied, "{} keeps frames in shared memory", stream.link.path());
    for value in 2..50 {
        stream.show(value);
        assert_eq!(subscriber.frame().unwrap().read().unwrap(), [1; 64 * 64], "while frame {value} was shown");
    }
}
