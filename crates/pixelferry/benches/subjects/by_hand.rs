//! The bench's frames by OpenCL and OpenGL calls, as a careful program without the framework writes them.

use super::Subject;
use opencl3::command_queue as queue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device, get_all_devices};
use opencl3::kernel as kernels;
use opencl3::memory as mem;
use opencl3::program as programs;
use opencl3::types::{cl_kernel, cl_mem};
use pixelferry::PathId;
use pixelferry::driver::HostBlock;
use pixelferry::gl_display::GlFunctions;
use pixelferry::gl_display::glow::{self, HasContext as _};
use std::ffi::{CString, c_void};
use std::ptr;

const AMD_PINNED: u32 = 0x9160;
const SOURCE: &str = "
kernel void ramp(global uchar4* out, long offset, int pitch, int width, int height, uint n) {
  int x = get_global_id(0), y = get_global_id(1);
  if (x < width && y < height) out[offset + (long)y * pitch + x] = (uchar4)(x + n, y, n, 255);
}";

/// Device objects are left to the end of the process: the benchmark makes each once.
pub struct ByHand {
    gl: GlFunctions,
    queue: opencl3::types::cl_command_queue,
    kernel: Option<cl_kernel>,
    kind: PathId,
    width: i32,
    height: i32,
    slots: Vec<Slot>,
    next: usize,
    shown: Option<usize>,
    texture: glow::Texture,
    n: u32,
}

struct Slot {
    memory: cl_mem,
    pbo: Option<glow::Buffer>,
    mapped: *mut c_void,
    lent: Option<*mut c_void>,
    fence: Option<glow::Fence>,
    _pages: Option<HostBlock>,
}

impl ByHand {
    pub fn open(gl: GlFunctions, kind: PathId, width: u32, height: u32, with_kernel: bool) -> Self {
        let id = get_all_devices(CL_DEVICE_TYPE_ALL).expect("devices")[0];
        let context = Context::from_device(&Device::new(id)).expect("context");
        // SAFETY: live handles of one context, and arguments as the specification asks for them.
        unsafe {
            let queue = queue::create_command_queue_with_properties(context.get(), id, ptr::null()).expect("queue");
            let kernel = with_kernel.then(|| {
                let program = programs::create_program_with_source(context.get(), &[SOURCE]).expect("program");
                let options = CString::default();
                programs::build_program(program, &[id], &options, None, ptr::null_mut()).expect("build");
                kernels::create_kernel(program, &CString::new("ramp").expect("a name")).expect("kernel")
            });
            let count = if matches!(kind, PathId::PBO_ORPHAN | PathId::HOST_ROUND_TRIP) { 1 } else { 3 };
            let bytes = width as usize * height as usize * 4;
            let slots: Vec<Slot> = (0..count).map(|_| Slot::new(&gl, context.get(), kind, bytes)).collect();
            // Pages that nobody wrote are all one page of zeros, which the cache holds.
            for slot in &slots {
                let written = vec![7_u8; bytes];
                let from = written.as_ptr().cast_mut().cast();
                release(queue::enqueue_write_buffer(queue, slot.memory, 1, 0, bytes, from, 0, ptr::null()));
            }
            let texture = gl.create_named_texture(glow::TEXTURE_2D).expect("texture");
            gl.texture_storage_2d(texture, 1, glow::RGBA8, width as i32, height as i32);
            std::mem::forget(context);
            let (width, height) = (width as i32, height as i32);
            Self { gl, queue, kernel, kind, width, height, slots, next: 0, shown: None, texture, n: 0 }
        }
    }

    // Of every call below: handles are live, addresses were mapped with the size of a frame, and calls block.

    fn launch(&mut self, slot: usize) {
        let Some(kernel) = self.kernel else { return };
        self.n += 1;
        let memory = self.slots[slot].memory;
        // SAFETY: see above.
        unsafe {
            let set = |i, size, value: *const c_void| kernels::set_kernel_arg(kernel, i, size, value).expect("arg");
            set(0, size_of::<cl_mem>(), ptr::from_ref(&memory).cast());
            set(1, 8, ptr::from_ref(&0_i64).cast());
            set(2, 4, ptr::from_ref(&self.width).cast());
            set(3, 4, ptr::from_ref(&self.width).cast());
            set(4, 4, ptr::from_ref(&self.height).cast());
            set(5, 4, ptr::from_ref(&self.n).cast());
            let global = [self.width, self.height].map(|n| (n as usize).next_multiple_of(16));
            let local = [16_usize, 16];
            let event = queue::enqueue_nd_range_kernel(
                self.queue,
                kernel,
                2,
                ptr::null(),
                global.as_ptr(),
                local.as_ptr(),
                0,
                ptr::null(),
            );
            release(event);
            queue::flush(self.queue).expect("flush");
        }
    }

