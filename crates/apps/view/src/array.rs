//! Arrays in memory of the host or of a device.

use crate::error::{ReadError, ViewError};
use pixelferry::driver::HostBlock;
use pixelferry::driver::devices::borrows::Holder;
use pixelferry::{ComputeBackend, ComputeMemory, Error, PixelFormat, Result};
use pixelferry_look::{
    Counts, Difference, Gauge, Layout, Look, MemoryLocation, Number, Plane, Raw, Refusal, Request, Span,
};
use pixelferry_media::source::Frame;
use std::cell::RefCell;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Once};

/// A named array in memory of the host or of a device. It stays on the thread that made it.
///
///
/// ```
/// use pixelferry_look::{Layout, Look, Number, Request};
/// use pixelferry_view::Array;
///
/// let number = Number::of_name("uint8").ok_or("no such type")?;
/// let array = Array::new("ramp", &[0, 1, 2, 3, 4, 5], vec![2, 3], number)?;
/// assert!(array.plane(&Request::default())?.summary().starts_with("uint8 as HW, 3x2; range 0 to 255"));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Array {
    name: String,
    memory: Memory,
    raw: Raw,
    /// The array is a placeholder: only its name is to be shown.
    is_waiting: bool,
}

/// Memory of a backend, with that backend.
type ArrayMemory = (Arc<dyn ComputeBackend>, Box<dyn ComputeMemory>);

enum Memory {
    Host(HostBlock),
    Device(Arc<dyn ComputeBackend>, RefCell<Box<dyn ComputeMemory>>),
}

/// The device's `Difference`, kept from one difference to the next.
pub type DeviceDifference = Option<(Arc<dyn ComputeBackend>, Difference)>;

/// Base address that descriptions use for memory of a device, which has no address there; 0 would mean null.
const START: usize = 4096;

impl Array {
    /// Makes an array whose numbers follow each other in C order; `bytes` are copied.
    ///
    /// # Errors
    /// [`ReadError::Short`] if `bytes` are fewer than the shape needs, and [`ReadError::Refused`] for an
    /// unsupported number type or a negative side.
    pub fn new(name: &str, bytes: &[u8], shape: Vec<i64>, number: Number) -> Result<Self, ReadError> {
        let needed = bytes_of(&shape, number)?;
        let Some(bytes) = bytes.get(..needed) else {
            return Err(ReadError::Short { shape, needed, there: bytes.len() as u64 });
        };
        let array = Self::allocate(name, shape, None, number, needed)?;
        array.write()?.copy_from_slice(bytes);
        Ok(array)
    }

    /// Makes an array from a copy of `bytes`, where its first number is at byte `first`. Strides are in bytes and may
    /// be negative.
    ///
    /// # Errors
    /// [`ReadError::Short`] if the array reaches outside of the bytes, and [`ReadError::Refused`] for an
    /// unsupported number type or shape.
    pub fn with_strides(
        name: &str,
        bytes: &[u8],
        first: usize,
        shape: Vec<i64>,
        strides: Vec<i64>,
        number: Number,
    ) -> Result<Self, ReadError> {
        let mut array = Self::allocate(name, shape, Some(strides), number, bytes.len())?;
        let start = array.raw.address;
        array.raw.address += first;
        check(&array.raw, start, bytes.len())?;
        array.write()?.copy_from_slice(bytes);
        Ok(array)
    }

    /// Makes an array that stays in memory of a backend and owns that memory. To keep using the memory yourself, give a
    /// copy ([`ComputeBackend::copy`]). Its first number is at byte `first`. `strides` are as for
    /// [`Array::with_strides`]; `None` means that the numbers follow each other in C order. The backend computes
    /// picture, range and counts, and reads back only the numbers that the user looks at. If the backend fails at that,
    /// the host works on a copy.
    ///
    /// # Errors
    /// Those of [`Array::with_strides`].
    pub fn on_device(
        name: &str,
        backend: Arc<dyn ComputeBackend>,
        memory: Box<dyn ComputeMemory>,
        first: usize,
        shape: Vec<i64>,
        strides: Option<Vec<i64>>,
        number: Number,
    ) -> Result<Self, ReadError> {
        let address = START.saturating_add(first);
        let raw = Raw { address, shape, strides, number, place: MemoryLocation::Backend };
        check(&raw, START, memory.len())?;
        Ok(Self {
            name: name.to_owned(),
            memory: Memory::Device(backend, RefCell::new(memory)),
            raw,
            is_waiting: false,
        })
    }

