//! Tests of a backend's memory, for programs that use it without a display.

use super::failure::Failure;
use super::pixels::{patterned, same_bytes};
use crate::compute::{ComputeBackend, ComputeMemory, Target};
use crate::describe::error::{Error, Result};
use crate::describe::format::PixelFormat;
use crate::describe::geometry::Extent;
use crate::describe::panics::catch;
use crate::describe::pattern::Pattern;
use crate::describe::surface::MemoryShape;
use crate::describe::view::{BufferView, ImageView, View};
use crate::devices::borrows::Holder;
use crate::devices::capability::HandleType;
use crate::devices::host_block::HostBlock;
use crate::devices::identity::Api;
use std::ops::Range;

fn numbers(len: usize) -> Vec<u8> {
    (0..len).map(|i| (i * 7 + i / 256) as u8).collect()
}

fn memory_with(backend: &dyn ComputeBackend, bytes: &[u8]) -> Result<Box<dyn ComputeMemory>> {
    let mut memory = backend.allocate(bytes.len())?;
    memory.write(0, bytes)?;
    Ok(memory)
}

fn content(memory: &mut dyn ComputeMemory) -> Result<Vec<u8>> {
    let mut bytes = vec![0; memory.len()];
    memory.read(0, &mut bytes)?;
    Ok(bytes)
}

fn refused<T>(what: &str, outcome: Result<T>) -> Result<(), Failure> {
    match outcome {
        Err(Error::InvalidInput { .. } | Error::Unsupported { .. }) => Ok(()),
        Err(other) => Err(Failure::Failed(format!("{what}: {other}"))),
        Ok(_) => Err(Failure::Failed(format!("{what} is accepted"))),
    }
}

/// Checks every byte of memory against the reference after the pattern was written into `view` of it.
///
/// # Errors
/// [`Failure::Failed`] with the first differing byte.
pub fn pattern_in(backend: &dyn ComputeBackend, view: View, nonce: u32) -> Result<(), Failure> {
    let filled = vec![0xA5; view.span().end + 7];
    for pattern in [Pattern::for_view(&view, nonce), Pattern::flat(&view, nonce), Pattern::ZERO] {
        let mut expected = filled.clone();
        pattern.write(&view, &mut expected);
        let mut memory = memory_with(backend, &filled)?;
        match backend.write_pattern(Target::new(memory.as_mut(), view)?, &pattern) {
            // CUDA's kernels write whole pixels only; a rejected view must stay unchanged.
            Err(Error::InvalidInput { .. }) if may_refuse(backend, &view) => expected.clone_from(&filled),
            written => written?,
        }
        same_bytes(&format!("{view:?}, {pattern:?}"), &expected, &content(memory.as_mut())?)?;
    }
    Ok(())
}

fn may_refuse(backend: &dyn ComputeBackend, view: &View) -> bool {
    backend.device().api == Api::Cuda && matches!(view, View::Image(image) if !image.has_whole_pixels())
}

/// Checks transfers, copies, rejected calls, patterns in images of these sizes in every format, and host memory.
///
/// # Errors
/// [`Failure::Failed`] with the first deviation from the contract.
pub fn memory(backend: &dyn ComputeBackend, sizes: &[(u32, u32)]) -> Result<(), Failure> {
    transfers(backend)?;
    refusals(backend)?;
    patterns(backend, sizes)?;
    let imports = backend.caps().can_import(HandleType::HostPointer, MemoryShape::Linear);
    if imports.is_yes() {
        hosts(backend)
    } else {
        refused("host memory", backend.import_host(&HostBlock::allocate(64)?))
    }
}

fn transfers(backend: &dyn ComputeBackend) -> Result<(), Failure> {
    let mut expected = numbers(1000);
    let mut memory = memory_with(backend, &expected)?;
    let mut part = [0; 10];
    memory.read(17, &mut part)?;
    same_bytes("a part", &expected[17..27], &part)?;
    let mut seen = Vec::new();
    memory.map_read(3..900, &mut |bytes| {
        seen = bytes.to_vec();
        Ok(())
    })?;
    same_bytes("what is mapped", &expected[3..900], &seen)?;
    memory.map_write(100..200, &mut |bytes| {
        bytes.fill(5);
        Ok(())
    })?;
    expected[100..200].fill(5);
    same_bytes("what was mapped and written", &expected, &content(memory.as_mut())?)?;
    for range in [90..210, 0..1000, 3..4, 1..3, 5..12, 4..8, 2..11, 999..1000, 3..3] {
        let mut copy = memory_with(backend, &[99; 1000])?;
        backend.copy(memory.as_ref(), copy.as_mut(), range.clone())?;
        let mut wanted = vec![99; 1000];
        wanted[range.clone()].copy_from_slice(&expected[range.clone()]);
        same_bytes(&format!("a copy of {range:?}"), &wanted, &content(copy.as_mut())?)?;
    }
    let fails = || Error::invalid("conformance", "a call that fails, as this suite means it to");
    for failed in [memory.map_read(0..8, &mut |_| Err(fails())), memory.map_write(0..8, &mut |_| Err(fails()))] {
        refused("a call that fails", failed)?;
    }
    for writes in [false, true] {
        #[allow(clippy::panic)] // a program might do so, too
        let panicked = catch(|| match writes {
            true => memory.map_write(0..8, &mut |_| panic!("a call that panics, as this suite means it to")),
            false => memory.map_read(0..8, &mut |_| panic!("a call that panics, as this suite means it to")),
        });
        if matches!(panicked, Ok(Ok(()))) {
            return Err(Failure::Failed("a panic was swallowed".into()));
        }
    }
    memory.write(0, &expected)?;
    memory.release()?;
    memory.release()?;
    memory.acquire()?;
    same_bytes("after failures", &expected, &content(memory.as_mut())?)
}

