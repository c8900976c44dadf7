//! The driver's own objects, out and in, and functions of extensions.

use crate::suite::{refused, vouched};
use interop_core::{Error, Result};
use pixelferry_opencl::{
    Addressing, Arg, Buffer, CommandType, Context, Device, Event, Filter, Image, ImageFormat, ImageSize, Kernel,
    MemFlags, Partition, Platform, Program, Queue, QueueOptions, Sampler, Status, UserEvent,
};
use std::ffi::c_void;
use std::ptr;

const SOURCE: &str = "__kernel void k(__global int *a, int n) { a[get_global_id(0)] += n; }";

fn foreign<T: std::fmt::Debug>(result: Result<T>) {
    assert!(matches!(result, Err(Error::Foreign { .. })), "{result:?}");
}

/// Each object goes out and comes in as another value over the same, and is counted.
pub fn out_and_in(device: &Device) -> Result<()> {
    assert_eq!(Platform::from_raw(device.platform().raw())?, device.platform());
    refused(Platform::from_raw(ptr::null_mut()), &[]);
    // SAFETY: what is handed in is live and of the kind that it is handed in as, here and below; and no map nor host
    // closure is used in this test but where it says so.
    unsafe {
        assert!(Device::from_raw(device.raw())?.is(device) && Device::from_raw(device.raw())?.parent().is_none());
        let first = Context::new(std::slice::from_ref(device))?;
        let counts = first.reference_count()?;
        let context = Context::from_raw(first.raw())?;
        assert!(context.is(&first) && context.devices()[0].is(device));
        assert_eq!(first.reference_count()?, counts + 1);
        let other = Context::new(std::slice::from_ref(device))?;

        let queue = Queue::with_options(&first, device, &QueueOptions::default())?;
        let again = Queue::from_raw(&context, queue.raw())?;
        assert!(again.device().is(device) && again.raw() == queue.raw() && !again.is_out_of_order());
        assert!(again.reference_count()? >= 2);
        foreign(Queue::from_raw(&other, queue.raw()));

        let data: Vec<i32> = (0..64).collect();
        let buffer = Buffer::with_data(&first, MemFlags::READ_ONLY, &data)?;
        let again_buffer = Buffer::from_raw(&context, buffer.raw())?;
        assert_eq!((again_buffer.len(), again_buffer.flags(), again_buffer.offset()), (256, MemFlags::READ_ONLY, 0));
        assert_eq!((again_buffer.reference_count()?, again_buffer.is_part()), (2, false));
        foreign(Buffer::from_raw(&other, buffer.raw()));
        refused(Image::from_raw(&context, buffer.raw()), &[]);
        // The values outlive what they were taken from.
        drop(buffer);
        assert_eq!(again_buffer.reference_count()?, 1);
        assert_eq!(again.read_all::<i32>(&again_buffer, &[])?, data);

        let whole = Buffer::with_data(&context, MemFlags::READ_WRITE, &vec![7u8; 8192])?;
        let start = 2 * whole.part_alignment()?;
        let part = Buffer::from_raw(&first, whole.part(MemFlags::NONE, start..start + 64)?.raw())?;
        assert_eq!((part.len(), part.offset(), part.parent().map(Buffer::raw)), (64, start, Some(whole.raw())));
        assert_eq!(part.parent().map(|whole| (whole.len(), whole.flags())), Some((8192, MemFlags::READ_WRITE)));
        again.fill(&part, 9u8, 0..64, &[])?;
        let map = again.map_read::<u8>(&part, 0..64, &[])?;
        assert!(map.iter().all(|byte| *byte == 9));
        refused(again.fill(part.parent().unwrap(), 1u8, start..start + 1, &[]), &[]);
        drop(map);
        assert_eq!(again.read::<u8>(&whole, start - 1, 3, &[])?.wait()?, [7, 9, 9]);

        let program = vouched(&first, SOURCE, "")?;
        let again_program = Program::from_raw(&context, program.raw())?;
        assert_eq!((again_program.kernel_names()?, again_program.source()?.as_str()), (vec!["k".to_owned()], SOURCE));
        assert!(again_program.reference_count()? >= 2);
        foreign(Program::from_raw(&other, program.raw()));
        let kernel = Kernel::from_raw(&program, again_program.kernel("k")?.raw())?;
        assert_eq!((kernel.name(), kernel.param_count(), kernel.reference_count()?), ("k", 2, 1));
        let second = vouched(&first, SOURCE, "")?;
        foreign(Kernel::from_raw(&second, kernel.raw()));
        let memory = Buffer::with_data(&first, MemFlags::READ_WRITE, &[5i32; 8])?;
        // Kernel and buffer of one value of the context, the queue of another.
        let launched = again.launch(&kernel, &[Arg::from(&memory), Arg::from(2i32)], [8], &[])?;

        let event = Event::from_raw(&first, launched.raw())?;
        assert_eq!(event.command_type()?, Some(CommandType::NdRangeKernel));
        assert!(event.reference_count()? >= 2);
        foreign(Event::from_raw(&other, launched.raw()));
        drop(launched);
        assert_eq!(queue.read_all::<i32>(&memory, std::slice::from_ref(&event))?, [7; 8]);
        assert_eq!(event.status()?, Status::Complete);

        if device.image_support()? {
            let format = ImageFormat::of::<[f32; 4]>();
            let pixels: Vec<[f32; 4]> = (0..12).map(|i| [i as f32, 1.0, 2.0, 3.0]).collect();
            for size in [ImageSize::D2(4, 3), ImageSize::D3(2, 2, 3), ImageSize::D2Array(2, 3, 2)] {
                let image = Image::with_data(&first, MemFlags::READ_WRITE, format, size, &pixels)?;
                let image = Image::from_raw(&context, image.raw())?;
                assert_eq!((image.format(), image.image_type()), (format, size.image_type()));
                assert_eq!((image.region(), image.reference_count()?), (size.region(), 2));
                assert_eq!(again.read_image::<[f32; 4]>(&image, &image.whole(), &[])?.wait()?, pixels);
                foreign(Image::from_raw(&other, image.raw()));
                refused(Buffer::from_raw(&context, image.raw()), &[]);
            }
            let sampler = Sampler::new(&first, false, Addressing::ClampToEdge, Filter::Nearest)?;
            let sampler = Sampler::from_raw(&context, sampler.raw())?;
            assert!(sampler.reference_count()? >= 1);
            foreign(Sampler::from_raw(&other, sampler.raw()).map(drop));
        }
        for null in [
            Context::from_raw(ptr::null_mut()).map(drop),
            Buffer::from_raw(&context, ptr::null_mut()).map(drop),
            Event::from_raw(&context, ptr::null_mut()).map(drop),
        ] {
            assert!(matches!(null, Err(Error::Driver(_))), "{null:?}");
        }
        drop(context);
        assert_eq!(queue.read_all::<i32>(&memory, &[])?, [7; 8]);
    }
    Ok(())
}

