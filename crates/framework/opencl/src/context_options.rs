//! [`ContextOptions`]: options of a new context.

use super::{Platform, flags::InfoValue};
use crate::ffi::{OnError, PlatformId};
use cl3::context as c;
use interop_core::GlContext;
use std::fmt;
use std::sync::Arc;

/// Options of a new context (`cl_context_properties` and `pfn_notify` of `clCreateContext`). The platform is that of
/// the devices.
#[derive(Clone, Default)]
pub struct ContextOptions {
    pub(super) pairs: Vec<[isize; 2]>,
    pub(super) on_error: Option<OnError>,
    pub(super) gl: Option<Arc<dyn GlContext>>,
}

impl ContextOptions {
    /// Returns options without properties and callback, as [`super::Context::new`] uses them.
    pub fn new() -> Self {
        Self::default()
    }

    /// Sets whether the program itself synchronises OpenCL with other APIs that share memory with it
    /// (`CL_CONTEXT_INTEROP_USER_SYNC`); by default the driver does it.
    #[must_use]
    pub fn interop_user_sync(self, by_program: bool) -> Self {
        self.with(c::CL_CONTEXT_INTEROP_USER_SYNC, isize::from(by_program))
    }

    /// Sets a property by number, as an extension defines it (`cl_context_properties`). If the driver does not support
    /// it, [`super::Context::with_options`] fails with `CL_INVALID_PROPERTY`, or with `CL_INVALID_VALUE` on NVIDIA.
    ///
    /// # Safety
    /// The driver may use `value` as an address or a handle, and `name` may change the conditions of later calls. Both
    /// must be what the extension requires, and the device must list the extension.
    #[must_use]
    pub unsafe fn property(self, name: isize, value: isize) -> Self {
        self.with(name, value)
    }

    /// Shares with an OpenGL context (`CL_GL_CONTEXT_KHR` and its display, `cl_khr_gl_sharing`). It must be current
    /// when the OpenCL context is created, and all objects of that context keep it. [`interop_core::Display::hold_gl`]
    /// returns one. Every device must list the extension.
    #[must_use]
    pub fn share_gl(self, gl: Arc<dyn GlContext>) -> Self {
        Self { gl: Some(gl), ..self }
    }

    fn with(mut self, name: isize, value: isize) -> Self {
        self.pairs.retain(|[own, _]| *own != name);
        self.pairs.push([name, value]);
        self
    }

    /// Calls `f` with the driver's text for each error that it reports for the context (`pfn_notify` of
    /// `clCreateContext`), in addition to the log. Drivers need not report errors: PoCL 3.1, rusticl 22.3 and Intel's
    /// CPU runtime (2026.22) do not.
    ///
    /// `f` runs on any thread, also on several at once, and possibly inside a call of the program. It must return
    /// quickly and must not call OpenCL. A panic in it is logged. It is dropped after the last object of the context.
    #[must_use]
    pub fn on_error(self, f: impl Fn(&str) + Send + Sync + 'static) -> Self {
        Self { on_error: Some(Arc::new(f)), ..self }
    }
}

impl fmt::Debug for ContextOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pairs: Vec<_> = self.pairs.iter().map(|pair| ContextProperty::of(*pair)).collect();
        let callback = if self.on_error.is_some() { "with a callback" } else { "no callback" };
        write!(f, "ContextOptions({pairs:?}, {:?}, {callback})", self.gl.as_ref().map(|gl| gl.name()))
    }
}

/// A property of a context (`CL_CONTEXT_PROPERTIES`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum ContextProperty {
    /// `CL_CONTEXT_PLATFORM`.
    Platform(Platform),
    /// `CL_CONTEXT_INTEROP_USER_SYNC`.
    InteropUserSync(bool),
    /// Another property, by its number in `cl_context_properties`.
    Other {
        /// The property, a `cl_context_properties`.
        name: isize,
        /// Its value, a `cl_context_properties`.
        value: isize,
    },
}

impl ContextProperty {
    fn of([name, value]: [isize; 2]) -> Self {
        match name {
            c::CL_CONTEXT_PLATFORM => Self::Platform(Platform(PlatformId::from_property(value))),
            c::CL_CONTEXT_INTEROP_USER_SYNC => Self::InteropUserSync(value != 0),
            _ => Self::Other { name, value },
        }
    }

    /// Reads a list of pairs that ends with 0.
    pub(super) fn all(list: &[u8]) -> Option<Vec<Self>> {
        let list = Vec::<usize>::from_bytes(list)?;
        let pairs = list.chunks_exact(2).map(|pair| [pair[0].cast_signed(), pair[1].cast_signed()]);
        Some(pairs.take_while(|[name, _]| *name != 0).map(Self::of).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_property_that_is_set_again_replaces_the_first() {
        let options = ContextOptions::new().interop_user_sync(false).interop_user_sync(true);
        assert_eq!(options.pairs, [[c::CL_CONTEXT_INTEROP_USER_SYNC, 1]]);
    }

    #[test]
    fn a_list_of_properties_ends_at_its_zero() {
        let list = [c::CL_CONTEXT_INTEROP_USER_SYNC as usize, 1, 0x7777, 5, 0];
        let bytes: Vec<u8> = list.iter().flat_map(|n| n.to_ne_bytes()).collect();
        let other = ContextProperty::Other { name: 0x7777, value: 5 };
        assert_eq!(ContextProperty::all(&bytes), Some(vec![ContextProperty::InteropUserSync(true), other]));
        assert_eq!(ContextProperty::all(&[]), Some(vec![]));
    }
}
