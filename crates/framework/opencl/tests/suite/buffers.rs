//! Buffers: transfers, parts, maps, boxes, host memory.

use crate::suite::{buffer_of, build, refused, vouched};
use interop_core::{Error, HostBlock, Result};
use pixelferry_opencl::{
    Arg, Buffer, Event, HostBuffer, MemFlags, Migration, Queue, QueueOptions, RectLayout, Status, UserEvent,
};
use pixelferry_testing::receive;
use std::sync::{Arc, mpsc};
use std::time::Duration;

fn numbers(n: usize) -> Vec<u32> {
    (0..n as u32).map(|i| i.wrapping_mul(2_654_435_761)).collect()
}

pub fn read_and_write(queue: &Queue) -> Result<()> {
    let data = numbers(1000);
    for flags in [
        MemFlags::READ_WRITE,
        MemFlags::READ_ONLY,
        MemFlags::WRITE_ONLY,
        MemFlags::READ_WRITE | MemFlags::ALLOC_HOST_PTR,
    ] {
        let buffer = Buffer::with_data(queue.context(), flags, &data)?;
        assert_eq!((buffer.len(), buffer.driver_size()?, buffer.flags()), (4000, 4000, flags));
        assert_eq!(queue.read_all::<u32>(&buffer, &[])?, data);
        let written = queue.write(&buffer, 40, vec![1u32, 2, 3], &[])?;
        let shared: Arc<[u32]> = Arc::from([4u32, 5]);
        let written = queue.write(&buffer, 52, shared, &[written])?;
        queue.write_from(&buffer, 60, &[6u32], &[written])?;
        assert_eq!(queue.read::<u32>(&buffer, 40, 6, &[])?.wait()?, [1, 2, 3, 4, 5, 6]);
        let mut into = [0u32; 2];
        queue.read_into(&buffer, 56, &mut into, &[])?;
        assert_eq!(into, [5, 6]);
        assert_eq!(queue.read::<u8>(&buffer, 40, 1, &[])?.wait()?, 1u32.to_ne_bytes()[..1]);
    }
    Ok(())
}

/// The memory of reads and writes lives as long as the command, whatever becomes of the values.
pub fn pending_dropped(queue: &Queue) -> Result<()> {
    let data = numbers(1 << 18);
    let buffer = buffer_of(queue, &data)?;
    for turn in 0..8 {
        let gate = UserEvent::new(queue.context())?;
        let wait = std::slice::from_ref(gate.event());
        let dropped = queue.read::<u32>(&buffer, 0, data.len(), wait)?;
        let event = dropped.event();
        if turn % 2 == 0 {
            drop(dropped);
        } else {
            std::mem::forget(dropped);
        }
        let written = queue.write(&buffer, 0, data.clone(), wait)?;
        // Fills what would have been freed.
        let noise: Vec<Vec<u32>> = (0..4).map(|_| vec![0xdead_beef; data.len()]).collect();
        gate.complete()?;
        event.wait()?;
        written.wait()?;
        assert!(noise.iter().all(|n| n.iter().all(|v| *v == 0xdead_beef)), "a dropped read wrote into other memory");
    }
    assert_eq!(queue.read_all::<u32>(&buffer, &[])?, data);
    Ok(())
}

