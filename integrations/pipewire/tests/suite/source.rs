//! Pictures that consumers get, and the end of either side.

use crate::consumer::Consumer;
use crate::daemon::{Graph, Pipewire, RunningProgram};
use crate::publisher::{Publisher, picture};
use pixelferry::{Encoding, ImageDesc, PixelFormat};
use pixelferry_pipewire::{PipewireError, VideoSource};
use pixelferry_testing::{Child, wait_until};
use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

const FOLDER: &str = "PIXELFERRY_TEST_PIPEWIRE";

/// None is older than the one before. The last may come again where consumers come.
fn grows(numbers: &[u16]) -> bool {
    numbers.windows(2).all(|pair| pair[0] <= pair[1])
}

#[test]
fn every_format_arrives_as_it_was_published() {
    let Some(pipewire) = Pipewire::start() else { return };
    for (ours, theirs) in [
        (PixelFormat::Rgba8, "RGBA"),
        (PixelFormat::Rgba8, "RGBx"),
        (PixelFormat::Bgra8, "BGRA"),
        (PixelFormat::Bgra8, "BGRx"),
    ] {
        let mut publisher = Publisher::open(61, 37, ours);
        publisher.publish();
        let _source = RunningProgram(pipewire.graph.source(&publisher.name).spawn().unwrap());
        let consumer = Consumer::start(&pipewire.graph, &publisher.name, theirs);
        publisher.publish_until("pictures", || consumer.taken(61, 37).len() >= 8);
        let numbers = consumer.taken(61, 37);
        assert!(grows(&numbers), "{theirs}: {numbers:?}");
    }
}

#[test]
fn another_size_is_agreed_on_while_the_consumer_stays() {
    let Some(pipewire) = Pipewire::start() else { return };
    let mut publisher = Publisher::open(64, 48, PixelFormat::Rgba8);
    publisher.publish();
    let _source = RunningProgram(pipewire.graph.source(&publisher.name).spawn().unwrap());
    let consumer = Consumer::start(&pipewire.graph, &publisher.name, "RGBA");
    for (width, height) in [(64, 48), (33, 17), (160, 90)] {
        publisher.resize(width, height);
        publisher.publish_until("pictures of another size", || consumer.taken(width, height).len() >= 4);
        assert!(grows(&consumer.taken(width, height)));
    }
}

#[test]
fn who_comes_late_gets_the_last_picture_and_who_goes_harms_nobody() {
    let Some(pipewire) = Pipewire::start() else { return };
    let mut publisher = Publisher::open(40, 30, PixelFormat::Bgra8);
    publisher.publish();
    let mut source = RunningProgram(pipewire.graph.source(&publisher.name).spawn().unwrap());
    // No picture is published after the first, until a second one lets the first one's file be whole.
    let mut first = Consumer::start(&pipewire.graph, &publisher.name, "BGRA");
    wait_until("the last picture", || first.has_any());
    publisher.publish_until("the next", || first.taken(40, 30).len() >= 3);
    assert_eq!(first.taken(40, 30)[0], 1);
    first.process.kill();
    let second = Consumer::start(&pipewire.graph, &publisher.name, "BGRA");
    publisher.publish_until("pictures again", || second.taken(40, 30).len() >= 3);
    // The next publisher of the name is joined.
    let name = publisher.end();
    let mut publisher = Publisher::named(&name, 24, 24, PixelFormat::Bgra8);
    publisher.publish_until("another publisher's pictures", || second.taken(24, 24).len() >= 3);
    assert!(source.runs());
}

#[test]
fn what_cannot_be_shown_ends_the_program_with_the_reason() {
    let Some(mut pipewire) = Pipewire::start() else { return };
    let said = |mut process: std::process::Child| {
        let mut text = String::new();
        std::io::Read::read_to_string(&mut process.stderr.take().unwrap(), &mut text).unwrap();
        assert_eq!(process.wait().unwrap().code(), Some(1), "{text}");
        text
    };
    let start = |graph: &Graph, name: &str| graph.source(name).stderr(Stdio::piped()).spawn().unwrap();
    let mut publisher = Publisher::open(8, 8, PixelFormat::Rgba8);
    publisher.publish();
    let source = start(&pipewire.graph, &publisher.name);
    let consumer = Consumer::start(&pipewire.graph, &publisher.name, "RGBA");
    publisher.publish_until("pictures", || consumer.taken(8, 8).len() >= 2);
    pipewire.daemon.kill();
    let text = said(source);
    assert!(text.contains("PipeWire reports: "), "{text}");
    let text = said(start(&pipewire.graph, &publisher.name));
    assert!(text.contains("cannot connect to PipeWire"), "{text}");
    let text = said(start(&pipewire.graph, "no/name"));
    assert!(text.contains("cannot connect to PipeWire"), "{text}");
}

