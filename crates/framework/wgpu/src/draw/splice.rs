//! Copies of bytes to any position in a buffer: wgpu copies only whole words, so a shader writes the other bytes, or
//! the host if the device cannot run that shader.

use crate::context::device_state::DeviceState;
use crate::context::format::{WORD, whole_words};
use crate::draw::picture::constants;
use interop_core::Result;
use interop_core::describe::PlainMutex;
use std::sync::OnceLock;

/// Bytes of one dispatch: a word for each invocation, 64 invocations in a group, and fewer groups than every device
/// allows.
const CHUNK: u64 = 8 << 20;
const GROUP: u64 = 64;

/// The structure `Job` of `splice.wgsl`, with the padding of a uniform.
type Job = [u32; 8];

/// A binding of a whole buffer or a part of it.
pub(crate) const fn buffer(ty: wgpu::BufferBindingType) -> wgpu::BindingType {
    wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None }
}

/// The shader, created at first use.
#[derive(Default)]
pub(crate) struct Splicer {
    /// `None` where the device cannot run such shaders: an engine may open it without them, and wgpu's OpenGL 3.3
    /// reports features that it then rejects.
    pipeline: OnceLock<Option<wgpu::ComputePipeline>>,
    /// The rows that were packed last.
    scratch: PlainMutex<Option<wgpu::Buffer>>,
}

/// Destination of bytes.
pub(crate) struct Splice<'a> {
    pub to: &'a wgpu::Buffer,
    pub to_byte: u64,
    pub bytes: u64,
}

/// Rows of an image with gaps between them, the first at byte 0.
pub(crate) struct PitchedRows {
    /// Length of a row in bytes.
    pub row: usize,
    /// Row pitch in bytes, a multiple of wgpu's alignment for copies of rows, which satisfies that of bindings.
    pub pitch: usize,
    pub count: usize,
}

impl Splicer {
    fn pipeline(&self, shared: &DeviceState) -> Option<&wgpu::ComputePipeline> {
        let make = |device: &wgpu::Device| {
            let module = device.create_shader_module(wgpu::include_wgsl!("shaders/splice.wgsl"));
            device.create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some("pixelferry splice"),
                layout: None,
                module: &module,
                entry_point: Some("splice"),
                compilation_options: wgpu::PipelineCompilationOptions::default(),
                cache: None,
            })
        };
        let tried = self.pipeline.get_or_init(|| {
            let made = shared.scoped(|| make(&shared.device));
            made.inspect_err(|reason| tracing::debug!(%reason, "copies to unaligned positions go through the host"))
                .ok()
        });
        tried.as_ref()
    }

    /// Copies bytes of `from`, starting at its byte `from_byte`, to any position. Both buffers were created for copies,
    /// the target also for storage; their sizes are in whole words.
    pub(crate) fn copy(
        &self,
        shared: &DeviceState,
        splice: &Splice<'_>,
        from: &wgpu::Buffer,
        from_byte: u64,
    ) -> Result<wgpu::SubmissionIndex> {
        let Some(pipeline) = self.pipeline(shared) else {
            let bytes = shared.read_buffer(from, from_byte..from_byte + splice.bytes)?;
            return by_host(shared, splice, &bytes);
        };
        shared.submit(|encoder| {
            let mut done = 0;
            while done < splice.bytes {
                let count = (splice.bytes - done).min(CHUNK);
                let piece = Splice { to: splice.to, to_byte: splice.to_byte + done, bytes: count };
                let start = (from_byte + done) / WORD * WORD;
                let inside = from_byte + done - start;
                let words = whole_words(inside + count);
                let source = source(&shared.device, words);
                encoder.copy_buffer_to_buffer(from, start, &source, 0, words);
                let lie = Lie { start: inside, row: count, pitch: count };
                dispatch(shared, encoder, pipeline, &piece, source.as_entire_buffer_binding(), lie);
                done += count;
            }
        })
    }

    /// Packs rows that `fill` writes to a buffer without gaps, from a byte of `to` on. `to` was created for storage,
    /// and its size is in whole words.
    ///
    /// # Errors
    /// [`interop_core::Error::Unsupported`] where the device cannot run the shader.
    pub(crate) fn pack(
        &self,
        shared: &DeviceState,
        rows: &PitchedRows,
        (to, to_byte): (&wgpu::Buffer, u64),
        fill: impl FnOnce(&mut wgpu::CommandEncoder, &wgpu::Buffer),
    ) -> Result<wgpu::SubmissionIndex> {
        let pipeline = self.pipeline(shared).ok_or_else(|| {
            let reason = format!("packing rows of {} bytes needs a compute shader that it cannot run", rows.row);
            shared.unsupported(reason)
        })?;
        let (row, pitch, count) = (rows.row as u64, rows.pitch as u64, rows.count as u64);
        let most = (CHUNK / pitch).max(1);
        shared.submit(|encoder| {
            let scratch = self.scratch(&shared.device, pitch * count);
            fill(encoder, &scratch);
            let mut done = 0;
            while done < count {
                let now = (count - done).min(most);
                let source = wgpu::BufferBinding {
                    buffer: &scratch,
                    offset: done * pitch,
                    size: wgpu::BufferSize::new(now * pitch),
                };
                let lie = Lie { start: 0, row, pitch };
                let piece = Splice { to, to_byte: to_byte + done * row, bytes: now * row };
                dispatch(shared, encoder, pipeline, &piece, source, lie);
                done += now;
            }
        })
    }

    /// Returns a buffer of at least this many bytes; the last one if it fits.
    fn scratch(&self, device: &wgpu::Device, bytes: u64) -> wgpu::Buffer {
        let mut kept = self.scratch.lock();
        // Frees the memory that was needed for much larger rows.
        if let Some(buffer) = kept.as_ref().filter(|buffer| (bytes..=4 * bytes).contains(&buffer.size())) {
            return buffer.clone();
        }
        kept.insert(source(device, bytes)).clone()
    }
}

