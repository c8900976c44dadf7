//! Common state of the objects of `pixelferry.gl`: each stays on the thread of its context and is closed once.

use crate::array::Array;
use crate::engine::{ArrayLocation, BackendRequest, Engine, Engines};
use crate::failure::Failure;
use crate::raw::memory::{MemoryDesc, Readable};
use crate::report::report;
use crate::source::Source;
use crate::stage::{Settings, Stage};
use crate::thread_stages::{Ticket, closed};
use pixelferry::driver::path::Paths;
use pixelferry::{Display, PixelFormat, Policy, RowOrder, Trials};
use pixelferry_look::{MemoryLocation, Raw};
use pyo3::prelude::*;
use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

/// A stage of this thread, and what other threads may know about it.
pub struct StageHandle<N> {
    ticket: Ticket,
    /// `None` after closing.
    named: Mutex<Option<N>>,
}

impl<N: Copy + Send> StageHandle<N> {
    /// Makes a stage in the current context.
    pub fn new(py: Python<'_>, settings: Settings) -> PyResult<Self> {
        Ok(Self { ticket: py.detach(|| Ticket::new(settings))?, named: Mutex::new(None) })
    }

    /// Makes a stage on a display of the program without OpenGL.
    pub fn on(
        py: Python<'_>,
        settings: Settings,
        display: impl FnOnce() -> Result<Arc<dyn Display>, Failure> + Send,
    ) -> PyResult<Self> {
        Ok(Self { ticket: py.detach(|| Ticket::on(settings, display))?, named: Mutex::new(None) })
    }

    /// Before anything was named.
    pub fn begin<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Stage) -> Result<R, Failure> + Send,
    ) -> PyResult<R> {
        Ok(py.detach(|| self.ticket.run(work))?)
    }

    pub fn run<R: Send>(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut Stage) -> Result<R, Failure> + Send,
    ) -> PyResult<R> {
        self.named()?;
        self.begin(py, work)
    }

    pub fn name(&self, named: N) {
        *self.named.lock().unwrap_or_else(PoisonError::into_inner) = Some(named);
    }

    /// Returns what other threads may know, while it is open.
    pub fn named(&self) -> Result<N, Failure> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner).ok_or_else(closed)
    }

    /// May be called again, and on any thread.
    pub fn close(&self, py: Python<'_>) {
        let open = self.named.lock().unwrap_or_else(PoisonError::into_inner).take();
        if open.is_some() {
            py.detach(|| self.ticket.close());
        }
    }
}

/// An object of OpenGL that shows arrays of the kind `D`.
pub struct ShownObject<D, N> {
    held: StageHandle<N>,
    engines: Engines,
    show: fn(&mut Stage, &Readable<D>, &Engine) -> Result<(), Failure>,
    name: fn(&Stage) -> Result<N, Failure>,
}

impl<D, N> Deref for ShownObject<D, N> {
    type Target = StageHandle<N>;

    fn deref(&self) -> &StageHandle<N> {
        &self.held
    }
}

/// Options of the caller.
pub struct Wishes<'a> {
    pub path: Option<&'a str>,
    pub backend: Option<&'a str>,
    /// Use only paths that show every array under one name.
    pub stable: bool,
}

impl<D: MemoryDesc + Send + Sync, N: Copy + Send> ShownObject<D, N> {
    pub fn new(
        py: Python<'_>,
        format: PixelFormat,
        rows: RowOrder,
        wishes: &Wishes<'_>,
        show: fn(&mut Stage, &Readable<D>, &Engine) -> Result<(), Failure>,
        name: fn(&Stage) -> Result<N, Failure>,
    ) -> PyResult<Self> {
        let force = wishes.path.map(str::parse).transpose().map_err(Failure::from)?;
        let engines = Engines::new(BackendRequest::parse(wishes.backend)?);
        let mut paths = Paths::default();
        if wishes.stable && force.is_none() {
            // The others have a ring of textures or buffers and show each array under the next name.
            paths = paths.keep(|path| path.cost.copies > 0);
        }
        // Another path would change the name.
        let policy = Policy::default().with_force(force).with_trials(Trials::Off).with_paths(paths);
        Ok(Self { held: StageHandle::new(py, Settings { format, rows, policy })?, engines, show, name })
    }

    fn update_by(&self, py: Python<'_>, readable: &Readable<D>, engine: &Engine) -> PyResult<()> {
        self.held.begin(py, |stage| {
            let shown = (self.show)(stage, readable, engine);
            // A failed frame may also change the path.
            if let Ok(named) = (self.name)(stage) {
                self.held.name(named);
            }
            shown
        })
    }

    /// Shows what `of` makes of an array.
    pub fn update(&self, array: &Bound<'_, PyAny>, of: &dyn Fn(&Raw) -> Result<D, Failure>) -> PyResult<()> {
        let source = Source::new(array, of, &self.engines)?;
        let engine = self.engines.engine(source.readable().description().span().place)?;
        let updated = self.update_by(array.py(), source.readable(), &engine);
        // Release the array only now: its owner may write it from here on.
        drop(source);
        updated
    }

    /// Shows memory that this module owns.
    pub fn update_own(&self, py: Python<'_>, readable: &Readable<D>) -> PyResult<()> {
        self.update_by(py, readable, &self.engines.engine(MemoryLocation::Host)?)
    }

    /// Returns the shown content in memory of its own.
    pub fn read(&self, py: Python<'_>, device: &str) -> PyResult<Array> {
        let wanted = ArrayLocation::parse(device)?;
        self.run(py, |stage| stage.capture(wanted, &self.engines))
    }

    pub fn explain(&self, py: Python<'_>) -> PyResult<String> {
        let status = self.run(py, |stage| stage.status())?;
        Ok(status.map_or_else(String::new, |status| status.explain))
    }

    pub fn report<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        let status = self.run(py, |stage| stage.status())?;
        status.map(|status| report(py, &status.report, &status.explain)).transpose()
    }
}
