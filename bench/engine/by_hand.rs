//! The row written by hand: three pieces of memory and, if the two sides share them, a pair of semaphores for each.

use crate::Subject;
use crate::engine::{Engine, Point};
use crate::ours::shares;
use ash::vk;
use interop_core::describe::pattern::Pattern;
use interop_core::{
    ComputeBackend, ComputeMemory, ComputeSemaphore, HostBlock, ImageView, PixelFormat, SharedHandle, SurfaceDesc,
    SyncKind, Target, View,
};
use pixelferry_vulkan::VulkanDisplay;
use pixelferry_vulkan::sharing::{Allocation, Object, Semaphore};
use std::sync::Arc;

const SLOTS: usize = 3;

/// A semaphore as each side opened it.
struct Both {
    compute: Box<dyn ComputeSemaphore>,
    vulkan: Semaphore,
}

struct Slot {
    memory: Box<dyn ComputeMemory>,
    buffer: vk::Buffer,
    /// The semaphores for "written" and "read".
    semaphores: Option<[Both; 2]>,
    value: u64,
    _allocation: Option<Arc<Allocation>>,
}

pub struct ByHand {
    slots: Vec<Slot>,
    next: usize,
    view: ImageView,
    backend: Arc<dyn ComputeBackend>,
    engine: Arc<Engine>,
    _display: Arc<VulkanDisplay>,
}

impl ByHand {
    pub fn new(backend: &Arc<dyn ComputeBackend>, display: &Arc<VulkanDisplay>, engine: Arc<Engine>) -> Self {
        let view = ImageView::packed(engine.extent, PixelFormat::Rgba8, 256, 0, false).expect("a size");
        let slots = (0..SLOTS).map(|_| slot(backend.as_ref(), &engine, view.span().end as u64)).collect();
        let (backend, _display) = (Arc::clone(backend), Arc::clone(display));
        Self { slots, next: 0, view, backend, engine, _display }
    }
}

fn slot(backend: &dyn ComputeBackend, engine: &Engine, bytes: u64) -> Slot {
    let usage = vk::BufferUsageFlags::TRANSFER_SRC | vk::BufferUsageFlags::STORAGE_BUFFER;
    let raw = |made: &Allocation| match made.object() {
        Object::Buffer(buffer) => buffer,
        Object::Image(_) => panic!("no buffer"),
    };
    if shares(backend) {
        let made = engine.sharing.exported_buffer(bytes, usage).expect("memory");
        let handle = SharedHandle::Memory(made.export(&engine.sharing).expect("a handle"));
        let memory = backend.import_surface(&handle, &SurfaceDesc::buffer(bytes)).expect("the same memory");
        let semaphore = || {
            let vulkan = engine.sharing.exported_semaphore(SyncKind::TimelineSemaphore).expect("a semaphore");
            let handle = SharedHandle::Semaphore(vulkan.export(&engine.sharing).expect("a handle"));
            Both { compute: backend.import_semaphore(&handle).expect("the same semaphore"), vulkan }
        };
        let (buffer, semaphores) = (raw(&made), Some([semaphore(), semaphore()]));
        return Slot { memory, buffer, semaphores, value: 0, _allocation: Some(Arc::new(made)) };
    }
    let (made, address) = engine.sharing.mapped_buffer(bytes, usage).expect("memory");
    let buffer = raw(&made);
    // SAFETY: the allocation, which stays mapped and was zeroed, lives as long as the block; nobody else maps it.
    let block = unsafe { HostBlock::from_raw(address, bytes as usize, Arc::new(made)) };
    let memory = backend.import_host(&block).expect("the same memory");
    Slot { memory, buffer, semaphores: None, value: 0, _allocation: None }
}

impl Subject for ByHand {
    fn name(&self) -> &'static str {
        "by hand"
    }

    fn frame(&mut self, n: u32) {
        let slot = &mut self.slots[self.next];
        self.next = (self.next + 1) % SLOTS;
        let view = View::Image(self.view);
        let pattern = Pattern::for_view(&view, n);
        if let Some([_, read]) = &mut slot.semaphores {
            read.compute.wait(slot.value).expect("a wait");
        }
        slot.memory.acquire().expect("memory");
        let target = Target::new(slot.memory.as_mut(), view).expect("memory");
        self.backend.write_pattern(target, &pattern).expect("a kernel");
        slot.value += 1;
        let (ready, done): (Option<Point>, Option<Point>) = match &mut slot.semaphores {
            Some([written, read]) => {
                slot.memory.release_in_queue().expect("memory");
                written.compute.signal(slot.value).expect("a signal");
                (Some((written.vulkan.raw(), slot.value)), Some((read.vulkan.raw(), slot.value)))
            }
            None => {
                slot.memory.release().expect("memory");
                (None, None)
            }
        };
        self.engine.show(slot.buffer, &self.view, ready, done);
    }

    fn pixels(&self) -> Vec<u8> {
        self.engine.pixels()
    }
}
