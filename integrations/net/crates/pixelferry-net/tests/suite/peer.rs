//! Processes of tests: this program again, and `peer.py`, the Python side.

use crate::common::LOOK;
use pixelferry::{ImageDesc, Region};
use pixelferry_net::{Net, NetOptions};
use std::process::{Child, Command, Stdio};

const HUB: &str = "PIXELFERRY_TEST_HUB";
const SCENE: &str = "PIXELFERRY_TEST_SCENE";

/// This program as one of its ignored tests, which plays a part in a scene.
pub fn part(test: &str, hub: &str, scene: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--include-ignored"]).env(HUB, hub).env(SCENE, scene);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command
}

/// In such a process: its connection, and the name of its scene. `None` where nobody started it as one.
pub fn joined() -> Option<(Net, String)> {
    let (hub, scene) = (std::env::var(HUB).ok()?, std::env::var(SCENE).ok()?);
    Some((Net::join(NetOptions::through(&hub)).unwrap(), scene))
}

#[test]
#[ignore = "run by the other tests in processes of their own"]
fn viewer_process() {
    let Some((net, scene)) = joined() else { return };
    let viewer = net.view(&scene).unwrap();
    loop {
        let _ = viewer.next(LOOK);
    }
}

pub const NET: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");

pub fn interpreter() -> String {
    std::env::var("PIXELFERRY_NET_PYTHON").unwrap_or_else(|_| "python3".into())
}

pub fn python(part: &str, hub: &str) -> Command {
    let mut command = Command::new(interpreter());
    command.arg(format!("{NET}/python/peer.py")).args([part, hub]).env("PYTHONDONTWRITEBYTECODE", "1");
    command
}

/// The answer of `rows` in `peer.py`.
pub fn rows(image: &ImageDesc, region: Region, seed: u8) -> Vec<u8> {
    let pixel = image.format.bytes_per_pixel() as u32;
    let bytes = region.x * pixel..(region.x + region.width) * pixel;
    let row = |y: u32| bytes.clone().map(move |byte| (3 * byte + 5 * y + u32::from(seed)) as u8 | 1);
    (region.y..region.y + region.height).flat_map(row).collect()
}

/// Killed when it goes, so that it says no goodbye.
pub struct RunningPeer(pub Child);

impl Drop for RunningPeer {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}
