//! Each call that the header has, with numbers of a step in its arguments, and functions to give.

use super::{
    BACKEND, DISPLAY, FRAME, FuzzCall, INTAKE, KERNEL, LINK, MEMORY, OUTLET, SHARED, SHOWN, STARTED, SUBSCRIBER,
    TARGET, TEXT, WORLD, World, elsewhere,
};
use crate::abi::*;
use crate::call::call;
use crate::exports::{
    backend, display, frame, link, log, machine, memory, objects, shared_link, shown_frame, stream, target,
};
use crate::failure::Result;
use crate::handles::Handle as _;
use crate::objects::{IntakeSlot, OutletSlot};
use crate::texts::c_string;
use interop_core::draw::Obstacle;
use interop_core::{SharedHandle, ShowTarget, TargetPixels};
use pixelferry::{DrawOptions, Error, Extent, Intake, Outlet, Surface};
use std::any::Any;
use std::cell::RefCell;
use std::ffi::{CString, c_char, c_void};
use std::ptr;
use std::rc::Rc;

const BYTES: usize = 1 << 12;

/// In most cases the size that the struct has.
fn size<T>(n: u32) -> usize {
    match n % 16 {
        0..=2 => n as usize / 16 % (size_of::<T>() + 8),
        3 => usize::MAX - n as usize,
        _ => size_of::<T>(),
    }
}

fn surface(step: &FuzzCall) -> pf_surface {
    let [a, b, c, d] = step.n;
    // Sizes that every limit refuses, also after shrinking: what lies between fills a machine's memory.
    let odd = a % 32 == 0;
    let side = |n: u32| if odd { n | 1 << 22 } else { n % 40 };
    let is_buffer = b % 5 == 0;
    pf_surface {
        size: size::<pf_surface>(d),
        bytes: if !is_buffer {
            0
        } else if odd {
            (u64::from(c) | 1 << 16) << 32
        } else {
            u64::from(c % 5000)
        },
        format: if is_buffer { 0 } else { d >> 8 & 15 },
        width: if is_buffer { 0 } else { side(b >> 8) },
        height: if is_buffer { 0 } else { side(c >> 8) },
        unwritten: d >> 12 & 3,
        access: d >> 14 & 1,
        row_order: d >> 15 & 1,
        encoding: d >> 16 & 3,
        alpha: d >> 18 & 3,
    }
}

fn args(world: &World, step: &FuzzCall) -> [pf_arg; 3] {
    let of = |at: usize| {
        let kind = step.n[at] % 9;
        let value = if kind == PIXELFERRY_ARG_MEMORY {
            pf_value { memory: world.any(MEMORY, step.which[at]) }
        } else {
            pf_value { u64: u64::from(step.n[3]) << (step.n[at] % 33) }
        };
        pf_arg { kind, reserved: 0, value, bytes: 0 }
    };
    [of(0), of(1), of(2)]
}

unsafe extern "C" fn host(_: *mut c_void, pixels: *const pf_pixels, _: *const pf_arg, _: usize) -> i32 {
    // SAFETY: the library gives pixels that are there until this returns.
    unsafe {
        let pixels = &*pixels;
        pixels.data.cast::<u8>().write_bytes(7, pixels.row_bytes);
    }
    0
}

unsafe extern "C" fn compute(_: *mut c_void, frame: *mut pf_frame) -> i32 {
    WORLD.with(|world| {
        world.held.borrow_mut()[FRAME].push(frame.addr());
        world.few(4);
    });
    i32::from(frame.addr() >> 3 & 7 == 0)
}

unsafe extern "C" fn map(_: *mut c_void, pixels: *const pf_pixels) -> i32 {
    // SAFETY: the library gives pixels that are there until this returns.
    unsafe {
        let pixels = &*pixels;
        for row in 0..pixels.rows as isize {
            pixels.data.cast::<u8>().offset(row * pixels.row_pitch).write_bytes(9, pixels.row_bytes);
        }
    }
    WORLD.with(|world| world.few(3));
    0
}

/// Lines come on every thread; only one that has a script goes on with it.
unsafe extern "C" fn logged(_: *mut c_void, _: u32, text: *const c_char) {
    assert!(!text.is_null());
    let _ = WORLD.try_with(|world| {
        if !world.logging.replace(true) {
            world.few(1);
            world.logging.set(false);
        }
    });
}