/// Parts of a device come in with what they are parts of.
pub fn parts_in(device: &Device) -> Result<()> {
    let part = device.partition(&Partition::Equally(1))?.swap_remove(0);
    // SAFETY: a live device and context, which the values outlive.
    unsafe {
        let again = Device::from_raw(part.raw())?;
        assert!(again.is(&part) && again.parent().is_some_and(|parent| parent.is(device)));
        drop(part);
        assert_eq!(again.max_compute_units()?, 1);
        let context = Context::from_raw(Context::new(&[again])?.raw())?;
        let queue = Queue::new(&context)?;
        let buffer = Buffer::with_data(&context, MemFlags::READ_WRITE, &[5i32; 8])?;
        let kernel = vouched(&context, SOURCE, "")?.kernel("k")?;
        queue.launch(&kernel, &[Arg::from(&buffer), Arg::from(1i32)], [8], &[])?;
        assert_eq!(queue.read_all::<i32>(&buffer, &[])?, [6; 8]);
    }
    Ok(())
}

/// Objects that calls of the user's own made, among ours.
pub fn made_by_others(queue: &Queue) -> Result<()> {
    let context = queue.context();
    // SAFETY: the calls are those of OpenCL 1.2 with live objects; each object is let go of once.
    unsafe {
        let raw =
            cl3::memory::create_buffer(context.raw(), cl3::memory::CL_MEM_READ_WRITE, 32, ptr::null_mut()).unwrap();
        let buffer = Buffer::from_raw(context, raw)?;
        cl3::memory::release_mem_object(raw).unwrap();
        let raw = cl3::event::create_user_event(context.raw()).unwrap();
        let gate = Event::from_raw(context, raw)?;
        assert_eq!(gate.command_type()?, Some(CommandType::User));
        let filled = queue.fill(&buffer, 3i32, 0..32, std::slice::from_ref(&gate))?;
        queue.flush()?;
        assert!(!filled.status()?.is_final());
        cl3::event::set_user_event_status(raw, 0).unwrap();
        cl3::event::release_event(raw).unwrap();
        filled.wait()?;
        // The other way round: a command of others with our objects, as a wait list of ours.
        let own = UserEvent::new(context)?;
        let list: [*mut c_void; 1] = [own.event().raw()];
        let raw = cl3::command_queue::enqueue_marker_with_wait_list(queue.raw(), 1, list.as_ptr()).unwrap();
        let marker = Event::from_raw(context, raw)?;
        cl3::event::release_event(raw).unwrap();
        let read = queue.read::<i32>(&buffer, 0, 8, std::slice::from_ref(&marker))?;
        own.complete()?;
        assert_eq!(read.wait()?, [3; 8]);
    }
    Ok(())
}

