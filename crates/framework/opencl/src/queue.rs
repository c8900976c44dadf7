//! [`Queue`]: the queue of a device's commands.

use super::flags::{InfoValue, choices};
use super::{Context, Device, QueueCapabilities};
use crate::ffi::handle::{Handle, QueueKind};
use crate::ffi::{Failure, check};
use cl3::command_queue as q;
use interop_core::describe::threads::SignalMaskGuard;
use interop_core::{Error, Result};
use std::fmt;
use std::sync::Arc;

/// Constants of `cl_khr_priority_hints` and `cl_khr_throttle_hints`; cl3 does not have them.
mod hints {
    pub const CL_QUEUE_PRIORITY_KHR: u64 = 0x1096;
    pub const CL_QUEUE_THROTTLE_KHR: u64 = 0x1097;
    pub const CL_QUEUE_PRIORITY_HIGH_KHR: u32 = 1;
    pub const CL_QUEUE_PRIORITY_MED_KHR: u32 = 2;
    pub const CL_QUEUE_PRIORITY_LOW_KHR: u32 = 4;
    pub const CL_QUEUE_THROTTLE_HIGH_KHR: u32 = 1;
    pub const CL_QUEUE_THROTTLE_MED_KHR: u32 = 2;
    pub const CL_QUEUE_THROTTLE_LOW_KHR: u32 = 4;
}

choices! {
    /// A hint which queue runs first (`cl_khr_priority_hints`).
    Priority {
        /// Before other queues.
        High = hints::CL_QUEUE_PRIORITY_HIGH_KHR;
        /// The default.
        Medium = hints::CL_QUEUE_PRIORITY_MED_KHR;
        /// After other queues.
        Low = hints::CL_QUEUE_PRIORITY_LOW_KHR;
    }
}

choices! {
    /// A hint how much power a queue may use (`cl_khr_throttle_hints`).
    Throttle {
        /// Full speed.
        High = hints::CL_QUEUE_THROTTLE_HIGH_KHR;
        /// The default.
        Medium = hints::CL_QUEUE_THROTTLE_MED_KHR;
        /// Low power.
        Low = hints::CL_QUEUE_THROTTLE_LOW_KHR;
    }
}

/// Options of a new queue (`cl_queue_properties`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub struct QueueOptions {
    /// Commands may run in any order that their wait lists and barriers allow
    /// (`CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE`).
    pub out_of_order: bool,
    /// Events record the times of their commands (`CL_QUEUE_PROFILING_ENABLE`).
    pub profiling: bool,
    /// `CL_QUEUE_PRIORITY_KHR`.
    pub priority: Option<Priority>,
    /// `CL_QUEUE_THROTTLE_KHR`.
    pub throttle: Option<Throttle>,
}

impl QueueOptions {
    fn bits(&self) -> u64 {
        let bit = |set, bit| if set { bit } else { 0 };
        bit(self.out_of_order, q::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
            | bit(self.profiling, q::CL_QUEUE_PROFILING_ENABLE)
    }

    /// Returns the options of an existing queue (`CL_QUEUE_PROPERTIES`).
    pub(crate) fn from_bits(bits: u64) -> Self {
        Self::default()
            .with_out_of_order(bits & q::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0)
            .with_profiling(bits & q::CL_QUEUE_PROFILING_ENABLE != 0)
    }

    fn list(&self) -> Vec<u64> {
        let mut list = vec![q::CL_QUEUE_PROPERTIES as u64, self.bits()];
        let priority = self.priority.map(|priority| [hints::CL_QUEUE_PRIORITY_KHR, priority.code().into()]);
        let throttle = self.throttle.map(|throttle| [hints::CL_QUEUE_THROTTLE_KHR, throttle.code().into()]);
        list.extend(priority.into_iter().chain(throttle).flatten());
        list.push(0);
        list
    }
}

interop_core::setters!(QueueOptions {
    /// Sets whether commands may run out of order (`CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE`).
    with_out_of_order(out_of_order: bool);
    /// Sets whether events record the times of their commands (`CL_QUEUE_PROFILING_ENABLE`).
    with_profiling(profiling: bool);
    /// Sets the priority (`CL_QUEUE_PRIORITY_KHR`); `None` means the driver's default.
    with_priority(priority: impl Into<Option<Priority>>);
    /// Sets the throttle (`CL_QUEUE_THROTTLE_KHR`); `None` means the driver's default.
    with_throttle(throttle: impl Into<Option<Throttle>>);
});

/// A queue of commands for one device (OpenCL 3.0 API, 5.1; `clCreateCommandQueue`). Cheap to clone; any thread may use
/// it. Every command takes a list of events to wait for and returns an event.
///
/// Methods that block state so. A command starts at the latest when another one or the host waits for it, on
/// [`Queue::flush`], and on the drop of the queue's last clone.
#[derive(Clone)]
pub struct Queue(Arc<Parts>);

struct Parts {
    handle: Handle<QueueKind>,
    /// Kept for the queue: sub-devices live as long as their context.
    context: Context,
    device: Device,
    options: QueueOptions,
    /// rusticl 25.0 multiplies the offset of a copy from an image to a buffer by the bytes of a pixel, and so writes to
    /// wrong positions. Other versions were not all tested.
    miscounts_offsets: bool,
    /// The driver is PoCL, see [`MayFail`](crate::ffi::may_fail::MayFail).
    is_pocl: bool,
}

impl Queue {
    /// Creates an in-order queue on the context's first device (`clCreateCommandQueue`).
    pub fn new(context: &Context) -> Result<Self> {
        let device = context.devices().first().ok_or_else(|| context.foreign("clCreateCommandQueue", "device"))?;
        Self::with_options(context, device, &QueueOptions::default())
    }

