//! Every backend's frames in every backend of another process, byte for byte.

use super::publisher::{Publisher, PublisherArgs};
use interop_core::{HandleType, MemoryShape};
use pixelferry::stream::{NextFrame, StreamOptions, Subscriber, publish, streams};
use pixelferry::{
    BackendChoice, ComputeBackend, DisplayChoice, Error, Link, LinkCore, LinkOptions, PathId, PixelFormat, Support,
    SurfaceDesc, open_backend, open_headless,
};
use pixelferry_tests::{Level, Need, by_level, from, has, need, wait_until};
use std::sync::Arc;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(30);

/// Backends that this machine has.
fn backends() -> Vec<(BackendChoice, Arc<dyn ComputeBackend>)> {
    let rows = [
        (BackendChoice::Cpu, None),
        (BackendChoice::OpenCl, Some(Need::OpenCl)),
        (BackendChoice::Gl, Some(Need::Egl)),
        (BackendChoice::Vulkan, Some(Need::Lavapipe)),
        (BackendChoice::Wgpu, Some(Need::Lavapipe)),
        (BackendChoice::Cuda, Some(Need::Nvidia)),
    ];
    rows.into_iter()
        .filter_map(|(choice, needed)| {
            let opened = match (open_backend(choice, &[]), needed) {
                (Err(Error::Unsupported { reason, .. }), _) => has("kernels", format!("{choice:?}"), Err(reason)),
                (opened, Some(needed)) => need(needed, opened),
                (opened, None) => Some(opened.unwrap()),
            };
            Some((choice, opened?))
        })
        .collect()
}

/// Takes frames until the publisher has ended, and compares each. Returns how many came.
fn compare(told: &PublisherArgs, subscriber: &mut Subscriber) -> u64 {
    let (mut seen, mut last) = (0, 0);
    loop {
        match subscriber.next(SOON).unwrap() {
            NextFrame::Frame(mut frame) => {
                assert!(frame.number() > last, "frame {} after {last}", frame.number());
                assert_eq!(frame.desc().pixels().unwrap().format, told.format);
                (seen, last) = (seen + 1, frame.number());
                // The last one may be published once more, for who came late.
                let number = told.frames.map_or(last, |frames| last.min(frames.into()));
                assert!(frame.read().unwrap() == told.frame(number), "frame {number} is another");
                if Some(number as u32) == told.frames {
                    return seen;
                }
            }
            NextFrame::Nothing => panic!("no frame after {last} in {SOON:?}"),
            NextFrame::Ended => panic!("the publisher ended after {last}"),
        }
    }
}

#[test]
fn frames_cross_from_every_backend_to_every_other() {
    let backends = backends();
    for (from, (publishes, _)) in backends.iter().enumerate() {
        for (to, (takes, backend)) in backends.iter().enumerate() {
            // Each publishes, and each takes; all pairs at the next level.
            if by_level((from + 1) % backends.len() != to && from != to, false, false) {
                continue;
            }
            // Rows that are no multiple of anything.
            let told = PublisherArgs {
                backend: *publishes,
                size: (253, 61),
                format: PixelFormat::Rgba8,
                path: None,
                frames: Some(by_level(200, 200, 20_000)),
            };
            let mut publisher = Publisher::start(&told);
            let mut subscriber = publisher.when_there(|name| Subscriber::open(name, backend));
            let seen = compare(&told, &mut subscriber);
            let path = subscriber.path().unwrap();
            println!("RAN ON {publishes:?} to {takes:?} by {path}: {seen} frames");
        }
    }
}

