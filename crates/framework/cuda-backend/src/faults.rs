//! Every driver call made to fail once, by a double in the driver's place: the failure must come back as a typed error
//! or leave the result as it was, and nothing may stay behind.

use crate::devices::devices_of;
use crate::ffi::double::{self, DOUBLE};
use crate::memory::CudaMemory;
use crate::{CudaBackend, CudaDevice};
use interop_core::describe::pattern::Pattern;
use interop_core::devices::borrows::Holder;
use interop_core::{
    ComputeBackend, ComputeMemory, DeviceUuid, Error, Extent, HandleType, HostBlock, ImageDesc, ImageView,
    MemoryHandle, OsHandle, PixelFormat, Result, SemaphoreHandle, SharedHandle, Support, SurfaceDesc, SyncKind, Target,
    View,
};

fn device() -> Result<CudaDevice> {
    devices_of(&DOUBLE)?.pop().ok_or(Error::NothingShown)
}

pub(crate) fn open() -> Result<CudaBackend> {
    CudaBackend::open(&device()?)
}

fn write(backend: &CudaBackend, memory: &mut dyn ComputeMemory) -> Result<()> {
    let view = View::Image(ImageView::packed(Extent::new(16, 16), PixelFormat::Rgba8, 1, 0, true)?);
    backend.write_pattern(Target::new(memory, view)?, &Pattern::for_view(&view, 1))?;
    memory.release()
}

fn own_memory() -> Result<()> {
    let backend = open()?;
    assert_eq!(backend.free_memory()?, 1 << 29);
    let (mut a, mut b) = (backend.allocate(1024)?, backend.allocate(1024)?);
    a.write(0, &[5; 1024])?;
    backend.copy(a.as_ref(), b.as_mut(), 0..1024)?;
    let mut bytes = [0; 1024];
    b.read(0, &mut bytes)?;
    b.map_read(0..1024, &mut |seen| {
        assert_eq!(seen, [5; 1024]);
        Ok(())
    })?;
    b.map_write(0..9, &mut |bytes| {
        bytes.fill(1);
        Ok(())
    })?;
    write(&backend, a.as_mut())
}

fn host_memory() -> Result<()> {
    let backend = open()?;
    let block = HostBlock::allocate(8192)?;
    let mut memory = backend.import_host(&block)?;
    let _guard = backend.prepare_host(&block)?;
    write(&backend, memory.as_mut())
}

/// An address that the double knows, of memory that outlives its name.
fn lent(backend: &CudaBackend, bytes: usize) -> Result<(Box<dyn ComputeMemory>, u64)> {
    let owner = backend.allocate(bytes)?;
    let memory = owner.downcast_ref::<CudaMemory>().ok_or(Error::NothingShown)?;
    let address = memory.span()?.address();
    Ok((owner, address))
}

fn memory_of_others() -> Result<()> {
    let backend = open()?;
    let (owner, address) = lent(&backend, 1024)?;
    assert_eq!(backend.device_of(address)?, 0);
    // SAFETY: the default stream lives forever; `owner` outlives what borrows from it.
    let mut borrowed = unsafe {
        backend.follow_stream(1)?;
        backend.lead_stream(1)?;
        backend.borrow_memory(address, 1024)?
    };
    write(&backend, borrowed.as_mut())?;
    drop(borrowed);
    drop(owner);
    Ok(())
}

fn exported_memory() -> Result<()> {
    let backend = open()?;
    let (mut memory, handle) = backend.allocate_shared(5000, HandleType::OPAQUE, backend.device())?;
    assert!(matches!(handle, SharedHandle::Memory(memory) if memory.bytes() == 65_536));
    assert_eq!(memory.len(), 5000);
    write(&backend, memory.as_mut())
}

