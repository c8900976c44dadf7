//! `pixelferry.Array`: pixels or bytes that were read from a display, which other libraries can use without a copy.

use crate::failure::Failure;
use crate::raw::dlpack::TensorDesc;
use crate::raw::export::{self, Bytes};
use crate::raw::owned_bytes::{CudaBytes, HostBytes, Memory};
use pixelferry::SurfaceDesc;
use pixelferry::api::cuda::CudaBackend;
use pixelferry::driver::describe::format::ChannelKind;
use pyo3::exceptions::{PyAttributeError, PyBufferError};
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyMemoryView, PyTuple};
use std::ffi::{CStr, c_int};
use std::sync::Arc;

/// Names of a number type in each protocol.
struct Kind {
    channels: ChannelKind,
    name: &'static str,
    /// Letter of NumPy's type strings, before the number of bytes.
    letter: char,
    /// Format of the module `struct`.
    format: &'static CStr,
    /// `DLDataTypeCode`.
    code: u8,
}

static KINDS: [Kind; 5] = [
    Kind { channels: ChannelKind::Unorm8, name: "uint8", letter: 'u', format: c"B", code: 1 },
    Kind { channels: ChannelKind::Unorm16, name: "uint16", letter: 'u', format: c"H", code: 1 },
    Kind { channels: ChannelKind::Unorm10A2, name: "uint32", letter: 'u', format: c"I", code: 1 },
    Kind { channels: ChannelKind::Float16, name: "float16", letter: 'f', format: c"e", code: 2 },
    Kind { channels: ChannelKind::Float32, name: "float32", letter: 'f', format: c"f", code: 2 },
];

/// Shape and number type of an array without gaps whose last index is the fastest.
#[derive(Clone)]
pub struct Layout {
    kind: &'static Kind,
    shape: Vec<isize>,
    /// In bytes.
    strides: Vec<isize>,
}

impl Layout {
    /// Returns the layout of a surface's whole content: (rows, columns, channels), without the last axis if a pixel is
    /// one number; or bytes.
    pub fn of(desc: &SurfaceDesc) -> Result<Self, Failure> {
        let bytes = desc.byte_len()?;
        let (channels, shape) = match desc {
            SurfaceDesc::Buffer(_) => (ChannelKind::Unorm8, vec![bytes]),
            SurfaceDesc::Image(image) => {
                let mut shape = vec![image.extent.height as usize, image.extent.width as usize];
                let kind = image.format.channel_kind();
                let numbers = image.format.bytes_per_pixel() / kind.bytes();
                shape.extend(Some(numbers).filter(|numbers| *numbers > 1));
                (kind, shape)
            }
        };
        let kind = KINDS.iter().find(|kind| kind.channels == channels);
        let kind = kind.ok_or_else(|| Failure::Dtype(format!("no array type can hold the numbers of a {desc}")))?;
        let mut strides = vec![0; shape.len()];
        let mut step = channels.bytes() as isize;
        let shape: Vec<isize> = shape.into_iter().map(|side| side as isize).collect();
        for (stride, side) in strides.iter_mut().zip(&shape).rev() {
            *stride = step;
            step *= side;
        }
        Ok(Self { kind, shape, strides })
    }

    const fn item(&self) -> usize {
        self.kind.channels.bytes()
    }

    /// Size in bytes.
    pub fn len(&self) -> usize {
        self.shape.iter().product::<isize>() as usize * self.item()
    }

    fn typestr(&self) -> String {
        let order = match (self.item(), cfg!(target_endian = "little")) {
            (1, _) => '|',
            (_, true) => '<',
            (_, false) => '>',
        };
        format!("{order}{}{}", self.kind.letter, self.item())
    }
}

/// Pixels or bytes that were read. The array owns its memory.
#[pyclass(module = "pixelferry", frozen, subclass)]
pub struct Array {
    memory: Arc<Memory>,
    layout: Layout,
}

impl Array {
    pub fn new(memory: Memory, layout: Layout) -> Self {
        Self { memory: Arc::new(memory), layout }
    }

    /// Copies bytes on the host to memory of the host, or of that device.
    pub fn of_bytes(bytes: &[u8], layout: Layout, device: Option<&Arc<CudaBackend>>) -> Result<Self, Failure> {
        if bytes.len() != layout.len() {
            let what = format!("{} bytes were read instead of {}", bytes.len(), layout.len());
            return Err(Failure::Device(what));
        }
        let memory = match device {
            Some(backend) => Memory::Cuda(CudaBytes::filled(backend, bytes.len(), |to| Ok(to.write(0, bytes)?))?),
            None => {
                let mut own = HostBytes::new(bytes.len())?;
                own.bytes_mut().copy_from_slice(bytes);
                Memory::Host(own)
            }
        };
        Ok(Self::new(memory, layout))
    }

