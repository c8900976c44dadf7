//! Bytes to any place in a buffer: wgpu copies whole words only, so a shader writes what is not, and the host where the
//! device runs no such shader.

use crate::device_state::DeviceState;
use crate::format::{WORD, whole_words};
use crate::picture::constants;
use interop_core::Result;
use std::cell::OnceCell;

/// Bytes of one dispatch: a word for each invocation, 64 in a group, fewer groups than every device allows.
const CHUNK: u64 = 8 << 20;
const GROUP: u64 = 64;

const OP: &str = "upload_staged";

/// The structure `Job` of `splice.wgsl`, with the padding of a uniform.
type Job = [u32; 4];

/// A binding of a whole buffer or a part of it.
pub(crate) const fn buffer(ty: wgpu::BufferBindingType) -> wgpu::BindingType {
    wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None }
}

/// The shader, made at the first use.
#[derive(Default)]
pub(crate) struct Splicer {
    /// `None` where the device has no such shaders: an engine may open it without, and wgpu's OpenGL 3.3 promises what it
    /// then refuses.
    pipeline: OnceCell<Option<wgpu::ComputePipeline>>,
}

/// Where bytes go.
pub(crate) struct Splice<'a> {
    pub to: &'a wgpu::Buffer,
    pub to_byte: u64,
    pub bytes: u64,
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
            let made = shared.scoped(OP, || make(&shared.device));
            made.inspect_err(|reason| tracing::debug!(%reason, "bytes go to odd places by way of the host")).ok()
        });
        tried.as_ref()
    }

    /// Copies bytes of `from`, from its byte `from_byte` on, to any place. Both buffers were made for copies, the
    /// target for storage, too; their sizes are in whole words.
    pub(crate) fn copy(
        &self,
        shared: &DeviceState,
        splice: &Splice<'_>,
        from: &wgpu::Buffer,
        from_byte: u64,
    ) -> Result<wgpu::SubmissionIndex> {
        let Some(pipeline) = self.pipeline(shared) else {
            let bytes = shared.read_buffer(from, from_byte..from_byte + splice.bytes, "read_back")?;
            return by_host(shared, splice, &bytes);
        };
        shared.submit(OP, |encoder| {
            let mut done = 0;
            while done < splice.bytes {
                let count = (splice.bytes - done).min(CHUNK);
                let piece = Splice { to: splice.to, to_byte: splice.to_byte + done, bytes: count };
                dispatch(shared, encoder, pipeline, &piece, from, from_byte + done);
                done += count;
            }
        })
    }
}

/// Writes the words that `bytes` touch, with what else is in them as it was.
fn by_host(shared: &DeviceState, splice: &Splice<'_>, bytes: &[u8]) -> Result<wgpu::SubmissionIndex> {
    let start = splice.to_byte / WORD * WORD;
    let end = start + whole_words(splice.to_byte + splice.bytes - start);
    let mut words = shared.read_buffer(splice.to, start..end, "read_back")?;
    let inside = (splice.to_byte - start) as usize;
    words[inside..inside + bytes.len()].copy_from_slice(bytes);
    shared.scoped(OP, || {
        shared.queue.write_buffer(splice.to, start, &words);
        shared.queue.submit([])
    })
}

/// One chunk by the shader.
fn dispatch(
    shared: &DeviceState,
    encoder: &mut wgpu::CommandEncoder,
    pipeline: &wgpu::ComputePipeline,
    splice: &Splice<'_>,
    from: &wgpu::Buffer,
    from_byte: u64,
) {
    let device = &shared.device;
    let start = from_byte / WORD * WORD;
    let words = whole_words(from_byte + splice.bytes - start);
    let source = device.create_buffer(&wgpu::BufferDescriptor {
        label: Some("pixelferry splice"),
        size: words,
        usage: wgpu::BufferUsages::COPY_DST | wgpu::BufferUsages::STORAGE,
        mapped_at_creation: false,
    });
    encoder.copy_buffer_to_buffer(from, start, &source, 0, words);
    let alignment = u64::from(shared.limits.min_storage_buffer_offset_alignment).max(WORD);
    let offset = splice.to_byte / alignment * alignment;
    let inside = splice.to_byte - offset;
    let size = wgpu::BufferSize::new(whole_words(inside + splice.bytes));
    // All far below 32 bits: a chunk and an alignment.
    let job: Job = [inside as u32, (from_byte - start) as u32, splice.bytes as u32, 0];
    let job = constants(shared, bytemuck::bytes_of(&job));
    let target = wgpu::BindingResource::Buffer(wgpu::BufferBinding { buffer: splice.to, offset, size });
    let group = device.create_bind_group(&wgpu::BindGroupDescriptor {
        label: Some("pixelferry splice"),
        layout: &pipeline.get_bind_group_layout(0),
        entries: &[
            wgpu::BindGroupEntry { binding: 0, resource: job.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 1, resource: source.as_entire_binding() },
            wgpu::BindGroupEntry { binding: 2, resource: target },
        ],
    });
    let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
    pass.set_pipeline(pipeline);
    pass.set_bind_group(0, &group, &[]);
    let touched = (inside + splice.bytes).div_ceil(WORD) - inside / WORD;
    pass.dispatch_workgroups(touched.div_ceil(GROUP) as u32, 1, 1);
}
