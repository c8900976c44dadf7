//! [`Layouts`].

use crate::context::device_state::DeviceState;
use crate::launch::layout::{Layout, Shape};
use interop_core::Result;
use interop_core::describe::PlainMutex;
use std::sync::Arc;

/// Layouts of a display's kernels, created at first use.
pub struct Layouts {
    shared: Arc<DeviceState>,
    made: PlainMutex<Vec<Arc<Layout>>>,
}

impl Layouts {
    pub fn new(shared: &Arc<DeviceState>) -> Self {
        Self { shared: Arc::clone(shared), made: PlainMutex::default() }
    }

    pub fn shared(&self) -> &Arc<DeviceState> {
        &self.shared
    }

    /// Returns the layout of kernels of this shape.
    pub fn get(&self, shape: Shape) -> Result<Arc<Layout>> {
        let found = self.made.lock().iter().find(|layout| layout.is(shape)).cloned();
        if let Some(layout) = found {
            return Ok(layout);
        }
        let layout = Arc::new(Layout::new(&self.shared, shape)?);
        self.made.lock().push(Arc::clone(&layout));
        Ok(layout)
    }
}