    fn map(&self, slot: usize, flags: u64) -> *mut c_void {
        let mut address = ptr::null_mut();
        // SAFETY: see `launch`.
        unsafe {
            release(queue::enqueue_map_buffer(
                self.queue,
                self.slots[slot].memory,
                1,
                flags,
                0,
                self.bytes(),
                &mut address,
                0,
                ptr::null(),
            ));
        }
        address
    }

    fn unmap(&self, slot: usize, address: *mut c_void) {
        // SAFETY: see `launch`.
        unsafe {
            release(queue::enqueue_unmap_mem_object(self.queue, self.slots[slot].memory, address, 0, ptr::null()));
        }
    }

    fn read_into(&self, slot: usize, address: *mut c_void) {
        // SAFETY: see `launch`.
        unsafe {
            let memory = self.slots[slot].memory;
            release(queue::enqueue_read_buffer(self.queue, memory, 1, 0, self.bytes(), address, 0, ptr::null()));
        }
    }

    fn bytes(&self) -> usize {
        self.width as usize * self.height as usize * 4
    }

    fn wait(&mut self, slot: usize) {
        if let Some(fence) = self.slots[slot].fence.take() {
            // SAFETY: the fence is of this context, which is current.
            unsafe {
                self.gl.client_wait_sync(fence, glow::SYNC_FLUSH_COMMANDS_BIT, i32::MAX);
                self.gl.delete_sync(fence);
            }
        }
    }

    fn fence(&mut self, slot: usize) {
        // SAFETY: the context is current.
        let fence = unsafe { self.gl.fence_sync(glow::SYNC_GPU_COMMANDS_COMPLETE, 0) }.expect("fence");
        if let Some(old) = self.slots[slot].fence.replace(fence) {
            // SAFETY: as above.
            unsafe { self.gl.delete_sync(old) };
        }
    }

    fn upload(&self, data: glow::PixelUnpackData<'_>) {
        // SAFETY: the context is current; the data has the size of a frame.
        unsafe {
            let (format, kind) = (glow::RGBA, glow::UNSIGNED_BYTE);
            self.gl.texture_sub_image_2d(self.texture, 0, 0, 0, self.width, self.height, format, kind, data);
        }
    }

    fn upload_from(&self, pbo: Option<glow::Buffer>) {
        // SAFETY: the context is current; the buffer has the size of a frame.
        unsafe { self.gl.bind_buffer(glow::PIXEL_UNPACK_BUFFER, pbo) };
        self.upload(glow::PixelUnpackData::BufferOffset(0));
        // SAFETY: as above.
        unsafe { self.gl.bind_buffer(glow::PIXEL_UNPACK_BUFFER, None) };
    }
}

impl Subject for ByHand {
    fn frame(&mut self) {
        let slot = self.next;
        self.next = (slot + 1) % self.slots.len();
        match self.kind {
            PathId::HOST_ROUND_TRIP => {
                self.launch(slot);
                let address = self.map(slot, mem::CL_MAP_READ);
                // SAFETY: mapped for reading with the size of a frame until `unmap`.
                let bytes = unsafe { std::slice::from_raw_parts(address.cast(), self.bytes()) };
                self.upload(glow::PixelUnpackData::Slice(Some(bytes)));
                self.unmap(slot, address);
            }
            PathId::PBO_ORPHAN => {
                self.launch(slot);
                let pbo = self.slots[slot].pbo.expect("a PBO");
                let flags = glow::MAP_WRITE_BIT | glow::MAP_INVALIDATE_BUFFER_BIT;
                // SAFETY: the context is current; the buffer has this size and is not mapped.
                let address = unsafe {
                    self.gl.bind_buffer(glow::PIXEL_UNPACK_BUFFER, Some(pbo));
                    self.gl.map_buffer_range(glow::PIXEL_UNPACK_BUFFER, 0, self.bytes() as i32, flags)
                };
                self.read_into(slot, address.cast());
                // SAFETY: mapped just now.
                unsafe { self.gl.unmap_buffer(glow::PIXEL_UNPACK_BUFFER) };
                self.upload_from(Some(pbo));
            }
            PathId::PBO_PERSISTENT => {
                self.launch(slot);
                self.wait(slot);
                self.read_into(slot, self.slots[slot].mapped);
                self.upload_from(self.slots[slot].pbo);
                self.fence(slot);
            }
            _ => {
                self.wait(slot);
                // Mapped memory is given back only where a kernel is about to write it.
                if self.kernel.is_some()
                    && let Some(address) = self.slots[slot].lent.take()
                {
                    self.unmap(slot, address);
                }
                self.launch(slot);
                if self.slots[slot].lent.is_none() {
                    self.slots[slot].lent = Some(self.map(slot, mem::CL_MAP_READ | mem::CL_MAP_WRITE));
                }
                if matches!(self.kind, PathId::HOST_VISIBLE_UPLOAD | PathId::PINNED_UPLOAD) {
                    self.upload_from(self.slots[slot].pbo);
                    self.fence(slot);
                } else if let Some(before) = self.shown.replace(slot) {
                    // Reading in place, the draw of the next frame just takes another buffer texture.
                    self.fence(before);
                }
            }
        }
    }
}

