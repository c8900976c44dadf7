//! Blocks: imported by backends and displays, several times, and used by one way while another is in use.

use super::{Door, Open, World};
use crate::fuzz::{Turn, TurnResult, fail, hold, hostile};
use pixelferry::driver::{HostBlock, StagingKind};
use pixelferry::{Arg, BufferView, ComputeBackend as _, Error, ImageView, Result, Target, View};
use std::ops::Range;

impl Door {
    pub(super) fn len(&self) -> usize {
        match self {
            Self::Memory(memory) => memory.len(),
            Self::Staging(staging) => staging.len(),
        }
    }

    /// Lets the host write; staging gives all of its bytes.
    fn map_write(&mut self, range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        match self {
            Self::Memory(memory) => memory.map_write(range, f),
            Self::Staging(staging) => {
                staging.wait()?;
                staging.map_write(f)
            }
        }
    }

    fn map_read(&mut self, range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()> {
        match self {
            Self::Memory(memory) => memory.map_read(range, f),
            Self::Staging(_) => Err(Error::invalid("view", "staging is not read")),
        }
    }
}

/// The bytes as they are now, wherever a compiler may have kept them.
fn now(bytes: &[u8]) -> Vec<u8> {
    std::hint::black_box(bytes).to_vec()
}

impl World<'_> {
    pub(super) fn import(&mut self, t: &mut Turn) -> TurnResult {
        let (block, number) = if t.one_in(3) {
            // A backend takes the memory that the display maps.
            let staged = self.doors.iter().filter_map(|open| match &open.door {
                Door::Staging(staging) => staging.host_block().map(|block| (block, open.block)),
                Door::Memory(_) => None,
            });
            let staged: Vec<(HostBlock, u32)> = staged.collect();
            match staged.is_empty() {
                true => return Ok(()),
                false => staged[t.below(staged.len())].clone(),
            }
        } else {
            self.blocks[t.below(self.blocks.len())].clone()
        };
        let backend = &self.backends[t.below(self.backends.len())];
        t.op("host: import a block", format_args!("{number} by {}", backend.device()));
        let memory = t.end(backend.import_host(&block))?;
        hold!(memory.len() <= block.len(), "{} bytes came of a block of {}", memory.len(), block.len());
        self.doors.push(Open { door: Door::Memory(memory), block: number });
        Ok(())
    }

    pub(super) fn stage(&mut self, t: &mut Turn) -> TurnResult {
        let (block, number) = self.blocks[t.below(self.blocks.len())].clone();
        let (kind, most, number) = match t.below(4) {
            0 => (StagingKind::Orphaned, 16 << 10, 0),
            1 => (StagingKind::Persistent, 16 << 10, 0),
            _ => (StagingKind::Imported(block.clone()), block.len(), number),
        };
        let bytes = match t.below(8) {
            0 => hostile::near(t, most),
            1 => hostile::bad_size(t),
            2 => hostile::size(t, most),
            _ => most,
        };
        t.op("host: stage", format_args!("{bytes} bytes of {most}, {kind:?}"));
        if (1 << 20..1 << 46).contains(&bytes) {
            // Sizes that a machine may have are not asked for.
            return Ok(());
        }
        let staging = t.end(self.display.create_staging(kind, bytes))?;
        hold!(staging.len() >= bytes && bytes > 0, "{bytes} bytes gave {}", staging.len());
        hold!(number == 0 || bytes <= most, "{bytes} bytes were taken of a block of {most}");
        let number = if number == 0 {
            self.next += 1;
            self.next
        } else {
            number
        };
        self.doors.push(Open { door: Door::Staging(staging), block: number });
        Ok(())
    }

    /// Writes by one way and reads by the same.
    pub(super) fn through(&mut self, t: &mut Turn) -> TurnResult {
        let at = t.below(self.doors.len());
        let Open { door, .. } = &mut self.doors[at];
        let range = hostile::range(t, door.len());
        let seed = t.word() as u8;
        if let Door::Memory(memory) = door {
            let _ = memory.acquire();
        }
        t.op("host: fill", format_args!("{range:?} of {}", door.len()));
        let mut given = 0;
        let filled = door.map_write(range.clone(), &mut |bytes| {
            given = bytes.len();
            bytes.fill(seed);
            Ok(())
        });
        if t.end(filled).is_err() {
            return Ok(());
        }
        let Door::Memory(memory) = door else { return Ok(()) };
        hold!(range.start <= range.end && range.end <= memory.len(), "{range:?} of {} was taken", memory.len());
        hold!(given == range.len(), "{given} bytes were given for {range:?}");
        let mut bytes = vec![0; range.len()];
        t.op("host: read", format_args!("{range:?}"));
        if t.end(memory.read(range.start, &mut bytes)).is_ok() {
            hold!(bytes.iter().all(|byte| *byte == seed), "{range:?} of an import does not hold what was filled in");
        }
        t.op("host: acquire, submit, release", format_args!(""));
        let _ = t.end(memory.submit().and_then(|()| memory.release()));
        // The first byte past the end, by every call.
        let len = memory.len();
        let mut past = [0; 1];
        t.op("host: past the end", format_args!("{len}"));
        let taken = memory.read(len, &mut past).is_ok()
            || memory.write(len, &past).is_ok()
            || memory.map_read(len..len + 1, &mut |_| Ok(())).is_ok()
            || memory.map_write(0..len + 1, &mut |_| Ok(())).is_ok();
        let _ = t.end(Ok(()));
        hold!(!taken, "a byte past the end was taken");
        Ok(())
    }

