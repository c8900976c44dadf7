//! Objects of [`opencl_backend::cl`] and of the backend, mixed.

use crate::suite::{described, every_device, on_every_device};
use interop_core::{Arg, ComputeBackend, Error, KernelSource, Result, Target};
use opencl_backend::cl::{Buffer, Context, Device, MemFlags, Partition};
use opencl_backend::{OpenClBackend, OpenClDevice};
use pixelferry_testing::{Outcome, judge};

#[test]
fn buffers_and_queues_are_those_of_the_backend() {
    for device in every_device() {
        mixes(&device).unwrap();
    }
}

/// The backend's memory as a buffer and a buffer as the backend's memory.
fn mixes(device: &OpenClDevice) -> Result<()> {
    let backend = OpenClBackend::open(device)?;
    let device = &Device::try_from(device)?;
    let queue = backend.cl_queue()?;
    assert!(backend.context()?.is(queue.context()) && queue.device().is(device));

    let mut memory = backend.allocate(64)?;
    let buffer = backend.buffer_of(memory.as_ref())?;
    queue.fill(&buffer, 7u32, 0..64, &[])?;
    let source = "__kernel void add(PF_BUFFER(int, o), int n) { if (get_global_id(0) < PF_LEN(o)) PF_ITEM(o, get_global_id(0)) += n; }";
    // SAFETY: each work item writes its own number, below the target's length.
    let kernel = backend.build(&unsafe { KernelSource::new("add").opencl_c(source) })?;
    backend.launch(kernel.as_ref(), Target::buffer(memory.as_mut()), &[Arg::I32(5)])?;
    assert_eq!(queue.read_all::<u32>(&buffer, &[])?, [12; 16]);
    {
        let map = queue.map_read::<u32>(&buffer, 0..64, &[])?;
        let refused = backend.launch(kernel.as_ref(), Target::buffer(memory.as_mut()), &[Arg::I32(5)]);
        assert!(matches!(refused, Err(Error::InvalidInput { .. })), "{refused:?}");
        assert_eq!(map[3], 12);
    }

    let own = Buffer::with_data(queue.context(), MemFlags::READ_WRITE, &[1i32; 8])?;
    let mut memory = backend.memory_of(&own)?;
    backend.launch(kernel.as_ref(), Target::buffer(memory.as_mut()), &[Arg::I32(41)])?;
    assert_eq!(queue.read_all::<i32>(&own, &[])?, [42; 8]);
    let foreign = Buffer::new(&Context::new(std::slice::from_ref(device))?, MemFlags::READ_WRITE, 4)?;
    assert!(matches!(backend.memory_of(&foreign), Err(Error::Foreign { .. })));
    Ok(())
}

#[test]
fn parts_of_devices_are_backends() {
    on_every_device(|backend| {
        let outcome = match parts_as_backends(&Device::try_from(backend.opened_device()).unwrap()) {
            Ok(()) => Outcome::Pass,
            Err(Error::Unsupported { operation, reason, .. }) => Outcome::Lacks(format!("{operation}: {reason}")),
            Err(error) => Outcome::Fails(error.to_string()),
        };
        println!("{}", judge("fission: parts as backends", &described(backend), &outcome).unwrap());
    });
}

/// A part of a device is a backend like a whole one, beside another on the next part.
fn parts_as_backends(device: &Device) -> Result<()> {
    let parts = device.partition(&Partition::ByCounts(vec![1, 1]))?;
    let open = |part: &Device| {
        let described = OpenClDevice::try_from(part)?;
        assert!(described.identity().name.contains("a part of 1 units"), "{}", described.identity());
        OpenClBackend::open(&described)
    };
    let backends = parts.iter().map(open).collect::<Result<Vec<_>>>()?;
    // The backends keep the parts.
    drop(parts);
    let source = "__kernel void add(PF_BUFFER(int, o), int n) { if (get_global_id(0) < PF_LEN(o)) PF_ITEM(o, get_global_id(0)) += n; }";
    let mut queues = Vec::new();
    for (n, backend) in (1i32..).zip(&backends) {
        let own = backend.cl_queue()?;
        assert!(own.device().parent().is_some_and(|parent| parent.is(device)), "{:?}", own.device());
        assert_eq!(own.device().max_compute_units()?, 1);
        // SAFETY: each item writes its own number, below the length.
        let kernel = backend.build(&unsafe { KernelSource::new("add").opencl_c(source) })?;
        let mut memory = backend.allocate(4000)?;
        memory.write(0, &[0; 4000])?;
        backend.launch(kernel.as_ref(), Target::buffer(memory.as_mut()), &[Arg::I32(n)])?;
        let queue = backend.queue(interop_core::QueueOptions::in_order())?;
        queue.launch(kernel.as_ref(), Target::buffer(memory.as_mut()), &[Arg::I32(10 * n)], &[])?;
        queues.push((11 * n, queue.read(memory.as_ref(), 0..4000, &[])?));
        let foreign = backends[usize::from(n == 1)].copy(memory.as_ref(), backend.allocate(4000)?.as_mut(), 0..4000);
        assert!(matches!(foreign, Err(Error::Foreign { .. })), "{foreign:?}");
    }
    for (wants, read) in queues {
        let values: Vec<i32> =
            read.wait()?.chunks_exact(4).map(|b| i32::from_ne_bytes(b.try_into().unwrap())).collect();
        assert_eq!(values, [wants; 1000]);
    }
    Ok(())
}
