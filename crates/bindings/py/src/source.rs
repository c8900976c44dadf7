//! Describes any Python array and keeps its memory: via DLPack, `__cuda_array_interface__`, or the buffer protocol.

use crate::engine::Engines;
use crate::failure::{self, Failure, answer};
use crate::raw::dlpack::{TakenTensor, TensorDesc, VERSION};
use crate::raw::memory::{MemoryDesc, Readable};
use pixelferry::api::cuda::CudaBackend;
use pixelferry_look::{MemoryLocation, Number, Raw};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMemoryView, PyTuple};
use std::any::Any;

/// `DLDeviceType` values of memory that the host can read.
const HOST: [i32; 2] = [1, 3];
/// `DLDeviceType` values of memory that CUDA can read: device memory and managed memory.
const CUDA: [i32; 2] = [2, 13];

/// An exported array. Dropping this releases it.
pub struct Source<D> {
    readable: Readable<D>,
    _kept: Box<dyn Any + Send + Sync>,
}

/// Interprets an array as data of one kind.
type As<'a, D> = &'a dyn Fn(&Raw) -> Result<D, Failure>;

impl<D: MemoryDesc> Source<D> {
    /// Takes an array, interpreted by `of`. For an array on a GPU, the stream of that device's backend is ordered after
    /// the producer's queued work, without waiting or copying.
    pub fn new(array: &Bound<'_, PyAny>, of: As<'_, D>, engines: &Engines) -> PyResult<Self> {
        let py = array.py();
        check_mask(array)?;
        let device = match array.getattr_opt(intern!(py, "__dlpack_device__"))? {
            // The attribute also exists on an array type, which is not an array.
            Some(ask) => Some(ask.call0().and_then(|d| d.extract::<(i32, i32)>()).map_err(|e| refused(py, e))?),
            None => None,
        };
        if let Some((kind, id)) = device
            && CUDA.contains(&kind)
        {
            return Self::cuda_dlpack(array, id, of, engines);
        }
        if let Some(source) = Self::cuda_array_interface(array, of, engines)? {
            return Ok(source);
        }
        if let Some((kind, _)) = device
            && !HOST.contains(&kind)
        {
            let what = format!("the array is in memory of DLPack device type {kind}, which is unsupported");
            return Err(Failure::Device(format!("{what}; copy it to the host")).into());
        }
        let buffer = PyUntypedBuffer::get(array).or_else(|error| match error.is_instance_of::<PyBufferError>(py) {
            // ctypes arrays report no strides, but a memoryview of them does.
            true => PyMemoryView::from(array).and_then(|view| PyUntypedBuffer::get(&view)).map_err(|_| error),
            false => Err(error),
        });
        match answer(py, buffer)? {
            Ok(buffer) => {
                let number = number_of_format(&buffer.format().to_string_lossy(), buffer.item_size());
                let dimensions = buffer.dimensions();
                Self::buffer(buffer, None, of).or_else(|error| match in_native_order(array, number)? {
                    Some(native) => Self::buffer(PyUntypedBuffer::get(&native)?, None, of)
                        .or_else(|error| Err(instead(&native, dimensions, error)?)),
                    None => Err(instead(array, dimensions, error)?),
                })
            }
            Err(_) if device.is_some() => match answer(py, Self::dlpack(array, of, None))? {
                Err(error) => Self::view(array, of)?.ok_or(error),
                taken => taken,
            },
            Err(error) if error.is_instance_of::<PyTypeError>(py) => Err(Failure::Dtype(format!(
                "'{}' is not an array: it has neither __dlpack__, __cuda_array_interface__ nor a buffer; \
                 numpy.asarray(x) converts most objects",
                array.get_type().name()?
            ))
            .into()),
            Err(error) => Err(refused(py, error)),
        }
    }

