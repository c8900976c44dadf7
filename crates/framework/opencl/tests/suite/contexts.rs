//! Contexts: properties, by type of device, callbacks for errors.

use crate::suite::vouched;
use interop_core::{Error, GlContext, GlName, Result};
use pixelferry_opencl::{
    Arg, Buffer, Context, ContextOptions, ContextProperty, Device, DeviceType, GlMemory, GlObject, Image, MemFlags,
    NdRange, Queue, UserEvent,
};
use std::ffi::{CStr, c_void};
use std::sync::{Arc, mpsc};

/// The context runs a kernel.
fn works(context: &Context) -> Result<()> {
    let queue = Queue::new(context)?;
    let kernel = vouched(context, "__kernel void k(__global int *a) { a[get_global_id(0)] = 3; }", "")?.kernel("k")?;
    let buffer = Buffer::new(context, MemFlags::READ_WRITE, 40)?;
    queue.launch(&kernel, &[Arg::from(&buffer)], [10], &[])?;
    assert_eq!(queue.read_all::<i32>(&buffer, &[])?, [3; 10]);
    Ok(())
}

pub fn properties(device: &Device) -> Result<()> {
    let devices = std::slice::from_ref(device);
    let plain = Context::new(devices)?;
    assert_eq!(plain.properties()?, [ContextProperty::Platform(device.platform())]);
    // SAFETY: no driver knows this number, so that it is no address to any.
    let unknown = unsafe { ContextOptions::new().property(0x7FFF_1234, 1) };
    let refused = Context::with_options(devices, unknown);
    let code = |code: &str| matches!(code, "CL_INVALID_PROPERTY" | "CL_INVALID_VALUE");
    assert!(matches!(&refused, Err(Error::Driver(e)) if code(&e.code_name)), "{refused:?}");
    Ok(())
}

pub fn interop_user_sync(device: &Device) -> Result<()> {
    let devices = std::slice::from_ref(device);
    for by_program in [false, true] {
        let context = Context::with_options(devices, ContextOptions::new().interop_user_sync(by_program))?;
        let wants = [ContextProperty::Platform(device.platform()), ContextProperty::InteropUserSync(by_program)];
        assert_eq!(context.properties()?, wants);
        works(&context)?;
    }
    Ok(())
}

pub fn by_type(device: &Device) -> Result<()> {
    let platform = device.platform();
    let kind = [DeviceType::CPU, DeviceType::GPU, DeviceType::ACCELERATOR];
    let kind = kind.into_iter().find(|kind| device.device_type().is_ok_and(|own| own.contains(*kind))).unwrap();
    let context = Context::of_type(platform, kind, ContextOptions::new())?;
    assert!(context.devices().iter().any(|own| own.is(device)));
    assert_eq!(context.devices().len(), platform.devices_of(kind)?.len());
    works(&context)?;
    works(&Context::of_type(platform, DeviceType::ALL, ContextOptions::new())?)?;
    let absent = [DeviceType::GPU, DeviceType::ACCELERATOR]
        .into_iter()
        .find(|kind| platform.devices_of(*kind).is_ok_and(|found| found.is_empty()));
    if let Some(absent) = absent {
        let refused = Context::of_type(platform, absent, ContextOptions::new());
        assert!(
            matches!(&refused, Err(Error::Unsupported { reason, .. }) if reason.contains("no device")),
            "{refused:?}"
        );
    }
    Ok(())
}

/// Things that go wrong in the driver, not before.
fn go_wrong(context: &Context) -> Result<()> {
    let queue = Queue::new(context)?;
    assert!(vouched(context, "__kernel void k(", "").is_err());
    let source = "__kernel __attribute__((reqd_work_group_size(4, 1, 1))) void k(__global int *a) { a[0] = 1; }";
    let kernel = vouched(context, source, "")?.kernel("k")?;
    let buffer = Buffer::new(context, MemFlags::READ_WRITE, 64)?;
    assert!(queue.launch(&kernel, &[Arg::from(&buffer)], NdRange::new([8]).local([2]), &[]).is_err());
    let gate = UserEvent::new(context)?;
    let event = queue.fill(&buffer, 2u32, 0..64, std::slice::from_ref(gate.event()))?;
    gate.fail(-7)?;
    assert!(event.wait().is_err());
    Ok(())
}

