//! Devices, their parts, contexts and queues.

use crate::suite::{buffer_of, build, vouched};
use interop_core::{Error, Result};
use pixelferry_opencl::{
    AffinityDomain, Arg, Buffer, Context, Device, DeviceType, MemFlags, Partition, Platform, Priority, Queue,
    QueueOptions, Throttle,
};

pub fn device_properties(device: &Device) -> Result<()> {
    assert!(device.cl_version() >= (1, 2), "{:?}", device.cl_version());
    assert_ne!(device.device_type()?, DeviceType::NONE);
    assert!(device.available()? && device.compiler_available()? && device.endian_little()?);
    assert!(device.max_compute_units()? > 0 && device.max_work_group_size()? > 0);
    assert_eq!(device.max_work_item_sizes()?.len(), device.max_work_item_dimensions()? as usize);
    assert!(device.global_mem_size()? >= device.max_mem_alloc_size()?);
    assert!(matches!(device.address_bits()?, 32 | 64));
    assert!(device.extensions().any(|e| e == "cl_khr_global_int32_base_atomics"));
    assert_eq!(device.parent().map(Device::name), None);
    assert!(Platform::all()?.contains(&device.platform()));
    for text in [device.platform().name()?, device.platform().vendor()?, device.platform().version()?] {
        assert!(!text.is_empty());
    }
    let rows = device.properties();
    // Table 4.3 of OpenCL 1.2 has 73 rows besides those that `Device` answers without a query.
    assert!(rows.len() > 80, "{}", rows.len());
    let value = |name: &str| rows.iter().find(|row| row.0 == name).unwrap().1.clone();
    assert_eq!(value("CL_DEVICE_MAX_COMPUTE_UNITS"), device.max_compute_units()?.to_string());
    // The device must answer all queries of its version.
    let broken: Vec<_> = rows.iter().filter(|row| row.1.contains("clGetDeviceInfo failed")).collect();
    assert!(broken.is_empty(), "{broken:?}");
    assert_eq!(device.uuid()?.is_some(), device.has_extension("cl_khr_device_uuid"));
    assert_eq!(device.pci()?.is_some(), device.has_extension("cl_khr_pci_bus_info"));
    Ok(())
}

pub fn devices_by_type(device: &Device) -> Result<()> {
    let platform = device.platform();
    let all = platform.devices()?;
    let mut typed = 0;
    for kind in [DeviceType::CPU, DeviceType::GPU, DeviceType::ACCELERATOR] {
        let found = platform.devices_of(kind)?;
        typed += found.len();
        for one in &all {
            let has = one.device_type()?.contains(kind);
            assert_eq!(found.iter().any(|other| other.is(one)), has, "{one:?} and {kind}");
        }
        let everywhere = Device::all_of(kind)?;
        assert!(found.iter().all(|one| everywhere.iter().any(|other| other.is(one))), "{kind}");
    }
    assert_eq!(typed, all.len(), "each device has one type besides the default");
    let both = platform.devices_of(DeviceType::CPU | DeviceType::GPU)?;
    let (cpus, gpus) = (platform.devices_of(DeviceType::CPU)?, platform.devices_of(DeviceType::GPU)?);
    assert_eq!(both.len(), cpus.len() + gpus.len());
    for custom in platform.devices_of(DeviceType::CUSTOM)? {
        assert!(custom.device_type()?.contains(DeviceType::CUSTOM));
    }
    assert!(platform.devices_of(DeviceType::DEFAULT)?.len() <= 1);
    assert!(Device::all_of(device.device_type()?)?.iter().any(|one| one.is(device)));
    for wrong in [platform.devices_of(DeviceType::NONE), Device::all_of(DeviceType::NONE)] {
        assert!(matches!(wrong, Err(Error::InvalidInput { .. })));
    }
    Ok(())
}

pub fn contexts(device: &Device) -> Result<()> {
    let context = Context::new(std::slice::from_ref(device))?;
    assert!(context.is(&context.clone()) && context.devices()[0].is(device));
    let other = Context::new(std::slice::from_ref(device))?;
    assert!(!context.is(&other));
    for wrong in [Context::new(&[]), Context::new(&[device.clone(), device.clone()])] {
        assert!(matches!(wrong, Err(Error::InvalidInput { .. })));
    }
    // Objects of another context never reach the driver.
    let buffer = Buffer::new(&other, MemFlags::READ_WRITE, 16)?;
    let wrong = Queue::new(&context)?.write(&buffer, 0, vec![0u8; 16], &[]);
    assert!(matches!(wrong, Err(Error::Foreign { object: "buffer", .. })));
    let event = Queue::new(&other)?.marker(&[])?;
    let wrong = Queue::new(&context)?.marker(std::slice::from_ref(&event));
    assert!(matches!(wrong, Err(Error::Foreign { object: "event", .. })));
    event.wait()
}