    fn cuda_dlpack(array: &Bound<'_, PyAny>, id: i32, of: As<'_, D>, engines: &Engines) -> PyResult<Self> {
        let py = array.py();
        let ordinal = u32::try_from(id).map_err(|_| Failure::Device(format!("there is no CUDA device {id}")))?;
        // Refuse a device that this viewer does not read from before taking anything.
        let backend =
            py.detach(|| engines.engine(MemoryLocation::Cuda(ordinal)).and_then(|_| engines.cuda(ordinal)))?;
        match Self::dlpack(array, of, Some(&backend)) {
            // CuPy (14.2) exports wrong values for negative strides of elements wider than a byte; its other protocol
            // is right.
            Err(error) if failure::is_shape(py, &error)? => {
                Self::cuda_array_interface(array, of, engines)?.ok_or(error)
            }
            taken => taken,
        }
    }

    pub const fn readable(&self) -> &Readable<D> {
        &self.readable
    }

    /// `backend` is that of the array's device; its stream is ordered after the producer's.
    fn dlpack(array: &Bound<'_, PyAny>, of: As<'_, D>, backend: Option<&CudaBackend>) -> PyResult<Self> {
        let py = array.py();
        let arguments = PyDict::new(py);
        if let Some(backend) = backend {
            arguments.set_item(intern!(py, "stream"), backend.stream())?;
        }
        let produce = array.getattr(intern!(py, "__dlpack__"))?;
        arguments.set_item(intern!(py, "max_version"), VERSION)?;
        // PyTorch exports memory of the current device only.
        let call = || match backend {
            Some(backend) => backend
                .with_current(|| produce.call((), Some(&arguments)))
                .map_err(|e| PyErr::from(Failure::from(e)))?,
            None => produce.call((), Some(&arguments)),
        };
        let made = match call() {
            // A producer from before version 1.
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                arguments.del_item(intern!(py, "max_version"))?;
                call()
            }
            made => made,
        };
        let taken = TakenTensor::from_capsule(&made.map_err(|e| refused(py, e))?)?;
        let described = of(&of_dlpack(taken.describe()?, backend.is_some())?)?;
        Ok(Self::kept(described, Box::new(taken)))
    }

    /// Takes a NumPy array of a type that only its name tells, as in ml_dtypes. `None` for any other.
    fn view(array: &Bound<'_, PyAny>, of: As<'_, D>) -> PyResult<Option<Self>> {
        let py = array.py();
        let Some(dtype) = array.getattr_opt(intern!(py, "dtype"))? else { return Ok(None) };
        let name = dtype.getattr_opt(intern!(py, "name"))?.and_then(|name| name.extract::<String>().ok());
        let number = name.and_then(|name| Number::of_name(&name)).filter(|number| number.is_only_named());
        let Some(number) = number else { return Ok(None) };
        let bits = array.call_method1(intern!(py, "view"), (format!("uint{}", number.bits),))?;
        Self::buffer(PyUntypedBuffer::get(&bits)?, Some(number), of).map(Some)
    }

    /// `number` is the type whose bits the buffer contains, if it is not the buffer's own.
    fn buffer(buffer: PyUntypedBuffer, number: Option<Number>, of: As<'_, D>) -> PyResult<Self> {
        if buffer.suboffsets().is_some() {
            return Err(Failure::Shape("the buffer consists of pointers to rows; show a copy of it".into()).into());
        }
        let described = of(&Raw {
            address: buffer.buf_ptr().expose_provenance(),
            shape: buffer.shape().iter().map(|side| *side as i64).collect(),
            strides: Some(buffer.strides().iter().map(|stride| *stride as i64).collect()),
            number: number.unwrap_or_else(|| number_of_format(&buffer.format().to_string_lossy(), buffer.item_size())),
            place: MemoryLocation::Host,
        })?;
        Ok(Self::kept(described, Box::new(buffer)))
    }

    /// Takes an array via <https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html>, up to version 3.
    /// `None` if the array does not have that interface.
    fn cuda_array_interface(array: &Bound<'_, PyAny>, of: As<'_, D>, engines: &Engines) -> PyResult<Option<Self>> {
        let py = array.py();
        let Some(interface) = array.getattr_opt(intern!(py, "__cuda_array_interface__"))? else { return Ok(None) };
        let interface = interface.cast_into::<PyDict>()?;
        let item = |name: &str| -> PyResult<Option<Bound<'_, PyAny>>> {
            Ok(interface.get_item(name)?.filter(|value| !value.is_none()))
        };
        let needed = |name: &str| -> PyResult<Bound<'_, PyAny>> {
            item(name)?.ok_or_else(|| Failure::Dtype(format!("__cuda_array_interface__ has no '{name}'")).into())
        };
        if item("mask")?.is_some() {
            return Err(Failure::Dtype("a masked array cannot be shown; fill its mask first".into()).into());
        }
        let number = number_of_typestr(&needed("typestr")?.extract::<String>()?)?;
        let shape = numbers(&needed("shape")?)?;
        let strides = item("strides")?.map(|strides| numbers(&strides)).transpose()?;
        let (address, _read_only): (usize, bool) = needed("data")?.extract()?;
        let mut raw = Raw { address, shape, strides, number, place: MemoryLocation::Cuda(0) };
        // Check the form completely before using any device.
        of(&raw)?;
        // The interface does not name the device.
        let ordinal = py.detach(|| engines.cuda(0).and_then(|any| Ok(any.device_of(address as u64)?)))?;
        raw.place = MemoryLocation::Cuda(ordinal);
        let described = of(&raw)?;
        let backend = py.detach(|| engines.engine(raw.place).and_then(|_| engines.cuda(ordinal)))?;
        // From version 3 on, `None` means that there is nothing to wait for; before, it has no meaning.
        let stream =
            if interface.contains("stream")? { item("stream")? } else { Some(1_usize.into_pyobject(py)?.into_any()) };
        if let Some(stream) = stream {
            match stream.extract::<usize>()? {
                0 => {
                    return Err(Failure::Dtype("__cuda_array_interface__ has stream 0, which is invalid".into()).into());
                }
                // SAFETY: the protocol gives the producer's stream, which is alive as long as the array; 1 and 2 have
                // the driver's meaning on this thread.
                stream => unsafe { backend.follow_stream(stream) }.map_err(Failure::from)?,
            }
        }
        Ok(Some(Self::kept(described, Box::new(array.clone().unbind()))))
    }

    fn kept(described: D, kept: Box<dyn Any + Send + Sync>) -> Self {
        // SAFETY: the protocol promises that the memory is valid while `kept` lives, and the owner of the array keeps
        // that until the job is done; the streams were ordered before.
        Self { readable: unsafe { Readable::new(described) }, _kept: kept }
    }
}

