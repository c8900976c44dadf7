//! Memory: storage buffers.

use crate::compute::session::Session;
use crate::context::queue_buffer::QueueBuffer;
use interop_core::Result;
use interop_core::compute::MemoryDriver;
use interop_core::describe::process::ProcessOwned;
use std::ops::Range;
use std::sync::{Arc, OnceLock};
use wgsl_kernel::WORD;

/// Memory of one backend.
pub struct WgpuMemory {
    buffer: ProcessOwned<QueueBuffer>,
    len: usize,
    session: Arc<Session>,
    /// Group 0 of launches that write it, from the first on.
    target: ProcessOwned<OnceLock<wgpu::BindGroup>>,
    /// Submission after which the last turn in the queue ends.
    turn: Option<wgpu::SubmissionIndex>,
}

interop_core::owned!(WgpuMemory: Session, "memory", |memory| &memory.session);

impl WgpuMemory {
    /// Over a buffer of whole words that has them all.
    pub fn over(session: &Arc<Session>, buffer: QueueBuffer, len: usize) -> Self {
        Self {
            buffer: ProcessOwned::new(buffer),
            len,
            session: session.clone(),
            target: ProcessOwned::new(OnceLock::new()),
            turn: None,
        }
    }

    pub fn buffer(&self) -> &wgpu::Buffer {
        self.buffer.buffer()
    }

    /// Group 0 of a launch that writes it.
    pub fn target(&self) -> Result<&wgpu::BindGroup> {
        if let Some(group) = self.target.get() {
            return Ok(group);
        }
        let Session { device, layout, .. } = self.session.as_ref();
        let bind =
            || self.session.with_numbers(|numbers| numbers.bind(device, layout, self.buffer().as_entire_binding()));
        let group = device.scoped(bind)?;
        Ok(self.target.get_or_init(|| group))
    }

    /// Queues a copy of `range` to the same place here; wgpu copies whole words only.
    pub fn copy_from(&mut self, from: &Self, range: Range<usize>) -> Result<()> {
        // Whole words, where there are any, between what the range has of a word at each end.
        let first = range.start.next_multiple_of(WORD).min(range.end);
        let last = (range.end / WORD * WORD).max(first);
        for edge in [range.start..first, last..range.end] {
            if !edge.is_empty() {
                let bytes = from.bytes(&edge)?;
                self.put(edge.start, &bytes)?;
            }
        }
        if first == last {
            return Ok(());
        }
        let (start, len) = (first as u64, (last - first) as u64);
        self.session
            .device
            .record(|encoder| encoder.copy_buffer_to_buffer(from.buffer(), start, self.buffer(), start, len))
    }

    /// Bytes on the host, after all that was queued before.
    fn bytes(&self, range: &Range<usize>) -> Result<Vec<u8>> {
        self.session.device.read_buffer(self.buffer(), range.start as u64..range.end as u64)
    }

    /// Queues a write of bytes that may begin and end inside a word.
    fn put(&mut self, offset: usize, bytes: &[u8]) -> Result<()> {
        let range = offset..offset + bytes.len();
        let outer = range.start / WORD * WORD..range.end.next_multiple_of(WORD);
        let write = |at: usize, bytes: &[u8]| {
            let device = &self.session.device;
            // Recorded commands use the content from before the write.
            device.submit_recorded()?;
            device.scoped(|| device.queue.write_buffer(self.buffer(), at as u64, bytes))
        };
        if outer == range {
            return write(offset, bytes);
        }
        // The other bytes of the words at both ends stay. Bytes behind the memory's end are nobody's.
        let mut whole = vec![0; outer.len()];
        let edges = [
            (outer.start..outer.start + WORD, outer.start < range.start),
            (outer.end - WORD..outer.end, range.end < outer.end),
        ];
        for (edge, _) in edges.into_iter().filter(|(_, is_cut)| *is_cut) {
            let kept = self.bytes(&edge)?;
            whole[edge.start - outer.start..edge.end - outer.start].copy_from_slice(&kept);
        }
        whole[range.start - outer.start..][..bytes.len()].copy_from_slice(bytes);
        write(outer.start, &whole)
    }
}

impl MemoryDriver for WgpuMemory {
    fn len(&self) -> usize {
        self.len
    }

    fn read(&mut self, offset: usize, into: &mut [u8]) -> Result<()> {
        into.copy_from_slice(&self.bytes(&(offset..offset + into.len()))?);
        Ok(())
    }

    fn write(&mut self, offset: usize, from: &[u8]) -> Result<()> {
        self.put(offset, from)
    }

    fn map_read(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        f(&self.bytes(&range)?)
    }

    fn submit(&mut self) -> Result<()> {
        self.turn = self.session.device.flush_alone()?;
        Ok(())
    }

    fn release(&mut self) -> Result<()> {
        match self.turn.take() {
            Some(index) => self.session.device.wait(Some(index)),
            None => self.session.finish(),
        }
    }
}
