//! Commands of queues, as driver calls.

use super::api::call;
use super::module::Function;
use super::{DeviceBlock, Failure, Span, Stream};
use crate::plan::{Geometry, Params};
use interop_core::compute;
use std::sync::Arc;

/// A kernel with its grid and argument values. The command owns the memory whose addresses are among them.
pub struct Launch {
    pub function: Function,
    pub geometry: Geometry,
    pub params: Params,
}

/// A command of a queue of this backend.
pub type Command = compute::Command<Arc<DeviceBlock>, Launch>;

fn span(piece: &compute::Piece<Arc<DeviceBlock>>) -> Result<Span<'_>, Failure> {
    piece.block.span().part(piece.range.clone())
}

/// Queues the command. The caller keeps the command until the stream has passed this point, whatever this returns.
///
/// # Safety
/// The command must not be dropped, nor its host memory be used, before the stream has passed this point, or, if this
/// call fails, before `stream` was synchronised.
pub unsafe fn enqueue(command: &mut Command, stream: &Stream) -> Result<(), Failure> {
    let _current = stream.queue().enter_held()?;
    let driver = &stream.queue().api().driver;
    match command {
        Command::Launch { launch: Launch { function, geometry, params }, .. } => {
            function.launch_in(stream.raw(), *geometry, params)
        }
        Command::Read { from, into, .. } => {
            let address = into.as_mut_ptr();
            let copies = stream.queue().copies();
            copies.pieces(span(from)?, address.addr() as u64, from.range.len().min(into.len()), |part, at| {
                let into = address.wrapping_add(at).cast();
                // SAFETY: the piece lies inside `into`; both sides are live until the stream has passed, by the
                // caller's promise.
                unsafe { call!(driver, cuMemcpyDtoHAsync_v2(into, part.address(), part.len(), stream.raw())) }
            })
        }
        Command::Write { from, to } => {
            let address = from.as_ptr();
            let copies = stream.queue().copies();
            copies.pieces(span(to)?, address.addr() as u64, to.range.len().min(from.len()), |part, at| {
                let from = address.wrapping_add(at).cast();
                // SAFETY: as for `Read`.
                unsafe { call!(driver, cuMemcpyHtoDAsync_v2(part.address(), from, part.len(), stream.raw())) }
            })
        }
        Command::Copy { from, to } => {
            let (from, to) = (span(from)?, span(to)?);
            let from = from.part(0..to.len())?;
            // SAFETY: both sides are equally long, and live until the stream has passed.
            unsafe { call!(driver, cuMemcpyDtoDAsync_v2(to.address(), from.address(), to.len(), stream.raw())) }
        }
        Command::Fill { to, pattern } => fill(stream, span(to)?, pattern),
        Command::Nothing => Ok(()),
    }
}

/// The driver fills items of 1, 2 and 4 bytes; longer items are filled as columns of a rectangle of their width.
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
