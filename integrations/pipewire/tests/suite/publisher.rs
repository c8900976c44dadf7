//! A stream of this process, whose frames say their number.

use pixelferry::stream::{StreamDisplay, StreamOptions, publish};
use pixelferry::{BackendChoice, ComputeBackend, Link, LinkOptions, PixelFormat, SurfaceDesc, open_backend};
use pixelferry_testing::Patience;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

/// A picture: its first two pixels have the number.
pub fn picture(width: u32, height: u32, number: u16) -> Vec<u8> {
    let [low, high] = number.to_le_bytes();
    let pixel = |at: u32| [(at % width) as u8 ^ low, (at / width) as u8 ^ high, low, high];
    (0..width * height).flat_map(pixel).collect()
}

/// The number in a picture, if it is whole.
pub fn number(width: u32, height: u32, pixels: &[u8]) -> Option<u16> {
    let number = u16::from_le_bytes([*pixels.get(2)?, *pixels.get(3)?]);
    (pixels == picture(width, height, number)).then_some(number)
}

pub struct Publisher {
    pub name: String,
    stream: Arc<StreamDisplay>,
    link: Link,
    number: u16,
}

impl Publisher {
    pub fn open(width: u32, height: u32, format: PixelFormat) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("pipewire-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self::named(&name, width, height, format)
    }

    pub fn named(name: &str, width: u32, height: u32, format: PixelFormat) -> Self {
        let backend: Arc<dyn ComputeBackend> = open_backend(BackendChoice::Cpu, &[]).unwrap();
        let stream = publish(name, backend.as_ref(), StreamOptions::default()).unwrap();
        let desc = SurfaceDesc::image(width, height, format);
        let link = Link::open(backend, stream.clone(), desc, LinkOptions::default()).unwrap();
        Self { name: name.into(), stream, link, number: 0 }
    }

    /// Another size from the next picture on.
    pub fn resize(&mut self, width: u32, height: u32) {
        let format = self.link.desc().pixels().unwrap().format;
        self.link.resize(SurfaceDesc::image(width, height, format)).unwrap();
    }

    /// Publishes the next picture.
    pub fn publish(&mut self) {
        self.number += 1;
        let extent = self.link.desc().pixels().unwrap().extent;
        let pixels = picture(extent.width, extent.height, self.number);
        self.link.frame(|frame| frame.write(&pixels)).unwrap();
        self.stream.publish(&self.link.shown().unwrap()).unwrap();
    }

    /// Publishes one picture after the other until this is so.
    pub fn publish_until(&mut self, what: &str, mut is_so: impl FnMut() -> bool) {
        let mut patience = Patience::new();
        while !is_so() {
            assert!(!patience.is_over(), "waited for {what}");
            self.publish();
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// The name, and so the stream, goes.
    pub fn end(self) -> String {
        self.name
    }
}
