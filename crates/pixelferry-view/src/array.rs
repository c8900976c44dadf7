//! An array in memory of the host or of a device.

use crate::error::{ReadError, ViewError};
use pixelferry::driver::HostBlock;
use pixelferry::driver::devices::borrows::Holder;
use pixelferry::{ComputeBackend, ComputeMemory, Error, PixelFormat, Result};
use pixelferry_look::{Counts, Difference, Gauge, Layout, Look, Number, Place, Plane, Raw, Refusal, Request, Span};
use pixelferry_media::source::Frame;
use std::cell::RefCell;
use std::fmt;
use std::ops::Range;
use std::sync::{Arc, Once};

/// An array in memory of the host or of a device, and its name. Stays on one thread.
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
    /// There is only a name to be read.
    is_waiting: bool,
}

/// Memory of a backend, and that.
type Kept = (Arc<dyn ComputeBackend>, Box<dyn ComputeMemory>);

enum Memory {
    Host(HostBlock),
    Device(Arc<dyn ComputeBackend>, RefCell<Box<dyn ComputeMemory>>),
}

/// Difference on a device, kept from one difference to the next.
pub type Differ = Option<(Arc<dyn ComputeBackend>, Difference)>;

/// Address of a device's memory in descriptions, which know no other: 0 would be none.
const START: usize = 4096;

impl Array {
    /// An array whose numbers follow each other in C order; `bytes` are copied.
    ///
    /// # Errors
    /// [`ReadError::Short`] where there are fewer bytes than the shape needs, and [`ReadError::Refused`] for numbers that are not
    /// shown or a shape that has a side below 0.
    pub fn new(name: &str, bytes: &[u8], shape: Vec<i64>, number: Number) -> Result<Self, ReadError> {
        let needed = bytes_of(&shape, number)?;
        let Some(bytes) = bytes.get(..needed) else {
            return Err(ReadError::Short { shape, needed, there: bytes.len() as u64 });
        };
        let array = Self::allocate(name, shape, None, number, needed)?;
        array.write()?.copy_from_slice(bytes);
        Ok(array)
    }

    /// An array whose first number is at `first` of `bytes`, which are copied, and which has steps from number to number of each axis,
    /// in bytes; they may be negative.
    ///
    /// # Errors
    /// [`ReadError::Short`] where it reaches outside of the bytes, and [`ReadError::Refused`] for numbers that are not shown or a
    /// shape that has none.
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