    /// Returns a copy in memory of the host.
    pub(crate) fn to_host(&self) -> Result<Self> {
        let (mut raw, offset) = (self.raw.clone(), self.raw.address - self.start());
        let all = Span { start: self.start(), len: self.bytes(), first: 0, place: raw.place };
        let bytes = self.bytes_at(&all, &(0..all.len))?;
        let block = block_of(bytes.len())?;
        block.write(0..bytes.len(), Holder::Guard)?.copy_from_slice(&bytes);
        (raw.address, raw.place) = (block.address().as_ptr().addr() + offset, MemoryLocation::Host);
        Ok(Self { name: self.name.clone(), memory: Memory::Host(block), raw, is_waiting: self.is_waiting })
    }

    fn device(&self) -> Option<&dyn ComputeBackend> {
        self.backend().map(AsRef::as_ref)
    }

    /// Returns the backend that holds the array; `None` if the host does.
    pub(crate) fn backend(&self) -> Option<&Arc<dyn ComputeBackend>> {
        match &self.memory {
            Memory::Host(_) => None,
            Memory::Device(backend, _) => Some(backend),
        }
    }

    /// Converts a video frame to an array of shape (height, width, 3) in red, green, blue, or (height, width) for grey.
    pub(crate) fn of_frame(name: &str, frame: &Frame) -> Result<Self, ReadError> {
        let [height, width] = [frame.extent().height, frame.extent().width].map(i64::from);
        let number = Number { code: 1, bits: 8, foreign: false };
        match frame.is_grey() {
            true => Self::new(name, &frame.grey(), vec![height, width], number),
            false => Self::new(name, &frame.rgb(), vec![height, width, 3], number),
        }
    }

    /// Returns a black placeholder for an array that comes later.
    pub(crate) fn dark(name: &str) -> Result<Self, ReadError> {
        let number = Number { code: 1, bits: 8, foreign: false };
        Ok(Self { is_waiting: true, ..Self::allocate(name, vec![480, 640], None, number, 640 * 480)? })
    }

    /// Returns the name if the array is a placeholder.
    pub(crate) fn waiting(&self) -> Option<&str> {
        self.is_waiting.then_some(&self.name)
    }

    /// Allocates an array of zeros.
    pub(crate) fn allocate(
        name: &str,
        shape: Vec<i64>,
        strides: Option<Vec<i64>>,
        number: Number,
        bytes: usize,
    ) -> Result<Self> {
        let block = block_of(bytes)?;
        let address = block.address().as_ptr().addr();
        let raw = Raw { address, shape, strides, number, place: MemoryLocation::Host };
        Ok(Self { name: name.to_owned(), memory: Memory::Host(block), raw, is_waiting: false })
    }

    /// Returns the array under another name.
    #[must_use]
    pub fn named(self, name: String) -> Self {
        Self { name, ..self }
    }

    /// Name of the array, for titles.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Sizes of the axes, as in `480x640`.
    pub(crate) fn shape(&self) -> String {
        self.raw.shape.iter().map(i64::to_string).collect::<Vec<_>>().join("x")
    }

    /// Size of its memory in bytes.
    pub(crate) fn bytes(&self) -> usize {
        match &self.memory {
            Memory::Host(block) => block.len(),
            Memory::Device(_, memory) => memory.borrow().len(),
        }
    }

    /// Describes the array as a picture.
    ///
    /// # Errors
    /// [`Refusal`], which includes the line to write instead.
    pub fn plane(&self, request: &Request) -> Result<Plane, Refusal> {
        Plane::new(&self.raw, request.layout, PixelFormat::Rgba8, &request.look)
    }

    /// Refuses an order of the axes that has channels if the array has none.
    ///
    /// # Errors
    /// [`Refusal`], which names the order to give instead.
    pub fn check_channels(&self, layout: Layout) -> Result<(), Refusal> {
        layout.check_channels(&self.raw.shape)
    }

