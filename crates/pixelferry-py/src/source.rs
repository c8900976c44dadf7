//! Any array of Python as a description whose memory is kept: by DLPack, `__cuda_array_interface__`, or the buffer protocol.

use crate::engine::Engines;
use crate::failure::{self, Failure, answer};
use crate::raw::dlpack::{Described, Taken, VERSION};
use crate::raw::memory::{Lies, Readable};
use pixelferry::api::cuda::CudaBackend;
use pixelferry_look::{Number, Place, Raw};
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::{PyBufferError, PyTypeError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMemoryView, PyTuple};
use std::any::Any;

/// `DLDeviceType` of memory that the host reads.
const HOST: [i32; 2] = [1, 3];
/// Device types of memory that CUDA reads: the device's own, and managed.
const CUDA: [i32; 2] = [2, 13];

/// An array that was handed over. Dropping it gives it back.
pub struct Source<D> {
    readable: Readable<D>,
    _kept: Box<dyn Any>,
}

/// Function that takes an array as data of one kind.
type As<'a, D> = &'a dyn Fn(&Raw) -> Result<D, Failure>;

impl<D: Lies> Source<D> {
    /// Takes an array as what `of` makes of its description. Where it is on a GPU, the stream of that device's backend is
    /// ordered after what its producer has queued; nothing is waited for or copied.
    pub fn new(array: &Bound<'_, PyAny>, of: As<'_, D>, engines: &Engines) -> PyResult<Self> {
        let py = array.py();
        check_mask(array)?;
        let device = match array.getattr_opt(intern!(py, "__dlpack_device__"))? {
            // An array type, not an array, has it too.
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
            let what = format!("the array is in memory of a device of DLPack's kind {kind}, which is not read");
            return Err(Failure::Device(format!("{what}; copy it to the host")).into());
        }
        let buffer = PyUntypedBuffer::get(array).or_else(|error| match error.is_instance_of::<PyBufferError>(py) {
            // Arrays of ctypes say no strides, which a view of them does.
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
                "'{}' is no array: it has neither __dlpack__, __cuda_array_interface__ nor a buffer; numpy.asarray(x) makes \
                 one of most things",
                array.get_type().name()?
            ))
            .into()),
            Err(error) => Err(refused(py, error)),
        }
    }

    fn cuda_dlpack(array: &Bound<'_, PyAny>, id: i32, of: As<'_, D>, engines: &Engines) -> PyResult<Self> {
        let py = array.py();
        let ordinal = u32::try_from(id).map_err(|_| Failure::Device(format!("there is no CUDA device {id}")))?;
        // A device that this viewer does not read from is refused before anything is taken.
        let backend = py.detach(|| engines.engine(Place::Cuda(ordinal)).and_then(|_| engines.cuda(ordinal)))?;
        match Self::dlpack(array, of, Some(&backend)) {
            // CuPy (14.2) gives nonsense for negative strides of elements wider than a byte; its other protocol does not.
            Err(error) if failure::is_shape(py, &error)? => {
                Self::cuda_array_interface(array, of, engines)?.ok_or(error)
            }
            taken => taken,
        }
    }

    pub const fn readable(&self) -> &Readable<D> {
        &self.readable
    }

    /// `backend`: that of its device, whose stream is to be ordered after the producer's.
    fn dlpack(array: &Bound<'_, PyAny>, of: As<'_, D>, backend: Option<&CudaBackend>) -> PyResult<Self> {
        let py = array.py();
        let arguments = PyDict::new(py);
        if let Some(backend) = backend {
            arguments.set_item(intern!(py, "stream"), backend.stream())?;
        }
        let produce = array.getattr(intern!(py, "__dlpack__"))?;
        arguments.set_item(intern!(py, "max_version"), VERSION)?;
        // PyTorch hands over memory of the current device only.
        let call = || match backend {
            Some(backend) => backend
                .with_current(|| produce.call((), Some(&arguments)))
                .map_err(|e| PyErr::from(Failure::from(e)))?,
            None => produce.call((), Some(&arguments)),
        };
        let made = match call() {
            // One from before version 1.
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                arguments.del_item(intern!(py, "max_version"))?;
                call()
            }
            made => made,
        };
        let taken = Taken::from_capsule(&made.map_err(|e| refused(py, e))?)?;
        let described = of(&of_dlpack(taken.describe()?, backend.is_some())?)?;
        Ok(Self::kept(described, Box::new(taken)))
    }

    /// An array of NumPy's of a type that only its name tells, as ml_dtypes has them. `None` for any other.
    fn view(array: &Bound<'_, PyAny>, of: As<'_, D>) -> PyResult<Option<Self>> {
        let py = array.py();
        let Some(dtype) = array.getattr_opt(intern!(py, "dtype"))? else { return Ok(None) };
        let name = dtype.getattr_opt(intern!(py, "name"))?.and_then(|name| name.extract::<String>().ok());
        let number = name.and_then(|name| Number::of_name(&name)).filter(|number| number.is_only_named());
        let Some(number) = number else { return Ok(None) };
        let bits = array.call_method1(intern!(py, "view"), (format!("uint{}", number.bits),))?;
        Self::buffer(PyUntypedBuffer::get(&bits)?, Some(number), of).map(Some)
    }

    /// `number`: what the buffer's numbers are the bits of.
    fn buffer(buffer: PyUntypedBuffer, number: Option<Number>, of: As<'_, D>) -> PyResult<Self> {
        if buffer.suboffsets().is_some() {
            return Err(Failure::Shape("the buffer is one of pointers to rows; show a copy of it".into()).into());
        }
        let described = of(&Raw {
            address: buffer.buf_ptr().expose_provenance(),
            shape: buffer.shape().iter().map(|side| *side as i64).collect(),
            strides: Some(buffer.strides().iter().map(|stride| *stride as i64).collect()),
            number: number.unwrap_or_else(|| number_of_format(&buffer.format().to_string_lossy(), buffer.item_size())),
            place: Place::Host,
        })?;
        Ok(Self::kept(described, Box::new(buffer)))
    }

    /// <https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html>, up to version 3. `None` where the array has
    /// no such thing.
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
        let mut raw = Raw { address, shape, strides, number, place: Place::Cuda(0) };
        // All that is wrong with its form, before any device is asked.
        of(&raw)?;
        // It does not say which device's it is.
        let ordinal = py.detach(|| engines.cuda(0).and_then(|any| Ok(any.device_of(address as u64)?)))?;
        raw.place = Place::Cuda(ordinal);
        let described = of(&raw)?;
        let backend = py.detach(|| engines.engine(raw.place).and_then(|_| engines.cuda(ordinal)))?;
        // `None`, from version 3 on, says that there is nothing to wait for; before, nothing is said.
        let stream =
            if interface.contains("stream")? { item("stream")? } else { Some(1_usize.into_pyobject(py)?.into_any()) };
        if let Some(stream) = stream {
            match stream.extract::<usize>()? {
                0 => {
                    return Err(
                        Failure::Dtype("__cuda_array_interface__ names stream 0, which it may not".into()).into()
                    );
                }
                // SAFETY: what the protocol gives as the producer's stream, which lives while the array does; 1 and 2 mean
                // what they mean to the driver, on this thread.
                stream => unsafe { backend.follow_stream(stream) }.map_err(Failure::from)?,
            }
        }
        Ok(Some(Self::kept(described, Box::new(array.clone().unbind()))))
    }

    fn kept(described: D, kept: Box<dyn Any>) -> Self {
        // SAFETY: the protocol that it was read from promises its memory for as long as `kept` lives, which whoever gave the
        // array keeps until the job that got a copy is done; the streams were ordered before.
        Self { readable: unsafe { Readable::new(described) }, _kept: kept }
    }
}

