//! Errors on any thread, and the Python exception that each becomes.

use pixelferry::driver::describe::process::ProcessMark;
use pixelferry::{Error, SaveError};
use pixelferry_look::Refusal;
use pixelferry_media::record::RecordError;
use pyo3::exceptions::{PyException, PyMemoryError, PyOSError, PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyTuple, PyType};
use std::path::PathBuf;

/// A failure before it becomes an exception.
#[derive(Debug)]
pub enum Failure {
    /// The element type is unsupported.
    Dtype(String),
    /// A shape, stride or value is invalid.
    Shape(String),
    /// Memory, a device or a driver cannot be used.
    Device(String),
    /// There is no screen to open a window on.
    NoDisplay(String),
    /// The OpenGL context of a texture is not current.
    Context(String),
    /// The viewer was closed.
    Closed(String),
    /// The system refused a file, with this error number.
    File(i32, PathBuf),
    /// An exception that the program's own code raised.
    Raised(PyErr),
}

impl From<PyErr> for Failure {
    fn from(error: PyErr) -> Self {
        Self::Raised(error)
    }
}

/// Returns the result of calling the program's code, which may be an exception for us to explain. Exceptions that end a
/// program (KeyboardInterrupt, SystemExit) or report a lack of memory become errors unchanged.
pub fn answer<T>(py: Python<'_>, asked: PyResult<T>) -> PyResult<PyResult<T>> {
    match asked {
        Err(error) if is_final(py, &error) => Err(error),
        other => Ok(other),
    }
}

fn is_final(py: Python<'_>, error: &PyErr) -> bool {
    !error.is_instance_of::<PyException>(py) || error.is_instance_of::<PyMemoryError>(py)
}

impl Failure {
    /// Another program destroyed the window.
    pub fn destroyed() -> Self {
        Self::Closed("another program destroyed the window".into())
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            Error::InvalidInput { .. } | Error::NothingShown => Self::Shape(error.to_string()),
            Error::WrongContext { .. } => Self::Context(error.to_string()),
            other => Self::Device(other.to_string()),
        }
    }
}

impl From<Refusal> for Failure {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Dtype(text) => Self::Dtype(text),
            Refusal::Shape(text) => Self::Shape(text),
        }
    }
}

impl From<SaveError> for Failure {
    fn from(error: SaveError) -> Self {
        let code = error.io_error().and_then(std::io::Error::raw_os_error);
        match (error, code) {
            (SaveError::Frame(error), _) => error.into(),
            (SaveError::File { path, .. }, Some(code)) => Self::File(code, path),
            (error @ SaveError::Format { .. }, _) => Self::Shape(error.to_string()),
            (other, _) => Self::Device(other.to_string()),
        }
    }
}

impl From<RecordError> for Failure {
    fn from(error: RecordError) -> Self {
        match error {
            RecordError::Frame(error) => error.into(),
            RecordError::Picture(error) => error.into(),
            RecordError::Name(_) | RecordError::Pattern(_) => Self::Shape(error.to_string()),
            RecordError::Write { ref to, ref source } => match source.raw_os_error() {
                Some(code) => Self::File(code, to.into()),
                None => Self::Device(error.to_string()),
            },
            other => Self::Device(other.to_string()),
        }
    }
}

/// The exception types, made once per interpreter.
struct Types {
    error: Py<PyType>,
    dtype: Py<PyType>,
    shape: Py<PyType>,
    device: Py<PyType>,
    no_display: Py<PyType>,
    context: Py<PyType>,
    closed: Py<PyType>,
}

static TYPES: PyOnceLock<Types> = PyOnceLock::new();