    /// Like [`Array::plane`], but drops a colormap or channel that the array does not support and returns why.
    pub(crate) fn plane_within(&self, request: &Request) -> Result<(Plane, Option<Refusal>), Refusal> {
        self.plane(request).map(|plane| (plane, None)).or_else(|refusal| {
            let look = Look { colormap: None, channel: None, ..request.look };
            self.plane(&Request { look, ..*request }).map(|plane| (plane, Some(refusal)))
        })
    }

    /// Subtracts another array's picture from this one's; also returns the order of the axes. The device computes it if
    /// it holds both arrays and subtracts them exactly; otherwise the host does.
    pub(crate) fn minus(
        &self,
        plane: &Plane,
        other: &Self,
        of: &Plane,
        differ: &mut DeviceDifference,
    ) -> Result<(Self, Layout), ViewError> {
        let (shape, layout, number) = plane.difference(of)?;
        let bytes = bytes_of(&shape, number)?;
        let name = format!("{} minus {}", self.name, other.name);
        let there = or_host(self.minus_there(plane, other, of, bytes, differ), || Ok::<_, Error>(None))?;
        if let Some((backend, memory)) = there {
            return Ok((Self::on_device(&name, backend, memory, 0, shape, None, number)?, layout));
        }
        let made = Self::allocate(&name, shape, None, number, bytes)?;
        let mut to = made.write()?;
        self.read(&plane.span, |one| other.read(&of.span, |two| plane.minus(one, of, two, &mut to)))???;
        drop(to);
        Ok((made, layout))
    }

    fn minus_there(
        &self,
        plane: &Plane,
        other: &Self,
        of: &Plane,
        bytes: usize,
        differ: &mut DeviceDifference,
    ) -> Result<Option<ArrayMemory>> {
        let both = self.backend().zip(other.backend());
        let Some((backend, _)) = both.filter(|(one, two)| Arc::ptr_eq(one, two)) else { return Ok(None) };
        let known = differ.take().filter(|(known, _)| Arc::ptr_eq(known, backend));
        let (_, difference) = differ.insert(known.unwrap_or_else(|| (Arc::clone(backend), Difference::default())));
        let (device, mut memory) = (backend.as_ref(), backend.allocate(bytes)?);
        let is_made = self.lend(device, plane, |ones, plane| {
            other.lend(device, of, |twos, of| difference.minus(device, (&plane, ones), (&of, twos), memory.as_mut()))
        })?;
        Ok(is_made.then(|| (Arc::clone(backend), memory)))
    }

    /// Returns the plane with its range, if that depends on the numbers. `gauge` measures on the device and is made at
    /// its first use.
    pub(crate) fn measured(&self, mut plane: Plane, gauge: &mut Option<Gauge>) -> Result<Plane> {
        match self.device() {
            _ if plane.range.fixed().is_some() => Ok(plane),
            None => self.read(&plane.span, |bytes| plane.measured(bytes))?,
            Some(backend) => {
                let measured = gauge_of(gauge, backend).and_then(|gauge| {
                    self.lend(backend, &plane, |memory, plane| gauge.measure(plane, backend, memory))
                });
                let on_host = || self.read(&plane.span, |bytes| plane.measured(bytes))?;
                let measured = or_host(measured, on_host)?;
                plane.tone = if plane.is_whole(measured.tone.range) { on_host()?.tone } else { measured.tone };
                Ok(plane)
            }
        }
    }

    /// Counts the numbers of its picture in the bins of a range.
    pub(crate) fn counts(&self, plane: &Plane, range: (f64, f64), gauge: &mut Option<Gauge>) -> Result<Counts> {
        let on_host = || self.read(&plane.span, |bytes| plane.counts(bytes, range.0, range.1))?;
        let Some(backend) = self.device() else { return on_host() };
        let counted = gauge_of(gauge, backend)
            .and_then(|gauge| self.lend(backend, plane, |memory, plane| gauge.counts(&plane, range, backend, memory)));
        or_host(counted, on_host)
    }

    /// Lends its memory, and the picture's description there, to kernels of `backend`, which must be the array's own
    /// for memory of a device.
    pub(crate) fn lend<R>(
        &self,
        backend: &dyn ComputeBackend,
        plane: &Plane,
        work: impl FnOnce(&dyn ComputeMemory, Plane) -> Result<R>,
    ) -> Result<R> {
        let (mut plane, range) = (*plane, self.range(&plane.span));
        match &self.memory {
            Memory::Host(_) => work(self.import(backend, &plane.span)?.as_ref(), plane),
            Memory::Device(_, memory) => {
                plane.span.first += range.start;
                work(memory.borrow().as_ref(), plane)
            }
        }
    }

