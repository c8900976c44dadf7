//! Counts calls of OpenGL for tests: each function goes through a few bytes of machine code that count first.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::{CStr, c_void};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Bytes for one function.
const CODE: usize = 32;
const FUNCTIONS: usize = 4096;

/// The functions that count, by their names; `None`: functions are passed on as they are.
pub(crate) type Counters = Option<BTreeMap<String, (&'static AtomicU64, *const c_void)>>;

thread_local! {
    pub(crate) static COUNTERS: RefCell<Counters> = const { RefCell::new(None) };
    static CODES: RefCell<(*mut u8, usize)> = const { RefCell::new((std::ptr::null_mut(), 0)) };
}

/// Returns a function that counts and goes on to this one, where this thread counts.
pub(crate) fn function(name: &CStr, function: *const c_void) -> *const c_void {
    COUNTERS.with_borrow_mut(|counters| {
        let Some(counters) = counters.as_mut().filter(|_| !function.is_null()) else { return function };
        let make = || {
            let counter: &'static AtomicU64 = Box::leak(Box::default());
            (counter, counting(counter, function))
        };
        counters.entry(name.to_string_lossy().into_owned()).or_insert_with(make).1
    })
}

fn counting(counter: &'static AtomicU64, function: *const c_void) -> *const c_void {
    CODES.with_borrow_mut(|(start, used)| {
        // SAFETY: the memory is this thread's alone, is never freed, and each piece of code is written once, before it is called.
        unsafe {
            if start.is_null() {
                let may = libc::PROT_READ | libc::PROT_WRITE | libc::PROT_EXEC;
                let kind = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
                let made = libc::mmap(std::ptr::null_mut(), CODE * FUNCTIONS, may, kind, -1, 0);
                assert_ne!(made, libc::MAP_FAILED, "no memory for code");
                *start = made.cast();
            }
            assert!(*used < FUNCTIONS, "more functions than OpenGL has");
            let code = start.add(CODE * *used);
            *used += 1;
            // mov rax, counter; lock inc qword [rax]; mov rax, function; jmp rax
            let mut bytes = vec![0x48, 0xB8];
            bytes.extend(std::ptr::from_ref(counter).expose_provenance().to_le_bytes());
            bytes.extend([0xF0, 0x48, 0xFF, 0x00, 0x48, 0xB8]);
            bytes.extend(function.expose_provenance().to_le_bytes());
            bytes.extend([0xFF, 0xE0]);
            std::ptr::copy_nonoverlapping(bytes.as_ptr(), code, bytes.len());
            code.cast_const().cast()
        }
    })
}

/// The calls of `work`, by their names.
pub(crate) fn calls(work: impl FnOnce()) -> BTreeMap<String, u64> {
    let all = |counters: &Counters| -> Vec<_> {
        counters.iter().flatten().map(|(name, (counter, _))| (name.clone(), counter.load(Relaxed))).collect()
    };
    let before: BTreeMap<_, _> = COUNTERS.with_borrow(all).into_iter().collect();
    work();
    COUNTERS
        .with_borrow(all)
        .into_iter()
        .map(|(name, count)| (count - before[&name], name))
        .filter(|(n, _)| *n > 0)
        .map(|(n, name)| (name, n))
        .collect()
}