#[test]
fn memory_of_a_device_is_read_where_it_lies() {
    let backends = backends();
    let host = open_backend(BackendChoice::Cpu, &[]).unwrap();
    let Some(display) = need(Need::Lavapipe, open_headless(DisplayChoice::Vulkan)) else { return };
    let display = display.display();
    let opens = |backend: &Arc<dyn ComputeBackend>| {
        let opens = backend.caps().can_import(HandleType::OPAQUE, MemoryShape::Linear);
        let same = || backend.device().same_device(display.device());
        let answer = if let Support::No(reason) = opens.and(same) { Err(reason) } else { Ok(()) };
        answer.inspect_err(|reason| println!("{} opens no memory of {}: {reason}", backend.device(), display.device()))
    };
    let both: Vec<_> = backends.iter().filter(|(_, backend)| opens(backend).is_ok()).collect();
    has("memory between processes", display.device(), if both.is_empty() { Err("nobody opens it") } else { Ok(()) });
    // NVIDIA's OpenCL is no platform of a process beside one that uses all of its APIs, so that another device would publish.
    for (publishes, _) in both.iter().filter(|(choice, _)| *choice != BackendChoice::OpenCl) {
        let told = PublisherArgs {
            backend: *publishes,
            size: (253, 61),
            format: PixelFormat::Rgba8,
            path: Some(PathId::EXPORTED_IN_PLACE),
            frames: Some(by_level(100, 200, 20_000)),
        };
        for (takes, backend) in &both {
            let mut publisher = Publisher::start(&told);
            let mut subscriber = publisher.when_there(|name| Subscriber::open(name, backend));
            // Beside one who has it copied to memory of the host.
            let mut beside = Subscriber::open(&publisher.name, &host).unwrap();
            let NextFrame::Frame(mut frame) = beside.next(SOON).unwrap() else { panic!("no frame on the host") };
            // The last frame may have been published once more for it.
            let number = frame.number().min(told.frames.unwrap().into());
            assert!(frame.read().unwrap() == told.frame(number));
            assert_eq!(beside.path(), Some(PathId::HOST_VISIBLE_IN_PLACE));
            drop(beside);
            let seen = compare(&told, &mut subscriber);
            assert_eq!(subscriber.path(), Some(PathId::EXPORTED_IN_PLACE), "{:?}", subscriber.refused());
            println!("RAN ON {publishes:?} to {takes:?} in memory of the device: {seen} frames");
        }
    }
}

/// Frames that follow each other at once, each compared whole.
#[test]
fn a_hundred_thousand_frames_are_right() {
    if !from(Level::Long) {
        return;
    }
    let publishes = if Need::Nvidia.is_required() { BackendChoice::Cuda } else { BackendChoice::Vulkan };
    for (takes, backend) in backends() {
        let told =
            PublisherArgs { backend: publishes, size: (253, 61), format: PixelFormat::Rgba8, path: None, frames: None };
        let mut publisher = Publisher::start(&told);
        let mut subscriber = publisher.when_there(|name| Subscriber::open(name, &backend));
        let mut last = 0;
        for _ in 0..100_000 {
            let NextFrame::Frame(mut frame) = subscriber.next(SOON).unwrap() else { panic!("no frame after {last}") };
            assert!(frame.number() > last);
            last = frame.number();
            assert!(frame.read().unwrap() == told.frame(last), "frame {last} is another");
        }
        println!("RAN ON {publishes:?} to {takes:?} by {:?}: 100 000 of {last} frames", subscriber.path());
    }
}

