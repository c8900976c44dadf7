//! What comes to a stream's socket that should not.

use super::publisher::{Publisher, PublisherArgs};
use pixelferry::stream::{NextFrame, Subscriber};
use pixelferry::{BackendChoice, PixelFormat, open_backend};
use pixelferry_tests::{Dice, Usage, by_level, wait_until};
use rustix::net::{
    AddressFamily, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, SocketAddrUnix, SocketFlags, SocketType,
    connect, sendmsg, socket_with,
};
use std::io::IoSlice;
use std::mem::MaybeUninit;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::PathBuf;
use std::time::Duration;

const SOON: Duration = Duration::from_secs(30);

fn path(name: &str) -> PathBuf {
    let folder = match std::env::var("XDG_RUNTIME_DIR") {
        Ok(runtime) => PathBuf::from(runtime).join("pixelferry"),
        Err(_) => PathBuf::from(format!("/tmp/pixelferry-{}", rustix::process::geteuid().as_raw())),
    };
    folder.join(format!("{name}.stream"))
}

fn knock(name: &str) -> Option<OwnedFd> {
    let socket = socket_with(AddressFamily::UNIX, SocketType::SEQPACKET, SocketFlags::CLOEXEC, None).unwrap();
    connect(&socket, &SocketAddrUnix::new(path(name)).unwrap()).ok()?;
    Some(socket)
}

fn say(socket: &OwnedFd, bytes: &[u8], file: Option<&OwnedFd>) {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut control = SendAncillaryBuffer::new(&mut space);
    let files = file.map(|file| [file.as_fd()]);
    if let Some(files) = &files {
        control.push(SendAncillaryMessage::ScmRights(files));
    }
    let _ = sendmsg(socket, &[IoSlice::new(bytes)], &mut control, SendFlags::NOSIGNAL | SendFlags::DONTWAIT);
}

#[test]
fn hostile_messages_are_refused_and_break_nothing() {
    let told = PublisherArgs {
        backend: BackendChoice::Cpu,
        size: (64, 32),
        format: PixelFormat::Rgba8,
        path: None,
        frames: None,
    };
    let mut publisher = Publisher::start(&told);
    let backend = open_backend(BackendChoice::Cpu, &[]).unwrap();
    let mut subscriber = publisher.when_there(|name| Subscriber::open(name, &backend));
    let hello = br#"{"version":1}"#;
    let mut dice = Dice(11);
    let file = OwnedFd::from(std::fs::File::open("/dev/zero").unwrap());
    let rounds = by_level(5_000, 20_000, 100_000);
    let mut before = None;
    let mut open: Vec<OwnedFd> = Vec::new();
    for round in 0..rounds {
        if round == rounds / 2 {
            // Everybody who did not say who he is has been let go by then.
            open.clear();
            std::thread::sleep(Duration::from_secs(3));
            before = Some(Usage::of(publisher.process.id()).unwrap());
        }
        let mut text = hello.to_vec();
        match dice.below(6) {
            // Damaged, cut, longer than anything, or nothing at all.
            0 => {
                let at = dice.below(text.len());
                text[at] = dice.below(256) as u8;
            }
            1 => text.truncate(dice.below(text.len())),
            2 => text.resize(1 + dice.below(9000), b'{'),
            3 => text = (0..dice.below(64)).map(|_| dice.below(256) as u8).collect(),
            4 => text = format!(r#"{{"version":{}}}"#, dice.below(usize::MAX)).into_bytes(),
            // As it should be, and then what a subscriber never says.
            _ => {}
        }
        let Some(socket) = knock(&publisher.name) else { continue };
        say(&socket, &text, (round % 3 == 0).then_some(&file));
        if round % 5 == 0 {
            say(&socket, &text, Some(&file));
        }
        match dice.below(4) {
            0 => open.push(socket),
            _ => drop(socket),
        }
        if open.len() > 40 {
            open.clear();
        }
        if round % 200 == 0 {
            let NextFrame::Frame(mut frame) = subscriber.next(SOON).unwrap() else {
                panic!("no frame in round {round}")
            };
            assert!(frame.read().unwrap() == told.frame(frame.number()));
        }
    }
    drop(open);
    let before = before.unwrap();
    let settles = || {
        let now = Usage::of(publisher.process.id()).unwrap();
        // The ring may get a piece more for the frame that the subscriber keeps.
        now.descriptors <= before.descriptors + 4 && now.threads == before.threads
    };
    wait_until("descriptors and threads about as before", settles);
    let now = Usage::of(publisher.process.id()).unwrap();
    assert!(now.rss < before.rss + (16 << 20), "{before:?} {now:?}");
    let NextFrame::Frame(_) = subscriber.next(SOON).unwrap() else { panic!("no frame afterwards") };
    drop(subscriber);
    publisher.when_there(|name| Subscriber::open(name, &backend));
}
