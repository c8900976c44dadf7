//! Commands of queues as calls of the driver.

use super::kernel::Range as Items;
use super::track::Access::{Read, Write};
use super::{ArgValue, LaunchFailure};
use crate::{Buffer, Event, Kernel, Queue};
use cl3::command_queue as q;
use interop_core::compute::{self, Piece};
use std::sync::Arc;

/// Value of one parameter, for later.
pub enum Kept {
    I32(i32),
    U32(u32),
    I64(i64),
    U64(u64),
    F32(f32),
    F64(f64),
    Mem(Buffer),
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
            ArgValue::Memory(memory) => Self::Mem(memory.shared()?.clone()),
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
            Self::Mem(buffer) => ArgValue::Mem(&buffer.raw),
        }
    }
}

/// A kernel with its values and work items.
pub struct Launch {
    kernel: Arc<Kernel>,
    values: Vec<Kept>,
    global: [usize; 2],
    local: [usize; 2],
}

impl Launch {
    /// # Safety
    /// The values fit the kernel's parameters: memory for pointers, plain values of the right size for the others.
    pub unsafe fn new(kernel: Arc<Kernel>, values: Vec<Kept>, global: [usize; 2], local: [usize; 2]) -> Self {
        Self { kernel, values, global, local }
    }
}

/// A command whose launches say more than the driver is told.
pub type Command<L> = compute::Command<Buffer, L>;

/// Queues it.
///
/// # Safety
/// Where there is an event, the command may neither be dropped nor its host memory be used before that is final.
pub unsafe fn enqueue<L: AsRef<Launch>>(
    command: &mut Command<L>,
    queue: &Queue,
    wait: &[Event],
) -> Result<Event, LaunchFailure> {
    let queued = match command {
        Command::Launch { launch, .. } => {
            let Launch { kernel, values, global, local } = launch.as_ref();
            let values: Vec<_> = values.iter().map(Kept::value).collect();
            return kernel.raw.launch(queue, &values, Items { offset: &[], global, local }, wait);
        }
        Command::Read { from: Piece { block, range }, into, .. } => {
            let (address, len) = (into.as_mut_ptr(), range.len().min(into.len()));
            // SAFETY: the address holds `len` bytes until the command is final, by the caller's promise.
            queue.enqueue_using("clEnqueueReadBuffer", &[block.raw.used(range, Read)], wait, |queue, n, list| unsafe {
                q::enqueue_read_buffer(queue, block.raw(), 0, range.start, len, address.cast(), n, list)
            })
        }
        Command::Write { from, to: Piece { block, range } } => {
            let (address, len) = (from.as_ptr(), range.len().min(from.len()));
            // SAFETY: as for `Read`.
            queue.enqueue_using(
                "clEnqueueWriteBuffer",
                &[block.raw.used(range, Write)],
                wait,
                |queue, n, list| unsafe {
                    q::enqueue_write_buffer(queue, block.raw(), 0, range.start, len, address.cast_mut().cast(), n, list)
                },
            )
        }
        Command::Copy { from, to } => {
            queue.copy_mem((&from.block.raw, from.range.clone()), (&to.block.raw, to.range.clone()), wait)
        }
        Command::Fill { to, pattern } => queue.fill_bytes(&to.block, pattern, to.range.clone(), wait),
        Command::Nothing => queue.marker(wait),
    };
    queued.map_err(LaunchFailure::from)
}
