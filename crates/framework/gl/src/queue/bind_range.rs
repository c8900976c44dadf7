//! The function `glBindBufferRange`.

use crate::context::SharedContext;
use interop_core::GlContext as _;
use std::ffi::c_void;

type Range = unsafe extern "system" fn(target: u32, index: u32, buffer: u32, start: isize, size: isize);

/// `glBindBufferRange`: glow's function supports no start above 2^31, which an engine may have bound.
#[derive(Clone, Copy)]
pub(crate) struct BindRange(pub Range);

impl BindRange {
    pub(crate) fn of(held: &SharedContext) -> Option<Self> {
        let found = held.function(c"glBindBufferRange");
        // SAFETY: null becomes `None`; else it is the function of that name (OpenGL 4.6 core, section 6.1.1).
        unsafe { std::mem::transmute::<*const c_void, Option<Range>>(found) }.map(Self)
    }
}