    /// One way inside a closure of another: what a reference stands for must not change under it.
    pub(super) fn nested(&mut self, t: &mut Turn) -> TurnResult {
        // Mostly two ways to the same block.
        let outer = t.below(self.doors.len());
        let of = self.doors[outer].block;
        let same: Vec<usize> = (0..self.doors.len()).filter(|i| *i != outer && self.doors[*i].block == of).collect();
        let inner = match same.is_empty() || t.one_in(6) {
            true => (outer + 1) % self.doors.len(),
            false => t.pick(&same),
        };
        let kernel = pixelferry::driver::describe::pattern::Pattern { and_mask: u32::MAX, or_mask: 0, nonce: t.word() };
        let (what, exclusive, drops) = (t.below(6), t.one_in(2), t.one_in(10));
        let backend = self.backends[t.below(self.backends.len())].clone();
        let mut taken_out = Some(self.doors.swap_remove(inner));
        // The last door has taken the place of the one that went.
        let outer = if outer == self.doors.len() { inner } else { outer };
        let Open { door, .. } = &mut self.doors[outer];
        let range = 0..door.len();
        let mut changed = false;
        let mut act = |before: &[u8], look: &dyn Fn() -> Vec<u8>| {
            let Some(open) = &mut taken_out else { return };
            let other = 0..open.door.len();
            let _ = match (&mut open.door, what) {
                (Door::Memory(memory), 0) => memory.write(0, &vec![0xAA; memory.len()]),
                (Door::Memory(memory), 1) => {
                    let target = Target::buffer(memory.as_mut());
                    backend.write_pattern(target, &kernel)
                }
                (Door::Memory(memory), 2) => memory.read(0, &mut [0; 16]),
                (door, _) => door.map_write(other, &mut |bytes| {
                    bytes.fill(0xBB);
                    Ok(())
                }),
            };
            let _ = backend.finish();
            changed = look() != before;
            if drops {
                taken_out = None;
            }
        };
        t.op("host: one way inside of another", format_args!("{what} exclusive: {exclusive} {range:?}"));
        let done = if exclusive {
            door.map_write(range, &mut |bytes| {
                bytes.fill(0x11);
                let before = now(bytes);
                act(&before, &|| now(bytes));
                Ok(())
            })
        } else {
            door.map_read(range, &mut |bytes| {
                let before = now(bytes);
                act(&before, &|| now(bytes));
                Ok(())
            })
        };
        let _ = t.end(done);
        self.doors.extend(taken_out);
        if changed {
            fail!("bytes changed under a {} reference to them", if exclusive { "mutable" } else { "shared" });
        }
        Ok(())
    }

    /// Memory prepared for copies, from blocks of every kind.
    pub(super) fn prepare(&mut self, t: &mut Turn) -> TurnResult {
        let (block, number) = self.blocks[t.below(self.blocks.len())].clone();
        let backend = &self.backends[t.below(self.backends.len())];
        t.op("host: prepare a block", format_args!("{number} by {}", backend.device()));
        let prepared = t.end(backend.prepare_host(&block));
        drop(block);
        if t.one_in(10) {
            std::mem::forget(prepared);
        }
        // Views of imports that do not fit.
        let at = t.below(self.doors.len());
        if let Door::Memory(memory) = &mut self.doors[at].door {
            let view = if t.one_in(2) {
                View::Image(ImageView { row_pitch: hostile::stride(t), ..hostile::image_view(t, memory.len()) })
            } else {
                View::Buffer(BufferView { offset: hostile::near(t, memory.len()), len: hostile::near(t, 64) })
            };
            t.op("host: view of an import", format_args!("{view:?}"));
            let len = memory.len();
            let target = t.end(Target::new(memory.as_mut(), view));
            hold!(
                target.is_err() || view.checked_span().is_some_and(|span| span.end <= len),
                "{view:?} of {len} bytes was taken"
            );
            // A kernel of nobody's.
            if let (Ok(target), Ok(kernel)) = (target, self.drivers.cpu[1].build(&crate::fuzz::kernels::failing())) {
                let launched = self.drivers.cpu[0].launch(kernel.as_ref(), target, &[Arg::U32(0)]);
                hold!(launched.is_err(), "a kernel of another backend was taken");
            }
        }
        Ok(())
    }
}
