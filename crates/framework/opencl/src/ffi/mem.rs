//! Memory objects of a context: buffers, parts of them, images.

use super::callback::{from_user_data, into_user_data};
use super::handle::{Handle, MemKind};
use super::query::array;
use super::track::{Access, MemoryUse, Tracker};
use super::{Failure, check};
use crate::Context;
use cl3::memory as m;
use interop_core::HostBlock;
use interop_core::describe::PlainMutex;
use interop_core::describe::panics::contain;
use interop_core::describe::threads;
use std::ffi::c_void;
use std::ops::Range;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// A buffer or image; keeps its context and, if it is a part or view of a buffer, that buffer.
pub struct Mem {
    handle: Handle<MemKind>,
    parent: Option<Arc<Mem>>,
    tracker: Arc<Tracker>,
    /// Its bytes in the buffer that the tracker belongs to, of which alone parts are made; everything for an image.
    range: Range<usize>,
    read_only: bool,
    /// It uses host memory, which is free only when the driver has deleted this.
    in_place: bool,
    /// It was made of an object of OpenGL's.
    of_gl: bool,
}

/// Shape of an image (`cl_image_desc`); numbers that its type does not use are 0.
#[derive(Debug, Clone, Copy, Default)]
pub struct ImageShape {
    /// `CL_MEM_OBJECT_IMAGE*`.
    pub kind: u32,
    pub width: usize,
    pub height: usize,
    pub depth: usize,
    pub layers: usize,
    pub row_pitch: usize,
    pub slice_pitch: usize,
}

impl Mem {
    /// A buffer; `content` must have `len` bytes.
    pub fn buffer(context: &Context, flags: u64, len: usize, content: Option<&[u8]>) -> Result<Arc<Self>, Failure> {
        const CALL: &str = "clCreateBuffer";
        let (flags, host) = with_content(flags, content, len, CALL)?;
        // SAFETY: the context is live; `host` is null or `len` bytes that the driver copies before it returns.
        let raw = unsafe { m::create_buffer(context.raw(), flags, len, host.cast_mut()) };
        // SAFETY: a buffer that was just created, whose one reference is ours.
        let handle = unsafe { Handle::own(CALL, raw) }?;
        Ok(Arc::new(Self::of(handle, flags, len)))
    }

    /// The block's memory in place (`CL_MEM_USE_HOST_PTR`).
    ///
    /// # Safety
    /// The block must live until the driver has deleted the buffer.
    pub(crate) unsafe fn over_block(context: &Context, flags: u64, block: &HostBlock) -> Result<Arc<Self>, Failure> {
        let flags = flags | m::CL_MEM_USE_HOST_PTR;
        let address = block.address().as_ptr().cast();
        // SAFETY: the address is valid for the length while the block lives, which the caller promises.
        let raw = unsafe { m::create_buffer(context.raw(), flags, block.len(), address) };
        // SAFETY: a buffer that was just created, whose one reference is ours.
        let handle = unsafe { Handle::own("clCreateBuffer", raw) }?;
        let tracker = Tracker::over(block.borrows());
        Ok(Arc::new(Self { tracker, ..Self::of(handle, flags, block.len()) }))
    }

    pub(crate) fn of(handle: Handle<MemKind>, flags: u64, len: usize) -> Self {
        Self {
            handle,
            parent: None,
            tracker: Arc::default(),
            range: 0..len,
            read_only: flags & m::CL_MEM_READ_ONLY != 0,
            in_place: flags & m::CL_MEM_USE_HOST_PTR != 0,
            of_gl: false,
        }
    }

    /// Made of an object of OpenGL's, which has the first turn.
    pub(crate) fn of_gl(handle: Handle<MemKind>, flags: u64, len: usize) -> Self {
        Self { tracker: Arc::new(Tracker::away()), of_gl: true, ..Self::of(handle, flags, len) }
    }

    pub fn is_of_gl(&self) -> bool {
        self.of_gl
    }

    /// Bytes `range` of this buffer, as a buffer (`clCreateSubBuffer`).
    pub fn part(self: &Arc<Self>, flags: u64, range: Range<usize>) -> Result<Arc<Self>, Failure> {
        let region = m::cl_buffer_region { origin: range.start, size: range.len() };
        let region: *const m::cl_buffer_region = &region;
        // SAFETY: the buffer is live; the region is what this type of creation reads.
        let raw = unsafe {
            m::create_sub_buffer(self.raw(), flags, m::CL_BUFFER_CREATE_TYPE_REGION, region.cast::<c_void>())
        };
        // SAFETY: a buffer that was just created, whose one reference is ours.
        let handle = unsafe { Handle::own("clCreateSubBuffer", raw) }?;
        Ok(Arc::new(Self::of(handle, flags, range.len()).inside(Some(self.clone()), range.start)))
    }

