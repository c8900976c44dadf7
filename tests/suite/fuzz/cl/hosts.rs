//! Host memory as buffers.

use super::World;
use crate::fuzz::{Turn, TurnResult, fail, hold, hostile};
use pixelferry::api::opencl::cl::{HostBuffer, MemFlags};
use pixelferry::driver::HostBlock;

impl World<'_> {
    /// One block as two buffers, both mapped: never two mutable references to one byte.
    pub(super) fn host_buffer(&mut self, t: &mut Turn) -> TurnResult {
        self.settle(t)?;
        let (context, queue) = (&self.base.context, self.queue(t));
        let block = HostBlock::allocate(hostile::size(t, 8192))?;
        t.op("cl: host memory as a buffer", format_args!("{} bytes", block.len()));
        let one = t.end(HostBuffer::new(context, MemFlags::READ_WRITE, &block))?;
        t.op("cl: host memory as a buffer again", format_args!(""));
        let two = t.end(HostBuffer::new(context, MemFlags::READ_WRITE, &block));
        let range = hostile::inside(t, block.len());
        drop(block);
        if let Ok(two) = &two {
            t.op("cl: map host memory twice", format_args!("{range:?}"));
            if let Ok(mut map) = t.end(queue.map_write::<u8>(&one, range.clone(), &[])) {
                map.fill(1);
                if let Ok(mut other) = queue.map_write::<u8>(two, range.clone(), &[]) {
                    other.fill(2);
                }
                if std::hint::black_box(&*map).iter().any(|byte| *byte != 1) {
                    fail!("bytes changed under a mutable reference to them");
                }
                let event = map.unmap()?;
                event.wait()?;
            }
        }
        t.op("cl: use host memory", format_args!("{range:?}"));
        let filled = queue.fill(&one, 7_u8, range.clone(), &[]).and_then(|event| {
            let part = one.part(MemFlags::NONE, 0..1)?;
            drop(part);
            event.wait()
        });
        if t.end(filled).is_ok() {
            let bytes = queue.read::<u8>(&one, range.start, range.len(), &[])?.wait()?;
            hold!(bytes.iter().all(|byte| *byte == 7), "host memory does not hold what was filled in");
        }
        if t.one_in(6) {
            // A clone that outlives it keeps the block forever.
            let kept = (*one).clone();
            drop(one);
            let _ = queue.fill(&kept, 9_u8, 0..1, &[])?.wait();
        }
        Ok(())
    }
}