fn types(py: Python<'_>) -> PyResult<&Types> {
    TYPES.get_or_try_init(py, || {
        // Each also derives from the built-in exception that a caller would expect.
        let make = |name: &str, doc: &str, bases: Vec<Bound<'_, PyType>>| -> PyResult<Py<PyType>> {
            let attributes = pyo3::types::PyDict::new(py);
            attributes.set_item("__doc__", doc)?;
            attributes.set_item("__module__", "pixelferry")?;
            let made = py.get_type::<PyType>().call1((name, PyTuple::new(py, bases)?, attributes))?;
            Ok(made.cast_into::<PyType>()?.unbind())
        };
        let error =
            make("Error", "Base class of all errors that pixelferry raises.", vec![py.get_type::<PyException>()])?;
        let under = |name, doc, base| make(name, doc, vec![error.bind(py).clone(), base]);
        let dtype =
            under("DtypeError", "The array's type, or the object, cannot be shown.", py.get_type::<PyTypeError>())?;
        let shape = under("ShapeError", "A shape, stride, size or option is invalid.", py.get_type::<PyValueError>())?;
        let device =
            under("DeviceError", "A device, driver or memory cannot be used.", py.get_type::<PyRuntimeError>())?;
        let no_display =
            under("NoDisplayError", "There is no screen to open a window on.", py.get_type::<PyRuntimeError>())?;
        let context = under(
            "ContextError",
            "The OpenGL context of a texture is not current on this thread.",
            py.get_type::<PyRuntimeError>(),
        )?;
        let closed =
            under("ClosedError", "The viewer, its window or the texture was closed.", py.get_type::<PyRuntimeError>())?;
        Ok(Types { error, dtype, shape, device, no_display, context, closed })
    })
}

/// Adds the exceptions to the module.
pub fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let t = types(module.py())?;
    for ty in [&t.error, &t.dtype, &t.shape, &t.device, &t.no_display, &t.context, &t.closed] {
        let ty = ty.bind(module.py());
        module.add(&*ty.name()?.to_cow()?, ty)?;
    }
    Ok(())
}

impl From<Failure> for PyErr {
    fn from(failure: Failure) -> Self {
        Python::attach(|py| {
            let types = match types(py) {
                Ok(types) => types,
                Err(error) => return error,
            };
            let (ty, text) = match failure {
                Failure::Dtype(text) => (&types.dtype, text),
                Failure::Shape(text) => (&types.shape, text),
                Failure::Device(text) => (&types.device, text),
                Failure::NoDisplay(text) => (&types.no_display, text),
                Failure::Context(text) => (&types.context, text),
                Failure::Closed(text) => (&types.closed, text),
                Failure::Raised(error) => return error,
                Failure::File(code, path) => return os_error(py, code, path).unwrap_or_else(|error| error),
            };
            Self::from_type(ty.bind(py).clone(), text)
        })
    }
}

/// Python's own exception for an error number of the system, such as `FileNotFoundError`, with the file's name.
fn os_error(py: Python<'_>, code: i32, path: PathBuf) -> PyResult<PyErr> {
    let text = py.import("os")?.call_method1("strerror", (code,))?;
    // The type selects its subclass by the number.
    Ok(PyErr::from_value(py.get_type::<PyOSError>().call1((code, text, path.into_os_string()))?))
}

/// Returns whether an exception is a ShapeError.
pub fn is_shape(py: Python<'_>, error: &PyErr) -> PyResult<bool> {
    Ok(error.is_instance(py, types(py)?.shape.bind(py)))
}

impl Failure {
    /// Returns the exception, with its cause.
    pub fn caused_by(self, py: Python<'_>, cause: PyErr) -> PyErr {
        if is_final(py, &cause) {
            return cause;
        }
        let error = PyErr::from(self);
        error.set_cause(py, Some(cause));
        error
    }
}

/// Refuses objects that a forked process inherited, because it does not have their threads and drivers.
pub fn check_process(made: ProcessMark, what: &str) -> Result<(), Failure> {
    if made.is_here() {
        return Ok(());
    }
    Err(Failure::Closed(format!(
        "{what} was opened before this process was forked, so only the parent process can use it. Start this process with \
         multiprocessing.get_context(\"spawn\") and open {what} in it, or fork before pixelferry is used"
    )))
}
