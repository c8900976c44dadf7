//! The type [`HeadlessDisplay`].

#[cfg(feature = "gl")]
use interop_core::Error;
use interop_core::{Display, Result};
#[cfg(feature = "gl")]
use pixelferry_gl::GlDisplay;
use std::any::Any;
use std::sync::Arc;

/// An opened display without a window.
///
/// ```
/// use pixelferry::{HeadlessDisplay, MemoryDisplay};
/// use std::sync::Arc;
///
/// // A display that the program supplies, instead of one opened by a choice.
/// let memory = MemoryDisplay::new();
/// let screen = HeadlessDisplay::from(Arc::clone(&memory));
/// assert_eq!(screen.display().device().name, "plain memory");
/// ```
#[derive(Clone)]
pub struct HeadlessDisplay {
    pub(crate) display: Arc<dyn Display>,
    /// The display as an `Arc` of its own type.
    own: Arc<dyn Any>,
}

impl<D: Display> From<Arc<D>> for HeadlessDisplay {
    fn from(display: Arc<D>) -> Self {
        Self { own: Arc::new(Arc::clone(&display)), display }
    }
}

impl HeadlessDisplay {
    /// Wraps a display that the program supplies. An OpenGL display is recorded as such, because opening a backend may
    /// make its context not current on this thread.
    pub(crate) fn given(display: &Arc<dyn Display>) -> Self {
        let own: Arc<dyn Any> = Arc::new(());
        #[cfg(feature = "gl")]
        let own =
            (Arc::clone(display) as Arc<dyn Any + Send + Sync>).downcast::<GlDisplay>().map_or(own, |gl| Arc::new(gl));
        Self { display: Arc::clone(display), own }
    }

    /// Returns the display, for [`crate::Link::open`].
    pub fn display(&self) -> Arc<dyn Display> {
        Arc::clone(&self.display)
    }

    /// Makes the display's context current on this thread, if it has one. An engine's context is left to the engine.
    pub(crate) fn make_current(&self) -> Result<()> {
        #[cfg(feature = "gl")]
        match self.gl().map(|gl| gl.make_current()) {
            None | Some(Err(Error::Unsupported { .. })) => {}
            Some(done) => return done,
        }
        Ok(())
    }

    /// Returns the OpenGL display; `None` for displays of another type.
    #[cfg(feature = "gl")]
    pub fn gl(&self) -> Option<&Arc<GlDisplay>> {
        self.downcast_ref()
    }

    /// Returns the display as its own type, for example [`crate::ComputeDisplay`]; `None` where it has another type.
    ///
    /// ```
    /// use pixelferry::{HeadlessDisplay, MemoryDisplay};
    ///
    /// let screen = HeadlessDisplay::from(MemoryDisplay::new());
    /// assert!(screen.downcast_ref::<MemoryDisplay>().is_some());
    /// ```
    pub fn downcast_ref<D: Display>(&self) -> Option<&Arc<D>> {
        self.own.downcast_ref()
    }
}
