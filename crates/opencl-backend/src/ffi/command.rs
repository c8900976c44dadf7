//! What a lane's queue can be given. A command owns what the device uses, and lives until the device is done.

use super::kernel::Range as Items;
use super::track::Access::{Read, Write};
use super::{ArgValue, Event, Kernel, LaunchFailure, Mem, Queue};
use cl3::command_queue as q;
use interop_core::HostBuffer;
use interop_core::compute::ReadSlot;
use std::ops::Range;
use std::sync::Arc;

/// Value of one parameter, for later.
pub enum Kept {
    I32(i32),
    U32(u32),
    I64(i64),
    U64(u64),
    F32(f32),
    F64(f64),
    Mem(Arc<Mem>),
}

impl Kept {
    /// `None` for what cannot be kept: memory that is somebody else's.
    pub fn of(value: &ArgValue<'_>) -> Option<Self> {
        Some(match *value {
            ArgValue::I32(v) => Self::I32(v),
            ArgValue::U32(v) => Self::U32(v),
            ArgValue::I64(v) => Self::I64(v),
            ArgValue::U64(v) => Self::U64(v),
            ArgValue::F32(v) => Self::F32(v),
            ArgValue::F64(v) => Self::F64(v),
            ArgValue::Buffer(buffer) => Self::Mem(buffer.shared()?.clone()),
            _ => return None,
        })
    }

    fn value(&self) -> ArgValue<'_> {
        match self {
            Self::I32(v) => ArgValue::I32(*v),
            Self::U32(v) => ArgValue::U32(*v),
            Self::I64(v) => ArgValue::I64(*v),
            Self::U64(v) => ArgValue::U64(*v),
            Self::F32(v) => ArgValue::F32(*v),
            Self::F64(v) => ArgValue::F64(*v),
            Self::Mem(mem) => ArgValue::Mem(mem),
        }
    }
}

/// Memory and which bytes of it.
pub struct Piece {
    pub mem: Arc<Mem>,
    pub range: Range<usize>,
}

/// See the module.
pub enum Command {
    Launch {
        kernel: Arc<Kernel>,
        values: Vec<Kept>,
        global: [usize; 2],
        local: [usize; 2],
    },
    /// Copies to the front of `into`.
    Read {
        from: Piece,
        into: HostBuffer,
    },
    /// Copies the front of `from`.
    Write {
        from: HostBuffer,
        to: Piece,
    },
    /// Ranges of one length.
    Copy {
        from: Piece,
        to: Piece,
    },
    Fill {
        to: Piece,
        pattern: Vec<u8>,
    },
    /// For its event only.
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

    /// Queues it.
    ///
    /// # Safety
    /// Where there is an event, the command may neither be dropped nor its host memory be used before that is final.
    pub unsafe fn enqueue(&mut self, queue: &Queue, wait: &[Event]) -> Result<Event, LaunchFailure> {
        let queued = match self {
            Self::Launch { kernel, values, global, local } => {
                let values: Vec<_> = values.iter().map(Kept::value).collect();
                return kernel.launch(queue, &values, Items { offset: &[], global, local }, wait);
            }
            Self::Read { from: Piece { mem, range }, into } => {
                let (address, len) = (into.as_mut_ptr(), range.len().min(into.len()));
                // SAFETY: the address holds `len` bytes until the command is final, by the caller's promise.
                queue.enqueue_using("clEnqueueReadBuffer", &[mem.used(range, Read)], wait, |queue, n, list| unsafe {
                    q::enqueue_read_buffer(queue, mem.raw(), 0, range.start, len, address.cast(), n, list)
                })
            }
            Self::Write { from, to: Piece { mem, range } } => {
                let (address, len) = (from.as_ptr(), range.len().min(from.len()));
                // SAFETY: as for `Read`.
                queue.enqueue_using("clEnqueueWriteBuffer", &[mem.used(range, Write)], wait, |queue, n, list| unsafe {
                    q::enqueue_write_buffer(queue, mem.raw(), 0, range.start, len, address.cast_mut().cast(), n, list)
                })
            }
            Self::Copy { from, to } => {
                let (source, target) = ((&*from.mem, from.range.start), (&*to.mem, to.range.start));
                queue.copy(source, target, to.range.len(), wait)
            }
            Self::Fill { to, pattern } => queue.fill(&to.mem, pattern, to.range.clone(), wait),
            Self::Nothing => queue.marker(wait),
        };
        Ok(queued?)
    }
}
