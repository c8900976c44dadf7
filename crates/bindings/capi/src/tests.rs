//! The exported functions as C calls them, also under Miri (`scripts/miri`): frames that outlive calls, links that go first,
//! texts that are written in.

use crate::abi::*;
use crate::boundary::{fill, structure};
use crate::convert::format_code;
use crate::exports::{backend, display, frame, link, machine, memory, objects, shown_frame};
use crate::handles::Handle as _;
use crate::objects::{IntakeSlot, OutletSlot};
use interop_core::SurfacePart;
use pixelferry::{
    BufferView, CpuBackend, Display as _, HeadlessDisplay, Intake, MemoryDisplay, Outlet, PixelFormat, SurfaceDesc,
    View,
};
use pixelferry_tests::faults::{BackendDouble, Fault, FaultKind, FaultStep, Faults};
use std::ffi::{CStr, c_void};
use std::ptr;
use std::sync::Arc;

const SURFACE: pf_surface = pf_surface {
    size: size_of::<pf_surface>(),
    bytes: 0,
    format: format_code(PixelFormat::R8),
    width: 3,
    height: 2,
    unwritten: PIXELFERRY_LOAD_KEEP,
    access: PIXELFERRY_ACCESS_TEXTURE,
    row_order: PIXELFERRY_ROWS_TOP_DOWN,
    encoding: PIXELFERRY_ENCODING_UNMANAGED,
    alpha: PIXELFERRY_ALPHA_STORED,
};

const OPTIONS: pf_link_options = pf_link_options {
    size: size_of::<pf_link_options>(),
    path: ptr::null(),
    prefer: ptr::null(),
    profiles: c"".as_ptr(),
    budget_ms: PIXELFERRY_BUDGET_NONE,
    frames_behind: 0,
    mode: PIXELFERRY_MODE_FRAMES_BEHIND,
    audit: 0,
};

const FRAMES: pf_frames = pf_frames {
    size: size_of::<pf_frames>(),
    surface: &SURFACE,
    launches: ptr::null(),
    launch_count: 0,
    backend: c"cpu".as_ptr(),
    display: c"memory".as_ptr(),
    shown_by: ptr::null_mut(),
    options: &OPTIONS,
};

fn said() -> String {
    // SAFETY: the message lasts until the next failure on this thread.
    unsafe { CStr::from_ptr(machine::pf_last_error_message()) }.to_string_lossy().into_owned()
}

#[track_caller]
fn works(status: pf_status) {
    assert_eq!(status, PIXELFERRY_OK, "{}", said());
}

/// A link from threads to plain memory; what it was opened with is free again.
fn opened() -> *mut pf_link {
    opened_as(&FRAMES)
}

fn opened_as(frames: &pf_frames) -> *mut pf_link {
    let (mut computes, mut shows, mut made) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    // SAFETY: every pointer is of a value of its type, here and in all that follows.
    unsafe {
        let none = ptr::null_mut();
        works(link::pf_open_pair(frames, &raw mut computes, &raw mut shows, none, &raw mut made, ptr::null_mut()));
    }
    freed(computes, shows, made)
}

/// A link between the two, which are free again.
fn joined(computes: *mut pf_backend, shows: *mut pf_display) -> *mut pf_link {
    let mut made = ptr::null_mut();
    // SAFETY: as in `opened`.
    works(unsafe { link::pf_link_open(computes, shows, &SURFACE, &OPTIONS, &raw mut made) });
    freed(computes, shows, made)
}

fn freed(computes: *mut pf_backend, shows: *mut pf_display, made: *mut pf_link) -> *mut pf_link {
    works(backend::pf_backend_free(computes));
    works(display::pf_display_free(shows));
    made
}

fn begun(link: *mut pf_link) -> *mut pf_frame {
    let mut frame = ptr::null_mut();
    // SAFETY: as in `opened`.
    works(unsafe { link::pf_link_acquire(link, &raw mut frame) });
    frame
}

fn write(frame: *mut pf_frame, pixels: [u8; 6]) -> pf_status {
    // SAFETY: as in `opened`.
    unsafe { frame::pf_frame_write(frame, pixels.as_ptr().cast(), 6, 0) }
}

fn read(link: *mut pf_link) -> [u8; 6] {
    let mut pixels = [0; 6];
    // SAFETY: as in `opened`.
    works(unsafe { link::pf_link_read_back(link, pixels.as_mut_ptr().cast(), 6, ptr::null_mut()) });
    pixels
}