fn refusals(backend: &dyn ComputeBackend) -> Result<(), Failure> {
    let (mut memory, mut small) = (memory_with(backend, &numbers(16))?, backend.allocate(8)?);
    let backwards = Range { start: 5, end: 4 };
    for (at, outcome) in [
        memory.read(10, &mut [0; 7]),
        memory.read(usize::MAX, &mut [0; 2]),
        memory.write(16, &[0]),
        memory.write(usize::MAX - 1, &[0; 2]),
        memory.map_read(0..17, &mut |_| Ok(())),
        memory.map_read(backwards.clone(), &mut |_| Ok(())),
        memory.map_write(17..17, &mut |_| Ok(())),
        backend.copy(memory.as_ref(), small.as_mut(), 0..9),
        backend.copy(small.as_ref(), memory.as_mut(), 0..9),
        backend.copy(memory.as_ref(), small.as_mut(), backwards),
    ]
    .into_iter()
    .enumerate()
    {
        refused(&format!("range {at} outside"), outcome)?;
    }
    memory.read(16, &mut [])?;
    memory.write(16, &[])?;
    memory.map_read(4..4, &mut |_| Ok(()))?;
    memory.map_write(4..4, &mut |_| Ok(()))?;
    same_bytes("after ranges outside and empty ones", &numbers(16), &content(memory.as_mut())?)?;
    refused("memory of no byte", backend.allocate(0))?;
    match backend.allocate(usize::MAX) {
        Ok(_) => Err(Failure::Failed("an allocation of the largest possible size succeeds".into())),
        Err(_) => Ok(()),
    }
}

fn patterns(backend: &dyn ComputeBackend, sizes: &[(u32, u32)]) -> Result<(), Failure> {
    for (format, (width, height)) in PixelFormat::ALL.iter().flat_map(|f| sizes.iter().map(move |size| (*f, *size))) {
        let bpp = format.bytes_per_pixel();
        for (alignment, base, reversed) in [(1, 0, false), (1, 3 * bpp, true), (256, 0, false), (64, 3, true)] {
            let view = ImageView::packed(Extent::new(width, height), format, alignment, base, reversed)?;
            pattern_in(backend, View::Image(view), width + height)?;
            // A frame inside a larger one.
            let outer = ImageView::packed(Extent::new(width + 7, height + 5), format, alignment, base, reversed)?;
            let inner = ImageView { extent: view.extent, ..outer.moved_to(outer.row_start(2) + 3 * bpp) };
            pattern_in(backend, View::Image(inner), width)?;
        }
    }
    for (offset, len) in [(0, 1), (1, 3), (4, 10_000), (6, 4095), (0, 4096), (3, 9_001)] {
        pattern_in(backend, View::Buffer(BufferView { offset, len }), 5)?;
    }
    Ok(())
}

/// Checks host blocks and parts of them, used in turns.
fn hosts(backend: &dyn ComputeBackend) -> Result<(), Failure> {
    let host = |block: &HostBlock| Ok::<_, Error>(block.read(0..block.len(), Holder::Guard)?.to_vec());
    let whole = HostBlock::allocate(3 * 4096)?;
    for block in [whole.clone(), whole.part(64..5064)?, whole.part(4096..4097)?] {
        let view = View::Buffer(BufferView { offset: 0, len: block.len() });
        let mut memory = backend.import_host(&block)?;
        for turn in 1..4 {
            let pattern = Pattern::for_view(&view, turn);
            backend.write_pattern(Target::new(memory.as_mut(), view)?, &pattern)?;
            memory.release()?;
            memory.release()?;
            same_bytes("host memory", &patterned(&view, turn)[..block.len()], &host(&block)?)?;
            memory.acquire()?;
        }
        memory.write(0, &[77])?;
        // Dropping the memory waits for its work.
        drop(memory);
        same_bytes("host memory", &[77], &host(&block)?[..1])?;
    }
    let mut memory = backend.import_host(&whole)?;
    drop(whole);
    memory.write(0, &numbers(3 * 4096))?;
    same_bytes("a block that nobody else has", &numbers(3 * 4096), &content(memory.as_mut())?[..3 * 4096])
}
