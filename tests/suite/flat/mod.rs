//! Programs that go on for long: memory of the host and of the GPU, descriptors, threads and GL objects stay flat.

mod anew;
mod paths;
mod soak;

use pixelferry::api::gl::ObjectCounts;
use pixelferry::{
    BackendChoice, ComputeBackend, DisplayChoice, HeadlessDisplay, ImageAccess, ImageDesc, PixelFormat, SurfaceDesc,
    command::ApiChoice as _, open_backend, open_headless,
};
use pixelferry_tests::{Need, Usage, given, need, need_display, pass_in_child, wait_until};
use std::process::Command;
use std::sync::Arc;

const BACKEND: &str = "PIXELFERRY_FLAT_BACKEND";
const DISPLAY: &str = "PIXELFERRY_FLAT_DISPLAY";
/// A driver takes and gives back device memory in blocks of 2 MiB, when it likes.
const GPU_SLACK_MIB: u64 = 16;

/// What is in use: by the process, of GL objects, and MiB of the first NVIDIA GPU.
#[derive(Debug, Clone, Copy)]
struct ResourceUse(Usage, Option<ObjectCounts>, Option<u64>);

impl ResourceUse {
    fn now(screen: Option<&HeadlessDisplay>) -> Self {
        let objects = screen.and_then(|screen| screen.gl()).map(|gl| gl.object_counts());
        let asked = ["--query-gpu=memory.used", "--format=csv,noheader,nounits"];
        let text =
            Command::new("nvidia-smi").args(asked).output().ok().and_then(|told| String::from_utf8(told.stdout).ok());
        Self(Usage::here().unwrap(), objects, text.and_then(|text| text.lines().next()?.trim().parse().ok()))
    }

    /// Fails where more is in use than before. So many bytes are kept by allocators and drivers here and there.
    fn judge(self, before: Self, slack: u64, what: &str) {
        println!("{what}: {before:?} -> {self:?}");
        assert_eq!(self.1, before.1, "{what}: GL objects");
        // Drivers' threads end a little after what they worked for, and close files of the GPU then.
        wait_until(&format!("{what}: the end of threads and file descriptors"), || {
            let now = Usage::here().unwrap();
            now.threads <= before.0.threads && now.descriptors <= before.0.descriptors
        });
        assert!(self.0.rss <= before.0.rss + slack, "{what}: memory {} -> {}", before.0.rss, self.0.rss);
        let grown = before.2.zip(Self::now(None).2).map_or(0, |(before, now)| now.saturating_sub(before));
        assert!(grown <= GPU_SLACK_MIB, "{what}: {grown} MiB more of the GPU's memory");
    }
}

/// An image of one of a few sizes, which come round.
fn desc(width: u32, height: u32) -> SurfaceDesc {
    SurfaceDesc::Image(ImageDesc::new(width, height, PixelFormat::Rgba8).with_access(ImageAccess::Any))
}

/// The sides that a child is to open.
fn choices() -> (BackendChoice, DisplayChoice) {
    let named = |name| std::env::var(name).unwrap();
    (BackendChoice::parse(&named(BACKEND)).unwrap(), DisplayChoice::parse(&named(DISPLAY)).unwrap())
}

/// `None` where the machine lacks one of them, which is said.
fn sides() -> Option<(Arc<dyn ComputeBackend>, HeadlessDisplay)> {
    let (backend, display) = choices();
    let backend = need(given(), open_backend(backend, &[]))?;
    Some((backend, need_display(display, open_headless(display))?))
}

/// Runs a child, which says `FLAT` in the end.
fn on(child: &str, backend: &str, driver: Option<Need>, display: &str) {
    let env = [(BACKEND, backend), (DISPLAY, display)];
    pass_in_child(&format!("flat::{child}"), driver, &env, &["FLAT"]);
}