#[test]
fn audits_are_asked_for_and_counted() {
    for (audit, least) in [(1, 3), (2, 1), (PIXELFERRY_AUDIT_OFF, 0)] {
        let mut frames = FRAMES;
        let options = pf_link_options { audit, ..OPTIONS };
        frames.options = &raw const options;
        let made = opened_as(&frames);
        for value in 0..4 {
            let frame = begun(made);
            works(write(frame, [value; 6]));
            works(frame::pf_frame_finish(frame));
        }
        let mut json = ptr::null_mut();
        // SAFETY: as in `opened`.
        let text = unsafe {
            works(link::pf_link_report_json(made, &raw mut json));
            let text = CStr::from_ptr(json).to_str().unwrap().to_owned();
            works(machine::pf_string_free(json));
            text
        };
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        let right = report["audits"]["right"].as_u64().unwrap();
        assert!(right >= least && (right == 0) == (least == 0), "{audit}: {}", report["audits"]);
        works(link::pf_link_free(made));
    }
}

/// A new link shows what is written, whatever was done before.
pub fn a_link_works() {
    let made = opened();
    let frame = begun(made);
    works(write(frame, [1, 2, 3, 4, 5, 6]));
    works(frame::pf_frame_finish(frame));
    assert_eq!(read(made), [1, 2, 3, 4, 5, 6]);
    works(link::pf_link_free(made));
}

#[test]
fn frames_outlive_calls_and_end_with_their_link() {
    let made = opened();
    let first = begun(made);
    works(write(first, [1, 2, 3, 4, 5, 6]));
    works(frame::pf_frame_finish(first));
    assert_eq!(read(made), [1, 2, 3, 4, 5, 6]);
    assert_eq!(write(first, [0; 6]), PIXELFERRY_ERROR_HANDLE);
    let second = begun(made);
    works(write(second, [9; 6]));
    works(frame::pf_frame_cancel(second));
    assert_eq!(read(made), [1, 2, 3, 4, 5, 6]);
    let mut drawn = ptr::null_mut();
    // SAFETY: as in `opened`.
    works(unsafe { link::pf_link_show(made, &raw mut drawn) });
    let mut surface = SURFACE;
    surface.width = 0;
    // SAFETY: as in `opened`.
    works(unsafe { shown_frame::pf_shown_surface(drawn, &raw mut surface) });
    assert_eq!((surface.width, surface.height), (3, 2));
    let mut third = ptr::null_mut();
    // SAFETY: as in `opened`.
    assert_eq!(unsafe { link::pf_link_acquire(made, &raw mut third) }, PIXELFERRY_ERROR_BUSY, "{}", said());
    works(shown_frame::pf_shown_release(drawn));
    let third = begun(made);
    works(link::pf_link_free(made));
    assert_eq!(write(third, [0; 6]), PIXELFERRY_ERROR_HANDLE);
    assert_eq!(frame::pf_frame_finish(third), PIXELFERRY_ERROR_HANDLE);
}

/// Data that the given function sees.
struct CallbackData {
    link: *mut pf_link,
    kept: *mut pf_frame,
    free: bool,
    code: i32,
}

unsafe extern "C" fn map(_: *mut c_void, pixels: *const pf_pixels) -> i32 {
    // SAFETY: the library gives pixels that are there until this returns.
    unsafe {
        let pixels = pixels.read();
        for y in 0..pixels.rows {
            let row = pixels.data.cast::<u8>().offset(y as isize * pixels.row_pitch);
            for x in 0..pixels.row_bytes {
                row.add(x).write(10 * y as u8 + x as u8);
            }
        }
    }
    0
}

unsafe extern "C" fn compute(user: *mut c_void, frame: *mut pf_frame) -> i32 {
    // SAFETY: the tests give a `CallbackData` that nothing else uses in the meantime; as in `opened`.
    unsafe {
        let given = &mut *user.cast::<CallbackData>();
        given.kept = frame;
        assert_eq!(link::pf_link_flush(given.link), PIXELFERRY_ERROR_BUSY);
        assert_eq!(frame::pf_frame_finish(frame), PIXELFERRY_ERROR_BUSY);
        works(frame::pf_frame_map(frame, Some(map), ptr::null_mut()));
        if given.free {
            works(link::pf_link_free(given.link));
        }
        given.code
    }
}

#[test]
fn functions_that_are_given_cannot_keep_a_frame() {
    let link = opened();
    let mut given = CallbackData { link, kept: ptr::null_mut(), free: false, code: 0 };
    // SAFETY: as in `opened`.
    works(unsafe { link::pf_link_frame(link, Some(compute), (&raw mut given).cast()) });
    assert_eq!(read(link), [0, 1, 2, 10, 11, 12]);
    assert_eq!(write(given.kept, [0; 6]), PIXELFERRY_ERROR_HANDLE);
    given.code = 4;
    // SAFETY: as in `opened`.
    assert_eq!(unsafe { link::pf_link_frame(link, Some(compute), (&raw mut given).cast()) }, PIXELFERRY_ERROR_CALLBACK);
    // Freed in the middle of its own call, it goes when that returns.
    (given.code, given.free) = (0, true);
    // SAFETY: as in `opened`.
    works(unsafe { link::pf_link_frame(link, Some(compute), (&raw mut given).cast()) });
    assert_eq!(link::pf_link_flush(link), PIXELFERRY_ERROR_HANDLE);
}