    /// An image; `content` must be as long as the shape and its pitches say, `buffer` is what a 1-D buffer image shows.
    pub fn image(
        context: &Context,
        flags: u64,
        format: [u32; 2],
        shape: &ImageShape,
        content: Option<&[u8]>,
        buffer: Option<&Arc<Self>>,
    ) -> Result<Arc<Self>, Failure> {
        const CALL: &str = "clCreateImage";
        let format = m::cl_image_format { image_channel_order: format[0], image_channel_data_type: format[1] };
        let (flags, host) = with_content(flags, content, content.map_or(0, <[u8]>::len), CALL)?;
        let desc = m::cl_image_desc {
            image_type: shape.kind,
            image_width: shape.width,
            image_height: shape.height,
            image_depth: shape.depth,
            image_array_size: shape.layers,
            image_row_pitch: shape.row_pitch,
            image_slice_pitch: shape.slice_pitch,
            num_mip_levels: 0,
            num_samples: 0,
            buffer: buffer.map_or(ptr::null_mut(), |b| b.raw()),
        };
        // SAFETY: context and buffer are live. `host` is null or as many bytes as the caller says the image has. The
        // driver copies them before it returns.
        let raw = unsafe { m::create_image(context.raw(), flags, &format, &desc, host.cast_mut()) };
        // SAFETY: an image that was just created, whose one reference is ours.
        let handle = unsafe { Handle::own(CALL, raw) }?;
        Ok(Arc::new(Self::of(handle, flags, usize::MAX).inside(buffer.cloned(), 0)))
    }

    pub fn raw(&self) -> *mut c_void {
        self.handle.raw()
    }

    pub fn references(&self) -> Result<u32, Failure> {
        self.handle.references()
    }

    /// Makes this a part, or view, of `parent` from byte `offset` on, where there is one.
    pub(crate) fn inside(self, parent: Option<Arc<Self>>, offset: usize) -> Self {
        let Some(parent) = parent else { return self };
        let start = parent.range.start.saturating_add(offset);
        let range = start..start.saturating_add(self.range.len()).min(parent.range.end);
        let (read_only, in_place) = (self.read_only || parent.read_only, self.in_place || parent.in_place);
        Self { tracker: parent.tracker.clone(), parent: Some(parent), range, read_only, in_place, ..self }
    }

    pub(crate) fn is_in_place(&self) -> bool {
        self.in_place
    }

    pub fn tracker(&self) -> &Arc<Tracker> {
        &self.tracker
    }

    /// The buffer to give to the driver instead of this buffer, and where this one begins in it. For a part
    /// (`clCreateSubBuffer`) that is the buffer of which it is a part. If copies of boxes, or of images to and from
    /// buffers, get a part itself, PoCL 3.1 ends the process. rusticl 22.3 copies images beside it.
    pub(crate) fn whole(&self) -> (&Self, usize) {
        self.parent.as_deref().map_or((self, 0), |whole| (whole, self.range.start))
    }

    /// True where both show some of the same bytes.
    pub fn overlaps(&self, range: &Range<usize>, other: &Self, other_range: &Range<usize>) -> bool {
        let (a, b) = (self.in_root(range), other.in_root(other_range));
        self.tracker.overlap(&a, &other.tracker, &b)
    }

    pub(crate) fn in_root(&self, range: &Range<usize>) -> Range<usize> {
        let start = self.range.start;
        start.saturating_add(range.start)..start.saturating_add(range.end).min(self.range.end)
    }

    /// Returns what a command does with `range`, counted from this object's own start.
    pub(crate) fn used(&self, range: &Range<usize>, access: Access) -> MemoryUse<'_> {
        MemoryUse { tracker: &self.tracker, range: self.in_root(range), access }
    }

    /// All of it.
    pub(crate) fn used_whole(&self, access: Access) -> MemoryUse<'_> {
        MemoryUse { tracker: &self.tracker, range: self.range.clone(), access }
    }

    /// All of it, by a kernel.
    pub(crate) fn used_by_kernel(&self) -> MemoryUse<'_> {
        self.used_whole(if self.read_only { Access::Read } else { Access::Write })
    }

    /// A value of `clGetMemObjectInfo`.
    pub fn info<const N: usize>(&self, param: u32) -> Result<[u8; N], Failure> {
        array("clGetMemObjectInfo", &self.handle.info(param)?)
    }

    /// `CL_IMAGE_FORMAT`: order and type of the channels.
    pub fn image_format(&self) -> Result<[u32; 2], Failure> {
        const CALL: &str = "clGetImageInfo";
        let bytes: [u8; 8] = array(CALL, &check(CALL, m::get_image_data(self.raw(), m::CL_IMAGE_FORMAT))?)?;
        let [a, b, c, d, rest @ ..] = bytes;
        Ok([u32::from_ne_bytes([a, b, c, d]), u32::from_ne_bytes(rest)])
    }

    /// A size of `clGetImageInfo`.
    pub fn image_size(&self, param: u32) -> Result<usize, Failure> {
        const CALL: &str = "clGetImageInfo";
        array(CALL, &check(CALL, m::get_image_data(self.raw(), param))?).map(usize::from_ne_bytes)
    }

    /// Lets the driver call `f` once when the object is deleted. Then the last reference to it, and to what was made of
    /// it, is gone, and no command uses it. The last callback that was set is called first.
    pub fn on_delete(&self, f: Box<dyn FnOnce(()) + Send>) -> Result<(), Failure> {
        let user_data = into_user_data(f);
        // SAFETY: the object is live; the driver hands the address to `deleted` once.
        let set = unsafe { m::set_mem_object_destructor_callback(self.raw(), deleted, user_data) };
        check("clSetMemObjectDestructorCallback", set).inspect_err(|_| {
            // SAFETY: the driver refused it, so that the closure is still ours.
            drop(unsafe { from_user_data::<()>(user_data) });
        })
    }

    /// The buffer that this is a part or view of.
    pub fn parent(&self) -> Option<&Arc<Self>> {
        self.parent.as_ref()
    }
}