/// A surface instead of an engine's own object, which plain memory has none of.
fn object(world: &World, step: &FuzzCall) -> Result<Surface> {
    let display = pf_display::get(world.any(DISPLAY, step.which[1]))?.display();
    Ok(display.create_surface(&pf_surface { size: 0, ..surface(step) }.desc()?)?)
}

/// On a shared link's thread, which has no world.
unsafe extern "C" fn write_some(_: *mut c_void, frame: *mut pf_frame) -> i32 {
    let bytes = [5_u8; BYTES];
    // SAFETY: the bytes live until it returns.
    unsafe { frame::pf_frame_write(frame, bytes.as_ptr().cast(), 64, 0) }
}

unsafe extern "C" fn open_memory(_: *mut c_void, to: *mut *mut pf_display) -> i32 {
    // SAFETY: the library gives a place.
    unsafe { display::pf_display_open(c"memory".as_ptr(), to) }
}

/// A place that takes no stores, on plain memory, where there is none.
struct NoTexture;

impl ShowTarget for NoTexture {
    fn area(&self) -> Extent {
        Extent::new(20, 10)
    }

    fn draw(&mut self, _: &Surface, _: DrawOptions) -> Result<(), Error> {
        Ok(())
    }

    fn pixels(&mut self) -> Result<TargetPixels, Obstacle> {
        Err(Obstacle::NoTexture)
    }

    fn handle(&mut self) -> Result<(SharedHandle, Box<dyn Any + Send + Sync>), Error> {
        Err(Error::NothingShown)
    }

    fn read_back(&mut self) -> Result<Vec<u8>, Error> {
        Err(Error::NothingShown)
    }
}

/// One of a few names, of this process alone, and some invalid ones.
fn stream_name(n: u32) -> CString {
    match n % 8 {
        0 => c"../up".into(),
        1 => c"".into(),
        n => c_string(format!("fuzz-{}-{}", std::process::id(), n % 3)),
    }
}

type Call = fn(&World, &FuzzCall) -> pf_status;

/// Runs a call that gives a handle.
fn gives<T>(world: &World, kind: usize, call: impl FnOnce(*mut *mut T) -> pf_status) -> pf_status {
    let mut made = ptr::dangling_mut();
    let status = call(&raw mut made);
    // A call that refuses its other pointers first left the place alone.
    world.made(kind, status, if made == ptr::dangling_mut() { ptr::null_mut() } else { made })
}

/// Runs a call that gives a text.
fn says(world: &World, call: impl FnOnce(*mut *mut c_char) -> pf_status) -> pf_status {
    gives(world, TEXT, |text| {
        let status = call(text);
        // SAFETY: `gives` has a place there.
        unsafe { (*text).expose_provenance() };
        status
    })
}

pub(super) const ELSEWHERE: &str = "elsewhere";