    fn on_host(&self) -> Option<&HostBytes> {
        match &*self.memory {
            Memory::Host(bytes) => Some(bytes),
            Memory::Cuda(_) => None,
        }
    }

    /// Builds `__array_interface__` and `__cuda_array_interface__`.
    fn interface<'py>(&self, py: Python<'py>, address: u64) -> PyResult<Bound<'py, PyDict>> {
        let dict = PyDict::new(py);
        dict.set_item("shape", PyTuple::new(py, &self.layout.shape)?)?;
        dict.set_item("typestr", self.layout.typestr())?;
        dict.set_item("data", (address, false))?;
        dict.set_item("strides", py.None())?;
        dict.set_item("version", 3)?;
        Ok(dict)
    }

    /// Returns memory where a DLPack consumer wants it; `None` is where the array is.
    fn place(&self, asked: Option<(i32, i32)>, copy: Option<bool>) -> PyResult<Arc<Memory>> {
        let (kind, id) = asked.unwrap_or_else(|| device(&self.memory));
        let refused = |why: &str| {
            let (own_kind, own) = device(&self.memory);
            let where_it_is = format!("the array is on DLPack's device ({own_kind}, {own})");
            PyBufferError::new_err(format!("{where_it_is}; it cannot be exported for device ({kind}, {id}): {why}"))
        };
        let made = match (&*self.memory, copy) {
            (memory, Some(true)) if device(memory) == (kind, id) => match memory {
                Memory::Host(bytes) => Memory::Host(bytes.copied()?),
                Memory::Cuda(bytes) => Memory::Cuda(bytes.copied()?),
            },
            (memory, _) if device(memory) == (kind, id) => return Ok(self.memory.clone()),
            (_, Some(false)) => return Err(refused("that needs a copy")),
            (Memory::Cuda(bytes), _) if (kind, id) == HOST => Memory::Host(bytes.to_host()?),
            _ => return Err(refused("pixelferry can copy it only to the host, device (1, 0)")),
        };
        Ok(Arc::new(made))
    }
}

/// `kDLCPU`, with its device number.
const HOST: (i32, i32) = (1, 0);
/// `kDLCUDA`.
const CUDA: i32 = 2;

fn device(memory: &Memory) -> (i32, i32) {
    match memory {
        Memory::Host(_) => HOST,
        Memory::Cuda(bytes) => (CUDA, bytes.ordinal().cast_signed()),
    }
}

/// Returns the stream to synchronise with, if the consumer's `stream` needs any.
fn stream_of(given: Option<i64>, memory: &Memory) -> Result<Option<usize>, Failure> {
    let refused = |why: &str| Err(Failure::Shape(format!("stream={} {why}", given.unwrap_or_default())));
    match (memory, given) {
        (Memory::Host(_), None) => Ok(None),
        (Memory::Host(_), Some(_)) => refused("was given for host memory, which has no streams"),
        (Memory::Cuda(_), Some(-1)) => Ok(None),
        // The legacy default stream.
        (Memory::Cuda(_), None) => Ok(Some(1)),
        (Memory::Cuda(_), Some(0)) => refused("is ambiguous in CUDA; give 1 or 2 for its default streams"),
        (Memory::Cuda(_), Some(stream)) => {
            usize::try_from(stream).map(Some).or_else(|_| refused("is not a valid stream"))
        }
    }
}