/// A kernel runs on each part, and the parts have the units asked for.
fn use_parts(device: &Device, parts: &[Device], units: &[u32]) -> Result<()> {
    let has: Result<Vec<_>> = parts.iter().map(Device::max_compute_units).collect();
    assert_eq!(has?, units);
    let context = Context::new(parts)?;
    let source = "__kernel void k(__global int *a) { a[get_global_id(0)] = get_global_id(0) * 3; }";
    let kernel = vouched(&context, source, "")?.kernel("k")?;
    for part in parts {
        assert!(part.parent().is_some_and(|parent| parent.is(device)) && !part.is(device));
        let queue = Queue::with_options(&context, part, &QueueOptions::default())?;
        let buffer = Buffer::new(&context, MemFlags::READ_WRITE, 400)?;
        queue.launch(&kernel, &[Arg::from(&buffer)], [100], &[])?;
        let values = queue.read_all::<i32>(&buffer, &[])?;
        assert!(values.iter().enumerate().all(|(i, v)| *v == i as i32 * 3));
    }
    Ok(())
}

pub fn fission_equally(device: &Device) -> Result<()> {
    let units = device.max_compute_units()?;
    let parts = device.partition(&Partition::Equally(1))?;
    use_parts(device, &parts, &vec![1; units as usize])?;
    for wrong in [0, units + 1] {
        assert!(matches!(device.partition(&Partition::Equally(wrong)), Err(Error::InvalidInput { .. })));
    }
    Ok(())
}

pub fn fission_by_counts(device: &Device) -> Result<()> {
    // One unit is left for others.
    let parts = device.partition(&Partition::ByCounts(vec![1]))?;
    use_parts(device, &parts, &[1])?;
    for wrong in [vec![], vec![0], vec![u32::MAX, u32::MAX]] {
        assert!(matches!(device.partition(&Partition::ByCounts(wrong)), Err(Error::InvalidInput { .. })));
    }
    Ok(())
}

pub fn fission_by_affinity(device: &Device) -> Result<()> {
    let parts = device.partition(&Partition::ByAffinityDomain(AffinityDomain::NUMA))?;
    let units: Result<Vec<_>> = parts.iter().map(Device::max_compute_units).collect();
    use_parts(device, &parts, &units?)
}

/// Many commands that each depend on the one before, in order by the queue or by their wait lists only.
fn chain(given: &Queue, out_of_order: bool) -> Result<()> {
    let (context, device) = (given.context(), given.device());
    let options = QueueOptions::default().with_out_of_order(out_of_order);
    let queue = Queue::with_options(context, device, &options)?;
    assert!(queue.is_out_of_order() == out_of_order && !queue.is_profiling() && queue.device().is(device));
    let kernel = build(&queue, "__kernel void k(__global uint *a) { a[0] = a[0] * 3 + 1; }")?;
    let buffer = buffer_of(&queue, &[1u32])?;
    let (mut expected, mut before) = (1u32, Vec::new());
    for _ in 0..100 {
        let done = queue.launch(&kernel, &[Arg::from(&buffer)], [1], &before)?;
        before = if out_of_order { vec![done] } else { Vec::new() };
        expected = expected.wrapping_mul(3).wrapping_add(1);
    }
    queue.flush()?;
    if !out_of_order {
        queue.finish()?;
    }
    assert_eq!(queue.read_all::<u32>(&buffer, &before)?, [expected]);
    queue.finish()
}

pub fn queue_in_order(queue: &Queue) -> Result<()> {
    chain(queue, false)
}

pub fn queue_out_of_order(queue: &Queue) -> Result<()> {
    chain(queue, true)
}

pub fn queue_priority(given: &Queue) -> Result<()> {
    let (context, device) = (given.context(), given.device());
    for priority in Priority::ALL {
        let options = QueueOptions::default().with_priority(*priority).with_profiling(true);
        Queue::with_options(context, device, &options)?.finish()?;
    }
    Ok(())
}

pub fn queue_throttle(given: &Queue) -> Result<()> {
    let (context, device) = (given.context(), given.device());
    for throttle in Throttle::ALL {
        let options = QueueOptions::default().with_throttle(*throttle);
        Queue::with_options(context, device, &options)?.finish()?;
    }
    Ok(())
}
