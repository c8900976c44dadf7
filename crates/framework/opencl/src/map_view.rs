//! Mapped views: a buffer's values in N dimensions that the host sees in place.

use super::{Event, MapRead, MapWrite, NdView, Queue};
use crate::Element;
use interop_core::Result;

/// The values of a view, for reading, in place (`clEnqueueMapBuffer`, `CL_MAP_READ`, over [`NdView::bytes`]); made by
/// [`Queue::map_view_read`]. While it lives, [`MapRead`] says what else may use these bytes.
pub struct ViewMapRead<T> {
    map: MapRead<T>,
    view: NdView<T>,
}

/// The values of a view, for reading and writing, in place (`clEnqueueMapBuffer`, `CL_MAP_READ | CL_MAP_WRITE`, over
/// [`NdView::bytes`]); made by [`Queue::map_view_write`]. While it lives, [`MapWrite`] says what else may use these bytes:
/// those between the view's values are among them.
pub struct ViewMapWrite<T> {
    map: MapWrite<T>,
    view: NdView<T>,
}

impl Queue {
    /// Maps a view for reading (`clEnqueueMapBuffer`, `CL_MAP_READ`): slices, turned views and steps without a copy. Blocks,
    /// as [`Queue::map_read`] does.
    ///
    /// # Errors
    /// Those of [`Queue::map_read`].
    pub fn map_view_read<T: Element>(&self, view: &NdView<T>, wait: &[Event]) -> Result<ViewMapRead<T>> {
        Ok(ViewMapRead { map: self.map_read(view.buffer(), view.bytes(), wait)?, view: view.clone() })
    }

    /// Maps a view for reading and writing (`clEnqueueMapBuffer`, `CL_MAP_READ | CL_MAP_WRITE`). Blocks, as
    /// [`Queue::map_write`] does.
    ///
    /// # Errors
    /// Those of [`Queue::map_write`].
    pub fn map_view_write<T: Element>(&self, view: &NdView<T>, wait: &[Event]) -> Result<ViewMapWrite<T>> {
        Ok(ViewMapWrite { map: self.map_write(view.buffer(), view.bytes(), wait)?, view: view.clone() })
    }
}

impl<T: Element> ViewMapRead<T> {
    /// The view; makes no OpenCL call.
    pub fn view(&self) -> &NdView<T> {
        &self.view
    }

    /// The value with these indices; `None` where there is none. Makes no OpenCL call.
    pub fn get(&self, indices: &[usize]) -> Option<&T> {
        self.map.get(self.view.in_span(indices)?)
    }

    /// All values, row-major; makes no OpenCL call.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.view.places().filter_map(|at| self.map.get(at))
    }

    /// All values as they lie; `None` where the view is not contiguous. Makes no OpenCL call.
    pub fn as_slice(&self) -> Option<&[T]> {
        self.view.is_contiguous().then_some(&*self.map)
    }

    /// Unmaps, and gives the event of that (`clEnqueueUnmapMemObject`).
    pub fn unmap(self) -> Result<Event> {
        self.map.unmap()
    }
}

impl<T: Element> ViewMapWrite<T> {
    /// The view; makes no OpenCL call.
    pub fn view(&self) -> &NdView<T> {
        &self.view
    }

    /// The value with these indices; `None` where there is none. Makes no OpenCL call.
    pub fn get(&self, indices: &[usize]) -> Option<&T> {
        self.map.get(self.view.in_span(indices)?)
    }

    /// The value with these indices, to be written; `None` where there is none. Makes no OpenCL call.
    pub fn get_mut(&mut self, indices: &[usize]) -> Option<&mut T> {
        let at = self.view.in_span(indices)?;
        self.map.get_mut(at)
    }

    /// All values, row-major; makes no OpenCL call.
    pub fn values(&self) -> impl Iterator<Item = &T> {
        self.view.places().filter_map(|at| self.map.get(at))
    }

    /// Lets `f` change each value, row-major; makes no OpenCL call. Where strides lead to a value twice, `f` gets it twice.
    pub fn for_each(&mut self, mut f: impl FnMut(&mut T)) {
        for at in self.view.places() {
            if let Some(value) = self.map.get_mut(at) {
                f(value);
            }
        }
    }

    /// All values as they lie, to be written; `None` where the view is not contiguous. Makes no OpenCL call.
    pub fn as_mut_slice(&mut self) -> Option<&mut [T]> {
        if self.view.is_contiguous() { Some(&mut self.map) } else { None }
    }

    /// Unmaps, and gives the event of that (`clEnqueueUnmapMemObject`).
    pub fn unmap(self) -> Result<Event> {
        self.map.unmap()
    }
}
