//! A hook around each call to a display's driver, for tests that make calls fail.

use crate::describe::error::{self, Result};
use std::any::Any;
use std::sync::Arc;

/// A call of a display's driver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Call {
    /// [`Surface::upload`](super::Surface::upload).
    Upload,
    /// [`Surface::upload_staged`](super::Surface::upload_staged).
    UploadStaged,
    /// [`Surface::download`](super::Surface::download).
    Download,
    /// [`Surface::read_in_place`](super::Surface::read_in_place).
    ReadInPlace,
    /// [`Surface::read_back`](super::Surface::read_back).
    ReadBack,
    /// [`Surface::draw_back`](super::Surface::draw_back).
    DrawBack,
    /// [`Staging::wait`](super::Staging::wait).
    Wait,
    /// [`Staging::is_done`](super::Staging::is_done).
    Poll,
    /// [`Staging::map_write`](super::Staging::map_write).
    MapStaging,
    /// [`Staging::fence`](super::Staging::fence).
    Fence,
    /// [`Surface::export`](super::Surface::export) and [`Staging::export`](super::Staging::export).
    Export,
}

impl Call {
    /// Name of the call in errors.
    const fn name(self) -> &'static str {
        match self {
            Self::Upload => "Surface::upload",
            Self::UploadStaged => "Surface::upload_staged",
            Self::Download => "Surface::download",
            Self::ReadInPlace => "Surface::read_in_place",
            Self::ReadBack => "Surface::read_back",
            Self::DrawBack => "Surface::draw_back",
            Self::Wait => "Staging::wait",
            Self::Poll => "Staging::is_done",
            Self::MapStaging => "Staging::map_write",
            Self::Fence => "Staging::fence",
            Self::Export => "export",
        }
    }

    /// Makes the call and adds its name to the errors that it returns.
    pub(super) fn named<T>(self, body: impl FnOnce() -> Result<T>) -> Result<T> {
        error::call(self.name(), body)
    }
}

type Once<'a, T> = Box<dyn FnOnce() -> Result<T> + 'a>;

/// A hook around the calls of a driver.
pub trait Hook: Send + Sync {
    /// Makes the call by calling `done`, or skips it. The caller receives the returned result.
    fn around(&self, call: Call, done: &mut dyn FnMut() -> Result<()>) -> Result<()>;
}

/// The hook of one object, and a value that lives as long as the object.
pub struct Watch {
    hook: Arc<dyn Hook>,
    _alive: Box<dyn Any + Send + Sync>,
    /// The hook installed earlier, which is closer to the driver.
    inner: Option<Box<Watch>>,
}

impl Watch {
    /// Creates a watch; `alive` is dropped together with the object.
    pub fn new(hook: Arc<dyn Hook>, alive: impl Any + Send + Sync) -> Self {
        Self { hook, _alive: Box::new(alive), inner: None }
    }

    /// Puts this hook around the hooks that were installed before.
    pub(super) fn over(self, inner: Option<Self>) -> Self {
        Self { inner: inner.map(Box::new), ..self }
    }

    /// Makes the call, through the hook where there is one. Where the hook reports success without making the call, the
    /// result is the default value.
    pub(super) fn around<T: Default>(this: Option<&Self>, call: Call, done: impl FnOnce() -> Result<T>) -> Result<T> {
        let Some(watch) = this else { return done() };
        // Any number of hooks may surround one call, so the type of the closure does not name them.
        let mut done: Option<Once<'_, T>> = Some(Box::new(done));
        let mut result = T::default();
        watch.hook.around(call, &mut || {
            if let Some(done) = done.take() {
                result = Self::around(watch.inner.as_deref(), call, done)?;
            }
            Ok(())
        })?;
        Ok(result)
    }
}
