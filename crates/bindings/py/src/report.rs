//! Reports as dicts that print as text.

use crate::failure::Failure;
use crate::job::awaited;
use pixelferry::driver::describe::threads;
use pixelferry::{PixelFormat, SurfaceDesc, Unwritten, report::SystemReport};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::PyModule;
use std::ffi::CStr;
use std::fmt::Write as _;
use std::sync::mpsc::channel;

static CODE: PyOnceLock<Py<PyModule>> = PyOnceLock::new();

const TEXT: &CStr = c"
import json

class Report(dict):
    \"\"\"A dict whose str() is the same for people.\"\"\"

    def __init__(self, data, text):
        super().__init__(data)
        self.text = text

    def __str__(self):
        return self.text

def make(data, text):
    return Report(json.loads(data), text)

Report.__module__ = 'pixelferry'
";

fn code(py: Python<'_>) -> PyResult<&Bound<'_, PyModule>> {
    let made = CODE.get_or_try_init(py, || {
        PyModule::from_code(py, TEXT, c"pixelferry/report.py", c"pixelferry._report").map(Bound::unbind)
    })?;
    Ok(made.bind(py))
}

/// Adds the report class to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("Report", code(module.py())?.getattr("Report")?)
}

/// Makes a dict from `json` whose `str()` is `text`.
pub fn report<'py>(py: Python<'py>, json: &str, text: &str) -> PyResult<Bound<'py, PyAny>> {
    code(py)?.getattr("make")?.call1((json, text))
}

/// Tries every path between every compute device and every display that needs no window, and proves each by pixels.
#[pyfunction]
#[pyo3(signature = (width=640, height=360))]
pub fn probe(py: Python<'_>, width: u32, height: u32) -> PyResult<Bound<'_, PyAny>> {
    // Use a separate thread: displays change which OpenGL context is current.
    let found = py.detach(|| {
        // The surface of a viewer.
        let desc = SurfaceDesc::image(width, height, PixelFormat::Rgba8).with_unwritten(Unwritten::Overwrite);
        let (tell, told) = channel();
        let probing = threads::spawn("pixelferry probe", move || drop(tell.send(pixelferry::probe(&desc))));
        probing.map_err(|e| Failure::Device(format!("cannot start a thread: {e}")))?;
        let report = awaited(&told)?.ok_or_else(|| Failure::Device("internal error: the probe panicked".into()))??;
        let json = serde_json::to_string(&report).map_err(|e| Failure::Device(e.to_string()))?;
        Ok::<_, Failure>((json, text(&report)))
    })?;
    report(py, &found.0, &found.1)
}

fn text(report: &SystemReport) -> String {
    let mut out = format!("{}\npixelferry {}\n", report.answer(), report.version);
    // Writing to a string cannot fail.
    if let Some(chosen) = &report.chosen {
        let _ = writeln!(out, "default: {} -> {} by {}: {}", chosen.compute, chosen.display, chosen.path, chosen.why);
    }
    for pairing in &report.pairings {
        let _ = write!(out, "\n{pairing}");
    }
    for found in &report.diagnoses {
        let _ = writeln!(out, "note {}: {}. {}", found.name, found.finding, found.advice);
    }
    for problem in &report.problems {
        let _ = writeln!(out, "problem: {problem}");
    }
    out
}
