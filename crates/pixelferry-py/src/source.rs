//! Any array of Python as a [`Plane`] whose memory is kept: by DLPack, `__cuda_array_interface__`, or the buffer protocol.

use crate::engine::Engines;
use crate::failure::{self, Failure};
use crate::plane::{Axes, Element, Place, Plane, Sort};
use crate::raw::dlpack::{Described, Taken, VERSION};
use crate::raw::memory::Readable;
use pyo3::buffer::PyUntypedBuffer;
use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use std::any::Any;

/// `DLDeviceType` of memory that the host reads.
const HOST: [i32; 2] = [1, 3];
/// Of memory that CUDA reads: the device's own, and managed.
const CUDA: [i32; 2] = [2, 13];

/// An array that was handed over. Dropping it gives it back.
pub struct Source {
    readable: Readable,
    _kept: Box<dyn Any>,
}

impl Source {
    /// Takes an array. Where it is on a GPU, the stream of that device's backend is ordered after what its producer has
    /// queued; nothing is waited for or copied.
    pub fn new(array: &Bound<'_, PyAny>, axes: Axes, engines: &Engines) -> PyResult<Self> {
        let py = array.py();
        let device = match array.getattr_opt(intern!(py, "__dlpack_device__"))? {
            // An array type, not an array, has it too.
            Some(ask) => Some(ask.call0().and_then(|d| d.extract::<(i32, i32)>()).map_err(|e| refused(py, e))?),
            None => None,
        };
        if let Some((kind, id)) = device
            && CUDA.contains(&kind)
        {
            return Self::cuda_dlpack(array, id, axes, engines);
        }
        if let Some(source) = Self::cuda_array_interface(array, axes, engines)? {
            return Ok(source);
        }
        if let Some((kind, _)) = device
            && !HOST.contains(&kind)
        {
            let what = format!("the array is in memory of a device of DLPack's kind {kind}, which is not read");
            return Err(Failure::Device(format!("{what}; copy it to the host")).into());
        }
        match PyUntypedBuffer::get(array) {
            Ok(buffer) => Self::buffer(buffer, axes),
            Err(_) if device.is_some() => Self::dlpack(array, axes, None),
            Err(error) if error.is_instance_of::<PyTypeError>(py) => Err(Failure::Dtype(format!(
                "'{}' is no array: it has neither __dlpack__, __cuda_array_interface__ nor a buffer; numpy.asarray(x) makes \
                 one of most things",
                array.get_type().name()?
            ))
            .into()),
            Err(error) => Err(refused(py, error)),
        }
    }

    fn cuda_dlpack(array: &Bound<'_, PyAny>, id: i32, axes: Axes, engines: &Engines) -> PyResult<Self> {
        let py = array.py();
        let ordinal = u32::try_from(id).map_err(|_| Failure::Device(format!("there is no CUDA device {id}")))?;
        // A device that this viewer does not read from is refused before anything is taken.
        let backend = py.detach(|| engines.engine(Place::Cuda(ordinal)).and_then(|_| engines.cuda(ordinal)))?;
        match Self::dlpack(array, axes, Some(backend.stream())) {
            // CuPy (14.2) gives nonsense for negative strides of elements wider than a byte; its other protocol does not.
            Err(error) if failure::is_shape(py, &error)? => {
                Self::cuda_array_interface(array, axes, engines)?.ok_or(error)
            }
            taken => taken,
        }
    }

    pub const fn readable(&self) -> Readable {
        self.readable
    }

    /// `stream`: the one to be ordered after the producer's.
    fn dlpack(array: &Bound<'_, PyAny>, axes: Axes, stream: Option<usize>) -> PyResult<Self> {
        let py = array.py();
        let arguments = PyDict::new(py);
        if let Some(stream) = stream {
            arguments.set_item(intern!(py, "stream"), stream)?;
        }
        let produce = array.getattr(intern!(py, "__dlpack__"))?;
        arguments.set_item(intern!(py, "max_version"), VERSION)?;
        let made = match produce.call((), Some(&arguments)) {
            // One from before version 1.
            Err(error) if error.is_instance_of::<PyTypeError>(py) => {
                arguments.del_item(intern!(py, "max_version"))?;
                produce.call((), Some(&arguments))
            }
            made => made,
        };
        let taken = Taken::from_capsule(&made.map_err(|e| refused(py, e))?)?;
        let plane = of_dlpack(&taken.describe()?, axes, stream.is_some())?;
        Ok(Self::kept(plane, Box::new(taken)))
    }

    fn buffer(buffer: PyUntypedBuffer, axes: Axes) -> PyResult<Self> {
        let element = element_of_format(&buffer.format().to_string_lossy(), buffer.item_size())?;
        if buffer.suboffsets().is_some() {
            return Err(Failure::Shape("the buffer is one of pointers to rows; show a copy of it".into()).into());
        }
        let shape: Vec<i64> = buffer.shape().iter().map(|side| *side as i64).collect();
        let strides: Vec<i64> = buffer.strides().iter().map(|stride| *stride as i64).collect();
        let plane = Plane::new(buffer.buf_ptr().expose_provenance(), &shape, &strides, element, axes, Place::Host)?;
        Ok(Self::kept(plane, Box::new(buffer)))
    }

