//! Host closures as commands.

use super::{Buffer, Event, ExecCapabilities, Queue};
#[cfg(doc)]
use super::{HostBuffer, MemFlags};
use crate::ffi::track::{Access, ClosureBorrows, CommandEntry};
use crate::ffi::{Failure, Mem};
use cl3::command_queue as q;
use cl3::error_codes::CL_MAP_FAILURE;
use cl3::memory as m;
use interop_core::describe::panics::contain;
use interop_core::{Error, Result};
use std::ffi::c_void;
use std::ops::Range;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// A host closure in a queue (`clEnqueueNativeKernel`).
pub struct NativeKernel {
    event: Event,
    failed: Arc<AtomicBool>,
}

impl NativeKernel {
    /// Returns its `cl_event`, for wait lists.
    pub fn event(&self) -> &Event {
        &self.event
    }

    /// Blocks until it has completed (`clWaitForEvents`).
    ///
    /// # Errors
    /// [`Error::KernelFailed`] where the closure panicked. OpenCL cannot report this, so commands that wait for the
    /// event continue.
    pub fn wait(&self) -> Result<()> {
        self.event.wait()?;
        if self.failed.load(Ordering::Acquire) {
            return Err(Error::KernelFailed {
                kernel: "a host closure".into(),
                device: self.event.context().name().to_owned(),
                reason: "it panicked; see the log".into(),
            });
        }
        Ok(())
    }
}

impl Queue {
    /// Runs `f` as a command, with the bytes of `buffers` in their order (`clEnqueueNativeKernel`). Does not block.
    ///
    /// It runs after every command that uses these buffers, on any queue, and later commands on them wait for it. If
    /// other code also owns the host memory of a [`HostBuffer`], this waits for that code's commands, and its use of
    /// these bytes before `f` has run returns an error. The buffers are mapped for `f` (`clEnqueueMapBuffer`), so the
    /// driver rejects those created with [`MemFlags::HOST_NO_ACCESS`].
    ///
    /// # Errors
    /// [`Error::Unsupported`] where `CL_DEVICE_EXECUTION_CAPABILITIES` does not list `CL_EXEC_NATIVE_KERNEL`;
    /// [`Error::InvalidInput`] where the buffers overlap or are mapped, or other code has a slice of their host memory.
    pub fn native(
        &self,
        buffers: &[&Buffer],
        f: impl FnOnce(Vec<&mut [u8]>) + Send + 'static,
        wait: &[Event],
    ) -> Result<NativeKernel> {
        let listed = self.device().execution_capabilities()?;
        if !listed.contains(ExecCapabilities::NATIVE_KERNEL) {
            let reason = format!("CL_DEVICE_EXECUTION_CAPABILITIES lists {listed}, not NATIVE_KERNEL");
            return Err(self.device().unsupported(CALL, reason));
        }
        for buffer in buffers {
            self.context().check_same(&buffer.context, CALL, "buffer")?;
        }
        let mems: Vec<_> = buffers.iter().map(|buffer| (&*buffer.raw, buffer.len())).collect();
        self.native_on(&mems, Box::new(f), wait)
    }
}

/// The closure; it receives the bytes of each memory in the order given.
type NativeFn = Box<dyn FnOnce(Vec<&mut [u8]>) + Send>;

const CALL: &str = "clEnqueueNativeKernel";

struct Job {
    f: NativeFn,
    /// Address and length of each memory, mapped.
    pieces: Vec<(*mut c_void, usize)>,
    /// Set if the closure did not run to its end.
    failed: Arc<AtomicBool>,
    kept: ClosureBorrows,
}

/// Memory that the host may access from the end of `mapped` until it is unmapped.
struct MappedFor<'a> {
    mem: &'a Mem,
    address: *mut c_void,
    mapped: Event,
}

