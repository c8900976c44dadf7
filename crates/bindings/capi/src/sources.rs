//! Kernels: source texts, and C functions that threads run.

use crate::abi::*;
use crate::convert::format_code;
use crate::failure::{Failure, Result};
use crate::handles::{Handle as _, SharedMemory};
use pixelferry::{Arg, ComputeMemory, CpuArgs, CpuKernelExt as _, Error, KernelSource};
use std::cell::Ref;
use std::ffi::c_void;
use std::sync::atomic::{AtomicI32, Ordering};

/// A caller's function for the rows of an image or the bytes of a buffer.
#[derive(Clone, Copy)]
pub struct HostFunction {
    function: unsafe extern "C" fn(*mut c_void, *const pf_pixels, *const pf_arg, usize) -> i32,
    user: *mut c_void,
}

// SAFETY: the header requires a function and a pointer that any thread may use, several at a time.
unsafe impl Send for HostFunction {}
// SAFETY: the same.
unsafe impl Sync for HostFunction {}

/// The arguments of a launch, which threads read.
struct HostArgs(Vec<pf_arg>);

// SAFETY: what they point to is only read while the launch runs, which holds it.
unsafe impl Sync for HostArgs {}

impl HostFunction {
    /// Returns `None` for null.
    ///
    /// # Safety
    /// Until the kernel is freed, any thread may call `function` with `user`, also several at a time. It writes only
    /// the pixels that it receives, reads only its arguments, and returns (no exception, no `longjmp`).
    pub unsafe fn new(function: pf_host_function, user: *mut c_void) -> Option<Self> {
        Some(Self { function: function?, user })
    }

    fn call(&self, pixels: &pf_pixels, args: &HostArgs) -> i32 {
        // SAFETY: the promise of `new`; both live until it returns.
        unsafe { (self.function)(self.user, pixels, args.0.as_ptr(), args.0.len()) }
    }

    fn rows<const N: usize>(
        self,
        out: &mut pixelferry::CpuImage<'_>,
        args: &HostArgs,
        failed: &AtomicI32,
    ) -> Result<(), Error> {
        let (width, height, format) = (out.width(), out.height(), format_code(out.format()));
        out.par_rows::<[u8; N]>(|y, row| {
            let (data, row_bytes) = (row.as_mut_ptr().cast(), size_of_val(row));
            let pixels = pf_pixels { data, row_bytes, row: y, rows: 1, width, height, format, ..pf_pixels::blank() };
            let code = self.call(&pixels, args);
            if code != 0 {
                failed.store(code, Ordering::Relaxed);
            }
        })
    }

    /// Adds the function to a kernel.
    pub fn add_to(self, source: KernelSource) -> KernelSource {
        let name = source.name().to_owned();
        let ended = move |code: i32| -> Result<(), Error> {
            if code == 0 {
                return Ok(());
            }
            let reason = format!("its function ended with {code}");
            Err(Error::KernelFailed { kernel: name.clone(), device: "CPU threads".into(), reason })
        };
        let of_buffers = ended.clone();
        source
            .cpu_image(move |out, args| {
                let (args, failed) = (host_args(args), AtomicI32::new(0));
                match out.format().bytes_per_pixel() {
                    1 => self.rows::<1>(out, &args, &failed),
                    2 => self.rows::<2>(out, &args, &failed),
                    4 => self.rows::<4>(out, &args, &failed),
                    8 => self.rows::<8>(out, &args, &failed),
                    _ => self.rows::<16>(out, &args, &failed),
                }?;
                ended(failed.into_inner())
            })
            .cpu_buffer(move |out, args| {
                let bytes = out.as_slice_mut::<u8>()?;
                let (data, row_bytes) = (bytes.as_mut_ptr().cast(), bytes.len());
                let pixels = pf_pixels { data, row_bytes, rows: 1, ..pf_pixels::blank() };
                of_buffers(self.call(&pixels, &host_args(args)))
            })
    }
}

/// Converts the arguments of a launch for C.
fn host_args(args: &CpuArgs<'_>) -> HostArgs {
    HostArgs((0..args.len()).map(|at| host_arg(args, at)).collect())
}