fn exported_image() -> Result<()> {
    let backend = open()?;
    let image = ImageDesc::new(16, 16, PixelFormat::Rgba8);
    let (mut memory, handle) = backend.allocate_shared_image(&image, HandleType::OPAQUE)?;
    assert!(matches!(handle, SharedHandle::Memory(memory) if memory.bytes() == 65_536));
    memory.acquire()?;
    let view = View::Image(ImageView::packed(Extent::new(16, 16), PixelFormat::Rgba8, 1, 0, true)?);
    backend.write_pattern(Target::new(memory.as_mut(), view)?, &Pattern::for_view(&view, 1))?;
    memory.submit()?;
    memory.release()
}

fn opened_memory_and_semaphores() -> Result<()> {
    let backend = open()?;
    let some = || std::io::pipe().map(|(reader, _)| OsHandle::from(reader)).map_err(|_| Error::NothingShown);
    // SAFETY: the double opens nothing behind it.
    let handle = |bytes| Ok::<_, Error>(SharedHandle::Memory(unsafe { MemoryHandle::new(some()?, bytes, true) }));
    let mut buffer = backend.import_surface(&handle(1024)?, &SurfaceDesc::buffer(1024))?;
    let image = SurfaceDesc::image(16, 16, PixelFormat::Rgba8);
    let _texture = backend.import_surface(&handle(65_536)?, &image)?;
    assert!(matches!(backend.import_surface(&handle(1023)?, &image), Err(Error::InvalidInput { .. })));
    for kind in [SyncKind::BinarySemaphore, SyncKind::TimelineSemaphore] {
        // SAFETY: the double opens nothing behind it.
        let handle = SharedHandle::Semaphore(unsafe { SemaphoreHandle::new(some()?, kind) });
        let mut semaphore = backend.import_semaphore(&handle)?;
        semaphore.wait(1)?;
        write(&backend, buffer.as_mut())?;
        semaphore.signal(2)?;
    }
    Ok(())
}

fn what_goes_to_other_threads() -> Result<()> {
    let backend = open()?;
    let (mut memory, handle) = backend.export_memory(5000)?;
    assert_eq!((memory.len(), handle.bytes()), (5000, 65_536));
    write(&backend, memory.as_mut())?;
    let mut opened = backend.open_memory(handle)?;
    assert!(opened.len() == 65_536 && backend.address_of(opened.as_ref())? > 0);
    let some = std::io::pipe().map(|(reader, _)| OsHandle::from(reader)).map_err(|_| Error::NothingShown)?;
    // SAFETY: the double opens nothing behind it.
    let handle = unsafe { SemaphoreHandle::new(some, SyncKind::TimelineSemaphore) };
    let mut semaphore = backend.open_semaphore(handle)?;
    semaphore.wait(1)?;
    write(&backend, opened.as_mut())?;
    semaphore.signal(2)
}

fn gl_objects() -> Result<()> {
    let backend = open()?;
    let texture = SharedHandle::GlTexture { name: 1, target: 0x0de1 };
    let mut image = backend.import_surface(&texture, &SurfaceDesc::image(16, 16, PixelFormat::Rgba8))?;
    let mut buffer = backend.import_surface(&SharedHandle::GlBuffer { name: 2 }, &SurfaceDesc::buffer(1000))?;
    image.acquire()?;
    write(&backend, image.as_mut())?;
    image.acquire()?;
    buffer.acquire()?;
    image.write(0, &[1; 100])?;
    backend.copy(image.as_ref(), buffer.as_mut(), 0..1000)?;
    image.release()?;
    buffer.release()?;
    buffer.acquire()?;
    // Dropped while it is mapped.
    Ok(())
}

fn timeline() -> Result<()> {
    let backend = open()?;
    assert!(backend.set_timeline(true)?.is_yes());
    let mut memory = backend.allocate(1024)?;
    memory.write(0, &[5; 1024])?;
    write(&backend, memory.as_mut())?;
    let mut spans = Vec::new();
    backend.drain_timeline(&mut |span| spans.push(span))?;
    let names: Vec<_> = spans.iter().map(|span| &*span.work.name).collect();
    // One whose events the driver refused is done and not told of.
    let all = ["write", "pattern"];
    assert!(names.iter().all(|name| all.contains(name)), "{names:?}");
    assert!(names == all || double::with(|s| s.failing.is_some()), "{names:?}");
    assert!(spans.iter().all(|span| span.start == span.end && span.track.contains("CUDA")));
    assert!(backend.set_timeline(false)?.is_yes());
    backend.drain_timeline(&mut |span| panic!("{span:?} after it was switched off"))
}