pub fn extension_functions(device: &Device) -> Result<()> {
    type GetPlatforms = unsafe extern "C" fn(entries: u32, platforms: *mut *mut c_void, count: *mut u32) -> i32;
    type SetContentSize = unsafe extern "C" fn(buffer: *mut c_void, size: *mut c_void) -> i32;
    assert_eq!(device.platform().extension_function("clNoFunctionOfThisName")?, None);
    let unlisted = device.extension_function("cl_no_such_extension", "clIcdGetPlatformIDsKHR");
    assert!(
        matches!(&unlisted, Err(Error::Unsupported { reason, .. }) if reason.contains("cl_no_such")),
        "{unlisted:?}"
    );
    refused(device.platform().extension_function("a\0b"), &[]);
    let address = device.extension_function("cl_khr_icd", "clIcdGetPlatformIDsKHR")?;
    let (mut found, mut count) = ([ptr::null_mut(); 4], 0);
    // SAFETY: the type is that of the function in cl_khr_icd, and the list has room for 4.
    let code = unsafe {
        let function = std::mem::transmute::<*mut c_void, GetPlatforms>(address.as_ptr());
        function(4, found.as_mut_ptr(), &raw mut count)
    };
    assert_eq!(code, 0);
    assert!(found[..count as usize].contains(&device.platform().raw()), "the driver's own list has the platform");
    // An extension that takes objects, where there is one.
    if let Ok(address) = device.extension_function("cl_pocl_content_size", "clSetContentSizeBufferPoCL") {
        let context = Context::new(std::slice::from_ref(device))?;
        let (buffer, size) =
            (Buffer::new(&context, MemFlags::READ_WRITE, 64)?, Buffer::new(&context, MemFlags::READ_WRITE, 8)?);
        // SAFETY: the type is that of the function in cl_pocl_content_size; both buffers are live.
        let code = unsafe {
            let function = std::mem::transmute::<*mut c_void, SetContentSize>(address.as_ptr());
            function(buffer.raw(), size.raw())
        };
        assert_eq!(code, 0);
    }
    Ok(())
}