/// Refuses an array that hides some of its numbers.
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

/// A copy of NumPy's in the machine's byte order, of an array whose numbers are in the other one. `None` for any other.
fn in_native_order<'py>(array: &Bound<'py, PyAny>, number: Number) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = array.py();
    if !number.foreign {
        return Ok(None);
    }
    let Some(dtype) = array.getattr_opt(intern!(py, "dtype"))? else { return Ok(None) };
    let native = dtype.call_method1(intern!(py, "newbyteorder"), ("=",))?;
    array.call_method1(intern!(py, "astype"), (native,)).map(Some)
}

/// A refusal with a line that can be written for that object, and with the name of its type.
fn instead(array: &Bound<'_, PyAny>, dimensions: usize, error: PyErr) -> PyResult<PyErr> {
    let py = array.py();
    if failure::is_shape(py, &error)? && dimensions == 1 && !array.hasattr(intern!(py, "reshape"))? {
        let line = "numpy.asarray(memoryview(x)).reshape(height, width)";
        return Ok(Failure::Shape(format!("an object of one dimension is no picture; show {line}")).into());
    }
    let dtype = array.getattr_opt(intern!(py, "dtype"))?.and_then(|dtype| dtype.getattr("str").ok());
    match dtype.filter(|_| error.get_type(py).name().is_ok_and(|name| name == "DtypeError")) {
        Some(dtype) => Ok(Failure::Dtype(format!("dtype '{dtype}': {}", error.value(py))).into()),
        None => Ok(error),
    }
}

/// The producer's own words, with ours.
fn refused(py: Python<'_>, error: PyErr) -> PyErr {
    let instead = match error.is_instance_of::<PyBufferError>(py) {
        true => "; show a copy of it, such as x.detach().cpu() or numpy.array(x)",
        false => "",
    };
    Failure::Dtype(format!("the array does not hand over its memory: {error}{instead}")).caused_by(py, error)
}

fn numbers(list: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    list.cast::<PyTuple>()?.extract()
}

fn of_dlpack(tensor: Described, on_device: bool) -> Result<Raw, Failure> {
    let code = if tensor.lanes == 1 { tensor.code } else { Number::NONE };
    let number = Number { code, bits: usize::from(tensor.bits) * usize::from(tensor.lanes), foreign: false };
    let place = match (u32::try_from(tensor.device_id), on_device) {
        (Ok(ordinal), true) if CUDA.contains(&tensor.device_kind) => Place::Cuda(ordinal),
        (_, false) if HOST.contains(&tensor.device_kind) => Place::Host,
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
        return Err(Failure::Dtype(format!("'{typestr}' is no type of elements")));
    };
    Ok(Number::of_letter(letter, bytes, is_foreign(order.encode_utf8(&mut [0; 4]))))
}

fn is_foreign(order: &str) -> bool {
    if cfg!(target_endian = "little") { [">", "!"].contains(&order) } else { order == "<" }
}