/// A backend is open after this many calls.
const OPENING_CALLS: usize = 25;

/// Calls that give something back: one that is refused leaves one thing behind, which is the driver's doing.
fn gives_back(call: &str) -> bool {
    ["Destroy", "Free", "Release", "Unregister", "Unload", "Unmap", "Pop"].iter().any(|word| call.contains(word))
}

/// Threads of queues let go of the last things after the program has.
pub(crate) fn let_threads_end() {
    pixelferry_testing::wait_until("the end of the threads of queues", double::is_mine_alone);
}

pub(crate) fn each_call_fails_once(scenario: fn() -> Result<()>) {
    double::reset(None);
    scenario().unwrap();
    let_threads_end();
    let calls = double::with(|s| {
        assert_eq!((s.live(), s.contexts_pushed()), (vec![], 0));
        std::mem::take(&mut s.calls)
    });
    assert!(calls.len() > 20, "{calls:?}");
    for index in 0..calls.len() {
        double::reset(Some((index, 2)));
        let result = scenario();
        let_threads_end();
        // As recorded, except for what depends on how far the threads of queues are; none where they left less to do.
        let Some(call) = double::with(|s| s.calls.get(index).copied()) else { continue };
        double::with(|s| {
            let (live, pushed) = (s.live(), s.contexts_pushed());
            if gives_back(call) {
                // One that could not be popped or ended, and the memory below a mapping, at most.
                assert!(live.len() <= 2 && pushed <= 1, "{call} (call {index}) left {live:?}, {pushed} contexts");
                return;
            }
            // Pushing fails while something is dropped, too; then it cannot be given back one by one.
            let in_drop = result.is_ok();
            assert!(in_drop || live.is_empty(), "{call} (call {index}) left {live:?}");
            assert!(live.len() <= 1 && pushed == 0, "{call} (call {index}) left {live:?}, {pushed} contexts");
        });
        match result {
            Ok(()) | Err(Error::Driver(_) | Error::Unavailable { .. } | Error::KernelBuild { .. }) => {}
            // Features that the driver does not report are not used.
            Err(Error::Unsupported { .. }) if index < OPENING_CALLS => {}
            Err(e) => panic!("{call} (call {index}): {e}"),
        }
    }
}

#[test]
fn other_code_finds_the_device_current_and_then_what_was_before() {
    double::reset(None);
    let backend = open().unwrap();
    let pushed = || double::with(|s| s.contexts_pushed());
    assert_eq!((backend.with_current(pushed).unwrap(), pushed()), (1, 0));
    let work = || backend.with_current(|| panic!("other code"));
    assert!(interop_core::describe::panics::catch(work).is_err());
    assert_eq!(pushed(), 0);
}

#[test]
fn own_memory_fails_cleanly() {
    each_call_fails_once(own_memory);
}

#[test]
fn the_timeline_fails_cleanly() {
    each_call_fails_once(timeline);
}

#[test]
fn memory_of_others_fails_cleanly() {
    each_call_fails_once(memory_of_others);
}

#[test]
fn only_memory_that_the_driver_knows_is_borrowed() {
    double::reset(None);
    let backend = open().unwrap();
    let (_owner, address) = lent(&backend, 1024).unwrap();
    // SAFETY: nothing uses the memory.
    let borrow = |address, bytes| unsafe { backend.borrow_memory(address, bytes) }.map(|memory| memory.len());
    assert_eq!(borrow(address + 24, 1000).unwrap(), 1000);
    assert!(matches!(borrow(address, 0), Err(Error::InvalidInput { .. })));
    for (at, bytes) in [(address - 1, 8), (address, 1025), (64, 8), (u64::MAX, 2)] {
        assert!(matches!(borrow(at, bytes), Err(Error::Driver(_))), "{bytes} bytes at {at:x}");
    }
    backend.device_of(64).unwrap_err();
    assert_ne!(backend.stream(), 0);
}