fn host_arg(args: &CpuArgs<'_>, at: usize) -> pf_arg {
    let number = (args.i32(at).ok().map(|v| (PIXELFERRY_ARG_I32, pf_value { i32: v })))
        .or_else(|| Some((PIXELFERRY_ARG_U32, pf_value { u32: args.u32(at).ok()? })))
        .or_else(|| Some((PIXELFERRY_ARG_F32, pf_value { f32: args.f32(at).ok()? })))
        .or_else(|| Some((PIXELFERRY_ARG_I64, pf_value { i64: args.i64(at).ok()? })))
        .or_else(|| Some((PIXELFERRY_ARG_U64, pf_value { u64: args.u64(at).ok()? })))
        .or_else(|| Some((PIXELFERRY_ARG_F64, pf_value { f64: args.f64(at).ok()? })));
    let bytes = args.memory::<u8>(at).unwrap_or_default();
    let (kind, value) = number.unwrap_or((PIXELFERRY_ARG_MEMORY, pf_value { host: bytes.as_ptr().cast() }));
    pf_arg { kind, reserved: 0, value, bytes: bytes.len() as u64 }
}

/// The caller's memories of a launch, found by their handles; [`LaunchSources::args`] are its arguments as long as this lives.
pub struct LaunchSources {
    given: Vec<(pf_arg, Option<SharedMemory>)>,
}

impl LaunchSources {
    /// Finds every memory.
    pub fn up(args: &[pf_arg]) -> Result<Self> {
        let look = |arg: &pf_arg| {
            let memory = match arg.kind {
                // SAFETY: the kind says which member the caller set; the number is looked up, never followed.
                PIXELFERRY_ARG_MEMORY => Some(pf_memory::get(unsafe { arg.value.memory })?),
                _ => None,
            };
            Ok((*arg, memory))
        };
        Ok(Self { given: args.iter().map(look).collect::<Result<_>>()? })
    }

    /// Borrows the memories.
    pub fn borrow(&self) -> Result<Vec<ArgMemory<'_>>> {
        self.given.iter().map(|(arg, memory)| borrowed(arg, memory.as_ref())).collect()
    }
}

/// An argument and, if it is one, its memory.
pub type ArgMemory<'a> = (pf_arg, Option<Ref<'a, dyn ComputeMemory>>);

fn borrowed<'a>(arg: &pf_arg, memory: Option<&'a SharedMemory>) -> Result<ArgMemory<'a>> {
    let memory = memory.map(|memory| memory.read().ok_or_else(busy_memory)).transpose()?;
    Ok((*arg, memory))
}

/// The failure for a memory that a running call writes.
pub fn busy_memory() -> Failure {
    Failure::Busy("this pf_memory is the target of the current call; use another one as argument")
}

/// Returns the arguments of a launch.
pub fn arguments<'a>(borrowed: &'a [ArgMemory<'_>]) -> Result<Vec<Arg<'a>>> {
    borrowed.iter().enumerate().map(|(at, (arg, memory))| argument(at, arg, memory.as_deref())).collect()
}

fn argument<'a>(at: usize, arg: &pf_arg, memory: Option<&'a dyn ComputeMemory>) -> Result<Arg<'a>> {
    // SAFETY: the kind says which member the caller set, and every bit pattern is a number.
    unsafe {
        Ok(match (arg.kind, memory) {
            (PIXELFERRY_ARG_I32, _) => Arg::I32(arg.value.i32),
            (PIXELFERRY_ARG_U32, _) => Arg::U32(arg.value.u32),
            (PIXELFERRY_ARG_F32, _) => Arg::F32(arg.value.f32),
            (PIXELFERRY_ARG_I64, _) => Arg::I64(arg.value.i64),
            (PIXELFERRY_ARG_U64, _) => Arg::U64(arg.value.u64),
            (PIXELFERRY_ARG_F64, _) => Arg::F64(arg.value.f64),
            (PIXELFERRY_ARG_MEMORY, Some(memory)) => Arg::Memory(memory),
            (kind, _) => {
                return Err(Failure::argument(format!(
                    "args[{at}].kind is {kind}, which is not a PIXELFERRY_ARG_ value"
                )));
            }
        })
    }
}
