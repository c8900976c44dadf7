//! Workers and viewers in Python for Rust, and the reverse; and the recipe for Ray. Needs `eclipse-zenoh`, `lz4`, `pillow`,
//! `numpy` and `ray` in the Python that `PIXELFERRY_NET_PYTHON` names, else `python3`: `cargo test --package pixelferry-net --test suite python -- --ignored`.

use crate::common::*;
use crate::hostile;
use crate::peer::{NET, RunningPeer, interpreter, python, rows};
use pixelferry::{ImageDesc, PixelFormat};
use pixelferry_net::wire::{HEADER_BYTES, Header, JobMessage, Limits, MessageKind};
use pixelferry_net::{Codec, Scene};
use pixelferry_testing::wait_until;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Command, Stdio};
use zenoh::Wait as _;

#[test]
#[ignore = "needs eclipse-zenoh in Python"]
fn workers_in_python_compute_for_a_display_in_rust() {
    let (net, endpoint) = hub();
    let workers: Vec<_> = (0..2).map(|_| RunningPeer(python("worker", &endpoint).spawn().unwrap())).collect();
    let mut senders = BTreeSet::new();
    for format in PixelFormat::ALL {
        let image = ImageDesc::new(61, 37, format);
        let scene = Scene::new("python", image).with_tile(16, 16).with_balance(true);
        let mut assembly = net.assemble(scene, NEVER).unwrap();
        wait_for_workers(&assembly, 2);
        let mut link = link(image);
        for seed in [7, 9] {
            assembly.request(&[seed]).unwrap();
            let tiles = show(&mut assembly, &mut link);
            assert!(bytes(&mut link) == rows(&image, image.extent.full(), seed), "{format}");
            senders.extend(tiles.tiles().iter().map(|tile| tile.header().sender));
        }
        assert_eq!(assembly.refused(), 0);
    }
    assert_eq!(senders.len(), 2, "both compute");
    drop(workers);
}

#[test]
#[ignore = "needs eclipse-zenoh in Python"]
fn workers_in_rust_compute_for_a_display_in_python() {
    let (net, endpoint) = hub();
    // Workers that live and compute nothing are passed over.
    let token = |node: u64| format!("pixelferry/python/worker/{node:016x}/0_0_0_0");
    let live = net.session().liveliness();
    let _ghosts: Vec<_> = (1..=3).map(|node| live.declare_token(token(node)).wait().unwrap()).collect();
    for codec in [Codec::None, Codec::Lz4] {
        let tile = net.tile("python", None).unwrap().with_codec(codec);
        let mut display = python("display", &endpoint).stdout(Stdio::piped()).spawn().unwrap();
        while display.try_wait().unwrap().is_none() {
            if let Some(mut job) = tile.next(LOOK).unwrap() {
                let (image, region, seed) = (job.image(), job.region(), job.args()[0]);
                job.pixels().copy_from_slice(&rows(&image, region, seed));
                tile.publish(job).unwrap();
            }
        }
        let ended = display.wait_with_output().unwrap();
        assert!(ended.status.success() && ended.stdout == b"the same bytes\n", "{codec}: {ended:?}");
    }
}

#[test]
#[ignore = "needs eclipse-zenoh, lz4 and pillow in Python"]
fn viewers_in_python_see_what_rust_serves() {
    let (net, endpoint) = hub();
    for (codec, format, width, height) in [
        (Codec::None, PixelFormat::Rgba16F, 61, 37),
        (Codec::Lz4, PixelFormat::Rgba8, 61, 37),
        (Codec::Jpeg, PixelFormat::R8, 61, 37),
        (Codec::Jpeg, PixelFormat::Rgba8, 61, 37),
        (Codec::Jpeg, PixelFormat::Bgra8, 61, 37),
        // In pieces.
        (Codec::None, PixelFormat::Rgba16F, 400, 300),
    ] {
        let image = ImageDesc::new(width, height, format);
        let pixels = match codec {
            Codec::Jpeg => [200, 100, 30, 255][..format.bytes_per_pixel()].repeat((width * height) as usize),
            _ => rows(&image, image.extent.full(), 7),
        };
        let server = net.serve("python").unwrap().with_codec(codec, 90);
        let mut viewer = python("view", &endpoint).stdout(Stdio::piped()).spawn().unwrap();
        let mut frame = 0;
        while viewer.try_wait().unwrap().is_none() {
            frame += 1;
            server.publish(image, frame, None, &pixels).unwrap();
            std::thread::sleep(LOOK);
        }
        let ended = viewer.wait_with_output().unwrap();
        assert!(ended.status.success() && ended.stdout == b"the same bytes\n", "{codec} {format}: {ended:?}");
        assert_eq!(server.input().as_deref(), Some(&b"seen"[..]));
    }
}

