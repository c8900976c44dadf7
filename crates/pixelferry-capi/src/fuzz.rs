//! Calls of the header in any order, with handles of all ages, kinds and threads, also from inside the functions that a caller gives.
//!
//! `PROPTEST_CASES=8000 cargo test -p pixelferry-capi --lib fuzz -- --nocapture` makes about a million calls and counts them.

use crate::abi::*;
use crate::call::call;
use crate::exports::{backend, display, frame, link, log, machine, memory, objects, shared, shown, target};
use crate::failure::Result;
use crate::handles::Handle as _;
use crate::objects::{IntakeSlot, OutletSlot};
use pixelferry::{Intake, Outlet, Surface};
use proptest::prelude::*;
use proptest::test_runner::TestCaseError;
use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;
use std::ffi::{CStr, c_char, c_void};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};

/// One call: which, on what, with which numbers.
#[derive(Debug, Clone)]
struct Step {
    call: usize,
    which: [u16; 3],
    n: [u32; 4],
}

const KINDS: usize = 12;
/// Places of [`World::held`].
const BACKEND: usize = 0;
const KERNEL: usize = 1;
const MEMORY: usize = 2;
const DISPLAY: usize = 3;
const LINK: usize = 4;
const FRAME: usize = 5;
const SHOWN: usize = 6;
const OUTLET: usize = 7;
const INTAKE: usize = 8;
const SHARED: usize = 9;
const STARTED: usize = 10;
const TEXT: usize = 11;
const BYTES: usize = 1 << 12;

/// Objects of one thread's program.
#[derive(Default)]
struct World {
    /// Handles of each kind that were ever made, the freed ones among them.
    held: RefCell<[Vec<usize>; KINDS]>,
    /// Those that a call took for good; none may be taken again.
    gone: RefCell<BTreeSet<usize>>,
    script: RefCell<std::vec::IntoIter<Step>>,
    depth: Cell<u32>,
    logging: Cell<bool>,
    wrong: RefCell<Option<String>>,
}

thread_local! {
    static WORLD: World = World::default();
}

static ENDED: [AtomicU64; 21] = [const { AtomicU64::new(0) }; 21];

impl World {
    /// Any number in a handle's place, in most cases a handle of the kind.
    fn any<T>(&self, kind: usize, which: u16) -> *mut T {
        let held = self.held.borrow();
        let of = |kind: usize| held[kind].get(usize::from(which) % held[kind].len().max(1)).copied();
        let found = match which >> 11 {
            0 => Some(usize::from(which)),
            1 => of(usize::from(which) % TEXT),
            2 => Some(usize::MAX - usize::from(which & 7)),
            3 => Some((&raw const *self).addr()),
            _ => of(kind),
        };
        ptr::without_provenance_mut(found.unwrap_or(0))
    }

    /// Notes how a call ended that gives a handle, which is null after an error.
    fn made<T>(&self, kind: usize, status: pf_status, handle: *mut T) -> pf_status {
        if (status == PIXELFERRY_OK) == handle.is_null() {
            self.fails(format!("a call gave {status} and {handle:?}"));
        }
        if status == PIXELFERRY_OK {
            self.held.borrow_mut()[kind].push(handle.addr());
        }
        status
    }

    /// Notes how a call ended after which the handle is gone.
    fn took<T>(&self, status: pf_status, handle: *mut T) -> pf_status {
        if status == PIXELFERRY_OK && !handle.is_null() && !self.gone.borrow_mut().insert(handle.addr()) {
            self.fails(format!("{handle:?} was freed twice"));
        }
        status
    }

    fn fails(&self, what: String) {
        self.wrong.borrow_mut().get_or_insert(what);
    }

    /// The next steps, from inside a function that was given.
    fn few(&self, count: u32) {
        if self.depth.get() < 3 {
            self.depth.set(self.depth.get() + 1);
            (0..count).take_while(|_| self.step()).for_each(drop);
            self.depth.set(self.depth.get() - 1);
        }
    }

