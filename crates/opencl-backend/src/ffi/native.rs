//! Host closures as commands (`clEnqueueNativeKernel`).

use super::callback::contained;
use super::track::Access;
use super::{Event, Failure, Mem, Queue};
use cl3::command_queue as q;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The closure; it gets the bytes of each memory in the order given, or none where the driver gave no address.
pub type NativeFn = Box<dyn FnOnce(Vec<&mut [u8]>) + Send>;

struct Job {
    f: NativeFn,
    lens: Vec<usize>,
    /// Set when the closure did not run to its end.
    failed: Arc<AtomicBool>,
}

/// A host command, and whether it failed by a panic.
pub struct NativeLaunch {
    pub event: Event,
    pub failed: Arc<AtomicBool>,
}

impl Queue {
    /// Runs `f` as a command, after all commands that use these bytes, and before all later ones.
    pub fn native(&self, mems: &[(&Mem, usize)], f: NativeFn, wait: &[Event]) -> Result<NativeLaunch, Failure> {
        let uses: Vec<_> =
            mems.iter().map(|(mem, len)| mem.used(&Range { start: 0, end: *len }, Access::Write)).collect();
        let raw: Vec<_> = mems.iter().map(|(mem, _)| mem.raw()).collect();
        let failed = Arc::new(AtomicBool::new(false));
        let job = Job { f, lens: mems.iter().map(|(_, len)| *len).collect(), failed: failed.clone() };
        let job = Box::into_raw(Box::new(job));
        // The block that the driver copies: the job, then a place for the address of each memory.
        let mut args: Vec<*mut c_void> = vec![job.cast()];
        args.extend(&raw);
        let places: Vec<*const c_void> = args.iter().skip(1).map(|place| ptr::from_ref(place).cast()).collect();
        let list = |v: &[*mut c_void]| if v.is_empty() { ptr::null() } else { v.as_ptr() };
        // SAFETY: the block is `args`, which the driver copies; `places` point into it; `run` knows its layout.
        let event = self.enqueue_exclusively("clEnqueueNativeKernel", &uses, wait, |queue, n, events| unsafe {
            q::enqueue_native_kernel(
                queue,
                Some(run),
                args.as_mut_ptr().cast(),
                size_of_val(args.as_slice()),
                raw.len() as u32,
                list(&raw),
                if places.is_empty() { ptr::null() } else { places.as_ptr() },
                n,
                events,
            )
        });
        match event {
            Ok(event) => Ok(NativeLaunch { event, failed }),
            Err(failure) => {
                // SAFETY: the driver refused the command, so that the job is still ours.
                drop(unsafe { Box::from_raw(job) });
                Err(failure)
            }
        }
    }
}

unsafe extern "C" fn run(args: *mut c_void) {
    let args = args.cast::<*mut c_void>();
    // SAFETY: `native` laid the block out: first the job, which the driver hands over once.
    let job = unsafe { Box::from_raw(args.read().cast::<Job>()) };
    let Job { f, lens, failed } = *job;
    failed.store(true, Ordering::Release);
    let done = failed.clone();
    contained("host kernel", move || {
        let bytes = lens.iter().enumerate().map(|(index, len)| {
            // SAFETY: the driver put one address for each memory after the job.
            let address = unsafe { args.add(index + 1).read() };
            // SAFETY: the memory has this length, memories do not overlap, and no other command or map uses them until
            // this one is done.
            (!address.is_null()).then(|| unsafe { std::slice::from_raw_parts_mut(address.cast::<u8>(), *len) })
        });
        if let Some(bytes) = bytes.collect::<Option<Vec<_>>>() {
            f(bytes);
            done.store(false, Ordering::Release);
        } else {
            tracing::error!("the driver gave a host kernel no address for its memory");
        }
    });
}
