//! A publisher in a process of its own: this program, run again.

use interop_core::describe::pattern::Pattern;
use pixelferry::command::ApiChoice as _;
use pixelferry::stream::{StreamOptions, publish};
use pixelferry::{
    BackendChoice, ImageView, Link, LinkOptions, PathId, PixelFormat, Policy, SurfaceDesc, View, open_backend,
};
use pixelferry_tests::Patience;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

const NAME: &str = "PIXELFERRY_TEST_STREAM";

/// What a publisher is told.
#[derive(Debug, Clone, Copy)]
pub struct PublisherArgs {
    pub backend: BackendChoice,
    pub size: (u32, u32),
    pub format: PixelFormat,
    /// The only path that its link may take.
    pub path: Option<PathId>,
    /// Frames, after which it waits until nobody subscribes; none: until it is killed.
    pub frames: Option<u32>,
}

impl PublisherArgs {
    pub fn desc(&self) -> SurfaceDesc {
        SurfaceDesc::image(self.size.0, self.size.1, self.format)
    }

    /// Bytes of a frame.
    pub fn frame(&self, number: u64) -> Vec<u8> {
        let mut bytes = vec![0; self.desc().byte_len().unwrap()];
        let image = ImageView::packed(self.desc().pixels().unwrap().extent, self.format, 1, 0, false).unwrap();
        let view = View::Image(image);
        Pattern::for_view(&view, number as u32).write(&view, &mut bytes);
        bytes
    }
}

/// A publisher that runs; killed when it is dropped.
pub struct Publisher {
    pub name: String,
    pub process: Child,
}

impl Publisher {
    pub fn start(told: &PublisherArgs) -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let name = format!("test-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        Self::named(&name, told)
    }

    pub fn named(name: &str, told: &PublisherArgs) -> Self {
        let backend = told.backend.name();
        let numbers = [told.size.0, told.size.1, told.frames.unwrap_or(0)].map(|n| n.to_string()).join(" ");
        let path = told.path.map_or("any", |path| path.name());
        let process = Command::new(std::env::current_exe().unwrap())
            .args(["streams::publisher::child_publishes", "--exact", "--ignored", "--nocapture"])
            .env(NAME, format!("{name} {backend} {} {numbers} {path}", told.format.name()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        Self { name: name.into(), process }
    }

    /// `open` once the stream is there.
    pub fn when_there<T>(&mut self, mut open: impl FnMut(&str) -> pixelferry::Result<T>) -> T {
        let mut patience = Patience::new();
        loop {
            match open(&self.name) {
                Ok(there) => return there,
                Err(error) => {
                    assert!(self.process.try_wait().unwrap().is_none(), "the publisher ended: {error}");
                    assert!(!patience.is_over(), "{error}");
                    std::thread::sleep(Duration::from_millis(5));
                }
            }
        }
    }

    pub fn kill(&mut self) {
        self.process.kill().unwrap();
        self.process.wait().unwrap();
    }
}

impl Drop for Publisher {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
#[ignore = "run by tests of streams, in a process of its own"]
fn child_publishes() {
    let told = std::env::var(NAME).expect("the test names its stream");
    let words: Vec<_> = told.split(' ').collect();
    let [name, backend, format, width, height, frames, path] = words[..] else { panic!("{told}") };
    let number = |word: &str| word.parse::<u32>().unwrap();
    let told = PublisherArgs {
        backend: BackendChoice::parse(backend).unwrap(),
        size: (number(width), number(height)),
        format: format.parse().unwrap(),
        frames: Some(number(frames)).filter(|frames| *frames > 0),
        path: Some(path).filter(|path| *path != "any").map(|path| path.parse().unwrap()),
    };
    let backend = open_backend(told.backend, &[]).unwrap();
    let stream = publish(name, backend.as_ref(), StreamOptions::default()).unwrap();
    let policy = told.path.map_or_else(Policy::default, |path| Policy::default().with_force(path));
    let mut link = Link::open(backend.clone(), stream.clone(), told.desc(), LinkOptions::new(policy)).unwrap();
    println!("{name}: {} by {}", backend.device(), link.path());
    // The first frame is for who has subscribed.
    let mut patience = Patience::new();
    while stream.subscribers() == 0 && told.frames.is_some() && !patience.is_over() {
        std::thread::sleep(Duration::from_millis(1));
    }
    for number in 1..=told.frames.unwrap_or(u32::MAX) {
        link.frame(|frame| {
            let target = frame.target()?;
            let pattern = Pattern::for_view(&target.view(), number);
            backend.write_pattern(target, &pattern)
        })
        .unwrap();
        let published = stream.publish(&link.shown().unwrap()).unwrap();
        assert_eq!(published.number, u64::from(number));
    }
    let mut patience = Patience::new();
    while stream.subscribers() > 0 && !patience.is_over() {
        if stream.is_awaited() {
            stream.publish(&link.shown().unwrap()).unwrap();
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}
