//! Input that must be refused before anything is queued.

use super::rig::{Outcome, Rig, ensure, items, same};
use interop_core::HostBlock;
use pixelferry::driver::MemoryDriver;
use pixelferry::driver::describe::pattern::Pattern;
use pixelferry::{
    BufferView, ComputeBackend, ComputeMemory, CpuBackend, CpuKernelExt, Error, HostBuffer, KernelSource, Result,
    Target, View,
};
use std::ops::Range;

fn invalid<T>(what: &str, result: Result<T>) -> Outcome {
    ensure(what, matches!(result, Err(Error::InvalidInput { .. })))
}

fn of_others<T>(what: &str, result: Result<T>) -> Outcome {
    ensure(what, matches!(result, Err(Error::Foreign { .. })))
}

pub fn refused(rig: &Rig) -> Outcome {
    let queue = rig.in_order();
    let (mut m, mut n) = (rig.memory(4, 0), rig.memory(4, 0));
    #[allow(clippy::reversed_empty_ranges)]
    for range in [0..17, 16..17, 4..4, 9..8, usize::MAX - 1..usize::MAX] {
        invalid("read", queue.read(m.as_ref(), range.clone(), &[]))?;
        invalid("fill", queue.fill(m.as_mut(), range.clone(), &[1], &[]))?;
        invalid("copy", queue.copy(m.as_ref(), range, n.as_mut(), 0, &[]))?;
    }
    invalid("copy", queue.copy(m.as_ref(), 0..8, n.as_mut(), 9, &[]))?;
    invalid("copy", queue.copy(m.as_ref(), 0..8, n.as_mut(), usize::MAX, &[]))?;
    invalid("write", queue.write(m.as_mut(), 16, vec![1].into(), &[]))?;
    invalid("write", queue.write(m.as_mut(), usize::MAX, vec![1].into(), &[]))?;
    invalid("write", queue.write(m.as_mut(), 0, HostBuffer::from(vec![]), &[]))?;
    for (range, pattern) in [(0..4, &[][..]), (0..6, &[1; 3]), (0..16, &[1; 32]), (0..6, &[1; 4]), (2..6, &[1; 4])] {
        invalid("fill", queue.fill(m.as_mut(), range, pattern, &[]))?;
    }
    let cpu = CpuBackend::new()?;
    let kernel = cpu.build(&KernelSource::new("k").cpu_buffer(|_, _| Ok(())))?;
    let mut theirs = cpu.allocate(16)?;
    of_others("kernel", queue.launch(kernel.as_ref(), Target::buffer(m.as_mut()), &[], &[]))?;
    of_others("read", queue.read(theirs.as_ref(), 0..4, &[]))?;
    of_others("write", queue.write(theirs.as_mut(), 0, vec![1].into(), &[]))?;
    of_others("fill", queue.fill(theirs.as_mut(), 0..4, &[1], &[]))?;
    of_others("copy", queue.copy(m.as_ref(), 0..4, theirs.as_mut(), 0, &[]))?;
    of_others("launch", rig.mix(queue.as_ref(), theirs.as_mut(), m.as_ref(), 0, &[]))?;
    of_others("launch", rig.mix(queue.as_ref(), m.as_mut(), theirs.as_ref(), 0, &[]))?;
    queue.finish()?;
    Ok(())
}

/// Memory of a caller's own type, which says that it is longer than what it wraps.
struct Boast {
    inner: Box<dyn ComputeMemory>,
    says: usize,
}

impl MemoryDriver for Boast {
    pixelferry_tests::forward! {
        &mut read(offset: usize, into: &mut [u8]) -> Result<()>;
        &mut write(offset: usize, from: &[u8]) -> Result<()>;
        &mut map_read(range: Range<usize>, f: &mut dyn FnMut(&[u8]) -> Result<()>) -> Result<()>;
        &mut map_write(range: Range<usize>, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()>;
        &mut release() -> Result<()>;
    }

    fn len(&self) -> usize {
        self.says
    }
}

pub fn boast(rig: &Rig) -> Outcome {
    const MORE: usize = 1 << 24;
    let mut m = rig.memory(MORE / 4, 5);
    let mut boast = Boast { inner: rig.memory(16, 5), says: MORE };
    let queue = rig.in_order();
    of_others("launch", rig.mix(queue.as_ref(), &mut boast, m.as_ref(), 0, &[]))?;
    of_others("launch", rig.mix(queue.as_ref(), m.as_mut(), &boast, 0, &[]))?;
    of_others("read", queue.read(&boast, 0..MORE, &[]))?;
    of_others("write", queue.write(&mut boast, 0, vec![1; MORE].into(), &[]))?;
    of_others("fill", queue.fill(&mut boast, 0..MORE, &[1], &[]))?;
    of_others("copy", queue.copy(&boast, 0..MORE, m.as_mut(), 0, &[]))?;
    of_others("copy", queue.copy(m.as_ref(), 0..MORE, &mut boast, 0, &[]))?;
    let backend = &rig.backend;
    of_others("default launch", rig.mix_by_default(&mut boast, m.as_ref(), 0))?;
    of_others("default launch", rig.mix_by_default(m.as_mut(), &boast, 0))?;
    of_others("default copy", backend.copy(&boast, m.as_mut(), 0..MORE))?;
    of_others("default copy", backend.copy(m.as_ref(), &mut boast, 0..MORE))?;
    let view = View::Buffer(BufferView { offset: 0, len: MORE });
    of_others("pattern", backend.write_pattern(Target::new(&mut boast, view)?, &Pattern::for_view(&view, 1)))?;
    queue.finish()?;
    backend.finish()?;
    let mut found = [0; 64];
    ComputeMemory::read(&mut boast, 0, &mut found)?;
    same("items", items(&found), vec![5; 16])
}

pub fn shared_memory(rig: &Rig) -> Outcome {
    let queue = rig.in_order();
    let block = HostBlock::allocate(4096)?;
    let Ok(mut shared) = rig.backend.import_host(&block) else { return Ok(()) };
    let mut m = rig.memory(1024, 5);
    invalid("write", queue.write(shared.as_mut(), 0, vec![1].into(), &[]))?;
    invalid("read", queue.read(shared.as_ref(), 0..4, &[]))?;
    invalid("launch", rig.mix(queue.as_ref(), shared.as_mut(), m.as_ref(), 0, &[]))?;
    invalid("launch", rig.mix(queue.as_ref(), m.as_mut(), shared.as_ref(), 0, &[]))?;
    // Shared memory is filled by the backend's own calls, which follow the queue.
    queue.fill(m.as_mut(), 0..4096, &[6], &[])?;
    rig.backend.copy(m.as_ref(), shared.as_mut(), 0..4096)?;
    let mut found = [0; 4096];
    shared.read(0, &mut found)?;
    ensure("the backend's own copy ran ahead of the queue", found == [6; 4096])
}