impl Slot {
    /// SAFETY: the contexts are live and, for OpenGL, current.
    unsafe fn new(gl: &glow::Context, context: opencl3::types::cl_context, kind: PathId, bytes: usize) -> Self {
        let mut slot =
            Self { memory: ptr::null_mut(), pbo: None, mapped: ptr::null_mut(), lent: None, fence: None, _pages: None };
        let mut flags = mem::CL_MEM_READ_WRITE;
        let mut host = ptr::null_mut();
        // SAFETY: the caller's promise; sizes as given.
        unsafe {
            match kind {
                PathId::HOST_ROUND_TRIP => flags |= mem::CL_MEM_ALLOC_HOST_PTR,
                PathId::PBO_ORPHAN => {
                    flags |= mem::CL_MEM_ALLOC_HOST_PTR;
                    let pbo = gl.create_named_buffer().expect("buffer");
                    gl.named_buffer_data_size(pbo, bytes as i32, glow::STREAM_DRAW);
                    slot.pbo = Some(pbo);
                }
                PathId::PINNED_IN_PLACE | PathId::PINNED_UPLOAD => {
                    let pages = HostBlock::allocate(bytes).expect("pages");
                    host = pages.address().as_ptr().cast();
                    let all = std::slice::from_raw_parts(pages.address().as_ptr(), pages.len());
                    let pbo = gl.create_buffer().expect("buffer");
                    gl.bind_buffer(AMD_PINNED, Some(pbo));
                    gl.buffer_data_u8_slice(AMD_PINNED, all, glow::STREAM_READ);
                    gl.bind_buffer(AMD_PINNED, None);
                    slot.pbo = Some(pbo);
                    slot._pages = Some(pages);
                }
                _ => {
                    let access = glow::MAP_READ_BIT | glow::MAP_WRITE_BIT;
                    let map = access | glow::MAP_PERSISTENT_BIT | glow::MAP_COHERENT_BIT;
                    let pbo = gl.create_named_buffer().expect("buffer");
                    gl.named_buffer_storage(pbo, bytes as i32, None, map);
                    gl.bind_buffer(glow::PIXEL_UNPACK_BUFFER, Some(pbo));
                    slot.mapped = gl.map_buffer_range(glow::PIXEL_UNPACK_BUFFER, 0, bytes as i32, map).cast();
                    gl.bind_buffer(glow::PIXEL_UNPACK_BUFFER, None);
                    slot.pbo = Some(pbo);
                    match kind {
                        PathId::PBO_PERSISTENT => flags |= mem::CL_MEM_ALLOC_HOST_PTR,
                        _ => host = slot.mapped,
                    }
                }
            }
            if !host.is_null() {
                flags |= mem::CL_MEM_USE_HOST_PTR;
            }
            slot.memory = mem::create_buffer(context, flags, bytes, host).expect("memory");
        }
        slot
    }
}

/// Gives an event back that nobody waits for.
fn release<E: std::fmt::Debug>(event: Result<opencl3::types::cl_event, E>) {
    // SAFETY: the event was just made and is released once.
    unsafe { opencl3::event::release_event(event.expect("enqueue")).expect("release") };
}