pub fn sub_buffers(queue: &Queue) -> Result<()> {
    let buffer = buffer_of(queue, &numbers(4096))?;
    let alignment = buffer.part_alignment()?;
    let start = 2 * alignment;
    let part = buffer.part(MemFlags::NONE, start..start + 400)?;
    assert_eq!((part.len(), part.offset(), part.is_part()), (400, start, true));
    assert_eq!(queue.read_all::<u32>(&part, &[])?, numbers(4096)[start / 4..start / 4 + 100]);
    let source = "__kernel void k(__global uint *a) { a[get_global_id(0)] = 7; }";
    let kernel = build(queue, source)?;
    queue.launch(&kernel, &[Arg::from(&part)], [100], &[])?;
    let values = queue.read_all::<u32>(&buffer, &[])?;
    let mut expected = numbers(4096);
    expected[start / 4..start / 4 + 100].fill(7);
    assert_eq!(values, expected);
    for wrong in [0..0, 0..16385, 16384..16400] {
        refused(buffer.part(MemFlags::NONE, wrong), &[]);
    }
    if alignment > 1 {
        refused(buffer.part(MemFlags::NONE, 1..100), &[]);
    }
    refused(part.part(MemFlags::NONE, 0..4), &[]);
    // The part keeps the buffer, and gives it back.
    assert!(buffer.parent().is_none());
    drop(buffer);
    assert_eq!(queue.read_all::<u32>(&part, &[])?, [7; 100]);
    let whole = part.parent().expect("it is a part").clone();
    drop(part);
    assert_eq!((whole.len(), whole.offset(), whole.is_part()), (16384, 0, false));
    assert_eq!(queue.read_all::<u32>(&whole, &[])?, expected);
    Ok(())
}

/// Boxes between parts, and between a part and a whole buffer. PoCL 3.1 ends the process when a part itself is given to it.
pub fn boxes_of_parts(queue: &Queue) -> Result<()> {
    let data = numbers(4096);
    let from = buffer_of(queue, &data)?;
    let start = from.part_alignment()?;
    let part = from.part(MemFlags::NONE, start..start + 4096)?;
    let to = buffer_of(queue, &[0u32; 4096])?;
    let to_part = to.part(MemFlags::NONE, 2 * start..2 * start + 4096)?;
    // In bytes: 3 slices of 4 rows of 20.
    let a = RectLayout { origin: [8, 1, 1], row_pitch: 64, slice_pitch: 640 };
    let b = RectLayout { origin: [4, 2, 0], row_pitch: 32, slice_pitch: 256 };
    let region = [20, 4, 3];
    let at = |layout: &RectLayout, x: usize, y: usize, z: usize| {
        let [ox, oy, oz] = layout.origin;
        ((oz + z) * layout.slice_pitch + (oy + y) * layout.row_pitch + ox) / 4 + x
    };
    for (source, source_start, target, target_start) in
        [(&part, start, &to_part, 2 * start), (&part, start, &to, 0), (&from, 0, &to_part, 2 * start)]
    {
        queue.fill(&to, 0u32, 0..to.len(), &[])?;
        queue.copy_rect((source, a), (target, b), region, &[])?;
        let mut expected = vec![0; 4096];
        for (z, y, x) in (0..3).flat_map(|z| (0..4).flat_map(move |y| (0..5).map(move |x| (z, y, x)))) {
            expected[target_start / 4 + at(&b, x, y, z)] = data[source_start / 4 + at(&a, x, y, z)];
        }
        assert_eq!(queue.read_all::<u32>(&to, &[])?, expected);
    }
    // A box may end with the part, not after it.
    let layout = RectLayout { origin: [4092, 0, 0], ..RectLayout::default() };
    queue.copy_rect((&part, layout), (&to, RectLayout::default()), [4, 1, 1], &[])?;
    refused(queue.copy_rect((&part, layout), (&to, RectLayout::default()), [5, 1, 1], &[]), &[]);
    // Parts that lie beside each other in one buffer are no overlap; a part and the bytes under it are.
    let beside = from.part(MemFlags::NONE, start + 4096..start + 8192)?;
    queue.copy_rect((&part, a), (&beside, a), region, &[])?.wait()?;
    let under = RectLayout { origin: [start, 0, 0], ..RectLayout::default() };
    refused(queue.copy_rect((&part, RectLayout::default()), (&from, under), [4, 1, 1], &[]), &[]);
    Ok(())
}

