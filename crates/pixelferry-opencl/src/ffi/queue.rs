//! Command queues.

use super::handle::{Handle, QueueKind};
use super::{Context, Device, Failure, PlatformId, check};
use cl3::command_queue as q;
use std::ffi::c_void;
use std::sync::Arc;

/// Properties of a new queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct QueueProperties {
    /// `CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE`.
    pub out_of_order: bool,
    /// `CL_QUEUE_PROFILING_ENABLE`.
    pub profiling: bool,
    /// Value of `CL_QUEUE_PRIORITY_KHR`.
    pub priority: Option<u64>,
    /// Value of `CL_QUEUE_THROTTLE_KHR`.
    pub throttle: Option<u64>,
}

const CL_QUEUE_PRIORITY_KHR: u64 = 0x1096;
const CL_QUEUE_THROTTLE_KHR: u64 = 0x1097;

impl QueueProperties {
    fn bits(&self) -> u64 {
        let bit = |set, bit| if set { bit } else { 0 };
        bit(self.out_of_order, q::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
            | bit(self.profiling, q::CL_QUEUE_PROFILING_ENABLE)
    }

    /// Those of a queue that is there (`CL_QUEUE_PROPERTIES`).
    pub(super) fn from_bits(bits: u64) -> Self {
        Self {
            out_of_order: bits & q::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0,
            profiling: bits & q::CL_QUEUE_PROFILING_ENABLE != 0,
            ..Self::default()
        }
    }

    fn list(&self) -> Vec<u64> {
        let mut list = vec![q::CL_QUEUE_PROPERTIES as u64, self.bits()];
        for (key, value) in [(CL_QUEUE_PRIORITY_KHR, self.priority), (CL_QUEUE_THROTTLE_KHR, self.throttle)] {
            list.extend(value.into_iter().flat_map(|value| [key, value]));
        }
        list.push(0);
        list
    }
}

/// A queue of one device; clones are the same queue. Any thread may use it.
#[derive(Clone)]
pub struct Queue {
    handle: Arc<Handle<QueueKind>>,
    /// Kept for the queue: sub-devices live as long as their context here.
    context: Arc<Context>,
    properties: QueueProperties,
    /// rusticl 25.0 multiplies the offset of a copy from an image to a buffer by the bytes of a pixel. So it writes
    /// beside or behind the buffer. Other versions were not all tried.
    miscounts_offsets: bool,
    /// The driver is PoCL, see [`MayFail`](super::may_fail::MayFail).
    is_pocl: bool,
}

impl Queue {
    /// `device` must belong to the context. Priority and throttle need OpenCL 2.0 and the extensions of their name.
    pub fn new(context: &Arc<Context>, device: &Device, properties: QueueProperties) -> Result<Self, Failure> {
        let (operation, raw) = if properties.priority.or(properties.throttle).is_some() {
            let list = properties.list();
            // SAFETY: the list ends with 0; context and device are live.
            let raw =
                unsafe { q::create_command_queue_with_properties(context.raw(), device.id.0, list.as_ptr().cast()) };
            ("clCreateCommandQueueWithProperties", raw)
        } else {
            // The older function, which every driver has; drivers for 1.2 lack the one with properties, and some
            // loaders jump to it nonetheless.
            // SAFETY: context and device are live.
            #[allow(deprecated)]
            let raw = unsafe { q::create_command_queue(context.raw(), device.id.0, properties.bits()) };
            ("clCreateCommandQueue", raw)
        };
        // SAFETY: a queue that was just created, whose one reference is ours.
        let handle = unsafe { Handle::own(operation, raw) }?;
        Self::of(handle, context, device.platform, properties)
    }

    pub(super) fn of(
        handle: Handle<QueueKind>,
        context: &Arc<Context>,
        platform: PlatformId,
        properties: QueueProperties,
    ) -> Result<Self, Failure> {
        let miscounts_offsets = platform.is_rusticl()?;
        let is_pocl = platform.is_pocl()?;
        Ok(Self { handle: Arc::new(handle), context: context.clone(), properties, miscounts_offsets, is_pocl })
    }

    /// True where its context cares for commands that fail by their wait lists.
    pub(super) fn is_pocl(&self) -> bool {
        self.is_pocl
    }

    pub(super) fn context(&self) -> &Context {
        &self.context
    }

    pub(super) fn miscounts_offsets(&self) -> bool {
        self.miscounts_offsets
    }

    pub fn properties(&self) -> QueueProperties {
        self.properties
    }

    pub fn is(&self, other: &Self) -> bool {
        self.raw() == other.raw()
    }

    pub fn raw(&self) -> *mut c_void {
        self.handle.raw()
    }

    pub fn references(&self) -> Result<u32, Failure> {
        self.handle.references()
    }

    /// Makes the device start on what is queued.
    pub fn flush(&self) -> Result<(), Failure> {
        check("clFlush", q::flush(self.raw()))
    }
}
