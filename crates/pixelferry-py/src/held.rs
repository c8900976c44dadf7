//! What `pixelferry.gl.Texture` and `pixelferry.gl.Buffer` have in common.

use crate::engine::{Asked, Engine, Engines};
use crate::failure::Failure;
use crate::here::{Ticket, closed};
use crate::raw::memory::{Lies, Readable};
use crate::report::report;
use crate::source::Source;
use crate::span::{Place, Raw};
use crate::stage::{Settings, Stage};
use pixelferry::driver::path::Paths;
use pixelferry::{PixelFormat, Policy, RowOrder, Trials};
use pyo3::prelude::*;
use std::sync::{Mutex, PoisonError};

/// An object of OpenGL that shows arrays of the kind `D`, and what the program may know of it.
pub struct Held<D, N> {
    ticket: Ticket,
    engines: Engines,
    /// `None` once it is closed.
    named: Mutex<Option<N>>,
    show: fn(&mut Stage, &Readable<D>, &Engine) -> Result<(), Failure>,
    name: fn(&Stage) -> Result<N, Failure>,
}

/// What may be asked for.
pub struct Wishes<'a> {
    pub path: Option<&'a str>,
    pub backend: Option<&'a str>,
    /// Only paths that show every array under one name.
    pub stable: bool,
}

impl<D: Lies + Send + Sync, N: Copy + Send> Held<D, N> {
    pub fn new(
        py: Python<'_>,
        format: PixelFormat,
        rows: RowOrder,
        wishes: &Wishes<'_>,
        show: fn(&mut Stage, &Readable<D>, &Engine) -> Result<(), Failure>,
        name: fn(&Stage) -> Result<N, Failure>,
    ) -> PyResult<Self> {
        let force = wishes.path.map(str::parse).transpose().map_err(Failure::from)?;
        let engines = Engines::new(Asked::parse(wishes.backend)?);
        let mut paths = Paths::default();
        if wishes.stable && force.is_none() {
            // The others have a ring of textures or buffers, of which each array gets the next.
            paths = paths.keep(|path| path.cost.copies > 0);
        }
        // Another path would mean another name.
        let policy = Policy::default().with_force(force).with_trials(Trials::Off).with_paths(paths);
        let ticket = py.detach(|| Ticket::new(Settings { format, rows, policy }))?;
        Ok(Self { ticket, engines, named: Mutex::new(None), show, name })
    }

    fn update_by(&self, py: Python<'_>, readable: &Readable<D>, engine: &Engine) -> PyResult<()> {
        py.detach(|| {
            self.ticket.run(|stage| {
                let shown = (self.show)(stage, readable, engine);
                // A frame that fails may also leave its path for another.
                if let Ok(named) = (self.name)(stage) {
                    *self.named.lock().unwrap_or_else(PoisonError::into_inner) = Some(named);
                }
                shown
            })
        })?;
        Ok(())
    }

    /// Shows what `of` makes of an array.
    pub fn update(&self, array: &Bound<'_, PyAny>, of: &dyn Fn(&Raw) -> Result<D, Failure>) -> PyResult<()> {
        let source = Source::new(array, of, &self.engines)?;
        let engine = self.engines.engine(source.readable().description().span().place)?;
        let updated = self.update_by(array.py(), source.readable(), &engine);
        // Only now may its owner have it back.
        drop(source);
        updated
    }

    /// Shows memory of our own.
    pub fn begin(&self, py: Python<'_>, readable: &Readable<D>) -> PyResult<()> {
        self.update_by(py, readable, &self.engines.engine(Place::Host)?)
    }

    /// Does something with what is shown.
    pub fn run(&self, py: Python<'_>, work: impl FnOnce(&Stage) -> Result<(), Failure> + Send) -> PyResult<()> {
        self.named()?;
        Ok(py.detach(|| self.ticket.run(|stage| work(stage)))?)
    }

    /// What the program may know, while it is open.
    pub fn named(&self) -> Result<N, Failure> {
        self.named.lock().unwrap_or_else(PoisonError::into_inner).ok_or_else(closed)
    }

    pub fn explain(&self, py: Python<'_>) -> PyResult<String> {
        self.named()?;
        let status = py.detach(|| self.ticket.run(|stage| stage.status()))?;
        Ok(status.map_or_else(String::new, |status| status.explain))
    }

    pub fn report<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyAny>>> {
        self.named()?;
        let status = py.detach(|| self.ticket.run(|stage| stage.status()))?;
        status.map(|status| report(py, &status.report, &status.explain)).transpose()
    }

    /// May be called again, and on any thread.
    pub fn close(&self, py: Python<'_>) {
        let open = self.named.lock().unwrap_or_else(PoisonError::into_inner).take();
        if open.is_some() {
            py.detach(|| self.ticket.close());
        }
    }
}