pub fn destructor_callbacks(queue: &Queue) -> Result<()> {
    let buffer = Buffer::new(queue.context(), MemFlags::READ_WRITE, 4096)?;
    let part = buffer.part(MemFlags::NONE, 0..64)?;
    let (tell, told) = mpsc::channel();
    for n in 0..3 {
        let tell = tell.clone();
        buffer.on_delete(move || tell.send(n).unwrap())?;
    }
    buffer.on_delete(|| panic!("in a callback"))?;
    queue.fill(&buffer, 0u8, 0..4096, &[])?;
    queue.finish()?;
    drop(buffer);
    assert!(told.recv_timeout(Duration::from_millis(50)).is_err(), "deleted while a part of it lives");
    drop(part);
    let order: Vec<i32> = (0..3).map(|_| told.recv().unwrap()).collect();
    assert_eq!(order, [2, 1, 0]);
    Ok(())
}

pub fn maps(queue: &Queue) -> Result<()> {
    let data = numbers(1024);
    let buffer = buffer_of(queue, &data)?;
    {
        let all = queue.map_read::<u32>(&buffer, 0..4096, &[])?;
        let some = queue.map_read::<u32>(&buffer, 400..800, &[])?;
        assert_eq!((&all[..], &some[..]), (&data[..], &data[100..200]));
        // rusticl (Mesa 22.3) does not count, and PoCL is late.
        assert!(buffer.map_count()? <= 2);
    }
    {
        let mut map = queue.map_write::<u32>(&buffer, 16..32, &[])?;
        assert_eq!(map[..], data[4..8]);
        map[1] = 55;
    }
    let mut map = queue.map_overwrite::<u16>(&buffer, 64..68, &[])?;
    map.copy_from_slice(&[0x1234, 0x5678]);
    let unmapped = map.unmap()?;
    let mut expected = data;
    expected[5] = 55;
    expected[16] = u32::from_ne_bytes(bytemuck::cast([0x1234u16, 0x5678]));
    assert_eq!(queue.read_all::<u32>(&buffer, &[unmapped])?, expected);
    refused(queue.map_read::<u32>(&buffer, 0..6, &[]), &[]);
    refused(queue.map_read::<u32>(&buffer, 4096..4100, &[]), &[]);
    Ok(())
}

/// No command touches mapped bytes; a guard that was leaked keeps its bytes, no more.
pub fn maps_guarded(queue: &Queue) -> Result<()> {
    let buffer = buffer_of(queue, &[1u32; 1024])?;
    let part = buffer.part(MemFlags::NONE, 0..64)?;
    let source = "__kernel void k(__global uint *a) { a[get_global_id(0)] = 7; }";
    let kernel = build(queue, source)?;
    let read = queue.map_read::<u32>(&buffer, 0..64, &[])?;
    refused(queue.launch(&kernel, &[Arg::from(&buffer)], [1], &[]), &[]);
    refused(queue.launch(&kernel, &[Arg::from(&part)], [1], &[]), &[]);
    refused(queue.fill(&buffer, 0u32, 60..64, &[]), &[]);
    refused(queue.map_write::<u32>(&buffer, 0..4, &[]), &[]);
    // Bytes that are not mapped, and reading, are free.
    queue.fill(&buffer, 2u32, 64..4096, &[])?;
    assert_eq!(queue.read_all::<u32>(&buffer, &[])?[15..17], [1, 2]);
    drop(read);
    queue.launch(&kernel, &[Arg::from(&part)], [1], &[])?;
    let write = queue.map_write::<u32>(&buffer, 0..64, &[])?;
    assert_eq!(write[0], 7);
    refused(queue.read::<u32>(&buffer, 0, 1, &[]), &[]);
    refused(queue.map_read::<u32>(&buffer, 0..4, &[]), &[]);
    std::mem::forget(write);
    refused(queue.read::<u32>(&buffer, 0, 1, &[]), &[]);
    refused(queue.launch(&kernel, &[Arg::from(&part)], [1], &[]), &[]);
    assert_eq!(queue.read::<u32>(&buffer, 64, 1, &[])?.wait()?, [2]);
    queue.finish()
}

