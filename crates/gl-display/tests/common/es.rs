//! Displays in contexts of OpenGL ES, which only engines make.

use crate::engine::Engine;
use gl_display::GlDisplay;
use interop_core::PixelFormat;
use interop_core::display::Display as _;
use std::rc::Rc;

/// The driver's best, and what it would be without later versions and extensions; one after the other, since one context is
/// current at a time. Each keeps its context.
pub fn es_displays() -> impl Iterator<Item = Rc<GlDisplay>> {
    [None, Some((3, 1)), Some((3, 0))].into_iter().filter_map(|limit| Some(Engine::es()?.pixelferry(limit)))
}

/// Those of desktop OpenGL, too.
pub fn all_displays() -> impl Iterator<Item = Rc<GlDisplay>> {
    crate::common::displays().chain(es_displays())
}

/// What the display shows; all of them in desktop OpenGL.
pub fn formats(display: &GlDisplay) -> Vec<PixelFormat> {
    let formats = display.caps().image_formats.clone();
    assert!(display.is_es() || formats == PixelFormat::ALL);
    formats
}