macro_rules! calls {
    ($(($name:expr, $world:ident, $step:ident) $call:expr;)*) => {
        // SAFETY: every pointer that is given is null, or of a value of its type that lives until the call returns; handles are numbers.
        pub(super) const CALLS: &[(&str, Call)] = &[$(($name, |$world, $step| { #[allow(unused_unsafe)] unsafe { $call } })),*];
    };
}

calls! {
    ("pf_backend_open", w, s) gives(w, BACKEND, |to| {
        let name = [c"cpu", c"cpu", c"cpu", c"nothing"][s.n[0] as usize % 4];
        backend::pf_backend_open(name.as_ptr(), ptr::null(), usize::from(s.n[1] % 16 == 0), to)
    });
    ("pf_display_open", w, s) gives(w, DISPLAY, |to| {
        display::pf_display_open([c"memory", c"memory", c"paper"][s.n[0] as usize % 3].as_ptr(), to)
    });
    ("pf_kernel_build", w, s) gives(w, KERNEL, |to| {
        let none = ptr::null();
        let source = pf_kernel_source {
            size: size::<pf_kernel_source>(s.n[0]),
            name: if s.n[1] % 16 == 0 { none } else { c"k".as_ptr() },
            opencl_c: none, cuda_cpp: none, ptx: none, glsl: none,
            wgsl: if s.n[1] % 5 == 0 { c"@compute".as_ptr() } else { none },
            host: if s.n[2] % 8 == 0 { None } else { Some(host) },
            host_user: ptr::null_mut(),
            items: if s.n[2] % 9 == 0 { s.n[3] as usize } else { 0 },
        };
        backend::pf_kernel_build(w.any(BACKEND, s.which[0]), &source, to)
    });
    ("pf_memory_new", w, s) gives(w, MEMORY, |to| {
        let bytes = if s.n[1] % 16 == 0 { usize::MAX >> (s.n[0] % 12) } else { s.n[0] as usize % BYTES };
        memory::pf_memory_new(w.any(BACKEND, s.which[0]), bytes, to)
    });
    ("pf_memory_write", w, s) {
        let bytes = [3_u8; BYTES];
        memory::pf_memory_write(w.any(MEMORY, s.which[0]), s.n[0] as usize % BYTES, bytes.as_ptr().cast(), s.n[1] as usize % BYTES)
    };
    ("pf_memory_read", w, s) {
        let mut bytes = [0_u8; BYTES];
        let offset = if s.n[0] % 8 == 0 { usize::MAX - s.n[2] as usize } else { s.n[0] as usize % BYTES };
        memory::pf_memory_read(w.any(MEMORY, s.which[0]), offset, bytes.as_mut_ptr().cast(), s.n[1] as usize % BYTES)
    };
    ("pf_memory_launch", w, s) {
        let args = args(w, s);
        memory::pf_memory_launch(w.any(MEMORY, s.which[0]), w.any(KERNEL, s.which[1]), args.as_ptr(), s.n[3] as usize % 4)
    };
    ("pf_link_open", w, s) gives(w, LINK, |to| {
        let options = pf_link_options {
            size: size::<pf_link_options>(s.n[1]),
            path: [ptr::null(), ptr::null(), ptr::null(), c"pinned-upload".as_ptr(), c"none".as_ptr()][s.n[2] as usize % 5],
            prefer: ptr::null(),
            profiles: c"".as_ptr(),
            budget_ms: PIXELFERRY_BUDGET_NONE,
            frames_behind: s.n[3] % 5,
            mode: s.n[3] >> 8 & 1,
            audit: [0, 1, 7, PIXELFERRY_AUDIT_OFF][s.n[3] as usize >> 9 & 3],
        };
        link::pf_link_open(w.any(BACKEND, s.which[0]), w.any(DISPLAY, s.which[1]), &surface(s), &options, to)
    });
    ("pf_link_frame", w, s) link::pf_link_frame(w.any(LINK, s.which[0]), Some(compute), ptr::null_mut());
    ("pf_link_frame", w, s) link::pf_link_frame(w.any(LINK, s.which[0]), Some(compute), ptr::null_mut());
    ("pf_link_show_gl", w, s) {
        let (at, n, none) = (w.any(LINK, s.which[0]), s.n, ptr::null());
        let mut showed = 0;
        says(w, |to| target::pf_link_show_gl(at, n[0] as i32, 0, n[1], n[2], none, Some(compute), ptr::null_mut(), &raw mut showed, to))
    };
    ("pf_link_acquire", w, s) gives(w, FRAME, |to| link::pf_link_acquire(w.any(LINK, s.which[0]), to));
    ("pf_link_acquire_region", w, s) gives(w, FRAME, |to| {
        let [x, y, width, height] = s.n.map(|n| if n % 16 == 0 { n } else { n % 40 });
        link::pf_link_acquire_region(w.any(LINK, s.which[0]), x, y, width, height, to)
    });
    ("pf_link_acquire_bytes", w, s) gives(w, FRAME, |to| {
        let offset = if s.n[0] % 8 == 0 { usize::MAX } else { s.n[0] as usize % 5000 };
        link::pf_link_acquire_bytes(w.any(LINK, s.which[0]), offset, s.n[1] as usize % 5000, to)
    });
    ("pf_frame_finish", w, s) { let at = w.any(FRAME, s.which[0]); w.took(frame::pf_frame_finish(at), at) };
    ("pf_frame_finish", w, s) { let at = w.any(FRAME, s.which[0]); w.took(frame::pf_frame_finish(at), at) };
    ("pf_frame_cancel", w, s) { let at = w.any(FRAME, s.which[0]); w.took(frame::pf_frame_cancel(at), at) };
    ("pf_frame_write", w, s) {
        let bytes = [5_u8; BYTES];
        let pitch = if s.n[1] % 4 == 0 { s.n[1] as usize % 400 } else { 0 };
        frame::pf_frame_write(w.any(FRAME, s.which[0]), bytes.as_ptr().cast(), s.n[0] as usize % BYTES, pitch)
    };
    ("pf_frame_map", w, s) frame::pf_frame_map(w.any(FRAME, s.which[0]), Some(map), ptr::null_mut());
    ("pf_frame_device_memory", w, s) {
        let mut found: pf_device_memory = std::mem::zeroed();
        found.size = size::<pf_device_memory>(s.n[0]);
        frame::pf_frame_device_memory(w.any(FRAME, s.which[0]), &raw mut found)
    };
    ("pf_frame_launch", w, s) {
        let args = args(w, s);
        frame::pf_frame_launch(w.any(FRAME, s.which[0]), w.any(KERNEL, s.which[1]), args.as_ptr(), s.n[3] as usize % 4)
    };
    ("pf_link_show", w, s) gives(w, SHOWN, |to| link::pf_link_show(w.any(LINK, s.which[0]), to));
    ("pf_link_show", w, s) gives(w, SHOWN, |to| link::pf_link_show(w.any(LINK, s.which[0]), to));
    ("pf_shown_release", w, s) { let at = w.any(SHOWN, s.which[0]); w.took(shown_frame::pf_shown_release(at), at) };
    ("pf_shown_release", w, s) { let at = w.any(SHOWN, s.which[0]); w.took(shown_frame::pf_shown_release(at), at) };
    ("pf_shown_surface", w, s) {
        let mut found = surface(s);
        shown_frame::pf_shown_surface(w.any(SHOWN, s.which[0]), &raw mut found)
    };
    ("pf_shown_draw_gl", w, s) shown_frame::pf_shown_draw_gl(w.any(SHOWN, s.which[0]), s.n[0] as i32, 0, s.n[1], s.n[2], ptr::null());
    ("pf_link_resize", w, s) link::pf_link_resize(w.any(LINK, s.which[0]), &surface(s));
    ("pf_link_flush", w, s) link::pf_link_flush(w.any(LINK, s.which[0]));
    ("pf_link_read_back", w, s) {
        let (mut bytes, mut needed) = (vec![0_u8; 1 << 16], 0);
        let at = w.any(LINK, s.which[0]);
        let asked = link::pf_link_read_back(at, ptr::null_mut(), 0, &raw mut needed);
        if asked != PIXELFERRY_OK || needed > bytes.len() { return asked }
        link::pf_link_read_back(at, bytes.as_mut_ptr().cast(), needed, ptr::null_mut())
    };
    ("pf_link_save", w, s) link::pf_link_save(w.any(LINK, s.which[0]), c"/nowhere/at/all.png".as_ptr(), ptr::null());
    ("pf_link_explain", w, s) says(w, |to| link::pf_link_explain(w.any(LINK, s.which[0]), to));
    ("pf_link_path", w, s) says(w, |to| link::pf_link_path(w.any(LINK, s.which[0]), to));
    ("pf_link_report_json", w, s) says(w, |to| link::pf_link_report_json(w.any(LINK, s.which[0]), to));
    ("pf_backend_json", w, s) says(w, |to| backend::pf_backend_json(w.any(BACKEND, s.which[0]), to));
    ("pf_string_free", w, s) {
        let text = ptr::with_exposed_provenance_mut(w.any::<c_char>(TEXT, s.which[0]).addr());
        machine::pf_string_free(text)
    };
    ("pf_backend_free", w, s) if s.n[0] % 4 == 0 { let at = w.any(BACKEND, s.which[0]); w.took(backend::pf_backend_free(at), at) } else { machine::pf_string_free(ptr::null_mut()) };
    ("pf_kernel_free", w, s) { let at = w.any(KERNEL, s.which[0]); w.took(backend::pf_kernel_free(at), at) };
    ("pf_memory_free", w, s) { let at = w.any(MEMORY, s.which[0]); w.took(memory::pf_memory_free(at), at) };
    ("pf_display_free", w, s) if s.n[0] % 4 == 0 { let at = w.any(DISPLAY, s.which[0]); w.took(display::pf_display_free(at), at) } else { machine::pf_string_free(ptr::null_mut()) };
    ("pf_link_free", w, s) { let at = w.any(LINK, s.which[0]); w.took(link::pf_link_free(at), at) };
    ("pf_backend_finish", w, s) backend::pf_backend_finish(w.any(BACKEND, s.which[0]));
    ("pf_display_finish", w, s) display::pf_display_finish(w.any(DISPLAY, s.which[0]));
    ("pf_display_make_current", w, s) display::pf_display_make_current(w.any(DISPLAY, s.which[0]));
    ("pf_set_log", _w, s) log::pf_set_log(if s.n[0] % 2 == 0 { Some(logged) } else { None }, ptr::null_mut(), s.n[1] % 6);
    ("pf_outlet_open", w, s) gives(w, OUTLET, |to: *mut *mut pf_outlet| call("pf_outlet_open", || {
        to.write(ptr::null_mut());
        let (backend, display) = (pf_backend::get(w.any(BACKEND, s.which[0]))?, pf_display::get(w.any(DISPLAY, s.which[1]))?);
        to.write(pf_outlet::insert(OutletSlot::new(Outlet::open(backend, display.display(), object(w, s)?)?))?);
        Ok(())
    }));
    ("pf_outlet_frame", w, s) objects::pf_outlet_frame(w.any(OUTLET, s.which[0]), Some(compute), ptr::null_mut());
    ("pf_outlet_frame_region", w, s) {
        let [x, y, width, height] = s.n.map(|n| if n % 16 == 0 { n } else { n % 40 });
        objects::pf_outlet_frame_region(w.any(OUTLET, s.which[0]), x, y, width, height, Some(compute), ptr::null_mut())
    };
    ("pf_outlet_frame_bytes", w, s) {
        let offset = if s.n[0] % 8 == 0 { usize::MAX } else { s.n[0] as usize % 5000 };
        objects::pf_outlet_frame_bytes(w.any(OUTLET, s.which[0]), offset, s.n[1] as usize % 5000, Some(compute), ptr::null_mut())
    };
    ("pf_outlet_explain", w, s) says(w, |to| objects::pf_outlet_explain(w.any(OUTLET, s.which[0]), to));
    ("pf_outlet_free", w, s) { let at = w.any(OUTLET, s.which[0]); w.took(objects::pf_outlet_free(at), at) };
    ("pf_intake_open", w, s) gives(w, INTAKE, |to: *mut *mut pf_intake| call("pf_intake_open", || {
        to.write(ptr::null_mut());
        let (backend, display) = (pf_backend::get(w.any(BACKEND, s.which[0]))?, pf_display::get(w.any(DISPLAY, s.which[1]))?);
        to.write(pf_intake::insert(IntakeSlot::new(Intake::open(backend, display.display(), object(w, s)?)?))?);
        Ok(())
    }));
    ("pf_intake_take", w, s) gives(w, MEMORY, |to| objects::pf_intake_take(w.any(INTAKE, s.which[0]), to));
    ("pf_intake_free", w, s) { let at = w.any(INTAKE, s.which[0]); w.took(objects::pf_intake_free(at), at) };
    ("pf_shared_link_open", w, s) gives(w, SHARED, |to| {
        let none = ptr::null_mut();
        shared_link::pf_shared_link_open(w.any(BACKEND, s.which[0]), Some(open_memory), none, &surface(s), ptr::null(), to)
    });
    ("pf_shared_link_frame", w, s) shared_link::pf_shared_link_frame(w.any(SHARED, s.which[0]), Some(write_some), ptr::null_mut());
    ("pf_shared_link_start_frame", w, s) gives(w, STARTED, |to| {
        shared_link::pf_shared_link_start_frame(w.any(SHARED, s.which[0]), Some(write_some), ptr::null_mut(), to)
    });
    ("pf_started_wait", w, s) shared_link::pf_started_wait(w.any(STARTED, s.which[0]));
    // One that is held would keep other threads waiting forever.
    ("pf_shared_link_show", w, s) {
        let mut shown = ptr::null_mut();
        let status = shared_link::pf_shared_link_show(w.any(SHARED, s.which[0]), &raw mut shown);
        if status == PIXELFERRY_OK { shared_link::pf_shared_frame_release(shown) } else { status }
    };
    ("pf_shared_link_resize", w, s) shared_link::pf_shared_link_resize(w.any(SHARED, s.which[0]), &surface(s));
    ("pf_shared_link_free", w, s) { let at = w.any(SHARED, s.which[0]); w.took(shared_link::pf_shared_link_free(at), at) };
    ("pf_target_open", w, s) gives(w, TARGET, |to| {
        let mut image: pf_object = std::mem::zeroed();
        (image.size, image.kind) = (size::<pf_object>(s.n[0]), s.n[1] % 6);
        target::pf_target_open(w.any(DISPLAY, s.which[0]), &image, 0, 0, s.n[2], s.n[3], to)
    });
    ("pf_target_open", w, _s) gives(w, TARGET, |to: *mut *mut pf_target| call("pf_target_open", || {
        to.write(pf_target::insert(Rc::new(RefCell::new(Box::new(NoTexture))))?);
        Ok(())
    }));
    ("pf_link_show_in", w, s) {
        let (link, at) = (w.any(LINK, s.which[0]), w.any(TARGET, s.which[1]));
        let mut showed = 0;
        let to_showed = if s.n[0] % 4 == 0 { ptr::null_mut() } else { &raw mut showed };
        says(w, |to| target::pf_link_show_in(link, at, ptr::null(), Some(compute), ptr::null_mut(), to_showed, to))
    };
    ("pf_target_free", w, s) { let at = w.any(TARGET, s.which[0]); w.took(target::pf_target_free(at), at) };
    ("pf_stream_open", w, s) gives(w, DISPLAY, |to| {
        let options = pf_stream_options { size: size::<pf_stream_options>(s.n[1]), readers: s.n[2] % 19, reserved: 0 };
        stream::pf_stream_open(w.any(BACKEND, s.which[0]), stream_name(s.n[0]).as_ptr(), &options, to)
    });
    ("pf_stream_publish", w, s) {
        let mut published: pf_published = std::mem::zeroed();
        published.size = size::<pf_published>(s.n[0]);
        stream::pf_stream_publish(w.any(SHOWN, s.which[0]), if s.n[1] % 4 == 0 { ptr::null_mut() } else { &raw mut published })
    };
    ("pf_stream_subscribers", w, s) {
        let (mut count, mut awaited) = (0, 0);
        stream::pf_stream_subscribers(w.any(DISPLAY, s.which[0]), &raw mut count, &raw mut awaited)
    };
    ("pf_streams_json", w, _s) says(w, |to| stream::pf_streams_json(to));
    ("pf_subscriber_open", w, s) gives(w, SUBSCRIBER, |to| {
        stream::pf_subscriber_open(w.any(BACKEND, s.which[0]), stream_name(s.n[0]).as_ptr(), to)
    });
    ("pf_subscriber_next", w, s) {
        let mut next = 0;
        stream::pf_subscriber_next(w.any(SUBSCRIBER, s.which[0]), s.n[0] % 3, &raw mut next)
    };
    ("pf_subscriber_surface", w, s) {
        let mut found = surface(s);
        stream::pf_subscriber_surface(w.any(SUBSCRIBER, s.which[0]), &raw mut found)
    };
    ("pf_subscriber_frame", w, s) {
        let mut found: pf_stream_frame = std::mem::zeroed();
        found.size = size::<pf_stream_frame>(s.n[0]);
        stream::pf_subscriber_frame(w.any(SUBSCRIBER, s.which[0]), &raw mut found)
    };
    ("pf_subscriber_read", w, s) {
        let mut bytes = [0_u8; BYTES];
        let pitch = if s.n[1] % 8 == 0 { usize::MAX - s.n[2] as usize } else { s.n[1] as usize % 400 };
        stream::pf_subscriber_read(w.any(SUBSCRIBER, s.which[0]), bytes.as_mut_ptr().cast(), s.n[0] as usize % BYTES, pitch)
    };
    ("pf_subscriber_memory", w, s) gives(w, MEMORY, |to| stream::pf_subscriber_memory(w.any(SUBSCRIBER, s.which[0]), to));
    ("pf_subscriber_explain", w, s) says(w, |to| stream::pf_subscriber_explain(w.any(SUBSCRIBER, s.which[0]), to));
    ("pf_subscriber_free", w, s) { let at = w.any(SUBSCRIBER, s.which[0]); w.took(stream::pf_subscriber_free(at), at) };
    (ELSEWHERE, w, s) {
        let rest: Vec<_> = w.script.borrow_mut().by_ref().take(s.n[0] as usize % 12).collect();
        let held = w.held.borrow().clone();
        elsewhere(w, held, rest)
    };
}