extern "C" fn deleted(_: *mut c_void, user_data: *mut c_void) {
    // SAFETY: `on_delete` gave this address to the driver, which calls once for it.
    let f = unsafe { from_user_data::<()>(user_data) };
    contain("destructor callback of a memory object", move || f(()));
}

fn with_content(
    flags: u64,
    content: Option<&[u8]>,
    len: usize,
    operation: &'static str,
) -> Result<(u64, *const c_void), Failure> {
    match content {
        Some(bytes) if bytes.len() == len => Ok((flags | m::CL_MEM_COPY_HOST_PTR, bytes.as_ptr().cast())),
        Some(_) => Err(Failure { operation, code: cl3::error_codes::CL_INVALID_HOST_PTR }),
        None => Ok((flags, ptr::null())),
    }
}

/// Host memory that a buffer uses in place (`CL_MEM_USE_HOST_PTR`). It is kept until the driver has deleted the buffer, which may be much
/// later: rusticl keeps what a kernel was last given.
pub struct HostMem {
    mem: Option<Arc<Mem>>,
    kept: Option<KeptBlock>,
}

/// A block, and whether the driver has deleted the buffer over it.
struct KeptBlock {
    block: Option<HostBlock>,
    deleted: Arc<AtomicBool>,
}

impl KeptBlock {
    fn is_deleted(&self) -> bool {
        self.deleted.load(Ordering::Acquire)
    }
}

impl Drop for KeptBlock {
    fn drop(&mut self) {
        if !self.is_deleted() {
            tracing::warn!("host memory is never freed: a buffer over it is still in use");
            std::mem::forget(self.block.take());
        }
    }
}

/// Blocks of buffers that were dropped and not yet deleted.
static KEPT: PlainMutex<Vec<KeptBlock>> = PlainMutex::new(Vec::new());

/// Frees the blocks whose buffers were deleted since, and keeps one more.
fn keep(more: Option<KeptBlock>) {
    let freed: Vec<_> = {
        let mut kept = KEPT.lock();
        kept.extend(more);
        kept.extract_if(.., |block| block.is_deleted()).collect()
    };
    // What a block's owner does when it goes may come back here.
    drop(freed);
}

/// Frees blocks whose buffers the driver deleted only after they were dropped, on a thread of its own: the driver calls this,
/// and may hold locks that the owner of a block needs.
fn free_late() {
    if KEPT.lock().iter().any(KeptBlock::is_deleted)
        && let Err(error) = threads::spawn("opencl-late-free", || keep(None))
    {
        tracing::warn!(%error, "host memory is freed with the next buffer over host memory");
    }
}

impl HostMem {
    pub fn new(context: &Context, flags: u64, block: &HostBlock) -> Result<(Self, Arc<Mem>), Failure> {
        keep(None);
        // SAFETY: the block is kept until the driver has deleted the buffer.
        let mem = unsafe { Mem::over_block(context, flags, block) }?;
        let deleted = Arc::new(AtomicBool::new(false));
        let told = deleted.clone();
        mem.on_delete(Box::new(move |()| {
            told.store(true, Ordering::Release);
            free_late();
        }))?;
        let kept = KeptBlock { block: Some(block.clone()), deleted };
        Ok((Self { mem: Some(mem.clone()), kept: Some(kept) }, mem))
    }
}

impl Drop for HostMem {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        let Some(mem) = self.mem.take() else { return };
        let deadline = Instant::now() + PATIENCE;
        for event in mem.tracker.pending() {
            if let Err(error) = event.flush() {
                tracing::warn!(%error, "host memory was dropped");
            }
        }
        // Not `wait`: what waits for a user event that this thread holds would never end.
        while !mem.tracker.pending().is_empty() && Instant::now() < deadline {
            std::thread::sleep(POLL);
        }
        if !mem.tracker.pending().is_empty() {
            tracing::warn!("host memory is never freed: a command over it is still in a queue");
            // Slices of the block are kept apart from what is still in a queue.
            std::mem::forget((mem.tracker.clone(), self.kept.take(), mem));
            return;
        }
        drop(mem);
        keep(self.kept.take());
    }
}

/// Longest wait for the commands that use host memory, and the interval between two checks.
const PATIENCE: Duration = Duration::from_secs(10);
const POLL: Duration = Duration::from_micros(200);