    /// Creates a queue on one of the context's devices (`clCreateCommandQueue`; with a priority or throttle
    /// `clCreateCommandQueueWithProperties`).
    ///
    /// # Errors
    /// [`interop_core::Error::Unsupported`] where the device does not list what the options request, or lacks OpenCL
    /// 2.0 for a priority or throttle; [`interop_core::Error::Foreign`] for a device of another context.
    pub fn with_options(context: &Context, device: &Device, options: &QueueOptions) -> Result<Self> {
        const OP: &str = "clCreateCommandQueue";
        context.check_device(device, OP)?;
        let listed = device.queue_properties()?;
        for (asked, bit) in
            [(options.out_of_order, QueueCapabilities::OUT_OF_ORDER), (options.profiling, QueueCapabilities::PROFILING)]
        {
            if asked && !listed.contains(bit) {
                return Err(device.unsupported(OP, format!("CL_DEVICE_QUEUE_PROPERTIES lists {listed}, not {bit}")));
            }
        }
        for (asked, extension) in [
            (options.priority.is_some(), "cl_khr_priority_hints"),
            (options.throttle.is_some(), "cl_khr_throttle_hints"),
        ] {
            if asked {
                device.require_extension(extension, OP)?;
                device.require_version((2, 0), OP)?;
            }
        }
        let error = |failure| context.error(failure);
        let _blocked = SignalMaskGuard::new();
        let (context_id, device_id) = (context.raw(), device.raw());
        let (operation, raw) = if options.priority.is_some() || options.throttle.is_some() {
            let list = options.list();
            // SAFETY: the list ends with 0; context and device are live.
            let raw = unsafe { q::create_command_queue_with_properties(context_id, device_id, list.as_ptr().cast()) };
            ("clCreateCommandQueueWithProperties", raw)
        } else {
            // The older function, which every driver has; drivers for 1.2 lack the one with properties, and some
            // loaders jump to it nonetheless.
            // SAFETY: context and device are live.
            #[allow(deprecated)]
            let raw = unsafe { q::create_command_queue(context_id, device_id, options.bits()) };
            (OP, raw)
        };
        // SAFETY: a queue that was just created, whose one reference is ours.
        let handle = unsafe { Handle::own(operation, raw) }.map_err(error)?;
        Self::of(handle, context, device, *options)
    }

    pub(crate) fn of(
        handle: Handle<QueueKind>,
        context: &Context,
        device: &Device,
        options: QueueOptions,
    ) -> Result<Self> {
        let platform = device.platform();
        let (miscounts_offsets, is_pocl) = (platform.is_rusticl()?, platform.is_pocl()?);
        let (context, device) = (context.clone(), device.clone());
        Ok(Self(Arc::new(Parts { handle, context, device, options, miscounts_offsets, is_pocl })))
    }

    pub(crate) fn handle(&self) -> &Handle<QueueKind> {
        &self.0.handle
    }

    /// Returns true where both values are one queue (`cl_command_queue`).
    pub fn is(&self, other: &Self) -> bool {
        self.raw() == other.raw()
    }

    /// Returns true where its context needs the workaround for commands that fail by their wait lists.
    pub(crate) fn is_pocl(&self) -> bool {
        self.0.is_pocl
    }

    pub(crate) fn miscounts_offsets(&self) -> bool {
        self.0.miscounts_offsets
    }

    pub(crate) fn error(&self, failure: Failure) -> Error {
        self.0.context.error(failure)
    }

    /// Returns its context (`CL_QUEUE_CONTEXT`).
    pub fn context(&self) -> &Context {
        &self.0.context
    }

    /// Returns its device (`CL_QUEUE_DEVICE`).
    pub fn device(&self) -> &Device {
        &self.0.device
    }

    /// Returns true where commands may run out of order (`CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE`).
    pub fn is_out_of_order(&self) -> bool {
        self.0.options.out_of_order
    }

    /// Returns true where its events record times (`CL_QUEUE_PROFILING_ENABLE`).
    pub fn is_profiling(&self) -> bool {
        self.0.options.profiling
    }

    /// Makes the device start the queued commands (`clFlush`).
    pub fn flush(&self) -> Result<()> {
        check("clFlush", q::flush(self.raw())).map_err(|f| self.error(f))
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Queue({:?}, {:?})", self.device(), self.0.options)
    }
}
