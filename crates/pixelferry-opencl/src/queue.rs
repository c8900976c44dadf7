//! [`Queue`]: where commands go.

use super::flags::{InfoValue, choices};
use super::{Context, Device, Event, QueueCapabilities};
use crate::ffi;
use interop_core::Result;
use std::fmt;

/// Constants of `cl_khr_priority_hints` and `cl_khr_throttle_hints`; cl3 does not have them.
mod hints {
    pub const CL_QUEUE_PRIORITY_HIGH_KHR: u32 = 1;
    pub const CL_QUEUE_PRIORITY_MED_KHR: u32 = 2;
    pub const CL_QUEUE_PRIORITY_LOW_KHR: u32 = 4;
    pub const CL_QUEUE_THROTTLE_HIGH_KHR: u32 = 1;
    pub const CL_QUEUE_THROTTLE_MED_KHR: u32 = 2;
    pub const CL_QUEUE_THROTTLE_LOW_KHR: u32 = 4;
}

choices! {
    /// A hint which queue goes first (`cl_khr_priority_hints`).
    Priority {
        /// Before others.
        High = hints::CL_QUEUE_PRIORITY_HIGH_KHR;
        /// The default.
        Medium = hints::CL_QUEUE_PRIORITY_MED_KHR;
        /// After others.
        Low = hints::CL_QUEUE_PRIORITY_LOW_KHR;
    }
}

choices! {
    /// A hint how much power a queue may take (`cl_khr_throttle_hints`).
    Throttle {
        /// Full speed.
        High = hints::CL_QUEUE_THROTTLE_HIGH_KHR;
        /// The default.
        Medium = hints::CL_QUEUE_THROTTLE_MED_KHR;
        /// Little power.
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
    /// Events know when their commands ran (`CL_QUEUE_PROFILING_ENABLE`).
    pub profiling: bool,
    /// `CL_QUEUE_PRIORITY_KHR`.
    pub priority: Option<Priority>,
    /// `CL_QUEUE_THROTTLE_KHR`.
    pub throttle: Option<Throttle>,
}

impl QueueOptions {
    /// Sets whether commands may run out of order (`CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE`).
    #[must_use]
    pub fn with_out_of_order(self, out_of_order: bool) -> Self {
        Self { out_of_order, ..self }
    }

    /// Sets whether events know when their commands ran (`CL_QUEUE_PROFILING_ENABLE`).
    #[must_use]
    pub fn with_profiling(self, profiling: bool) -> Self {
        Self { profiling, ..self }
    }

    /// Sets the priority (`CL_QUEUE_PRIORITY_KHR`); `None`: the driver's own.
    #[must_use]
    pub fn with_priority(self, priority: impl Into<Option<Priority>>) -> Self {
        Self { priority: priority.into(), ..self }
    }

    /// Sets the throttle (`CL_QUEUE_THROTTLE_KHR`); `None`: the driver's own.
    #[must_use]
    pub fn with_throttle(self, throttle: impl Into<Option<Throttle>>) -> Self {
        Self { throttle: throttle.into(), ..self }
    }
}

/// A queue of commands for one device (OpenCL 3.0 API, 5.1; `clCreateCommandQueue`). Cheap to clone; any thread may use
/// it. Every command takes a list of events to wait for and gives an event.
///
/// Methods that block say so. What is enqueued starts at the latest when something waits for it, on
/// [`Queue::flush`], and when the last clone of the queue goes.
#[derive(Clone)]
pub struct Queue {
    pub(crate) raw: ffi::Queue,
    context: Context,
    device: Device,
}

impl Queue {
    /// An in-order queue on the context's first device (`clCreateCommandQueue`).
    pub fn new(context: &Context) -> Result<Self> {
        let device = context.devices().first().ok_or_else(|| context.foreign("clCreateCommandQueue", "device"))?;
        Self::with_options(context, device, &QueueOptions::default())
    }

    /// A queue on one of the context's devices (`clCreateCommandQueue`; with a priority or throttle
    /// `clCreateCommandQueueWithProperties`).
    ///
    /// # Errors
    /// [`interop_core::Error::Unsupported`] where the device does not list what the options ask for, or has no OpenCL
    /// 2.0 for a priority or throttle. [`interop_core::Error::Foreign`] for a device of another context.
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
        let properties = ffi::QueueProperties {
            out_of_order: options.out_of_order,
            profiling: options.profiling,
            priority: options.priority.map(|p| p.code().into()),
            throttle: options.throttle.map(|t| t.code().into()),
        };
        let raw = ffi::Queue::new(&context.raw, &device.raw, properties).map_err(|f| context.error(f))?;
        Ok(Self::of(raw, context.clone(), device.clone()))
    }

    #[doc(hidden)]
    pub fn of(raw: ffi::Queue, context: Context, device: Device) -> Self {
        Self { raw, context, device }
    }

    /// Its context (`CL_QUEUE_CONTEXT`).
    pub fn context(&self) -> &Context {
        &self.context
    }

    /// Its device (`CL_QUEUE_DEVICE`).
    pub fn device(&self) -> &Device {
        &self.device
    }

    /// True where commands may overtake each other (`CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE`).
    pub fn is_out_of_order(&self) -> bool {
        self.raw.properties().out_of_order
    }

    /// True where its events have times (`CL_QUEUE_PROFILING_ENABLE`).
    pub fn is_profiling(&self) -> bool {
        self.raw.properties().profiling
    }

    /// Makes the device start on what is queued (`clFlush`).
    pub fn flush(&self) -> Result<()> {
        self.raw.flush().map_err(|f| self.context.error(f))
    }

    /// Blocks until the queue is empty (`clFinish`).
    ///
    /// # Errors
    /// Also where a command before it failed.
    pub fn finish(&self) -> Result<()> {
        self.raw.finish().map_err(|f| self.context.error(f))
    }

    /// An event for the end of `wait`, or of everything enqueued before where that is empty
    /// (`clEnqueueMarkerWithWaitList`).
    pub fn marker(&self, wait: &[Event]) -> Result<Event> {
        self.command("clEnqueueMarkerWithWaitList", wait, |queue, wait| queue.marker(wait))
    }

    /// An event for the end of `wait`, or of everything enqueued before where that is empty. What is enqueued later
    /// waits for it (`clEnqueueBarrierWithWaitList`).
    pub fn barrier(&self, wait: &[Event]) -> Result<Event> {
        self.command("clEnqueueBarrierWithWaitList", wait, |queue, wait| queue.barrier(wait))
    }

    /// Enqueues a command by `call` and wraps its event.
    pub(super) fn command(
        &self,
        operation: &'static str,
        wait: &[Event],
        call: impl FnOnce(&ffi::Queue, &[ffi::Event]) -> Result<ffi::Event, ffi::Failure>,
    ) -> Result<Event> {
        let event = self.enqueue(operation, wait, call)?;
        Ok(Event::of(event, &self.context))
    }

    /// Enqueues a command by `call`, which gives any value.
    pub(super) fn enqueue<R>(
        &self,
        operation: &'static str,
        wait: &[Event],
        call: impl FnOnce(&ffi::Queue, &[ffi::Event]) -> Result<R, ffi::Failure>,
    ) -> Result<R> {
        let wait = self.context.wait_list(operation, wait)?;
        call(&self.raw, &wait).map_err(|f| self.context.error(f))
    }
}

impl fmt::Debug for Queue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Queue({:?}, {:?})", self.device, self.raw.properties())
    }
}