/// Refuses a masked array.
fn check_mask(array: &Bound<'_, PyAny>) -> PyResult<()> {
    let py = array.py();
    if array.getattr_opt(intern!(py, "filled"))?.is_none() {
        return Ok(());
    }
    let Some(mask) = array.getattr_opt(intern!(py, "mask"))? else { return Ok(()) };
    if !mask.call_method0(intern!(py, "any"))?.is_truthy()? {
        return Ok(());
    }
    Err(Failure::Dtype(
        "a masked array cannot be shown; show x.filled(0), or x.astype('float32').filled(float('nan'))".into(),
    )
    .into())
}

/// Converts a NumPy array of foreign byte order to native order. `None` for any other.
fn in_native_order<'py>(array: &Bound<'py, PyAny>, number: Number) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = array.py();
    if !number.foreign {
        return Ok(None);
    }
    let Some(dtype) = array.getattr_opt(intern!(py, "dtype"))? else { return Ok(None) };
    let native = dtype.call_method1(intern!(py, "newbyteorder"), ("=",))?;
    array.call_method1(intern!(py, "astype"), (native,)).map(Some)
}

/// Adds to a refusal a line that the user can write for that object, and the name of its type.
fn instead(array: &Bound<'_, PyAny>, dimensions: usize, error: PyErr) -> PyResult<PyErr> {
    let py = array.py();
    if failure::is_shape(py, &error)? && dimensions == 1 && !array.hasattr(intern!(py, "reshape"))? {
        let line = "numpy.asarray(memoryview(x)).reshape(height, width)";
        return Ok(Failure::Shape(format!("an object of one dimension is not a picture; show {line}")).into());
    }
    let dtype = array.getattr_opt(intern!(py, "dtype"))?.and_then(|dtype| dtype.getattr("str").ok());
    match dtype.filter(|_| error.get_type(py).name().is_ok_and(|name| name == "DtypeError")) {
        Some(dtype) => Ok(Failure::Dtype(format!("dtype '{dtype}': {}", error.value(py))).into()),
        None => Ok(error),
    }
}

