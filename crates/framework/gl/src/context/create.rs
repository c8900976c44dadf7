//! Creates a context of the best version that the driver has.

use super::own::driver_error;
use crate::api::version::MIN_VERSION;
use glutin::config::Config;
use glutin::context::{ContextApi, ContextAttributesBuilder, GlProfile, NotCurrentContext, Version};
use glutin::display::Display;
use glutin::prelude::*;
use interop_core::{Error, Result};
use raw_window_handle::RawWindowHandle;

/// Newest first. Many drivers return their newest version for any of them; some return exactly the requested one.
const VERSIONS: [(u8, u8); 5] = [(4, 6), (4, 5), (4, 3), (4, 1), (3, 3)];

/// Creates a core context that is not current.
pub(crate) fn core_context(
    display: &Display,
    config: &Config,
    window: Option<RawWindowHandle>,
    device: &str,
) -> Result<NotCurrentContext> {
    let mut last = None;
    for (major, minor) in VERSIONS {
        let attributes = ContextAttributesBuilder::new()
            .with_profile(GlProfile::Core)
            .with_context_api(ContextApi::OpenGl(Some(Version::new(major, minor))))
            .build(window);
        // SAFETY: the window handle, where there is one, is of a live window.
        match unsafe { display.create_context(config, &attributes) } {
            Ok(context) => return Ok(context),
            Err(e) => last = Some(e),
        }
    }
    let (major, minor) = MIN_VERSION;
    Err(match last {
        Some(e) => driver_error("create_context", device, &e),
        None => Error::invalid("create_context", format!("OpenGL {major}.{minor} core contexts are unsupported")),
    })
}
