//! The row of pixelferry.

use crate::Subject;
use crate::engine::Engine;
use interop_core::conformance::tight;
use interop_core::describe::pattern::Pattern;
use interop_core::{
    ComputeBackend, Display, HandleType, ImageAccess, ImageDesc, Link, LinkOptions, MemoryShape, PathId, PixelFormat,
    Policy, Result, SurfaceDesc, SyncKind, Unwritten, View,
};
use pixelferry_vulkan::{VulkanDisplay, VulkanObject};
use std::sync::Arc;

/// Returns true if the two share memory of a device.
pub fn shares(backend: &dyn ComputeBackend) -> bool {
    backend.caps().can_import(HandleType::OPAQUE, MemoryShape::Linear).is_yes()
}

pub struct Ours {
    link: Link,
    backend: Arc<dyn ComputeBackend>,
    display: Arc<VulkanDisplay>,
    engine: Arc<Engine>,
    view: View,
}

impl Ours {
    /// Opens the row. The error says why the path does not accept frames of this size.
    pub fn new(backend: &Arc<dyn ComputeBackend>, display: &Arc<VulkanDisplay>, engine: Arc<Engine>) -> Result<Self> {
        let (width, height) = (engine.extent.width, engine.extent.height);
        let image = ImageDesc::new(width, height, PixelFormat::Rgba8).with_access(ImageAccess::Any);
        let desc = SurfaceDesc::Image(image.with_unwritten(Unwritten::Overwrite));
        let (path, sync) = match shares(backend.as_ref()) {
            true => (PathId::EXPORTED_IN_PLACE, Some(SyncKind::TimelineSemaphore)),
            false => (PathId::HOST_VISIBLE_IN_PLACE, None),
        };
        let options = LinkOptions::new(Policy::default().with_force(path).with_sync(sync));
        let shown: Arc<dyn Display> = Arc::clone(display) as _;
        let link = Link::open(Arc::clone(backend), shown, desc, options)?;
        let view = tight(&desc)?;
        Ok(Self { link, backend: Arc::clone(backend), display: Arc::clone(display), engine, view })
    }
}

impl Subject for Ours {
    fn name(&self) -> &'static str {
        "pixelferry"
    }

    fn frame(&mut self, n: u32) {
        let pattern = Pattern::for_view(&self.view, n);
        let backend = &self.backend;
        self.link.frame(|frame| backend.write_pattern(frame.target()?, &pattern)).expect("a frame");
        let shown = self.link.shown().expect("a frame");
        let frame = self.display.surface_frame(shown.surface()).expect("a frame");
        let VulkanObject::Rows { buffer, view, .. } = frame.object else { panic!("{frame:?}") };
        self.engine.show(buffer, &view, frame.ready.map(|point| (point.semaphore, point.value)), None);
    }

    fn pixels(&self) -> Vec<u8> {
        self.engine.pixels()
    }
}