#[test]
fn every_format_and_size_crosses() {
    let backend = open_backend(BackendChoice::Cpu, &[]).unwrap();
    let name = format!("formats-{}", std::process::id());
    let stream = publish(&name, backend.as_ref(), StreamOptions::default()).unwrap();
    let mut subscriber = Subscriber::open(&name, &backend).unwrap();
    let first = SurfaceDesc::image(8, 8, PixelFormat::R8);
    let mut link = Link::open(backend.clone(), stream.clone(), first, LinkOptions::default()).unwrap();
    let mut number = 0;
    let mut cross = |link: &mut LinkCore| {
        number += 1;
        let told = *link.desc();
        let bytes: Vec<_> = (0..told.byte_len().unwrap()).map(|at| (at as u64 * 7 + number) as u8).collect();
        link.frame(|frame| frame.write(&bytes)).unwrap();
        stream.publish(&link.shown().unwrap()).unwrap();
        let NextFrame::Frame(mut frame) = subscriber.next(SOON).unwrap() else { panic!("{told}") };
        assert_eq!((frame.number(), frame.desc().byte_len().unwrap()), (number, bytes.len()));
        assert!(frame.read().unwrap() == bytes, "{told}");
        assert!(frame.age() < SOON);
    };
    // Larger and smaller, in memory that is kept and in new memory.
    for (width, height) in [(8, 8), (1, 1), (640, 3), (7, 5), (1920, 1080), (33, 17)] {
        link.resize(SurfaceDesc::image(width, height, PixelFormat::R8)).unwrap();
        cross(&mut link);
    }
    for format in PixelFormat::ALL {
        let desc = SurfaceDesc::image(19, 6, format);
        let mut link = Link::open(backend.clone(), stream.clone(), desc, LinkOptions::default()).unwrap();
        cross(&mut link);
        cross(&mut link);
    }
    let buffer = SurfaceDesc::buffer(1001);
    let mut link = Link::open(backend.clone(), stream.clone(), buffer, LinkOptions::default()).unwrap();
    cross(&mut link);
}

#[test]
fn each_place_has_one_subscriber() {
    let backend = open_backend(BackendChoice::Cpu, &[]).unwrap();
    let name = format!("places-{}", std::process::id());
    let _stream = publish(&name, backend.as_ref(), StreamOptions::default()).unwrap();
    let open = || Subscriber::open(&name, &backend);
    let all: Vec<_> = (0..StreamOptions::default().readers).map(|_| open().unwrap()).collect();
    let error = open().unwrap_err().to_string();
    assert!(error.contains("all 8 subscriptions are in use") && error.contains("readers"), "{error}");
    drop(all);
    wait_until("a place", || open().is_ok());
}

#[test]
fn names_that_cannot_be_and_streams_that_are_not_are_refused() {
    let backend = open_backend(BackendChoice::Cpu, &[]).unwrap();
    for name in ["", ".hidden", "a/b", "with space", "ümlaut", "../up", &"x".repeat(49)] {
        for error in [
            publish(name, backend.as_ref(), StreamOptions::default()).err().unwrap(),
            Subscriber::open(name, &backend).err().unwrap(),
        ] {
            assert!(matches!(&error, Error::InvalidInput { problem, .. } if problem.contains("letters")), "{error}");
        }
    }
    let error = Subscriber::open("nobody-publishes-this", &backend).err().unwrap();
    assert!(
        matches!(&error, Error::Unavailable { reason, .. } if reason.starts_with("no process publishes it in /")),
        "{error}"
    );
    for readers in [0, StreamOptions::MOST_READERS + 1] {
        let options = StreamOptions::default().with_readers(readers);
        let error = publish("readers", backend.as_ref(), options).err().unwrap().to_string();
        assert!(error.contains("1 to 16"), "{error}");
    }
    let name = format!("taken-{}", std::process::id());
    let stream = publish(&name, backend.as_ref(), StreamOptions::default()).unwrap();
    let error = publish(&name, backend.as_ref(), StreamOptions::default()).err().unwrap().to_string();
    assert!(error.contains("exists already"), "{error}");
    let listed = streams().unwrap().into_iter().find(|one| one.name == name).unwrap();
    assert_eq!(listed.process, std::process::id());
    let mut subscriber = Subscriber::open(&name, &backend).unwrap();
    assert!(matches!(subscriber.next(Duration::ZERO).unwrap(), NextFrame::Nothing) && subscriber.frame().is_none());
    drop(stream);
    assert!(matches!(subscriber.next(SOON).unwrap(), NextFrame::Ended) && subscriber.has_ended());
    assert!(!streams().unwrap().iter().any(|one| one.name == name));
}