#[test]
#[ignore = "needs eclipse-zenoh in Python"]
fn a_program_in_python_ends_whatever_it_still_holds() {
    let (_net, endpoint) = hub();
    let mut program = RunningPeer(python("ends", &endpoint).spawn().unwrap());
    wait_until("it ends", || program.0.try_wait().unwrap().is_some());
    assert!(program.0.try_wait().unwrap().unwrap().success());
}

/// Rust's reading of a message, as `judge` in `peer.py` writes it; nothing of what is refused.
fn understood(kind: MessageKind, message: &[u8]) -> Vec<u8> {
    let limits = Limits::default();
    let read = || -> Result<Vec<u8>, pixelferry_net::WireError> {
        let header = Header::read(message, &limits)?;
        header.expect(kind, message.len())?;
        let (head, payload) = (header.to_bytes().to_vec(), &message[HEADER_BYTES..]);
        Ok(match (kind, header.codec) {
            (MessageKind::Job, _) => JobMessage::read(message, &limits)?.to_bytes(),
            (MessageKind::Tile | MessageKind::Picture, Codec::Jpeg) => head,
            (MessageKind::Tile | MessageKind::Picture, _) => [head, header.unpack(payload)?].concat(),
            _ => message.to_vec(),
        })
    };
    read().unwrap_or_default()
}

#[test]
#[ignore = "needs eclipse-zenoh, lz4 and pillow in Python"]
fn python_reads_and_refuses_what_rust_does() {
    let judge = python("judge", "").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let judge = RefCell::new(RunningPeer(judge));
    let counts = RefCell::new([0; 2]);
    let ran = proptest::test_runner::TestRunner::new(hostile::cases(5_000)).run(
        &hostile::any_message(),
        |(kind, message)| {
            let judge = &mut judge.borrow_mut().0;
            // As the protocol numbers them, from 1 on.
            let number = 1 + hostile::KINDS.iter().position(|each| *each == kind).unwrap() as u8;
            let stdin = judge.stdin.as_mut().unwrap();
            let head = [&[number][..], &(message.len() as u32).to_le_bytes()].concat();
            stdin.write_all(&[head, message.clone()].concat()).unwrap();
            stdin.flush().unwrap();
            let (mut length, stdout) = ([0; 4], judge.stdout.as_mut().unwrap());
            stdout.read_exact(&mut length).unwrap();
            let mut read = vec![0; u32::from_le_bytes(length) as usize];
            stdout.read_exact(&mut read).unwrap();
            counts.borrow_mut()[usize::from(read.is_empty())] += 1;
            assert!(read == understood(kind, &message), "{kind:?}: {} bytes by Python", read.len());
            Ok(())
        },
    );
    println!("read and refused by both: {:?}", counts.borrow());
    ran.unwrap();
}

/// In a network of its own where the system lets us make one: Ray opens many ports.
#[test]
#[ignore = "needs ray, numpy and eclipse-zenoh in Python"]
fn ray_starts_killed_workers_again_and_every_frame_is_that_of_one_process() {
    let alone = ["--user", "--map-root-user", "--net"];
    let is_allowed = Command::new("unshare").args(alone).arg("true").status().is_ok_and(|status| status.success());
    // With one worker there is nobody to take over: only the one that Ray started again can go on.
    for workers in ["1", "2"] {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let mut ran = Command::new(if is_allowed { "unshare" } else { "bash" });
        ran.args(is_allowed.then_some(alone).into_iter().flatten()).args(is_allowed.then_some("bash"));
        let up = if is_allowed { "ip link set lo up;" } else { "" };
        ran.arg("-euc").arg(format!("{up} exec \"$@\"")).arg("bash").arg(interpreter());
        ran.arg(format!("{NET}/recipes/ray_tiles.py")).args(["--kill", "--frames", "12", "--workers", workers]);
        ran.arg("--listen").arg(format!("tcp/127.0.0.1:{port}"));
        let ran = ran.env("PYTHONPATH", format!("{NET}/python")).env("PYTHONDONTWRITEBYTECODE", "1").output().unwrap();
        let (out, err) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
        assert!(ran.status.success() && out.contains("every frame is that of one process"), "{out}{err}");
    }
}
