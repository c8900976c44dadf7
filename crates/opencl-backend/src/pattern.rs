//! The verification pattern, written by a kernel.

use crate::ffi::ArgValue;
use crate::kernel::BuiltKernel;
use crate::memory::OpenClMemory;
use crate::shared::Shared;
use interop_core::compute::Access;
use interop_core::pattern::Pattern;
use interop_core::{Error, Result, Target, View};
use std::sync::{Arc, Mutex, PoisonError};

const OP: &str = "ComputeBackend::write_pattern";

/// One work item for each 4 bytes of a row. Whole words are written at once where they lie on a multiple of 4.
const BODY: &str = "
__kernel void pf_pattern(__global uchar *memory, ulong offset, long pitch, ulong row_bytes, ulong last_row_bytes,
                         uint rows, uint and_mask, uint or_mask, uint nonce) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (y >= rows) return;
  const ulong end = y == rows - 1 ? last_row_bytes : row_bytes;
  const ulong byte = (ulong)x * 4;
  if (byte >= end) return;
  __global uchar *to = memory + (offset + (long)y * pitch + byte);
  const uint word = pf_pattern_word(x, y, and_mask, or_mask, nonce);
  if (((offset | (ulong)pitch) & 3) == 0 && end - byte >= 4) {
    *(__global uint *)to = word;
  } else {
    const uchar4 bytes = as_uchar4(word);
    to[0] = bytes.s0;
    if (end - byte > 1) to[1] = bytes.s1;
    if (end - byte > 2) to[2] = bytes.s2;
    if (end - byte > 3) to[3] = bytes.s3;
  }
}
";

/// The pattern's kernel, built when it is first needed.
#[derive(Default)]
pub struct PatternKernel(Mutex<Option<Arc<BuiltKernel>>>);

impl PatternKernel {
    fn get(&self, shared: &Arc<Shared>) -> Result<Arc<BuiltKernel>> {
        // Held while building, so that threads do not build it twice.
        let mut place = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = &*place {
            return Ok(kernel.clone());
        }
        let kernel = BuiltKernel::build(shared, "pf_pattern", &format!("{}{BODY}", Pattern::C_SOURCE))?;
        Ok(place.insert(Arc::new(kernel)).clone())
    }

    pub fn write(&self, shared: &Arc<Shared>, target: Target<'_>, pattern: &Pattern) -> Result<()> {
        let (memory, view) = target.into_parts();
        let memory = OpenClMemory::of(memory, shared, OP)?;
        let rows = Rows::of(&view)?;
        memory.enter(&view.span(), Access::Write)?;
        if rows.count == 0 {
            return Ok(());
        }
        let values = [
            ArgValue::Buffer(&memory.buffer),
            ArgValue::U64(rows.offset as u64),
            ArgValue::I64(rows.pitch as i64),
            ArgValue::U64(rows.bytes as u64),
            ArgValue::U64(rows.last_bytes as u64),
            ArgValue::U32(rows.count),
            ArgValue::U32(pattern.and_mask),
            ArgValue::U32(pattern.or_mask),
            ArgValue::U32(pattern.nonce),
        ];
        let words = rows.bytes.max(rows.last_bytes).div_ceil(4);
        let items = [words, rows.count as usize];
        self.get(shared)?.run(OP, &values, items, |refused| shared.error(refused.failure))
    }
}

/// A view as rows; all in bytes.
struct Rows {
    offset: usize,
    pitch: isize,
    bytes: usize,
    last_bytes: usize,
    count: u32,
}

impl Rows {
    fn of(view: &View) -> Result<Self> {
        Ok(match *view {
            View::Image(image) => Self {
                offset: image.offset,
                pitch: image.row_pitch,
                bytes: image.row_len(),
                last_bytes: image.row_len(),
                count: image.extent.height,
            },
            View::Buffer(buffer) => {
                let row = Pattern::BUFFER_ROW;
                let count = u32::try_from(buffer.len.div_ceil(row))
                    .map_err(|_| Error::invalid(OP, format!("{} bytes are too many rows to count", buffer.len)))?;
                let whole = buffer.len.saturating_sub(1) / row * row;
                Self { offset: buffer.offset, pitch: row as isize, bytes: row, last_bytes: buffer.len - whole, count }
            }
        })
    }
}
