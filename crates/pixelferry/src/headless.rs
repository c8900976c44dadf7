//! [`Headless`].

#[cfg(feature = "gl")]
use interop_core::Error;
use interop_core::{Display, Result};
#[cfg(feature = "gl")]
use pixelferry_gl::GlDisplay;
use std::any::Any;
use std::rc::Rc;

/// A display that needs no window.
///
/// ```
/// use pixelferry::{Headless, MemoryDisplay};
/// use std::rc::Rc;
///
/// // A program's own display, instead of one that was opened by a choice.
/// let memory = MemoryDisplay::new();
/// let screen = Headless::from(Rc::clone(&memory));
/// assert_eq!(screen.display().device().name, "plain memory");
/// ```
#[derive(Clone)]
pub struct Headless {
    pub(crate) display: Rc<dyn Display>,
    /// The display as an `Rc` of its own type.
    own: Rc<dyn Any>,
}

impl<D: Display> From<Rc<D>> for Headless {
    fn from(display: Rc<D>) -> Self {
        Self { own: Rc::new(Rc::clone(&display)), display }
    }
}

impl Headless {
    /// A display that the program has of its own. Of OpenGL's it is known, as a backend that is opened may take its context off
    /// this thread.
    pub(crate) fn given(display: &Rc<dyn Display>) -> Self {
        let own: Rc<dyn Any> = Rc::new(());
        #[cfg(feature = "gl")]
        let own = (Rc::clone(display) as Rc<dyn Any>).downcast::<GlDisplay>().map_or(own, |gl| Rc::new(gl));
        Self { display: Rc::clone(display), own }
    }

    /// The display, for [`crate::Link::open`].
    pub fn display(&self) -> Rc<dyn Display> {
        Rc::clone(&self.display)
    }

    /// Makes its context current on this thread, where it has one. That of an engine is left to the engine.
    pub(crate) fn make_current(&self) -> Result<()> {
        #[cfg(feature = "gl")]
        match self.gl().map(|gl| gl.make_current()) {
            None | Some(Err(Error::Unsupported { .. })) => {}
            Some(done) => return done,
        }
        Ok(())
    }

    /// The OpenGL display, where it is one.
    #[cfg(feature = "gl")]
    pub fn gl(&self) -> Option<&Rc<GlDisplay>> {
        self.downcast_ref()
    }

    /// The display as its own type, where it is one: [`crate::ComputeDisplay`], say.
    ///
    /// ```
    /// use pixelferry::{Headless, MemoryDisplay};
    ///
    /// let screen = Headless::from(MemoryDisplay::new());
    /// assert!(screen.downcast_ref::<MemoryDisplay>().is_some());
    /// ```
    pub fn downcast_ref<D: Display>(&self) -> Option<&Rc<D>> {
        self.own.downcast_ref()
    }
}
