//! An array in memory of the host.

use crate::error::{ReadError, ViewError};
use pixelferry::driver::HostBlock;
use pixelferry::driver::devices::borrows::Holder;
use pixelferry::{PixelFormat, Result};
use pixelferry_look::{Layout, Look, Number, Place, Plane, Raw, Refusal, Request, Span};
use std::ops::Range;

/// An array in memory of the host, and its name. Stays on one thread.
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
    block: HostBlock,
    raw: Raw,
}

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
        let span = array.raw.span()?;
        if span.start < start || span.start + span.len > start + bytes.len() {
            let (shape, there) = (array.raw.shape, bytes.len() as u64);
            return Err(ReadError::Short { shape, needed: span.len, there });
        }
        array.write()?.copy_from_slice(bytes);
        Ok(array)
    }

    /// A black picture in the place of what comes later.
    pub(crate) fn dark(name: &str) -> Result<Self, ReadError> {
        let number = Number { code: 1, bits: 8, foreign: false };
        Ok(Self::allocate(name, vec![480, 640], None, number, 640 * 480)?)
    }

    /// Zeros.
    pub(crate) fn allocate(
        name: &str,
        shape: Vec<i64>,
        strides: Option<Vec<i64>>,
        number: Number,
        bytes: usize,
    ) -> Result<Self> {
        // An array without elements has an address, too; what is said of it comes later.
        let block = HostBlock::allocate(bytes.max(1))?.part(0..bytes)?;
        let address = block.address().as_ptr().addr();
        Ok(Self { name: name.to_owned(), block, raw: Raw { address, shape, strides, number, place: Place::Host } })
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
        self.block.len()
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

    /// The numbers of its picture minus those of another's, and the order of their axes.
    pub(crate) fn minus(&self, plane: &Plane, other: &Self, of: &Plane) -> Result<(Self, Layout), ViewError> {
        let (shape, layout, number) = plane.difference(of)?;
        let bytes = bytes_of(&shape, number)?;
        let name = format!("{} minus {}", self.name, other.name);
        let made = Self::allocate(&name, shape, None, number, bytes)?;
        let mut to = made.write()?;
        self.read(&plane.span, |one| other.read(&of.span, |two| plane.minus(one, of, two, &mut to)))???;
        drop(to);
        Ok((made, layout))
    }

    /// The same with its range, where that depends on the numbers.
    pub(crate) fn measured(&self, plane: Plane) -> Result<Plane> {
        self.read(&plane.span, |bytes| plane.measured(bytes))?
    }

    /// Looks at the bytes of a span.
    pub(crate) fn read<R>(&self, span: &Span, look: impl FnOnce(&[u8]) -> R) -> Result<R> {
        Ok(look(&self.block.read(self.range(span), Holder::Guard)?))
    }

    /// All bytes, to be written.
    pub(crate) fn write(&self) -> Result<pixelferry::driver::devices::host_block::BlockWrite> {
        self.block.write(0..self.block.len(), Holder::Guard)
    }

    /// The bytes of a span as an argument of kernels.
    pub(crate) fn block(&self, span: &Span) -> Result<HostBlock> {
        self.block.part(self.range(span))
    }

    fn range(&self, span: &Span) -> Range<usize> {
        let start = span.start.wrapping_sub(self.block.address().as_ptr().addr());
        start..start.wrapping_add(span.len)
    }
}

/// Bytes of an array without gaps.
pub fn bytes_of(shape: &[i64], number: Number) -> Result<usize, Refusal> {
    let one = number.row()?.code.1 / 8;
    let too_large = || Refusal::Shape(format!("an array of shape {shape:?} is larger than any memory"));
    let mut sides = shape.iter().map(|side| usize::try_from(*side).ok());
    let all = sides.try_fold(one, |all, side| all.checked_mul(side?)).filter(|all| *all <= isize::MAX as usize);
    all.ok_or_else(too_large)
}
