//! [`Layouts`].

use crate::context::device_state::DeviceState;
use crate::launch::layout::{Layout, Shape};
use interop_core::Result;
use std::cell::RefCell;
use std::rc::Rc;

/// Layouts of a display's kernels, created at first use.
pub struct Layouts {
    shared: Rc<DeviceState>,
    made: RefCell<Vec<Rc<Layout>>>,
}

impl Layouts {
    pub fn new(shared: &Rc<DeviceState>) -> Self {
        Self { shared: Rc::clone(shared), made: RefCell::default() }
    }

    pub fn shared(&self) -> &Rc<DeviceState> {
        &self.shared
    }

    /// Returns the layout of kernels of this shape.
    pub fn get(&self, shape: Shape) -> Result<Rc<Layout>> {
        let found = self.made.borrow().iter().find(|layout| layout.is(shape)).cloned();
        if let Some(layout) = found {
            return Ok(layout);
        }
        let layout = Rc::new(Layout::new(&self.shared, shape)?);
        self.made.borrow_mut().push(Rc::clone(&layout));
        Ok(layout)
    }
}