unsafe extern "C" fn count(user: *mut c_void, frame: *mut pf_frame) -> i32 {
    // SAFETY: the test gives a number that nothing else uses in the meantime.
    unsafe { *user.cast::<u8>() += 1 };
    write(frame, [7; 6])
}

#[test]
fn a_path_that_fails_is_left_and_the_function_is_called_again() {
    let faults = Faults::default();
    let computes = BackendDouble::over(Arc::new(CpuBackend::new().unwrap()), &faults);
    let link = joined(
        pf_backend::insert(computes).unwrap(),
        pf_display::insert(HeadlessDisplay::from(MemoryDisplay::new())).unwrap(),
    );
    let fails = |lasting| Fault { step: FaultStep::MapWrite, nth: 1, lasting, kind: FaultKind::Driver };
    let mut calls = 0_u8;
    let mut frame = || {
        // SAFETY: as in `opened`.
        let status = unsafe { link::pf_link_frame(link, Some(count), (&raw mut calls).cast()) };
        (status, std::mem::take(&mut calls))
    };
    assert_eq!(frame(), (PIXELFERRY_OK, 1));
    faults.arm(fails(false));
    assert_eq!(frame(), (PIXELFERRY_OK, 2), "{}", said());
    assert_eq!(read(link), [7; 6]);
    // If no path is left, the call returns the first error, not that a function refused.
    faults.arm(fails(true));
    assert_eq!(frame(), (PIXELFERRY_ERROR_DRIVER, 1), "{}", said());
    assert!(said().starts_with("pf_link_frame: compute: fill failed on a double"), "{}", said());
    faults.disarm();
    works(link::pf_link_free(link));
}

#[test]
fn what_an_intake_took_outlives_its_handle() {
    let (display, desc) = (MemoryDisplay::new(), SurfaceDesc::buffer(4));
    let mut rendered = display.create_surface(&desc).unwrap();
    let view = View::Buffer(BufferView { offset: 0, len: 4 });
    rendered.upload(&SurfacePart::full(&desc), &[1, 2, 3, 4], &view).unwrap();
    let opened = Intake::open(Arc::new(CpuBackend::new().unwrap()), display, rendered).unwrap();
    let intake = pf_intake::insert(IntakeSlot::new(opened)).unwrap();
    let (mut taken, mut other, mut bytes) = (ptr::null_mut(), ptr::null_mut(), [0_u8; 2]);
    // SAFETY: as in `opened`.
    unsafe {
        works(objects::pf_intake_take(intake, &raw mut taken));
        assert_eq!(objects::pf_intake_take(intake, &raw mut other), PIXELFERRY_ERROR_BUSY, "{}", said());
        works(memory::pf_memory_free(taken));
        works(objects::pf_intake_take(intake, &raw mut taken));
        works(objects::pf_intake_free(intake));
        works(memory::pf_memory_read(taken, 1, bytes.as_mut_ptr().cast(), 2));
        assert_eq!(bytes, [2, 3]);
        assert_eq!(memory::pf_memory_read(taken, 3, bytes.as_mut_ptr().cast(), 2), PIXELFERRY_ERROR_ARGUMENT);
        assert_eq!(memory::pf_memory_write(taken, 0, bytes.as_ptr().cast(), 2), PIXELFERRY_ERROR_ARGUMENT);
        works(memory::pf_memory_free(taken));
    }
    assert_eq!(memory::pf_memory_free(taken), PIXELFERRY_ERROR_HANDLE);
}