#[test]
fn registration_fails_cleanly() {
    each_call_fails_once(host_memory);
}

/// Slices of a block and commands of streams on it exclude each other.
#[test]
fn slices_of_a_block_and_commands_on_it_are_kept_apart() {
    double::reset(None);
    let backend = open().unwrap();
    let block = HostBlock::allocate(8192).unwrap();
    let (mut one, mut two) = (backend.import_host(&block).unwrap(), backend.import_host(&block).unwrap());
    let called = |name: &str| double::with(|s| s.calls.iter().filter(|call| **call == name).count());
    let held = |result: Result<()>| {
        let error = result.unwrap_err();
        let named = matches!(&error, Error::InvalidInput { problem, .. } if problem.contains("guard of HostBlock"));
        assert!(named, "{error}");
    };

    let bytes = block.write(0..64, Holder::Guard).unwrap();
    held(backend.write_pattern(Target::buffer(one.as_mut()), &PATTERN));
    held(one.read(60, &mut [0; 8]));
    held(one.write(0, &[0]));
    held(one.map_write(0..1, &mut |_| Ok(())));
    held(backend.copy(one.as_ref(), two.as_mut(), 0..1));
    assert_eq!((called("cuLaunchKernel"), called("cuMemcpyDtoDAsync_v2")), (0, 0));
    one.write(64, &[1; 64]).unwrap();
    drop(bytes);
    let reading = block.read(0..64, Holder::Guard).unwrap();
    one.read(0, &mut [0; 64]).unwrap();
    held(two.write(0, &[0]));
    drop(reading);

    // One that is on its way is waited for, once.
    let waits = || {
        let before = called("cuStreamSynchronize");
        block.read(0..1, Holder::Guard).map(|_| called("cuStreamSynchronize") - before)
    };
    waits().unwrap();
    assert_eq!(waits().unwrap(), 0);
    backend.write_pattern(Target::buffer(two.as_mut()), &PATTERN).unwrap();
    assert_eq!((waits().unwrap(), waits().unwrap()), (1, 0));
    // After a failed wait of the driver, no slice is given out.
    backend.write_pattern(Target::buffer(two.as_mut()), &PATTERN).unwrap();
    double::with(|s| s.failing = Some((s.calls.len() + 1, 2)));
    let error = waits().unwrap_err().to_string();
    assert!(error.contains("does not report their end"), "{error}");
    assert_eq!(waits().unwrap(), 1);
    // A guard that was leaked holds its bytes, and no others.
    std::mem::forget(block.write(0..1, Holder::Guard));
    held(one.write(0, &[0]));
    one.write(1, &[0]).unwrap();
}

/// A backend and a display on one device take one block; the driver refuses a page of a context twice.
#[test]
fn backends_of_one_device_take_the_same_block() {
    double::reset(None);
    let (one, two) = (open().unwrap(), open().unwrap());
    let block = HostBlock::allocate(8192).unwrap();
    let (first, mut second) = (one.import_host(&block).unwrap(), two.import_host(&block).unwrap());
    drop((first, one));
    second.write(0, &[7; 64]).unwrap();
    assert!(double::with(|s| s.live().contains(&"registration")));
    drop(second);
    assert!(double::with(|s| !s.live().contains(&"registration")));
}

#[test]
fn whatever_fails_a_block_is_free_afterwards() {
    let block = HostBlock::allocate(8192).unwrap();
    let use_it = || {
        let backend = open()?;
        let mut memory = backend.import_host(&block)?;
        memory.write(0, &[1; 64])?;
        write(&backend, memory.as_mut())
    };
    for index in 0.. {
        double::reset(Some((index, 2)));
        let used = use_it();
        let free = block.write(0..8192, Holder::Guard).is_ok();
        assert!(free, "after call {index} failed: {used:?}");
        if double::with(|s| s.calls.len() <= index) {
            return used.unwrap();
        }
    }
}