impl Queue {
    /// The memories are mapped for it, and the driver receives none of them: PoCL 3.1 sorts a list of memories, but not
    /// the places for their addresses, so that a closure received the address of one with the length of another.
    fn native_on(&self, mems: &[(&Mem, usize)], f: NativeFn, wait: &[Event]) -> Result<NativeKernel> {
        let uses: Vec<_> =
            mems.iter().map(|(mem, len)| mem.used(&Range { start: 0, end: *len }, Access::Write)).collect();
        let (entering, kept) = CommandEntry::exclusive(CALL, &uses).map_err(|f| self.error(f))?;
        let wait = [wait, &entering.after].concat();
        let mut maps = Vec::with_capacity(mems.len());
        let launched = self.map_all(mems, &wait, &mut maps).and_then(|()| {
            let failed = Arc::new(AtomicBool::new(false));
            let pieces = maps.iter().zip(mems).map(|(map, (_, len))| (map.address, *len)).collect();
            let after = maps.iter().map(|map| map.mapped.clone()).collect::<Vec<_>>();
            let job = Box::new(Job { f, pieces, failed: failed.clone(), kept: kept.clone() });
            let event = self.launch_native(job, if after.is_empty() { &wait } else { &after })?;
            mems.iter().for_each(|(mem, _)| mem.tracker().keep(&event, &kept));
            Ok(NativeKernel { event, failed })
        });
        // Later commands follow the last one, whatever its result is.
        let ran = launched.as_ref().ok().map(|launch| launch.event.clone());
        if let Some(last) = self.unmap_all(&maps, ran.as_ref()).or(ran) {
            entering.entered(&last, false);
        }
        launched
    }

    fn map_all<'a>(&self, mems: &[(&'a Mem, usize)], wait: &[Event], maps: &mut Vec<MappedFor<'a>>) -> Result<()> {
        const CALL: &str = "clEnqueueMapBuffer";
        for (mem, len) in mems {
            let mut address = ptr::null_mut();
            // SAFETY: queue, memory and events are live; the address is written before the call returns.
            let mapped = self.enqueue(CALL, wait, |queue, n, list| unsafe {
                let flags = m::CL_MAP_READ | m::CL_MAP_WRITE;
                q::enqueue_map_buffer(queue, mem.raw(), 0, flags, 0, *len, &mut address, n, list)
            })?;
            maps.push(MappedFor { mem, address, mapped });
            if address.is_null() {
                return Err(self.error(Failure { operation: CALL, code: CL_MAP_FAILURE }));
            }
        }
        Ok(())
    }

    fn launch_native(&self, job: Box<Job>, wait: &[Event]) -> Result<Event> {
        let mut job = Box::into_raw(job);
        // SAFETY: the driver copies the block, which is one pointer; `run` makes it a box again, once; queue and events
        // are live.
        let event = self.enqueue(CALL, wait, |queue, n, list| unsafe {
            let (block, size) = (ptr::from_mut(&mut job).cast(), size_of::<*mut Job>());
            q::enqueue_native_kernel(queue, Some(run), block, size, 0, ptr::null(), ptr::null(), n, list)
        });
        if event.is_err() {
            // SAFETY: the driver refused the command, so that the job is still ours.
            drop(unsafe { Box::from_raw(job) });
        }
        event
    }

    /// Unmaps one after another, after `ran`, or each after its map; returns the last event.
    fn unmap_all(&self, maps: &[MappedFor<'_>], ran: Option<&Event>) -> Option<Event> {
        let mut last = None;
        for map in maps.iter().filter(|map| !map.address.is_null()) {
            let after = [ran.unwrap_or(&map.mapped)].into_iter().chain(&last).cloned().collect::<Vec<_>>();
            // SAFETY: the address came from mapping this memory, and is unmapped once; queue and events are live.
            let unmapped = self.enqueue("clEnqueueUnmapMemObject", &after, |queue, n, list| unsafe {
                q::enqueue_unmap_mem_object(queue, map.mem.raw(), map.address, n, list)
            });
            match unmapped {
                Ok(event) => last = Some(event),
                Err(error) => tracing::warn!(%error, "memory was not unmapped after a host closure"),
            }
        }
        last
    }
}

unsafe extern "C" fn run(args: *mut c_void) {
    // SAFETY: the block is what `launch_native` gave: the job, which the driver hands over once.
    let job = unsafe { Box::from_raw(args.cast::<*mut Job>().read()) };
    let Job { f, pieces, failed, kept } = *job;
    failed.store(true, Ordering::Release);
    let done = failed.clone();
    contain("host kernel", move || {
        let bytes = pieces.into_iter().map(|(address, len)| {
            // SAFETY: mapped with this length until this command is done; memories do not overlap, and no other command
            // or map uses them meanwhile.
            unsafe { std::slice::from_raw_parts_mut(address.cast::<u8>(), len) }
        });
        f(bytes.collect());
        done.store(false, Ordering::Release);
    });
    kept.let_go();
}
