//! The function `glBindBufferRange`.

use crate::api::functions::functions;

functions! {
    /// glow's function supports no start above 2^31, which an engine may have bound (OpenGL 4.6 core, section 6.1.1).
    all BindRange {
        pub bind_range = c"glBindBufferRange", fn(target: u32, index: u32, buffer: u32, start: isize, size: isize);
    }
}