#[pymethods]
impl Array {
    /// Exports the memory to another library (DLPack 1.x).
    #[pyo3(signature = (*, stream=None, max_version=None, dl_device=None, copy=None))]
    fn __dlpack__<'py>(
        &self,
        py: Python<'py>,
        stream: Option<i64>,
        max_version: Option<(u32, u32)>,
        dl_device: Option<(i32, i32)>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let memory = py.detach(|| self.place(dl_device, copy))?;
        // A copy on the host is finished; a stream belongs to the array's own device.
        let stream = match (&*memory, &*self.memory) {
            (Memory::Host(_), Memory::Cuda(_)) => None,
            _ => stream_of(stream, &memory)?,
        };
        let address = match (&*memory, stream) {
            (Memory::Host(bytes), _) => bytes.address(),
            (Memory::Cuda(bytes), stream) => {
                if let Some(stream) = stream {
                    py.detach(|| bytes.order(stream))?;
                }
                bytes.address() as usize
            }
        };
        let (device_kind, device_id) = device(&memory);
        let item = self.layout.item() as isize;
        let described = TensorDesc {
            device_kind,
            device_id,
            code: self.layout.kind.code,
            bits: 8 * self.layout.item() as u8,
            lanes: 1,
            address,
            shape: self.layout.shape.iter().map(|side| *side as i64).collect(),
            strides: Some(self.layout.strides.iter().map(|stride| (stride / item) as i64).collect()),
        };
        let is_copy = !Arc::ptr_eq(&memory, &self.memory);
        let versioned = max_version.is_some_and(|(major, _)| major >= 1);
        export::capsule(py, described, memory, versioned, is_copy)
    }

    /// DLPack's type and number of the device.
    fn __dlpack_device__(&self) -> (i32, i32) {
        device(&self.memory)
    }

    /// NumPy's protocol, for memory of the host.
    #[getter]
    fn __array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let bytes = self.on_host().ok_or_else(|| PyAttributeError::new_err("the array is on a CUDA device"))?;
        self.interface(py, bytes.address() as u64)
    }

    /// CUDA's protocol (version 3). The host waits until the pixels are there, because not every library uses the
    /// protocol's stream.
    #[getter]
    fn __cuda_array_interface__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let Memory::Cuda(bytes) = &*self.memory else {
            return Err(PyAttributeError::new_err("the array is in host memory"));
        };
        py.detach(|| bytes.wait())?;
        let dict = self.interface(py, bytes.address())?;
        dict.set_item("stream", py.None())?;
        Ok(dict)
    }

    /// Called by `numpy.asarray` if there is no buffer.
    #[pyo3(signature = (dtype=None, copy=None))]
    fn __array__<'py>(
        slf: &Bound<'py, Self>,
        dtype: Option<Bound<'py, PyAny>>,
        copy: Option<bool>,
    ) -> PyResult<Bound<'py, PyAny>> {
        if slf.get().on_host().is_none() {
            let how = "numpy.from_dlpack(x, device='cpu') copies it to the host, as torch.from_dlpack(x).cpu() does";
            return Err(Failure::Device(format!("the array is on a CUDA device; {how}")).into());
        }
        let options = PyDict::new(slf.py());
        options.set_item("dtype", dtype)?;
        let make = if copy.is_some() { "array" } else { "asarray" };
        if copy.is_some() {
            options.set_item("copy", copy)?;
        }
        slf.py().import("numpy")?.call_method(make, (PyMemoryView::from(slf.as_any())?,), Some(&options))
    }

    unsafe fn __getbuffer__(slf: Bound<'_, Self>, view: *mut ffi::Py_buffer, flags: c_int) -> PyResult<()> {
        let array = slf.get();
        let Some(bytes) = array.on_host() else {
            return Err(PyBufferError::new_err("the array is on a CUDA device; use DLPack instead"));
        };
        let Layout { kind, shape, strides } = &array.layout;
        let (address, len) = (bytes.address(), array.layout.len());
        let bytes = Bytes { address, len, item: array.layout.item(), format: kind.format, shape, strides };
        // SAFETY: Python passes a valid view; a frozen object keeps shape, strides and memory while it exists.
        unsafe { export::fill(view, flags, slf.clone().into_any(), &bytes) }
    }

    /// (rows, columns, channels), (rows, columns) or (bytes,).
    #[getter]
    fn shape<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyTuple>> {
        PyTuple::new(py, &self.layout.shape)
    }

    /// NumPy's name of the number type.
    #[getter]
    fn dtype(&self) -> &'static str {
        self.layout.kind.name
    }

    /// Size in bytes.
    #[getter]
    pub fn nbytes(&self) -> usize {
        self.layout.len()
    }

    /// "cpu", or "cuda:0" and so on.
    #[getter]
    pub fn device(&self) -> String {
        match &*self.memory {
            Memory::Host(_) => "cpu".into(),
            Memory::Cuda(bytes) => format!("cuda:{}", bytes.ordinal()),
        }
    }

    fn __repr__(&self) -> String {
        let sides: Vec<_> = self.layout.shape.iter().map(ToString::to_string).collect();
        format!("<pixelferry.Array: {}, {}, {}>", sides.join("x"), self.dtype(), self.device())
    }
}
