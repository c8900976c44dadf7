//! What a lane's stream can be given. A command owns what the device uses, and lives until the device is done.

use super::api::call;
use super::module::{Function, Geometry, Params};
use super::{DeviceBlock, Failure, Span, Stream};
use interop_core::HostBuffer;
use interop_core::compute::ReadSlot;
use std::ops::Range;
use std::sync::Arc;

/// Device memory and which bytes of it.
pub struct Piece {
    pub block: Arc<DeviceBlock>,
    pub range: Range<usize>,
}

impl Piece {
    fn span(&self) -> Result<Span<'_>, Failure> {
        self.block.span().part(self.range.clone())
    }
}

/// See the module.
pub enum Command {
    Launch {
        function: Function,
        geometry: Geometry,
        params: Params,
        /// Memory whose addresses are among the parameters.
        _memory: Vec<Arc<DeviceBlock>>,
    },
    /// Copies to the front of `into`.
    Read { from: Piece, into: HostBuffer },
    /// Copies the front of `from`.
    Write { from: HostBuffer, to: Piece },
    /// Ranges of one length.
    Copy { from: Piece, to: Piece },
    /// Of 1, 2, 4, 8 or 16 bytes.
    Fill { to: Piece, pattern: Vec<u8> },
    /// For marks only.
    Nothing,
}

impl Command {
    /// Hands out what was read, and gives back what is left of a command that is done.
    pub fn landed(self, slot: Option<&ReadSlot>) -> Option<Self> {
        match (self, slot) {
            (Self::Read { into, .. }, Some(slot)) => {
                slot.put(into);
                None
            }
            (other, _) => Some(other),
        }
    }

    /// Queues it. The caller keeps the command until the stream has passed this point, whatever this returns.
    ///
    /// # Safety
    /// Neither may the command be dropped nor its host memory be used before the stream has passed this point, nor
    /// before `stream` was synchronised where this fails.
    pub unsafe fn enqueue(&mut self, stream: &Stream) -> Result<(), Failure> {
        let _current = stream.queue().enter_held()?;
        let driver = &stream.queue().api().driver;
        match self {
            Self::Launch { function, geometry, params, .. } => function.launch_in(stream.raw(), *geometry, params),
            Self::Read { from, into } => {
                let address = into.as_mut_ptr();
                let copies = stream.queue().copies();
                copies.pieces(from.span()?, address.addr() as u64, from.range.len().min(into.len()), |part, at| {
                    let into = address.wrapping_add(at).cast();
                    // SAFETY: the piece lies inside `into`; both sides are live until the stream has passed, by the
                    // caller's promise.
                    unsafe { call!(driver, cuMemcpyDtoHAsync_v2(into, part.address(), part.len(), stream.raw())) }
                })
            }
            Self::Write { from, to } => {
                let address = from.as_ptr();
                let copies = stream.queue().copies();
                copies.pieces(to.span()?, address.addr() as u64, to.range.len().min(from.len()), |part, at| {
                    let from = address.wrapping_add(at).cast();
                    // SAFETY: as for `Read`.
                    unsafe { call!(driver, cuMemcpyHtoDAsync_v2(part.address(), from, part.len(), stream.raw())) }
                })
            }
            Self::Copy { from, to } => {
                let (from, to) = (from.span()?, to.span()?);
                let from = from.part(0..to.len())?;
                // SAFETY: both sides are equally long, and live until the stream has passed.
                unsafe { call!(driver, cuMemcpyDtoDAsync_v2(to.address(), from.address(), to.len(), stream.raw())) }
            }
            Self::Fill { to, pattern } => fill(stream, to.span()?, pattern),
            Self::Nothing => Ok(()),
        }
    }
}

/// The driver sets items of 1, 2 and 4 bytes; longer ones are columns of a rectangle as wide as they are.
fn fill(stream: &Stream, to: Span<'_>, pattern: &[u8]) -> Result<(), Failure> {
    let (driver, at, count) = (&stream.queue().api().driver, to.address(), to.len() / pattern.len().max(1));
    match *pattern {
        [byte] => {
            // SAFETY: `count` items lie inside the span, which is live until the stream has passed.
            unsafe { call!(driver, cuMemsetD8Async(at, byte, count, stream.raw())) }
        }
        [a, b] => {
            let value = u16::from_ne_bytes([a, b]);
            // SAFETY: as above.
            unsafe { call!(driver, cuMemsetD16Async(at, value, count, stream.raw())) }
        }
        [a, b, c, d] => {
            let value = u32::from_ne_bytes([a, b, c, d]);
            // SAFETY: as above.
            unsafe { call!(driver, cuMemsetD32Async(at, value, count, stream.raw())) }
        }
        _ => pattern.as_chunks::<4>().0.iter().zip((at..).step_by(4)).try_for_each(|(word, at)| {
            let (value, pitch) = (u32::from_ne_bytes(*word), pattern.len());
            // SAFETY: as above; the column is the word's place in each item.
            unsafe { call!(driver, cuMemsetD2D32Async(at, pitch, value, 1, count, stream.raw())) }
        }),
    }
}
