//! State shared by everything that one backend made.

use crate::compute::layout::{Layout, Shape};
use crate::context::device_state::DeviceState;
use crate::context::home::AtHome;
use interop_core::devices::owned::Maker;
use interop_core::{ComputeCaps, DeviceIdentity, Result};
use std::cell::RefCell;
use std::rc::Rc;
use wgsl_kernel::Limits;

/// One display's queue.
pub struct Session {
    pub identity: DeviceIdentity,
    pub caps: ComputeCaps,
    pub limits: Limits,
    pub inner: AtHome<Inner>,
}

/// What stays on the display's thread.
pub struct Inner {
    pub shared: Rc<DeviceState>,
    layouts: RefCell<Vec<Rc<Layout>>>,
}

impl Maker for Session {
    fn name(&self) -> String {
        self.identity.to_string()
    }
}

impl Session {
    /// The display, on its thread.
    pub fn shared(&self) -> Result<&Rc<DeviceState>> {
        Ok(&self.inner.get()?.shared)
    }
}

impl Inner {
    pub fn new(shared: &Rc<DeviceState>) -> Self {
        Self { shared: Rc::clone(shared), layouts: RefCell::default() }
    }

    /// The layout of kernels of this shape.
    pub fn layout(&self, shape: Shape) -> Result<Rc<Layout>> {
        let found = self.layouts.borrow().iter().find(|layout| layout.is(shape)).cloned();
        if let Some(layout) = found {
            return Ok(layout);
        }
        let layout = Rc::new(Layout::new(&self.shared, shape)?);
        self.layouts.borrow_mut().push(Rc::clone(&layout));
        Ok(layout)
    }
}
