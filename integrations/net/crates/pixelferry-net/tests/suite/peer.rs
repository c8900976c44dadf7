//! `peer.py`, the Python side of tests.

use pixelferry::{ImageDesc, Region};
use std::process::{Child, Command};

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

/// Ended when it goes.
pub struct Running(pub Child);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}