#[test]
fn frames_of_an_outlet_are_lent_for_one_call() {
    let (display, desc) = (MemoryDisplay::new(), SurfaceDesc::image(3, 2, PixelFormat::R8));
    let target = display.create_surface(&desc).unwrap();
    let opened = Outlet::open(Arc::new(CpuBackend::new().unwrap()), display, target).unwrap();
    let outlet = pf_outlet::insert(OutletSlot::new(opened)).unwrap();
    let holds = || {
        let read = pf_outlet::get(outlet)?.with(|outlet| outlet.surface().read_back(&SurfacePart::full(&desc)));
        Ok::<_, crate::failure::Failure>(read??)
    };
    let mut calls = 0_u8;
    // SAFETY: as in `opened`; the function gets what it asks for.
    unsafe {
        works(objects::pf_outlet_frame(outlet, Some(count), (&raw mut calls).cast()));
        assert_eq!((calls, holds().unwrap()), (1, vec![7; 6]));
        works(objects::pf_outlet_frame_region(outlet, 1, 1, 2, 1, Some(put_two), ptr::null_mut()));
        assert_eq!(holds().unwrap(), [7, 7, 7, 7, 10, 11]);
        assert_eq!(
            objects::pf_outlet_frame_region(outlet, 2, 1, 2, 1, Some(put_two), ptr::null_mut()),
            PIXELFERRY_ERROR_ARGUMENT
        );
    }
    works(objects::pf_outlet_free(outlet));
}

unsafe extern "C" fn put_two(_: *mut c_void, frame: *mut pf_frame) -> i32 {
    // SAFETY: as in `opened`.
    unsafe { frame::pf_frame_write(frame, [10_u8, 11].as_ptr().cast(), 2, 0) }
}

#[test]
fn texts_may_be_written_in_and_go_once() {
    let link = opened();
    let mut text = ptr::null_mut();
    // SAFETY: as in `opened`; the text has more than two bytes.
    unsafe {
        works(link::pf_link_path(link, &raw mut text));
        text.add(1).write(0);
        assert_eq!(CStr::from_ptr(text).count_bytes(), 1);
    }
    works(machine::pf_string_free(text));
    assert_eq!(machine::pf_string_free(text), PIXELFERRY_ERROR_HANDLE);
    works(link::pf_link_free(link));
}

/// A struct that had one header without, and one with, what stands behind `second`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Grown {
    size: usize,
    first: *const u8,
    second: u32,
    third: u32,
    fourth: *const u8,
}
growing! {
    Grown: second, fourth;
}

#[test]
fn an_older_struct_is_read_and_filled_no_further() {
    let mark = ptr::without_provenance(77);
    let mut older = Grown { size: 24, first: mark, second: 5, third: 6, fourth: mark };
    // SAFETY: it has as many bytes as it says.
    let read = unsafe { structure(&raw const older) }.unwrap();
    assert_eq!((read.first, read.second, read.third, read.fourth), (mark, 5, 6, ptr::null()));
    // SAFETY: the same.
    unsafe {
        fill(&raw mut older, || Ok(Grown { size: 1, first: ptr::null(), second: 8, third: 9, fourth: ptr::null() }))
    }
    .unwrap();
    assert_eq!((older.size, older.first, older.second, older.fourth), (24, ptr::null(), 8, mark));
}

#[test]
fn only_sizes_that_a_header_had_are_taken() {
    fn taken<T: SizedStruct>(value: &mut T) -> Vec<usize> {
        // As large as the largest size below.
        let mut bytes = [0_usize; 64];
        let place = bytes.as_mut_ptr().cast::<T>();
        // SAFETY: there is more room than any struct takes.
        unsafe { place.write(*value) };
        let takes = |size: &usize| {
            // SAFETY: `place` begins with its size, and has as many bytes behind it.
            unsafe {
                place.cast::<usize>().write(*size);
                structure(place.cast_const()).is_ok() && fill(place, || Ok(*value)).is_ok()
            }
        };
        (0..size_of_val(&bytes)).filter(takes).collect()
    }
    assert_eq!(taken(&mut { SURFACE }), [size_of::<pf_surface>()]);
    assert_eq!(taken(&mut { OPTIONS }), [size_of::<pf_link_options>()]);
    let mut grown = Grown { size: 0, first: ptr::null(), second: 0, third: 0, fourth: ptr::null() };
    assert_eq!(taken(&mut grown), [24, 32]);
    // Half of the pointer `path` would be followed.
    let cut = pf_link_options { size: 12, path: c"pinned-upload".as_ptr(), ..OPTIONS };
    let (mut computes, mut shows, mut made) = (ptr::null_mut(), ptr::null_mut(), ptr::null_mut());
    let none = ptr::null();
    // SAFETY: as in `opened`.
    unsafe {
        works(backend::pf_backend_open(c"cpu".as_ptr(), none, 0, &raw mut computes));
        works(display::pf_display_open(c"memory".as_ptr(), &raw mut shows));
        assert_eq!(link::pf_link_open(computes, shows, &SURFACE, &cut, &raw mut made), PIXELFERRY_ERROR_ARGUMENT);
    }
    assert!(said().contains("pf_link_options.size is 12, but this library accepts 48"), "{}", said());
    works(backend::pf_backend_free(computes));
    works(display::pf_display_free(shows));
}
