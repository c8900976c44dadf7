//! glow's functions of a context, in their owner's smart pointer.

use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

/// glow's functions of a context, held by `Rc` or by `Arc` as in the engine. It is cheap to clone, and dereferences to
/// a [`glow::Context`].
#[derive(Debug, Clone)]
pub struct GlFunctions(GlowHandle);

#[derive(Debug, Clone)]
enum GlowHandle {
    Rc(Rc<glow::Context>),
    Arc(Arc<glow::Context>),
}

impl From<Rc<glow::Context>> for GlFunctions {
    fn from(gl: Rc<glow::Context>) -> Self {
        Self(GlowHandle::Rc(gl))
    }
}

impl From<Arc<glow::Context>> for GlFunctions {
    fn from(gl: Arc<glow::Context>) -> Self {
        Self(GlowHandle::Arc(gl))
    }
}

impl From<glow::Context> for GlFunctions {
    fn from(gl: glow::Context) -> Self {
        Self::from(Rc::new(gl))
    }
}

impl Deref for GlFunctions {
    type Target = glow::Context;

    fn deref(&self) -> &glow::Context {
        match &self.0 {
            GlowHandle::Rc(gl) => gl,
            GlowHandle::Arc(gl) => gl,
        }
    }
}