/// A map sees what a kernel in another queue, which nobody flushed or waited for, writes.
pub fn maps_wait(given: &Queue) -> Result<()> {
    let context = given.context();
    let (queue, other) = (Queue::new(context)?, Queue::new(context)?);
    let source = "__kernel void k(__global float *a, float by) {
                    float x = a[get_global_id(0)];
                    for (int i = 0; i < 20000; ++i) x = sin(x) + 1;
                    a[get_global_id(0)] = x > -5 ? by : x;
                  }";
    let kernel = vouched(context, source, "")?.kernel("k")?;
    let buffer = Buffer::with_data(context, MemFlags::READ_WRITE, &[0.5f32; 256])?;
    for n in 0..5 {
        other.launch(&kernel, &[Arg::from(&buffer), Arg::from(n as f32)], [256], &[])?;
        let map = queue.map_read::<f32>(&buffer, 0..1024, &[])?;
        assert!(map.iter().all(|v| *v == n as f32), "the map of turn {n} was early");
    }
    Ok(())
}

pub fn boxes(queue: &Queue) -> Result<()> {
    // 8 values in a row, 6 rows, 4 slices.
    let (w, h, d) = (8usize, 6usize, 4usize);
    let data = numbers(w * h * d);
    let buffer = buffer_of(queue, &data)?;
    let layout = |origin: [usize; 3]| RectLayout {
        origin: [origin[0] * 4, origin[1], origin[2]],
        row_pitch: w * 4,
        slice_pitch: w * h * 4,
    };
    let at = |x: usize, y: usize, z: usize| data[(z * h + y) * w + x];
    let region = [3 * 4, 2, 2];
    let read = queue.read_rect::<u32>((&buffer, layout([2, 1, 1])), (12, RectLayout::default()), region, &[])?;
    let expected: Vec<u32> = (0..12).map(|i| at(2 + i % 3, 1 + i / 3 % 2, 1 + i / 6)).collect();
    assert_eq!(read.wait()?, expected);

    let values = numbers(40);
    let host = RectLayout { origin: [4, 1, 0], row_pitch: 16, slice_pitch: 48 };
    queue.write_rect((&buffer, layout([0, 2, 2])), (values.clone(), host), region, &[])?;
    let mut model = data.clone();
    for (i, z, y) in (0..12).map(|i| (i, i / 6, i / 3 % 2)) {
        model[((2 + z) * h + 2 + y) * w + i % 3] = values[z * 12 + (1 + y) * 4 + 1 + i % 3];
    }
    assert_eq!(queue.read_all::<u32>(&buffer, &[])?, model);

    let to = buffer_of(queue, &[0u32; 64])?;
    let tight = RectLayout { origin: [8, 0, 0], row_pitch: 12, slice_pitch: 24 };
    let copied = queue.copy_rect((&buffer, layout([1, 0, 0])), (&to, tight), region, &[])?;
    let got = queue.read_all::<u32>(&to, &[copied])?;
    let expected: Vec<u32> = (0..12).map(|i| model[((i / 6) * h + i / 3 % 2) * w + 1 + i % 3]).collect();
    assert_eq!(got[2..14], expected);
    assert!(got[..2].iter().chain(&got[14..]).all(|v| *v == 0));

    refused(queue.read_rect::<u32>((&buffer, layout([6, 0, 0])), (12, RectLayout::default()), [12, 6, 4], &[]), &[]);
    refused(queue.read_rect::<u32>((&buffer, layout([0; 3])), (11, RectLayout::default()), region, &[]), &[]);
    refused(queue.copy_rect((&buffer, layout([0; 3])), (&buffer, layout([1, 1, 1])), region, &[]), &[]);
    refused(queue.copy_rect((&buffer, layout([0; 3])), (&to, tight), [0, 1, 1], &[]), &[]);
    Ok(())
}

