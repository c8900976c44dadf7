//! Input that must be refused before anything is queued.

use crate::rig::{Outcome, Rig, ensure};
use interop_core::HostBlock;
use pixelferry::{ComputeBackend, CpuBackend, CpuKernelExt, Error, HostBuffer, KernelSource, Target};

fn invalid<T>(what: &str, result: pixelferry::Result<T>) -> Outcome {
    ensure(what, matches!(result, Err(Error::InvalidInput { .. })))
}

fn of_others<T>(what: &str, result: pixelferry::Result<T>) -> Outcome {
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

pub fn shared_memory(rig: &Rig) -> Outcome {
    let queue = rig.in_order();
    let block = HostBlock::allocate(4096)?;
    let Ok(mut shared) = rig.backend.import_host(&block) else { return Ok(()) };
    let mut m = rig.memory(1024, 5);
    invalid("write", queue.write(shared.as_mut(), 0, vec![1].into(), &[]))?;
    invalid("read", queue.read(shared.as_ref(), 0..4, &[]))?;
    invalid("launch", rig.mix(queue.as_ref(), shared.as_mut(), m.as_ref(), 0, &[]))?;
    invalid("launch", rig.mix(queue.as_ref(), m.as_mut(), shared.as_ref(), 0, &[]))?;
    // What is shared is filled by the backend's own calls, which follow the queue.
    queue.fill(m.as_mut(), 0..4096, &[6], &[])?;
    rig.backend.copy(m.as_ref(), shared.as_mut(), 0..4096)?;
    let mut found = [0; 4096];
    shared.read(0, &mut found)?;
    ensure("the backend's own copy ran ahead of the queue", found == [6; 4096])
}