    /// False where the script is over.
    fn step(&self) -> bool {
        let Some(step) = self.script.borrow_mut().next() else { return false };
        let (name, call) = CALLS[step.call % CALLS.len()];
        let status = call(self, &step);
        match usize::try_from(status).ok().and_then(|at| ENDED.get(at)) {
            // That one counts the calls it makes.
            Some(count) => drop(count.fetch_add(u64::from(name != ELSEWHERE), Ordering::Relaxed)),
            None => self.fails(format!("{name} gave {status}, which is no status")),
        }
        if status == PIXELFERRY_ERROR_PANIC {
            // SAFETY: the message lasts until the next failure on this thread.
            let said = unsafe { CStr::from_ptr(machine::pf_last_error_message()) };
            self.fails(format!("{name}: {}", said.to_string_lossy()));
        }
        true
    }

    /// Frees all, oldest or newest first; a handle may be gone.
    fn free_all(&self, newest_first: bool) {
        let held = self.held.take();
        for (kind, handles) in held.iter().enumerate() {
            let mut handles = handles.clone();
            if newest_first {
                handles.reverse();
            }
            for handle in handles {
                free(kind, handle);
            }
        }
    }
}

fn free(kind: usize, handle: usize) -> pf_status {
    fn at<T>(handle: usize) -> *mut T {
        ptr::without_provenance_mut(handle)
    }
    match kind {
        BACKEND => backend::pf_backend_free(at(handle)),
        KERNEL => backend::pf_kernel_free(at(handle)),
        MEMORY => memory::pf_memory_free(at(handle)),
        DISPLAY => display::pf_display_free(at(handle)),
        LINK => link::pf_link_free(at(handle)),
        FRAME => frame::pf_frame_cancel(at(handle)),
        SHOWN => shown::pf_shown_release(at(handle)),
        OUTLET => objects::pf_outlet_free(at(handle)),
        INTAKE => objects::pf_intake_free(at(handle)),
        SHARED => shared::pf_shared_link_free(at(handle)),
        STARTED => shared::pf_started_free(at(handle)),
        _ => machine::pf_string_free(ptr::with_exposed_provenance_mut(handle)),
    }
}

/// In most cases the size that the struct has.
fn size<T>(n: u32) -> usize {
    match n % 16 {
        0..=2 => n as usize / 16 % (size_of::<T>() + 8),
        3 => usize::MAX - n as usize,
        _ => size_of::<T>(),
    }
}

