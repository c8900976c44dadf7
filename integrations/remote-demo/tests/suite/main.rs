//! Checks that a viewer sees what the demo computed.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic)] // how tests fail

use pixelferry::BackendChoice;
use pixelferry_net::{Codec, Net, Options};
use pixelferry_testing::wait_until;
use remote_demo::{Frames, Shown};
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

const SIZE: (u32, u32) = (161, 91);
const LOOK: Duration = Duration::from_millis(100);

/// The command, which ends with this.
struct Served(Child);

impl Served {
    /// Starts it on a port that the system chooses; the endpoint that it tells.
    fn start(words: &[&str]) -> (Self, String) {
        let mut command = Command::new(env!("CARGO_BIN_EXE_remote-demo"));
        command.args(words).args(["--listen", "tcp/127.0.0.1:0", "--size", "161x91", "--backend", "cpu"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let out = child.stdout.take().unwrap();
        let served = Self(child);
        let line = BufReader::new(out).lines().next().expect("a line").unwrap();
        (served, line.rsplit(' ').next().unwrap().to_owned())
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

/// Three pictures as a viewer sees them are those of their numbers, of all but so much.
fn are_seen(shown: Shown, name: &str, codec: Codec) {
    let (_served, endpoint) = Served::start(&[name, "--codec", codec.name(), "--rate", "20", "--quality", "95"]);
    let viewer = Net::join(Options::through(&endpoint)).unwrap().view("demo").unwrap();
    let mut frames = Frames::open(shown, BackendChoice::Cpu, SIZE).unwrap();
    let (mut computed, mut pixels) = (0, Vec::new());
    for _ in 0..3 {
        let mut seen = None;
        // The first frames of the fluid have no dye yet.
        wait_until("a picture", || {
            seen = viewer.next(LOOK).filter(|seen| seen.header().frame >= 10);
            seen.is_some()
        });
        let seen = seen.unwrap();
        assert_eq!((seen.header().image.extent, seen.header().codec), (frames.image().extent, codec));
        while computed < seen.header().frame {
            (computed, pixels) = (computed + 1, frames.compute().unwrap());
        }
        let bytes = seen.to_bytes().unwrap();
        assert_eq!(bytes.len(), pixels.len());
        assert!(pixels.iter().collect::<std::collections::HashSet<_>>().len() > 20, "the picture is flat");
        if codec.is_exact() {
            assert!(*bytes == pixels, "frame {computed} of {name} is another picture");
        } else {
            let away = bytes.iter().zip(&pixels).map(|(a, b)| u64::from(a.abs_diff(*b)));
            let (sum, most) = (away.clone().sum::<u64>(), away.max().unwrap());
            let mean = sum as f64 / pixels.len() as f64;
            println!("{name}, frame {computed}: JPEG is {mean:.2} away, {most} at most");
            assert!(mean < 3.0, "frame {computed} of {name} is {mean} away");
        }
    }
}

#[test]
fn pictures_come_byte_for_byte_without_a_codec() {
    are_seen(Shown::Plasma, "plasma", Codec::None);
    are_seen(Shown::Fluid, "fluid", Codec::Lz4);
}

#[test]
fn pictures_come_nearly_the_same_as_jpeg() {
    are_seen(Shown::Plasma, "plasma", Codec::Jpeg);
    are_seen(Shown::Fluid, "fluid", Codec::Jpeg);
}