    /// A span of the host's memory as memory of a backend, which reads it in place or copies it.
    pub(crate) fn import(&self, backend: &dyn ComputeBackend, span: &Span) -> Result<Box<dyn ComputeMemory>> {
        match &self.memory {
            Memory::Host(block) => backend.import_host(&block.part(self.range(span))?),
            Memory::Device(..) => Err(Error::invalid("import", "the array is in memory of a device")),
        }
    }

    /// Calls `look` with the bytes of a span; for memory of a device, with a copy.
    pub(crate) fn read<R>(&self, span: &Span, look: impl FnOnce(&[u8]) -> R) -> Result<R> {
        match &self.memory {
            Memory::Host(block) => Ok(look(&block.read(self.range(span), Holder::Guard)?)),
            Memory::Device(..) => Ok(look(&self.bytes_at(span, &(0..span.len))?)),
        }
    }

    /// Copies a part of a span.
    pub(crate) fn bytes_at(&self, span: &Span, part: &Range<usize>) -> Result<Vec<u8>> {
        let start = self.range(span).start;
        let range = start.saturating_add(part.start)..start.saturating_add(part.end);
        match &self.memory {
            Memory::Host(block) => Ok(block.read(range, Holder::Guard)?.to_vec()),
            Memory::Device(_, memory) => {
                let mut bytes = vec![0; range.len()];
                memory.borrow_mut().read(range.start, &mut bytes)?;
                Ok(bytes)
            }
        }
    }

    /// Locks all bytes for writing; works for memory of the host only.
    pub(crate) fn write(&self) -> Result<pixelferry::driver::devices::host_block::BlockWriteGuard> {
        match &self.memory {
            Memory::Host(block) => block.write(0..block.len(), Holder::Guard),
            Memory::Device(..) => Err(Error::invalid("write", "the array is in device memory")),
        }
    }

    /// Base address of its memory in descriptions.
    fn start(&self) -> usize {
        match &self.memory {
            Memory::Host(block) => block.address().as_ptr().addr(),
            Memory::Device(..) => START,
        }
    }

    fn range(&self, span: &Span) -> Range<usize> {
        let start = span.start.wrapping_sub(self.start());
        start..start.wrapping_add(span.len)
    }
}

/// Returns the device's result. If the device failed, logs that once and returns the host's result.
pub fn or_host<T, E: fmt::Display>(made: Result<T, E>, on_host: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    static SAID: Once = Once::new();
    made.or_else(|error| {
        SAID.call_once(|| tracing::warn!("the device failed, so arrays are now processed on the host: {error}"));
        on_host()
    })
}

fn gauge_of<'a>(gauge: &'a mut Option<Gauge>, backend: &dyn ComputeBackend) -> Result<&'a mut Gauge> {
    Ok(match gauge {
        Some(gauge) => gauge,
        none => none.insert(Gauge::new(backend)?),
    })
}

/// Allocates memory of the host. An array without elements needs an address, too; it is refused later.
fn block_of(bytes: usize) -> Result<HostBlock> {
    HostBlock::allocate(bytes.max(1))?.part(0..bytes)
}

/// Refuses an array that reaches outside of `there` bytes from `start` on.
fn check(raw: &Raw, start: usize, there: usize) -> Result<(), ReadError> {
    let span = raw.span()?;
    if span.start < start || span.start + span.len > start.saturating_add(there) {
        return Err(ReadError::Short { shape: raw.shape.clone(), needed: span.len, there: there as u64 });
    }
    Ok(())
}

/// Returns the size in bytes of an array without gaps.
pub fn bytes_of(shape: &[i64], number: Number) -> Result<usize, Refusal> {
    let one = number.row()?.code.1 / 8;
    let too_large = || Refusal::Shape(format!("an array of shape {shape:?} is larger than any memory"));
    let mut sides = shape.iter().map(|side| usize::try_from(*side).ok());
    let all = sides.try_fold(one, |all, side| all.checked_mul(side?)).filter(|all| *all <= isize::MAX as usize);
    all.ok_or_else(too_large)
}