/// Creates a buffer for copies, which the shader reads.
fn source(device: &wgpu::Device, bytes: u64) -> wgpu::Buffer {
    device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("pixelferry splice"),
        size: bytes,
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::STORAGE,
        mapped_at_creation: false,
    })
}

/// Writes the words that `bytes` touch, and keeps their other bytes.
fn by_host(shared: &DeviceState, splice: &Splice<'_>, bytes: &[u8]) -> Result<wgpu::SubmissionIndex> {
    let start = splice.to_byte / WORD * WORD;
    let end = start + whole_words(splice.to_byte + splice.bytes - start);
    let mut words = shared.read_buffer(splice.to, start..end)?;
    let inside = (splice.to_byte - start) as usize;
    words[inside..inside + bytes.len()].copy_from_slice(bytes);
    shared.scoped(|| {
        shared.queue.write_buffer(splice.to, start, &words);
        shared.queue.submit([])
    })
}

/// Positions of a chunk's bytes in the buffer that the shader reads.
struct Lie {
    start: u64,
    row: u64,
    pitch: u64,
}

/// Dispatches one chunk.
fn dispatch(
    shared: &DeviceState,
    encoder: &mut wgpu::CommandEncoder,
    pipeline: &wgpu::ComputePipeline,
    splice: &Splice<'_>,
    source: wgpu::BufferBinding<'_>,
    lie: Lie,
) {
    let device = &shared.device;
    let alignment = u64::from(shared.limits.min_storage_buffer_offset_alignment).max(WORD);
    let offset = splice.to_byte / alignment * alignment;
    let inside = splice.to_byte - offset;
    let size = wgpu::BufferSize::new(whole_words(inside + splice.bytes));
    // All values are far below 32 bits: a chunk, or a row, and an alignment.
    let [row, pitch, start] = [lie.row, lie.pitch, lie.start].map(|bytes| bytes as u32);
    let job: Job = [inside as u32, start, splice.bytes as u32, row, pitch, 0, 0, 0];
    let job = constants(shared, bytemuck::bytes_of(&job));
    let target = wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: splice.to, offset, size });
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("pixelferry splice"),
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: job.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::Buffer(source) },
            wgpu::BindGroupEntry { binding: 2, resource: target },
        ],
    });
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    pass.set_pipeline(pipeline);
    pass.set_bind_group(0, &group, &[]);
    let touched = (inside + splice.bytes).div_ceil(WORD) - inside / WORD;
    pass.dispatch_workgroups(touched.div_ceil(GROUP) as u32, 1, 1);
}