    /// <https://numba.readthedocs.io/en/stable/cuda/cuda_array_interface.html>, up to version 3. `None` where the array has
    /// no such thing.
    fn cuda_array_interface(array: &Bound<'_, PyAny>, axes: Axes, engines: &Engines) -> PyResult<Option<Self>> {
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
        let element = element_of_typestr(&needed("typestr")?.extract::<String>()?)?;
        let shape = numbers(&needed("shape")?)?;
        let strides = match item("strides")? {
            Some(strides) => numbers(&strides)?,
            None => tight(&shape, element)?,
        };
        let (address, _read_only): (usize, bool) = needed("data")?.extract()?;
        // All that is wrong with its form, before any device is asked.
        Plane::new(address, &shape, &strides, element, axes, Place::Cuda(0))?;
        // It does not say which device's it is.
        let ordinal = py.detach(|| engines.cuda(0).and_then(|any| Ok(any.device_of(address as u64)?)))?;
        let plane = Plane::new(address, &shape, &strides, element, axes, Place::Cuda(ordinal))?;
        let backend = py.detach(|| engines.engine(plane.place).and_then(|_| engines.cuda(ordinal)))?;
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
        Ok(Some(Self::kept(plane, Box::new(array.clone().unbind()))))
    }

    fn kept(plane: Plane, kept: Box<dyn Any>) -> Self {
        // SAFETY: the protocol that `plane` was read from promises its memory for as long as `kept` lives, which `show` of
        // the viewer keeps until the job that got the copy is done; the streams were ordered before.
        Self { readable: unsafe { Readable::new(plane) }, _kept: kept }
    }
}

/// The producer's own words, with ours.
fn refused(py: Python<'_>, error: PyErr) -> PyErr {
    Failure::Dtype(format!("the array does not hand over its memory: {error}")).caused_by(py, error)
}

fn numbers(list: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
    list.cast::<PyTuple>()?.extract()
}

fn tight(shape: &[i64], element: Element) -> Result<Vec<i64>, Failure> {
    Plane::tight(shape, element).ok_or_else(|| Failure::Shape(format!("an array of shape {shape:?} is too large")))
}

fn of_dlpack(tensor: &Described, axes: Axes, on_device: bool) -> Result<Plane, Failure> {
    // `DLDataTypeCode`.
    let sort = match tensor.code {
        0 => Sort::Other("signed integers"),
        1 => Sort::Unsigned,
        2 => Sort::Float,
        4 => Sort::Other("bfloat16"),
        5 => Sort::Other("complex numbers"),
        6 => Sort::Other("booleans"),
        _ => Sort::Other("these elements"),
    };
    let element = Element::new(sort, usize::from(tensor.bits))?;
    if tensor.lanes != 1 {
        return Err(Failure::Dtype(format!("elements of {} lanes cannot be shown", tensor.lanes)));
    }
    let place = match (u32::try_from(tensor.device_id), on_device) {
        (Ok(ordinal), true) if CUDA.contains(&tensor.device_kind) => Place::Cuda(ordinal),
        (_, false) if HOST.contains(&tensor.device_kind) => Place::Host,
        _ => return Err(Failure::Device("__dlpack__ and __dlpack_device__ name different devices".into())),
    };
    let strides = match &tensor.strides {
        Some(strides) => {
            let bytes = |stride: &i64| stride.checked_mul(element.bytes() as i64);
            let strides: Option<Vec<i64>> = strides.iter().map(bytes).collect();
            strides.ok_or_else(|| Failure::Shape("the array's strides are too large".into()))?
        }
        None => tight(&tensor.shape, element)?,
    };
    Plane::new(tensor.address, &tensor.shape, &strides, element, axes, place)
}

/// Of the buffer protocol (the module `struct` has the list).
fn element_of_format(format: &str, bytes: usize) -> Result<Element, Failure> {
    let (order, letters) = match format.split_at_checked(1) {
        Some((order @ ("@" | "=" | "<" | ">" | "!" | "|"), rest)) => (order, rest),
        _ => ("@", format),
    };
    check_order(order, bytes)?;
    let letter = match letters {
        "B" | "H" | "I" | "L" | "Q" | "N" => 'u',
        "e" | "f" | "d" | "g" => 'f',
        "b" | "h" | "i" | "l" | "q" | "n" => 'i',
        "?" => 'b',
        _ if letters.starts_with('Z') => 'c',
        _ => '?',
    };
    Element::of_letter(letter, bytes)
}

/// Of NumPy's array interface, e.g. `<f4`.
fn element_of_typestr(typestr: &str) -> Result<Element, Failure> {
    let mut letters = typestr.chars();
    let (order, letter) = (letters.next(), letters.next());
    let (Some(order), Some(letter), Ok(bytes)) = (order, letter, letters.as_str().parse()) else {
        return Err(Failure::Dtype(format!("'{typestr}' is no type of elements")));
    };
    check_order(order.encode_utf8(&mut [0; 4]), bytes)?;
    Element::of_letter(letter, bytes)
}

fn check_order(order: &str, bytes: usize) -> Result<(), Failure> {
    let foreign = if cfg!(target_endian = "little") { [">", "!"] } else { ["<", "<"] };
    if bytes > 1 && foreign.contains(&order) {
        return Err(Failure::Dtype(
            "the array's numbers are in the byte order of other machines; convert it, for example with \
             x.astype(x.dtype.newbyteorder('='))"
                .into(),
        ));
    }
    Ok(())
}