#[test]
fn export_fails_cleanly() {
    each_call_fails_once(exported_memory);
}

#[test]
fn images_of_descriptors_fail_cleanly() {
    each_call_fails_once(exported_image);
}

#[test]
fn memory_and_semaphores_of_descriptors_fail_cleanly() {
    each_call_fails_once(opened_memory_and_semaphores);
    each_call_fails_once(what_goes_to_other_threads);
}

#[test]
fn gl_registration_and_mapping_fail_cleanly() {
    each_call_fails_once(gl_objects);
}

#[test]
fn use_before_acquire_and_after_release_is_refused() {
    double::reset(None);
    let backend = open().unwrap();
    let mut buffer = backend.import_surface(&SharedHandle::GlBuffer { name: 2 }, &SurfaceDesc::buffer(1000)).unwrap();
    let refused = |m: &mut dyn ComputeMemory| {
        let error = m.write(0, &[1]).unwrap_err().to_string();
        assert!(error.contains("acquire()"), "{error}");
    };
    refused(buffer.as_mut());
    buffer.acquire().unwrap();
    buffer.acquire().unwrap();
    buffer.release().unwrap();
    buffer.release().unwrap();
    refused(buffer.as_mut());
}

#[test]
fn old_drivers_and_missing_devices_are_unavailable() {
    let unavailable = |error: Error| {
        let Error::Unavailable { hint, .. } = &error else { panic!("{error}") };
        assert!(!hint.is_empty());
        error.to_string()
    };
    double::reset(None);
    double::with(|s| s.version = 11_080);
    assert!(unavailable(devices_of(&DOUBLE).unwrap_err()).contains("11.8"));
    double::reset(None);
    double::with(|s| s.devices = 0);
    unavailable(devices_of(&DOUBLE).unwrap_err());
    for code in [3, 34, 35, 46, 100, 803, 999] {
        double::reset(Some((0, code)));
        unavailable(devices_of(&DOUBLE).unwrap_err());
    }
    double::reset(None);
    let identity = device().unwrap().identity().clone();
    assert_eq!((identity.driver.as_str(), identity.pci.as_deref()), ("CUDA driver 12.0", Some("0000:0a:00.0")));
}

#[test]
fn memory_of_a_display_on_another_gpu_lies_there_or_is_refused() {
    double::reset(None);
    double::with(|s| s.devices = 3);
    let list = devices_of(&DOUBLE).unwrap();
    let backend = CudaBackend::open(&list[0]).unwrap();
    let on = |device: usize| backend.allocate_shared(1000, HandleType::OPAQUE, list[device].identity()).map(|_| ());
    // The double's devices reach number 1 alone.
    assert!(backend.can_export_to(list[1].identity()).is_yes() && on(1).is_ok());
    let Support::No(reason) = backend.can_export_to(list[2].identity()) else { panic!("device 2 has no peers") };
    assert!(reason.contains("no peer access"), "{reason}");
    assert!(matches!(on(2), Err(Error::Unsupported { .. })));
    let stranger = list[0].identity().clone().with_uuid(DeviceUuid([99; 16]));
    let Support::No(reason) = backend.can_export_to(&stranger) else { panic!("no device has this UUID") };
    assert!(reason.contains("CUDA does not drive"), "{reason}");
}

#[test]
fn another_backends_memory_is_foreign() {
    double::reset(None);
    let (a, b) = (open().unwrap(), open().unwrap());
    let (mut of_a, mut of_b) = (a.allocate(8).unwrap(), b.allocate(8).unwrap());
    assert!(matches!(a.copy(of_b.as_ref(), of_a.as_mut(), 0..8), Err(Error::Foreign { .. })));
    assert!(matches!(a.write_pattern(Target::buffer(of_b.as_mut()), &PATTERN), Err(Error::Foreign { .. })));
    assert!(a.write_pattern(Target::buffer(of_a.as_mut()), &PATTERN).is_ok());
}

const PATTERN: Pattern = Pattern { and_mask: 1, or_mask: 0, nonce: 1 };