pub fn fill_and_copy(queue: &Queue) -> Result<()> {
    let a = Buffer::new(queue.context(), MemFlags::READ_WRITE, 4096)?;
    let b = buffer_of(queue, &[0u8; 4096])?;
    queue.fill(&a, 0x11u8, 0..4096, &[])?;
    queue.fill(&a, [1u32, 2, 3, 4], 16..48, &[])?;
    queue.fill(&a, 0x2222u16, 48..50, &[])?;
    queue.fill(&a, [9u64; 16], 128..384, &[])?;
    queue.copy((&a, 10), (&b, 100), 500, &[])?;
    let mut model = vec![0x11u8; 4096];
    model[16..48].copy_from_slice(bytemuck::cast_slice(&[1u32, 2, 3, 4, 1, 2, 3, 4]));
    model[48..50].copy_from_slice(&[0x22; 2]);
    model[128..384].copy_from_slice(bytemuck::cast_slice(&[9u64; 32]));
    let mut copied = vec![0u8; 4096];
    copied[100..600].copy_from_slice(&model[10..510]);
    assert_eq!(queue.read_all::<u8>(&a, &[])?, model);
    assert_eq!(queue.read_all::<u8>(&b, &[])?, copied);
    queue.copy((&a, 0), (&a, 2048), 1000, &[])?;
    assert_eq!(queue.read::<u8>(&a, 2048, 1000, &[])?.wait()?, model[..1000]);
    refused(queue.copy((&a, 0), (&a, 999), 1000, &[]), &[]);
    refused(queue.fill(&a, [0u8; 3], 0..3, &[]), &[]);
    refused(queue.fill(&a, 0u32, 2..6, &[]), &[]);
    refused(queue.fill(&a, 0u32, 4096..4100, &[]), &[]);
    Ok(())
}

pub fn migrate(queue: &Queue) -> Result<()> {
    let data = numbers(1000);
    let buffer = buffer_of(queue, &data)?;
    for how in [Migration::ToHost, Migration::ToDevice] {
        let moved = queue.migrate(&[&buffer], how, &[])?;
        assert_eq!(queue.read_all::<u32>(&buffer, &[moved])?, data);
    }
    queue.migrate(&[&buffer], Migration::ToDeviceUndefined, &[])?.wait()?;
    refused(queue.migrate(&[], Migration::ToHost, &[]), &[]);
    Ok(())
}

pub fn host_memory(queue: &Queue) -> Result<()> {
    let source = "__kernel void k(__global uint *a) { a[get_global_id(0)] = get_global_id(0) + 3; }";
    let kernel = build(queue, source)?;
    let block = HostBlock::allocate(4096)?;
    let host = HostBuffer::new(queue.context(), MemFlags::READ_WRITE, &block)?;
    queue.launch(&kernel, &[Arg::from(&*host)], [1024], &[])?;
    {
        let map = queue.map_read::<u32>(&host, 0..4096, &[])?;
        assert!(map.iter().enumerate().all(|(i, v)| *v == i as u32 + 3));
        assert_eq!(map.as_ptr().addr(), block.address().as_ptr().addr(), "mapped, it is the block itself");
    }
    let (tell, told) = mpsc::channel();
    host.on_delete(move || tell.send(()).unwrap())?;
    // Dropped with a command on its way: waits for it.
    queue.fill(&host, 5u32, 0..4096, &[])?;
    drop(host);
    assert_eq!(receive(&told), Ok(()));
    // A part that lives on keeps the block, which then goes without a further call.
    let (told, when_gone) = mpsc::channel();
    let owner = TellingOwner(block.clone(), told);
    // SAFETY: the owner keeps the bytes, of which nothing else is used.
    let owned = unsafe { HostBlock::from_raw(block.address(), block.len(), Arc::new(owner)) };
    let host = HostBuffer::new(queue.context(), MemFlags::READ_WRITE, &owned)?;
    let part = host.part(MemFlags::NONE, 0..64)?;
    queue.fill(&part, 6u32, 0..64, &[])?;
    std::thread::scope(|_| drop(host));
    drop(owned);
    assert_eq!(queue.read_all::<u32>(&part, &[])?, [6; 16]);
    assert!(when_gone.try_recv().is_err(), "the block was let go of while a part used it");
    drop(part);
    assert_eq!(receive(&when_gone), Ok(()));
    Ok(())
}

