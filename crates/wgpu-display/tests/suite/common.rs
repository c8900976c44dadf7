//! The display that every test runs on: Mesa's Vulkan on the CPU, or what `PIXELFERRY_WGPU_ADAPTER` names; where [`OPENGL`] is
//! set, Mesa's OpenGL.

use interop_core::path::PATHS;
use interop_core::{Display as _, PathId, PathKind};
use pixelferry_testing::{Need, has, need};
use std::rc::Rc;
use wgpu_display::{WgpuDisplay, WgpuOptions};

/// Set where `opengl` runs tests again.
pub const OPENGL: &str = "PIXELFERRY_TEST_OPENGL";

pub const LAVAPIPE: &str = "llvmpipe";

/// The paths from memory of the host, all of which Mesa's drivers have.
pub fn host_paths() -> impl Iterator<Item = PathId> {
    let of_the_host = |kind| !matches!(kind, PathKind::Direct | PathKind::ExternalMemory | PathKind::InQueue);
    PATHS.iter().filter(move |path| of_the_host(path.kind)).map(|path| path.id)
}

pub fn is_opengl() -> bool {
    std::env::var_os(OPENGL).is_some()
}

pub fn backends() -> wgpu::Backends {
    if is_opengl() { wgpu::Backends::GL } else { wgpu::Backends::VULKAN }
}

pub fn options() -> WgpuOptions {
    let name = std::env::var("PIXELFERRY_WGPU_ADAPTER").unwrap_or_else(|_| LAVAPIPE.into());
    WgpuOptions::default().with_name(name).with_backends(backends())
}

/// `None` after saying SKIPPED; a failure where the machine must have it.
pub fn display() -> Option<Rc<WgpuDisplay>> {
    let display = need(if is_opengl() { Need::Egl } else { Need::Lavapipe }, WgpuDisplay::headless(options()))?;
    println!("{}", described(&display));
    Some(display)
}

/// The device with its driver and version.
pub fn described(display: &WgpuDisplay) -> String {
    format!("{} ({})", display.device(), display.device().driver)
}

/// Whether the CPU draws; says SKIPPED where a GPU does.
pub fn is_software(display: &WgpuDisplay, what: &str) -> bool {
    has(what, described(display), if display.device().software { Ok(()) } else { Err("a GPU draws") }).is_some()
}

pub use wgpu_display::wgpu;

/// The value of a future of wgpu's, which natively is ready at once.
pub fn ready<T>(future: impl Future<Output = T>) -> T {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(future).as_mut().poll(&mut context) {
        std::task::Poll::Ready(value) => value,
        std::task::Poll::Pending => panic!("the future is not ready"),
    }
}