pub fn errors_told(device: &Device) -> Result<()> {
    let (tell, told) = mpsc::channel();
    let alive = Arc::new(());
    let kept = alive.clone();
    let options = ContextOptions::new().on_error(move |text| {
        let _kept = &kept;
        tell.send(text.to_owned()).unwrap();
        panic!("in a callback of a context");
    });
    let context = Context::with_options(std::slice::from_ref(device), options)?;
    works(&context)?;
    go_wrong(&context)?;
    works(&context)?;
    // Values of the callback are dropped with the context.
    drop(context);
    assert_eq!(Arc::strong_count(&alive), 1);
    let texts: Vec<String> = told.iter().collect();
    println!("NOTE: {texts:?}");
    if texts.is_empty() {
        let reason = "the driver called pfn_notify for no error: a failed build, a refused launch, a failed command";
        return Err(Error::Unsupported {
            operation: "clCreateContext",
            device: device.name().into(),
            reason: reason.into(),
        });
    }
    assert!(texts.iter().all(|text| !text.is_empty()), "{texts:?}");
    Ok(())
}

/// A GL context that is current nowhere.
struct Nowhere;

// SAFETY: as it is current nowhere, nobody looks for it or calls functions of its.
unsafe impl GlContext for Nowhere {
    fn name(&self) -> GlName {
        GlName::Egl { context: 0, display: 0 }
    }

    fn is_current(&self) -> bool {
        false
    }

    fn function(&self, _: &CStr) -> *const c_void {
        std::ptr::null()
    }
}

/// Checks the answer of the device to a context that shares with OpenGL; the three features of OpenGL stand and fall
/// with it. What they do is shown by tests/gl_sharing, which has a display: on a double of the extension.
fn sharing_gl(device: &Device) -> Result<()> {
    let options = ContextOptions::new().share_gl(Arc::new(Nowhere));
    match Context::with_options(std::slice::from_ref(device), options) {
        // The device lists the extension, and nothing is called without a current context.
        Err(Error::WrongContext { .. }) => Ok(()),
        Err(error) => Err(error),
        Ok(_) => panic!("a context that is current nowhere was shared with"),
    }
}

pub fn opengl(device: &Device) -> Result<()> {
    let plain = Context::new(std::slice::from_ref(device))?;
    assert!(!plain.shares_gl() && matches!(plain.gl_fence(), Err(Error::Unsupported { .. })));
    assert!(matches!(Device::all_sharing_gl(&Nowhere), Err(Error::WrongContext { .. })));
    sharing_gl(device)
}

pub fn opengl_objects(device: &Device) -> Result<()> {
    let plain = Context::new(std::slice::from_ref(device))?;
    // A driver without the extension would end the process here.
    let object = Buffer::from_gl(&plain, MemFlags::READ_WRITE, 1).map(drop);
    let texture = GlObject::Texture { target: 0x0DE1, level: 0, name: 1 };
    for refused in [object, Image::from_gl(&plain, MemFlags::READ_WRITE, texture).map(drop)] {
        assert!(
            matches!(&refused, Err(Error::Unsupported { reason, .. }) if reason.contains("share_gl")),
            "{refused:?}"
        );
    }
    sharing_gl(device)
}

pub fn opengl_lists(device: &Device) -> Result<()> {
    let plain = Context::new(std::slice::from_ref(device))?;
    let (queue, buffer) = (Queue::new(&plain)?, Buffer::new(&plain, MemFlags::READ_WRITE, 4)?);
    for refused in
        [queue.acquire_gl(&[GlMemory::from(&buffer)], &[]), queue.release_gl(&[GlMemory::from(&buffer)], &[])]
    {
        assert!(matches!(refused, Err(Error::Unsupported { .. })), "{refused:?}");
    }
    sharing_gl(device)
}