/// Adds a hint to the producer's own message.
fn refused(py: Python<'_>, error: PyErr) -> PyErr {
    let instead = match error.is_instance_of::<PyBufferError>(py) {
        true => "; show a copy of it, such as x.detach().cpu() or numpy.array(x)",
        false => "",
    };
    Failure::Dtype(format!("the array cannot be exported: {error}{instead}")).caused_by(py, error)
}

fn numbers(list: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    list.cast::<PyTuple>()?.extract()
}

fn of_dlpack(tensor: TensorDesc, on_device: bool) -> Result<Raw, Failure> {
    let code = if tensor.lanes == 1 { tensor.code } else { Number::NONE };
    let number = Number { code, bits: usize::from(tensor.bits) * usize::from(tensor.lanes), foreign: false };
    let place = match (u32::try_from(tensor.device_id), on_device) {
        (Ok(ordinal), true) if CUDA.contains(&tensor.device_kind) => MemoryLocation::Cuda(ordinal),
        (_, false) if HOST.contains(&tensor.device_kind) => MemoryLocation::Host,
        _ => return Err(Failure::Device("__dlpack__ and __dlpack_device__ name different devices".into())),
    };
    let bytes = |stride: &i64| stride.checked_mul((number.bits / 8) as i64);
    let strides = tensor.strides.map(|strides| strides.iter().map(bytes).collect::<Option<Vec<i64>>>());
    let strides = match strides {
        Some(None) => return Err(Failure::Shape("the array's strides are too large".into())),
        stated => stated.flatten(),
    };
    Ok(Raw { address: tensor.address, shape: tensor.shape, strides, number, place })
}

/// Parses a format of the buffer protocol (the module `struct` has the list).
fn number_of_format(format: &str, bytes: usize) -> Number {
    let (order, letters) = match format.split_at_checked(1) {
        Some((order @ ("@" | "=" | "<" | ">" | "!" | "|"), rest)) => (order, rest),
        _ => ("@", format),
    };
    let letter = match letters {
        "B" | "H" | "I" | "L" | "Q" | "N" => 'u',
        "e" | "f" | "d" | "g" => 'f',
        "b" | "h" | "i" | "l" | "q" | "n" => 'i',
        "?" => 'b',
        _ if letters.starts_with('Z') => 'c',
        _ => '?',
    };
    Number::of_letter(letter, bytes, is_foreign(order))
}

/// Parses a type of NumPy's array interface, e.g. `<f4`.
fn number_of_typestr(typestr: &str) -> Result<Number, Failure> {
    let mut letters = typestr.chars();
    let (order, letter) = (letters.next(), letters.next());
    let (Some(order), Some(letter), Ok(bytes)) = (order, letter, letters.as_str().parse()) else {
        return Err(Failure::Dtype(format!("unknown element type '{typestr}'")));
    };
    Ok(Number::of_letter(letter, bytes, is_foreign(order.encode_utf8(&mut [0; 4]))))
}

fn is_foreign(order: &str) -> bool {
    if cfg!(target_endian = "little") { [">", "!"].contains(&order) } else { order == "<" }
}