/// Owner of a block that tells when it goes.
struct TellingOwner(#[expect(dead_code, reason = "it owns the memory")] HostBlock, mpsc::Sender<()>);

impl Drop for TellingOwner {
    fn drop(&mut self) {
        // The test may have failed before.
        self.1.send(()).ok();
    }
}

pub fn host_memory_lent(queue: &Queue) -> Result<()> {
    let kernel = build(queue, "__kernel void k(__global uint *a) { a[get_global_id(0)] += get_global_id(0); }")?;
    let block = HostBlock::allocate(4096)?;
    let host = HostBuffer::new(queue.context(), MemFlags::READ_WRITE, &block)?;
    queue.fill(&host, 5u32, 0..4096, &[])?;
    for round in 1..3 {
        queue.launch(&kernel, &[Arg::from(&*host)], [1024], &[])?;
        let mut lent = host.lend(queue)?;
        // SAFETY: the block has 4096 bytes, and nothing uses them while they are lent.
        let values = unsafe { std::slice::from_raw_parts_mut(block.address().as_ptr().cast::<u32>(), 1024) };
        assert!(values.iter().enumerate().all(|(i, v)| *v == 4 + round + round * i as u32));
        values.iter_mut().for_each(|v| *v += 1);
        lent.take_back()?;
        lent.take_back()?;
    }
    assert_eq!(queue.read::<u32>(&host, 8, 1, &[])?.wait()?, [11]);
    Ok(())
}

pub fn at_addresses(queue: &Queue) -> Result<()> {
    let buffer = buffer_of(queue, &[0u8; 64])?;
    let (from, mut into) = ([9u8; 16], [0u8; 24]);
    let (waited, commands) = Event::collect(|| {
        // SAFETY: both arrays have the bytes, and are used here again only after the waits.
        unsafe {
            let written = queue.write_at(&buffer, 8..24, from.as_ptr(), &[])?;
            let filled = queue.fill_bytes(&buffer, &[1, 2, 3, 4], 24..32, std::slice::from_ref(&written))?;
            let read = queue.read_to(&buffer, 8..32, into.as_mut_ptr(), &[filled])?;
            written.wait_until_final().and(read.wait_until_final())
        }
    });
    waited?;
    assert_eq!((into[..16].to_vec(), &into[16..]), (vec![9; 16], &[1, 2, 3, 4, 1, 2, 3, 4][..]));
    let calls: Vec<_> = commands.iter().map(|command| command.call).collect();
    assert_eq!(calls, ["clEnqueueWriteBuffer", "clEnqueueFillBuffer", "clEnqueueReadBuffer"]);
    assert!(commands.iter().all(|command| command.event.status().is_ok_and(Status::is_final)));
    refused(queue.fill_bytes(&buffer, &[0; 3], 0..3, &[]), &["3 bytes"]);
    Ok(())
}

pub fn misuse(queue: &Queue) -> Result<()> {
    let buffer = Buffer::new(queue.context(), MemFlags::READ_WRITE, 64)?;
    refused(Buffer::new(queue.context(), MemFlags::READ_WRITE, 0), &[]);
    refused(Buffer::with_data::<u8>(queue.context(), MemFlags::READ_WRITE, &[]), &[]);
    let large = Buffer::new(queue.context(), MemFlags::READ_WRITE, usize::MAX);
    assert!(matches!(large, Err(Error::Unsupported { .. })));
    refused(queue.read::<u32>(&buffer, 0, 17, &[]), &[]);
    refused(queue.read::<u32>(&buffer, usize::MAX, 1, &[]), &[]);
    refused(queue.read::<u64>(&buffer, 0, usize::MAX, &[]), &[]);
    refused(queue.read::<u8>(&buffer, 0, 0, &[]), &[]);
    refused(queue.write(&buffer, 61, vec![0u32], &[]), &[]);
    refused(
        queue.read_rect::<u8>((&buffer, RectLayout::default()), (usize::MAX, RectLayout::default()), [4, 1, 1], &[]),
        &[],
    );
    refused(queue.copy((&buffer, 0), (&buffer, usize::MAX), 4, &[]), &[]);
    let options = QueueOptions::default();
    let other = super::queue(queue.device())?;
    assert!(Queue::with_options(other.context(), queue.device(), &options).is_ok());
    Ok(())
}