#[test]
fn that_nobody_publishes_is_said_once() {
    let Some(pipewire) = Pipewire::start() else { return };
    let name = Publisher::open(8, 8, PixelFormat::Rgba8).end();
    let mut source = RunningProgram(pipewire.graph.source(&name).stderr(Stdio::piped()).spawn().unwrap());
    // PipeWire may say something, too.
    let mut lines = BufReader::new(source.0.stderr.take().unwrap()).lines();
    assert!(lines.any(|line| line.unwrap().contains("no process publishes it")));
    let mut publisher = Publisher::named(&name, 8, 8, PixelFormat::Rgba8);
    publisher.publish();
    let consumer = Consumer::start(&pipewire.graph, &name, "RGBA");
    publisher.publish_until("pictures", || consumer.taken(8, 8).len() >= 2);
    source.kill();
    let again = lines.filter(|line| line.as_ref().unwrap().contains("no process publishes it"));
    assert_eq!(again.count(), 0, "it was said again");
}

#[test]
fn pictures_that_are_not_offered_are_refused() {
    let Some(pipewire) = Pipewire::start() else { return };
    run(&pipewire.graph.folder, "source::child_is_refused");
}

#[test]
#[ignore = "run by the test above, in a process that finds the daemon"]
fn child_is_refused() {
    std::env::var(FOLDER).expect("the test above names its folder");
    assert!(matches!(VideoSource::open(""), Err(PipewireError::Name)));
    assert!(matches!(VideoSource::open("a\0b"), Err(PipewireError::Name)));
    let mut source = VideoSource::open("refused").unwrap();
    let image = |width, height, format| ImageDesc::new(width, height, format);
    for (image, bytes) in [
        (image(0, 4, PixelFormat::Rgba8), 0),
        (image(4, 4, PixelFormat::Rgba8), 63),
        (image(4, 4, PixelFormat::Rgba8), 65),
        (image(40_000, 1, PixelFormat::Rgba8), 160_000),
    ] {
        assert!(matches!(source.show(&image, &vec![0; bytes]), Err(PipewireError::Size { .. })), "{image:?}");
    }
    for image in [
        image(4, 4, PixelFormat::R32F),
        image(4, 4, PixelFormat::Rgba8).with_encoding(Encoding::Linear),
        image(4, 4, PixelFormat::Bgra8).with_encoding(Encoding::Gamma22),
    ] {
        assert!(matches!(source.show(&image, &[0; 64]), Err(PipewireError::Format { .. })), "{image:?}");
    }
    assert_eq!(source.node(), None);
    source.show(&image(4, 4, PixelFormat::Rgba8).with_encoding(Encoding::Srgb), &[0; 64]).unwrap();
    wait_until("the node", || {
        source.wait(Duration::from_millis(1)).unwrap();
        source.node().is_some()
    });
}

#[test]
fn between_two_pictures_the_newest_waits() {
    let Some(pipewire) = Pipewire::start() else { return };
    run(&pipewire.graph.folder, "source::child_keeps_pace");
}

#[test]
#[ignore = "run by the test above, in a process that finds the daemon"]
fn child_keeps_pace() {
    let folder = std::env::var(FOLDER).expect("the test above names its folder");
    // One picture in 1000 seconds.
    let mut source = VideoSource::open("slow").unwrap().with_rate(0.001);
    let image = ImageDesc::new(20, 10, PixelFormat::Rgba8);
    source.show(&image, &picture(20, 10, 1)).unwrap();
    let linker = std::thread::spawn(move || Consumer::start(&Graph { folder: folder.into() }, "slow", "RGBA"));
    wait_until("the first picture", || {
        source.wait(Duration::from_millis(5)).unwrap();
        source.sent() > 0
    });
    for number in 2..50 {
        source.show(&image, &picture(20, 10, number)).unwrap();
        source.wait(Duration::from_millis(2)).unwrap();
    }
    assert_eq!(source.sent(), 1);
    // Now none waits for the other.
    let mut source = source.with_rate(f64::INFINITY);
    wait_until("the newest picture", || {
        source.wait(Duration::from_millis(1)).unwrap();
        source.sent() > 1
    });
    let consumer = linker.join().unwrap();
    // It goes out again until it is seen twice, as the newest file may be half written.
    wait_until("the newest picture at the consumer", || {
        source.wait(Duration::from_millis(5)).unwrap();
        consumer.taken(20, 10).contains(&49)
    });
    // The first may have come before the consumer was ready.
    let mut taken = consumer.taken(20, 10);
    taken.dedup();
    assert!(taken == [1, 49] || taken == [49], "{taken:?}");
}

/// Runs a test in a process that finds the daemon in this folder.
fn run(folder: &Path, test: &str) {
    let folder = folder.to_str().unwrap();
    Child::of(test).unwrap().env("PIPEWIRE_RUNTIME_DIR", folder).env(FOLDER, folder).run().unwrap().passed();
}
