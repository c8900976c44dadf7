//! [`Headless`].

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
/// // A program's own display, in the place of one that was opened by a choice.
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
    /// A display that the program has of its own, whose type is not known here.
    pub(crate) fn given(display: &Rc<dyn Display>) -> Self {
        Self { display: Rc::clone(display), own: Rc::new(()) }
    }

    /// The display, for [`crate::Link::open`].
    pub fn display(&self) -> Rc<dyn Display> {
        Rc::clone(&self.display)
    }

    /// Makes its context current on this thread, where it has one.
    pub(crate) fn make_current(&self) -> Result<()> {
        #[cfg(feature = "gl")]
        if let Some(gl) = self.gl() {
            return gl.make_current();
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
