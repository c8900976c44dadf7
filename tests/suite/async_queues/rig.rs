//! Helpers shared by the cases.

use interop_core::compute::UserEvent;
use pixelferry::{
    Arg, ComputeBackend, ComputeMemory, ComputeQueue, CpuBuffer, CpuKernelExt, Event, Kernel, KernelSource,
    QueueOptions, Target,
};
use std::sync::Arc;

pub type Outcome = Result<(), Box<dyn std::error::Error>>;

/// Opens another backend on the same device.
pub type Open = fn() -> pixelferry::Result<Arc<dyn ComputeBackend>>;

/// Feature that the driver lacks.
#[derive(Debug)]
pub struct Lacks(pub String);

impl std::fmt::Display for Lacks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "driver lacks it: {}", self.0)
    }
}

impl std::error::Error for Lacks {}

/// One backend with its kernels.
#[derive(Clone)]
pub struct Rig {
    pub backend: Arc<dyn ComputeBackend>,
    pub open: Open,
    mix: Arc<dyn Kernel>,
}

/// Returns what kernel `add_scaled` does to one item of its target, `a` being its argument's.
pub const fn mixed(out: u32, a: u32, k: u32) -> u32 {
    out.wrapping_mul(3).wrapping_add(a).wrapping_add(k)
}

fn mix_source() -> KernelSource {
    let source = KernelSource::new("add_scaled").cpu_buffer(|out: &mut CpuBuffer<'_>, args| {
        let (a, k) = (args.memory::<u32>(0)?, args.u32(1)?);
        out.par_chunks::<u32>(4096, |chunk, items| {
            items.iter_mut().zip(&a[chunk * 4096..]).for_each(|(v, a)| *v = mixed(*v, *a, k));
        })
    });
    let opencl = "__kernel void add_scaled(PF_BUFFER(uint, out), __global const uint *a, uint k) {
                    size_t i = get_global_id(0);
                    if (i < PF_LEN(out)) PF_ITEM(out, i) = PF_ITEM(out, i) * 3 + a[i] + k;
                  }";
    let cuda = "extern \"C\" __global__ void add_scaled(PF_BUFFER(unsigned, out), const unsigned *a, unsigned k) {
                  unsigned long long i = blockIdx.x * (unsigned long long)blockDim.x + threadIdx.x;
                  if (i < PF_LEN(out)) PF_ITEM(out, i) = PF_ITEM(out, i) * 3 + a[i] + k;
                }";
    // SAFETY: each item writes its own number below the target's length and reads the same of `a`, which the tests make as
    // long.
    unsafe { source.opencl_c(opencl).cuda_cpp(cuda) }
}

impl Rig {
    pub fn new(backend: &Arc<dyn ComputeBackend>, open: Open) -> Self {
        let mix = backend.build(&mix_source()).unwrap();
        Self { backend: backend.clone(), open, mix }
    }

    pub fn queue(&self, options: QueueOptions) -> Box<dyn ComputeQueue> {
        self.backend.queue(options).unwrap()
    }

    pub fn in_order(&self) -> Box<dyn ComputeQueue> {
        self.queue(QueueOptions::in_order())
    }

    /// Memory full of `value`.
    pub fn memory(&self, items: usize, value: u32) -> Box<dyn ComputeMemory> {
        let mut memory = self.backend.allocate(4 * items).unwrap();
        memory.write(0, &value.to_ne_bytes().repeat(items)).unwrap();
        memory
    }

    pub fn mix(
        &self,
        queue: &dyn ComputeQueue,
        out: &mut dyn ComputeMemory,
        a: &dyn ComputeMemory,
        k: u32,
        wait: &[Event],
    ) -> pixelferry::Result<Event> {
        queue.launch(self.mix.as_ref(), Target::buffer(out), &[Arg::Memory(a), Arg::U32(k)], wait)
    }

    /// [`Self::mix`] in the backend's own queue.
    pub fn mix_by_default(&self, out: &mut dyn ComputeMemory, a: &dyn ComputeMemory, k: u32) -> pixelferry::Result<()> {
        self.backend.launch(self.mix.as_ref(), Target::buffer(out), &[Arg::Memory(a), Arg::U32(k)])
    }

    /// A wait list, and what lets go of it.
    pub fn held(&self) -> (UserEvent, [Event; 1]) {
        let user = UserEvent::new();
        let event = user.event();
        (user, [event])
    }
}

pub fn bytes(items: &[u32]) -> Vec<u8> {
    items.iter().flat_map(|v| v.to_ne_bytes()).collect()
}

pub fn items(bytes: &[u8]) -> Vec<u32> {
    bytes.as_chunks::<4>().0.iter().map(|b| u32::from_ne_bytes(*b)).collect()
}

/// `Err` with both where they differ.
pub fn same<T: PartialEq + std::fmt::Debug>(what: &str, found: T, expected: T) -> Outcome {
    if found == expected { Ok(()) } else { Err(format!("{what}: {found:?} instead of {expected:?}").into()) }
}

pub fn ensure(what: &str, holds: bool) -> Outcome {
    if holds { Ok(()) } else { Err(what.into()) }
}