    /// An array that stays in memory of a backend, which is its own from now on: whoever goes on with theirs gives a copy
    /// ([`ComputeBackend::copy`]). Its first number is at byte `first`; steps are those of [`Array::with_strides`], `None` where its
    /// numbers follow each other. Its picture, range and counts are made there; of its numbers only those are read that are looked at.
    /// The host gets a copy where the backend fails at that.
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
        let raw = Raw { address, shape, strides, number, place: Place::Backend };
        check(&raw, START, memory.len())?;
        Ok(Self {
            name: name.to_owned(),
            memory: Memory::Device(backend, RefCell::new(memory)),
            raw,
            is_waiting: false,
        })
    }

    /// The same in memory of the host.
    pub(crate) fn to_host(&self) -> Result<Self> {
        let (mut raw, offset) = (self.raw.clone(), self.raw.address - self.start());
        let all = Span { start: self.start(), len: self.bytes(), first: 0, place: raw.place };
        let bytes = self.bytes_at(&all, &(0..all.len))?;
        let block = block_of(bytes.len())?;
        block.write(0..bytes.len(), Holder::Guard)?.copy_from_slice(&bytes);
        (raw.address, raw.place) = (block.address().as_ptr().addr() + offset, Place::Host);
        Ok(Self { name: self.name.clone(), memory: Memory::Host(block), raw, is_waiting: self.is_waiting })
    }

    fn device(&self) -> Option<&dyn ComputeBackend> {
        self.backend().map(AsRef::as_ref)
    }

    /// The backend in whose memory it is; `None` for the host's.
    pub(crate) fn backend(&self) -> Option<&Arc<dyn ComputeBackend>> {
        match &self.memory {
            Memory::Host(_) => None,
            Memory::Device(backend, _) => Some(backend),
        }
    }

    /// A frame of a video as (height, width, 3), red, green and blue, or (height, width) of a grey one.
    pub(crate) fn of_frame(name: &str, frame: &Frame) -> Result<Self, ReadError> {
        let [height, width] = [frame.extent().height, frame.extent().width].map(i64::from);
        let number = Number { code: 1, bits: 8, foreign: false };
        match frame.is_grey() {
            true => Self::new(name, &frame.grey(), vec![height, width], number),
            false => Self::new(name, &frame.rgb(), vec![height, width, 3], number),
        }
    }

    /// A black picture instead of what comes later.
    pub(crate) fn dark(name: &str) -> Result<Self, ReadError> {
        let number = Number { code: 1, bits: 8, foreign: false };
        Ok(Self { is_waiting: true, ..Self::allocate(name, vec![480, 640], None, number, 640 * 480)? })
    }

    /// Its name where that alone is to be read, as it stands for what comes later.
    pub(crate) fn waiting(&self) -> Option<&str> {
        self.is_waiting.then_some(&self.name)
    }

    /// Zeros.
    pub(crate) fn allocate(
        name: &str,
        shape: Vec<i64>,
        strides: Option<Vec<i64>>,
        number: Number,
        bytes: usize,
    ) -> Result<Self> {
        let block = block_of(bytes)?;
        let address = block.address().as_ptr().addr();
        let raw = Raw { address, shape, strides, number, place: Place::Host };
        Ok(Self { name: name.to_owned(), memory: Memory::Host(block), raw, is_waiting: false })
    }

    /// The same by another name.
    #[must_use]
    pub fn named(self, name: String) -> Self {
        Self { name, ..self }
    }

    /// Its name, for titles.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Bytes of its memory.
    pub(crate) fn bytes(&self) -> usize {
        match &self.memory {
            Memory::Host(block) => block.len(),
            Memory::Device(_, memory) => memory.borrow().len(),
        }
    }

    /// The array as a picture.
    ///
    /// # Errors
    /// [`Refusal`], with the line to write instead.
    pub fn plane(&self, request: &Request) -> Result<Plane, Refusal> {
        Plane::new(&self.raw, request.layout, PixelFormat::Rgba8, &request.look)
    }

    /// The same, without colours and channel where it does not take them, and why.
    pub(crate) fn plane_within(&self, request: &Request) -> Result<(Plane, Option<Refusal>), Refusal> {
        self.plane(request).map(|plane| (plane, None)).or_else(|refusal| {
            let look = Look { colormap: None, channel: None, ..request.look };
            self.plane(&Request { look, ..*request }).map(|plane| (plane, Some(refusal)))
        })
    }

    /// The numbers of its picture minus those of another's, and the order of their axes: on their device where both are on one and
    /// that subtracts them exactly, else on the host.
    pub(crate) fn minus(
        &self,
        plane: &Plane,
        other: &Self,
        of: &Plane,
        differ: &mut Differ,
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
        differ: &mut Differ,
    ) -> Result<Option<Kept>> {
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

    /// The same with its range, where that depends on the numbers. `gauge` measures on its device, and is made there when first needed.
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

    /// Counts the numbers of its picture in parts of a range.
    pub(crate) fn counts(&self, plane: &Plane, range: (f64, f64), gauge: &mut Option<Gauge>) -> Result<Counts> {
        let on_host = || self.read(&plane.span, |bytes| plane.counts(bytes, range.0, range.1))?;
        let Some(backend) = self.device() else { return on_host() };
        let counted = gauge_of(gauge, backend)
            .and_then(|gauge| self.lend(backend, plane, |memory, plane| gauge.counts(&plane, range, backend, memory)));
        or_host(counted, on_host)
    }

    /// Gives its memory to kernels of that backend, which is its own where it is a device's, with the picture as it lies there.
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

    /// Looks at the bytes of a span; of a device's at a copy.
    pub(crate) fn read<R>(&self, span: &Span, look: impl FnOnce(&[u8]) -> R) -> Result<R> {
        match &self.memory {
            Memory::Host(block) => Ok(look(&block.read(self.range(span), Holder::Guard)?)),
            Memory::Device(..) => Ok(look(&self.bytes_at(span, &(0..span.len))?)),
        }
    }

    /// A copy of some bytes of a span.
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

    /// All bytes, to be written. Only the host's are.
    pub(crate) fn write(&self) -> Result<pixelferry::driver::devices::host_block::BlockWrite> {
        match &self.memory {
            Memory::Host(block) => block.write(0..block.len(), Holder::Guard),
            Memory::Device(..) => Err(Error::invalid("write", "the array is in memory of a device")),
        }
    }

    /// Address of its memory in descriptions.
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

/// Result of a device, or of the host where that failed, which is said once.
pub fn or_host<T, E: fmt::Display>(made: Result<T, E>, on_host: impl FnOnce() -> Result<T, E>) -> Result<T, E> {
    static SAID: Once = Once::new();
    made.or_else(|error| {
        SAID.call_once(|| tracing::warn!("arrays are copied from their device to the host, as it failed: {error}"));
        on_host()
    })
}

fn gauge_of<'a>(gauge: &'a mut Option<Gauge>, backend: &dyn ComputeBackend) -> Result<&'a mut Gauge> {
    Ok(match gauge {
        Some(gauge) => gauge,
        none => none.insert(Gauge::new(backend)?),
    })
}

/// Memory of the host. An array without elements has an address, too; what is said of it comes later.
fn block_of(bytes: usize) -> Result<HostBlock> {
    HostBlock::allocate(bytes.max(1))?.part(0..bytes)
}

/// Refuses an array that reaches outside of so many bytes from `start` on.
fn check(raw: &Raw, start: usize, there: usize) -> Result<(), ReadError> {
    let span = raw.span()?;
    if span.start < start || span.start + span.len > start.saturating_add(there) {
        return Err(ReadError::Short { shape: raw.shape.clone(), needed: span.len, there: there as u64 });
    }
    Ok(())
}

/// Bytes of an array without gaps.
pub fn bytes_of(shape: &[i64], number: Number) -> Result<usize, Refusal> {
    let one = number.row()?.code.1 / 8;
    let too_large = || Refusal::Shape(format!("an array of shape {shape:?} is larger than any memory"));
    let mut sides = shape.iter().map(|side| usize::try_from(*side).ok());
    let all = sides.try_fold(one, |all, side| all.checked_mul(side?)).filter(|all| *all <= isize::MAX as usize);
    all.ok_or_else(too_large)
}
