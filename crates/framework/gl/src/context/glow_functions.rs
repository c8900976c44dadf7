//! glow's functions of a context.

use std::ops::Deref;
use std::sync::Arc;

/// glow's functions of a context, shared with the engine. It is cheap to clone, and dereferences to a [`glow::Context`].
#[derive(Debug, Clone)]
pub struct GlFunctions(Arc<glow::Context>);

impl From<Arc<glow::Context>> for GlFunctions {
    fn from(gl: Arc<glow::Context>) -> Self {
        Self(gl)
    }
}

impl From<glow::Context> for GlFunctions {
    fn from(gl: glow::Context) -> Self {
        Self(Arc::new(gl))
    }
}

impl Deref for GlFunctions {
    type Target = glow::Context;

    fn deref(&self) -> &glow::Context {
        &self.0
    }
}