fn surface(step: &Step) -> pf_surface {
    let [a, b, c, d] = step.n;
    let odd = a % 32 == 0;
    let side = |n: u32| if odd { n } else { n % 40 };
    let is_buffer = b % 5 == 0;
    pf_surface {
        size: size::<pf_surface>(d),
        bytes: if !is_buffer {
            0
        } else if odd {
            u64::from(c) << 32
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

fn args(world: &World, step: &Step) -> [pf_arg; 3] {
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

/// A surface in the place of an engine's own object, which plain memory has none of.
fn object(world: &World, step: &Step) -> Result<Surface> {
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

type Call = fn(&World, &Step) -> pf_status;

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

const ELSEWHERE: &str = "elsewhere";

macro_rules! calls {
    ($(($name:expr, $world:ident, $step:ident) $call:expr;)*) => {
        // SAFETY: every pointer that is given is null, or of a value of its type that lives until the call returns; handles are numbers.
        const CALLS: &[(&str, Call)] = &[$(($name, |$world, $step| { #[allow(unused_unsafe)] unsafe { $call } })),*];
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
            reserved: 0,
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
    ("pf_shown_release", w, s) { let at = w.any(SHOWN, s.which[0]); w.took(shown::pf_shown_release(at), at) };
    ("pf_shown_release", w, s) { let at = w.any(SHOWN, s.which[0]); w.took(shown::pf_shown_release(at), at) };
    ("pf_shown_surface", w, s) {
        let mut found = surface(s);
        shown::pf_shown_surface(w.any(SHOWN, s.which[0]), &raw mut found)
    };
    ("pf_shown_draw_gl", w, s) shown::pf_shown_draw_gl(w.any(SHOWN, s.which[0]), s.n[0] as i32, 0, s.n[1], s.n[2], ptr::null());
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
        shared::pf_shared_link_open(w.any(BACKEND, s.which[0]), Some(open_memory), none, &surface(s), ptr::null(), to)
    });
    ("pf_shared_link_frame", w, s) shared::pf_shared_link_frame(w.any(SHARED, s.which[0]), Some(write_some), ptr::null_mut());
    ("pf_shared_link_start_frame", w, s) gives(w, STARTED, |to| {
        shared::pf_shared_link_start_frame(w.any(SHARED, s.which[0]), Some(write_some), ptr::null_mut(), to)
    });
    ("pf_started_wait", w, s) shared::pf_started_wait(w.any(STARTED, s.which[0]));
    // One that is held would keep other threads waiting for ever.
    ("pf_shared_link_show", w, s) {
        let mut shown = ptr::null_mut();
        let status = shared::pf_shared_link_show(w.any(SHARED, s.which[0]), &raw mut shown);
        if status == PIXELFERRY_OK { shared::pf_shared_frame_release(shown) } else { status }
    };
    ("pf_shared_link_resize", w, s) shared::pf_shared_link_resize(w.any(SHARED, s.which[0]), &surface(s));
    ("pf_shared_link_free", w, s) { let at = w.any(SHARED, s.which[0]); w.took(shared::pf_shared_link_free(at), at) };
    (ELSEWHERE, w, s) {
        let rest: Vec<_> = w.script.borrow_mut().by_ref().take(s.n[0] as usize % 12).collect();
        let held = w.held.borrow().clone();
        elsewhere(w, held, rest)
    };
}

/// Runs the next steps on a thread of their own, with the handles of this one.
fn elsewhere(world: &World, held: [Vec<usize>; KINDS], steps: Vec<Step>) -> pf_status {
    let body = move || {
        WORLD.with(|other| {
            let lens = held.each_ref().map(Vec::len);
            *other.held.borrow_mut() = held;
            *other.script.borrow_mut() = steps.into_iter();
            while other.step() {}
            // Objects of this thread go with it; the rest is the other's.
            let mut made = other.held.take();
            made.iter_mut().zip(lens).for_each(|(handles, len)| drop(handles.drain(..len)));
            *other.held.borrow_mut() = made;
            other.free_all(false);
            (other.wrong.take(), other.gone.take())
        })
    };
    match std::thread::spawn(body).join() {
        Ok((wrong, gone)) => {
            wrong.into_iter().for_each(|what| world.fails(what));
            for handle in gone {
                world.took(PIXELFERRY_OK, ptr::without_provenance_mut::<u8>(handle));
            }
        }
        Err(_) => world.fails("a thread panicked".into()),
    }
    PIXELFERRY_OK
}

/// All that the steps do wrong, and whether a new link works behind them.
fn run(steps: Vec<Step>, newest_first: bool) -> Result<(), TestCaseError> {
    WORLD.with(|world| {
        *world.script.borrow_mut() = Vec::new().into_iter();
        let started =
            [0, 0, 1, 1, 7, 7].map(|call| Step { call, which: [u16::MAX; 3], n: [1, 1 | 20 << 8, 7 << 8, 2 | 3 << 8] });
        *world.script.borrow_mut() = started.into_iter().chain(steps).collect::<Vec<_>>().into_iter();
        while world.step() {}
        // SAFETY: there is no function.
        let _ = unsafe { log::pf_set_log(None, ptr::null_mut(), 0) };
        world.free_all(newest_first);
        world.gone.take();
        world.wrong.take().map_or(Ok(()), |what| Err(TestCaseError::fail(what)))
    })?;
    crate::tests::a_link_works();
    Ok(())
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = (0..CALLS.len(), any::<[u16; 3]>(), any::<[u32; 4]>());
    let step = step.prop_map(|(call, which, n)| Step { call, which, n });
    prop::collection::vec(step, 1..250)
}

#[test]
#[cfg_attr(miri, ignore = "hours")]
fn calls_in_any_order_end_with_a_status() {
    let config = ProptestConfig { failure_persistence: None, max_shrink_iters: 400, ..ProptestConfig::default() };
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { config.cases } else { 64 };
    let config = ProptestConfig { cases, ..config };
    proptest!(config, |(steps in steps(), newest_first: bool)| run(steps, newest_first)?);
    let counts: Vec<u64> = ENDED.iter().map(|count| count.load(Ordering::Relaxed)).collect();
    println!("{} calls; by status: {counts:?}", counts.iter().sum::<u64>());
    // A run in which nearly all is refused shows nothing.
    assert!(counts[0] * 8 > counts.iter().sum::<u64>(), "{counts:?}");
}
