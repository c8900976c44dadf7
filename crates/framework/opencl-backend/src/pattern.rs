//! The verification pattern, written by kernels.

use crate::backend_state::BackendState;
use crate::cl;
use crate::kernel::BuiltKernel;
use crate::memory::OpenClMemory;
use crate::sharing::image::OpenClImage;
use interop_core::compute::Access;
use interop_core::describe::PlainMutex;
use interop_core::describe::pattern::Pattern;
use interop_core::devices::maker_object::own;
use interop_core::{Error, Result, Target, View};
use std::sync::Arc;

/// One work item writes 16 bytes of a row, in a single store where they are aligned to 16. Paths are timed with flat
/// patterns, so these take no longer than in a plain kernel. One kernel writes both, so that the proof of a path has
/// built it before the path is timed.
const BODY: &str = "
__kernel void pf_pattern(__global uchar *memory, ulong offset, long pitch, ulong row_bytes, ulong last_row_bytes,
                         uint rows, uint and_mask, uint or_mask, uint nonce) {
  const uint x = get_global_id(0), y = get_global_id(1);
  if (y >= rows) return;
  const ulong end = y == rows - 1 ? last_row_bytes : row_bytes;
  const ulong byte = (ulong)x * 16;
  if (byte >= end) return;
  __global uchar *to = memory + (offset + (long)y * pitch + byte);
  uint4 words = (uint4)(or_mask);
  if (and_mask != 0) {
    words.x = pf_pattern_word(4 * x, y, and_mask, or_mask, nonce);
    words.y = pf_pattern_word(4 * x + 1, y, and_mask, or_mask, nonce);
    words.z = pf_pattern_word(4 * x + 2, y, and_mask, or_mask, nonce);
    words.w = pf_pattern_word(4 * x + 3, y, and_mask, or_mask, nonce);
  }
  if (((offset | (ulong)pitch) & 15) == 0 && end - byte >= 16) {
    *(__global uint4 *)to = words;
  } else {
    const uint all[4] = {words.x, words.y, words.z, words.w};
    const uint most = (uint)min(end - byte, (ulong)16);
    for (uint i = 0; i < most; i++) to[i] = (uchar)(all[i / 4] >> 8 * (i & 3));
  }
}
";

/// Writes the pattern to an image: one work item for each pixel, with the same bytes as `BODY`.
const IMAGE_BODY: &str = "
__kernel void pf_pattern_image(__write_only image2d_t image, int left, int first, int step, int width, int height,
                               int bytes, int channel_bytes, uint and_mask, uint or_mask, uint nonce) {
  const int x = get_global_id(0), y = get_global_id(1);
  if (x >= width || y >= height) return;
  const uint word = (uint)(x * bytes / 4);
  uint4 w = (uint4)(pf_pattern_word(word, y, and_mask, or_mask, nonce), 0, 0, 0);
  /* A pixel of less than a word is the low bytes of what is left; the image drops channels that it lacks. */
  if (bytes < 4) w.x >>= 8 * (x * bytes % 4);
  if (bytes > 4) w.y = pf_pattern_word(word + 1, y, and_mask, or_mask, nonce);
  if (bytes > 8) {
    w.z = pf_pattern_word(word + 2, y, and_mask, or_mask, nonce);
    w.w = pf_pattern_word(word + 3, y, and_mask, or_mask, nonce);
  }
  const ushort4 halves = as_ushort4(w.xy);
  const float4 v = channel_bytes == 4 ? as_float4(w)
      : channel_bytes == 2 ? vload_half4(0, (const half *)&halves) : convert_float4(as_uchar4(w.x)) / 255.0f;
  write_imagef(image, (int2)(left + x, first + step * y), v);
}
";

/// A kernel that is built at first use.
#[derive(Default)]
struct Lazy(PlainMutex<Option<Arc<BuiltKernel>>>);

impl Lazy {
    fn get(&self, shared: &Arc<BackendState>, name: &str, body: &str) -> Result<Arc<BuiltKernel>> {
        // Held during the build, so that threads do not build it twice.
        let mut place = self.0.lock();
        if let Some(kernel) = &*place {
            return Ok(kernel.clone());
        }
        let text = format!("{}{body}", Pattern::C_SOURCE);
        // SAFETY: the two bodies in this file write rows and pixels of the given view. Its launches take that view from
        // a checked target.
        let kernel = unsafe { BuiltKernel::build(shared, name, &text) }?;
        Ok(place.insert(Arc::new(kernel)).clone())
    }
}

/// The pattern's kernels.
#[derive(Default)]
pub struct PatternKernel {
    linear: Lazy,
    image: Lazy,
}

impl PatternKernel {
    fn write_image(&self, image: &OpenClImage, view: &View, pattern: &Pattern) -> Result<()> {
        let (at, view) = (image.place(view)?, view.pixels()?);
        let (format, extent) = (view.format, view.extent);
        let (first, step) = at.first_row();
        let int = |value: u32| cl::Arg::from(i32::try_from(value).unwrap_or(i32::MAX)); // sides are far below
        let values = [
            cl::Arg::Image(&image.image),
            int(at.region.x),
            int(first),
            cl::Arg::from(step),
            int(extent.width),
            int(extent.height),
            int(format.bytes_per_pixel() as u32),
            int(format.channel_kind().bytes() as u32),
            cl::Arg::from(pattern.and_mask),
            cl::Arg::from(pattern.or_mask),
            cl::Arg::from(pattern.nonce),
        ];
        let kernel = self.image.get(&image.shared, "pf_pattern_image", IMAGE_BODY)?;
        let items = [extent.width as usize, extent.height as usize];
        let _turn = image.turn()?;
        kernel.run(&values, items)
    }

    pub fn write(&self, shared: &Arc<BackendState>, target: Target<'_>, pattern: &Pattern) -> Result<()> {
        let (memory, view) = target.into_parts();
        if memory.is::<OpenClImage>() {
            return self.write_image(own::<OpenClImage>(memory, shared)?, &view, pattern);
        }
        let memory = OpenClMemory::of(memory, shared)?;
        let rows = Rows::of(&view)?;
        memory.enter(&view.span(), Access::Write)?;
        if rows.count == 0 {
            return Ok(());
        }
        let values = [
            cl::Arg::Buffer(memory.buffer()),
            cl::Arg::from(rows.offset as u64),
            cl::Arg::from(rows.pitch as i64),
            cl::Arg::from(rows.bytes as u64),
            cl::Arg::from(rows.last_bytes as u64),
            cl::Arg::from(rows.count),
            cl::Arg::from(pattern.and_mask),
            cl::Arg::from(pattern.or_mask),
            cl::Arg::from(pattern.nonce),
        ];
        let items = [rows.bytes.max(rows.last_bytes).div_ceil(16), rows.count as usize];
        let kernel = self.linear.get(shared, "pf_pattern", BODY)?;
        let _turn = memory.turn()?;
        kernel.run(&values, items)
    }
}

/// A view as rows; all values in bytes.
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
                    .map_err(|_| Error::refused(format!("{} bytes are too many rows to count", buffer.len)))?;
                let whole = buffer.len.saturating_sub(1) / row * row;
                Self { offset: buffer.offset, pitch: row as isize, bytes: row, last_bytes: buffer.len - whole, count }
            }
        })
    }
}
