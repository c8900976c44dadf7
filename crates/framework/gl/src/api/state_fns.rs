//! Functions that set state and that glow does not wrap.

use crate::api::functions::functions;

functions! {
    /// Function pointers of one context. Drivers may return functions that the context does not have, so use them only
    /// where it has the state. Their signatures are those of OpenGL 4.6 compatibility, sections 15.2.3 and 8.4.2.
    each StateFns {
        /// `glClampColor`, OpenGL 3.0.
        pub clamp_color = c"glClampColor", fn(target: u32, clamp: u32);
        /// `glPixelTransferf` of the compatibility profile.
        pub pixel_transfer = c"glPixelTransferf", fn(parameter: u32, value: f32);
    }
}
