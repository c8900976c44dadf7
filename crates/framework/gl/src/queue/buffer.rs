//! The type [`QueueBuffer`].

use super::device::GlDevice;
use crate::api::caps::MAX_BUFFER_BYTES;
use crate::context::deferred_deletes::ObjectName;
#[cfg(feature = "compute")]
use crate::context::external_objects::{buffer_size, memory_hint, open_memory};
use crate::objects::buffer_object::{NOT_MAPPED, read_bound, write_bound};
use glow::HasContext as _;
#[cfg(feature = "compute")]
use interop_core::MemoryHandle;
use interop_core::{Result, SharedHandle};
use std::ops::Range;
use std::sync::Arc;

const WORD: usize = 4;

#[cfg(feature = "compute")]
const STORAGE: &str = "glBufferStorageMemEXT";

/// A buffer with which a compute backend in the display's context provides memory to the display, see
/// [`interop_core::StagingKind::External`]. Kernels and draws use one queue, which keeps the order.
///
/// Clones are the same buffer. It is deleted with the last clone and the last display object that shows it.
#[derive(Debug, Clone)]
pub(crate) struct QueueBuffer {
    inner: Arc<Inner>,
}

struct Inner {
    name: glow::Buffer,
    bytes: usize,
    /// Imported memory that contains it; dropped after it.
    memory: Option<ObjectName>,
    /// True for a buffer that the display deletes.
    is_lent: bool,
    device: GlDevice,
}

/// Handle with which the display lends a buffer to kernels in its context, for audits. The display keeps the buffer
/// while they run.
#[derive(Debug)]
pub(crate) struct LentBuffer {
    pub name: glow::Buffer,
    pub bytes: usize,
}

interop_core::debug_as!(Inner, |this| name = &this.name, bytes = &this.bytes);

impl Drop for Inner {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        if self.is_lent {
            return;
        }
        self.device.unmake(ObjectName::Buffer(self.name));
        if let Some(memory) = self.memory {
            self.device.unmake(memory);
        }
    }
}

impl QueueBuffer {
    /// Opens a buffer that the display lends, of at least this many bytes, for reads.
    #[cfg(feature = "compute")]
    pub(crate) fn lent(device: &GlDevice, handle: &SharedHandle, bytes: usize) -> Result<Self> {
        let lent: &LentBuffer = handle.in_queue("buffer")?;
        SharedHandle::check_room(lent.bytes as u64, bytes as u64)?;
        let LentBuffer { name, bytes } = *lent;
        Ok(Self { inner: Arc::new(Inner { name, bytes, memory: None, is_lent: true, device: device.clone() }) })
    }

    /// Largest size of such a buffer: sizes of buffers are passed as 31 bits.
    pub(crate) const MOST_BYTES: u64 = MAX_BUFFER_BYTES / WORD as u64 * WORD as u64;

    /// Creates a buffer of at least this many bytes, in whole words of 4: at least 1, at most
    /// [`QueueBuffer::MOST_BYTES`]. Its content is undefined.
    ///
    /// # Errors
    /// [`interop_core::Error::WrongContext`]; [`interop_core::Error::Driver`].
    pub(crate) fn new(device: &GlDevice, bytes: usize) -> Result<Self> {
        let gl = device.enter()?;
        let bytes = bytes.next_multiple_of(WORD);
        device.checked("glBufferData", || {
            // SAFETY: the context is current; the size fits 31 bits.
            unsafe {
                let name = gl.create_buffer().map_err(|why| device.no_name("glGenBuffers", &why))?;
                device.made(ObjectName::Buffer(name));
                let made = Self {
                    inner: Arc::new(Inner { name, bytes, memory: None, is_lent: false, device: device.clone() }),
                };
                made.bound(gl, glow::COPY_WRITE_BUFFER, || {
                    gl.buffer_data_size(glow::COPY_WRITE_BUFFER, bytes as i32, glow::DYNAMIC_COPY);
                });
                Ok(made)
            }
        })?
    }

    /// Opens the first bytes of another device's or API's memory, in whole words.
    ///
    /// # Errors
    /// [`interop_core::Error::WrongContext`]; [`interop_core::Error::Unsupported`] without the extension;
    /// [`interop_core::Error::InvalidInput`] for more bytes than there are, and for a handle that is not memory of the
    /// GPU; [`interop_core::Error::Driver`].
    #[cfg(feature = "compute")]
    pub(crate) fn opened(device: &GlDevice, handle: MemoryHandle, bytes: usize) -> Result<Self> {
        let gl = device.enter()?;
        let functions = *device.opener().memory.as_ref().map_err(|reason| device.unsupported(reason.as_str()))?;
        let bytes = bytes.checked_next_multiple_of(WORD).unwrap_or(usize::MAX);
        let size = buffer_size(device.identity(), &handle, bytes)?;
        // SAFETY: the context is current and lists the extension; all are of it.
        let name = unsafe { open_memory(&functions, gl, device.identity(), handle) }?;
        let memory = ObjectName::Memory { name, functions, software: device.identity().software };
        device.made(memory);
        // Mesa reports a handle that it could not open only here, as GL_OUT_OF_MEMORY.
        device.checked_with(STORAGE, memory_hint, || {
            // SAFETY: the context is current and lists the extension; the buffer has no storage yet.
            unsafe {
                let buffer = gl.create_buffer().map_err(|why| {
                    device.unmake(memory);
                    device.no_name("glGenBuffers", &why)
                })?;
                device.made(ObjectName::Buffer(buffer));
                let (memory, device) = (Some(memory), device.clone());
                let inner = Inner { name: buffer, bytes, memory, is_lent: false, device };
                let made = Self { inner: Arc::new(inner) };
                made.bound(gl, glow::COPY_WRITE_BUFFER, || {
                    functions.buffer_storage(glow::COPY_WRITE_BUFFER, size, name)
                });
                Ok(made)
            }
        })?
    }

    /// True for clones of one buffer.
    #[cfg(feature = "compute")]
    pub(crate) fn is(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.inner, &other.inner)
    }

    /// True for imported memory.
    #[cfg(feature = "compute")]
    pub(crate) fn is_opened(&self) -> bool {
        self.inner.memory.is_some()
    }

    /// Size in bytes, in whole words.
    #[allow(clippy::len_without_is_empty)] // never empty
    pub(crate) fn len(&self) -> usize {
        self.inner.bytes
    }

    /// Returns the context of the buffer.
    pub(crate) fn device(&self) -> &GlDevice {
        &self.inner.device
    }

    /// Returns the buffer object's name, for foreign calls in the context.
    ///
    /// # Errors
    /// [`interop_core::Error::WrongContext`].
    pub(crate) fn id(&self) -> Result<u32> {
        self.inner.device.enter()?;
        Ok(self.inner.name.0.get())
    }

    pub(crate) fn name(&self) -> glow::Buffer {
        self.inner.name
    }

    /// Returns a handle with which a display in the same context opens the buffer.
    pub(crate) fn to_handle(&self) -> SharedHandle {
        SharedHandle::QueueBuffer { queue: self.inner.device.queue_id(), buffer: Box::new(self.clone()) }
    }

    /// Opens the buffer of at least this many bytes behind a handle of this context's queue.
    pub(crate) fn open(handle: &SharedHandle, bytes: usize) -> Result<Self> {
        let lent: &Self = handle.in_queue("buffer")?;
        SharedHandle::check_room(lent.len() as u64, bytes as u64)?;
        Ok(lent.clone())
    }

    /// Runs `f` while the buffer is bound to a copy target.
    ///
    /// # Safety
    /// The context is current, `gl` is of it, and `target` is `COPY_READ_BUFFER` or `COPY_WRITE_BUFFER`.
    unsafe fn bound<R>(&self, gl: &glow::Context, target: u32, f: impl FnOnce() -> R) -> R {
        // The names of these targets are those of their queries (OpenGL 4.6 core, table 23.65).
        // SAFETY: the caller's promise; what was bound came from the context.
        unsafe {
            let before = self.inner.device.is_engine().then(|| gl.get_parameter_buffer(target));
            gl.bind_buffer(target, Some(self.inner.name));
            let result = f();
            if let Some(before) = before {
                gl.bind_buffer(target, before);
            }
            result
        }
    }

    /// Copies host bytes to `at`, in queue order. The range lies inside; the bytes may be reused at once.
    ///
    /// # Errors
    /// [`interop_core::Error::WrongContext`]; [`interop_core::Error::Driver`].
    pub(crate) fn write(&self, at: usize, bytes: &[u8]) -> Result<()> {
        let gl = self.inner.device.enter()?;
        if self.inner.memory.is_some() {
            // Storage in imported memory is immutable, so the host writes through a copy.
            let scratch = Self::new(&self.inner.device, bytes.len())?;
            scratch.write(0, bytes)?;
            return self.copy_from(&scratch, 0..bytes.len(), at);
        }
        let device = &self.inner.device;
        let is_there = device.checked("glBufferSubData", || {
            // SAFETY: the context is current, and the range is inside the buffer, so that it fits 31 bits.
            unsafe {
                self.bound(gl, glow::COPY_WRITE_BUFFER, || {
                    write_bound(gl, device.is_es(), glow::COPY_WRITE_BUFFER, at, bytes)
                })
            }
        })?;
        if is_there { Ok(()) } else { Err(device.no_name("glMapBufferRange", NOT_MAPPED)) }
    }

    /// Copies bytes from `at` on to the host, after all earlier work in the queue. The range lies inside. Waits.
    ///
    /// # Errors
    /// The errors of [`QueueBuffer::write`].
    pub(crate) fn read(&self, at: usize, into: &mut [u8]) -> Result<()> {
        let device = &self.inner.device;
        let gl = device.enter()?;
        let get = |buffer: &Self, at: usize, into: &mut [u8]| {
            let is_there = device.checked("glGetBufferSubData", || {
                // SAFETY: the context is current, and the range is inside the buffer, so that it fits 31 bits.
                unsafe {
                    buffer.bound(gl, glow::COPY_WRITE_BUFFER, || {
                        read_bound(gl, device.is_es(), glow::COPY_WRITE_BUFFER, at, into)
                    })
                }
            })?;
            if is_there { Ok(()) } else { Err(device.no_name("glMapBufferRange", NOT_MAPPED)) }
        };
        if device.identity().software {
            return get(self, at, into);
        }
        // Drivers move a buffer that is read to where reading is fast, which slows kernels down from then on.
        let scratch = Self::new(device, into.len())?;
        scratch.copy_from(self, at..at + into.len(), 0)?;
        get(&scratch, 0, into)
    }

    /// Copies a range of another buffer of this context to `at`, in queue order. The range lies inside both.
    ///
    /// # Errors
    /// The errors of [`QueueBuffer::write`].
    pub(crate) fn copy_from(&self, from: &Self, range: Range<usize>, at: usize) -> Result<()> {
        let device = &self.inner.device;
        let gl = device.enter()?;
        let [read, write] = [range.start, at].map(|n| n as i32);
        device.checked("glCopyBufferSubData", || {
            // SAFETY: the context is current, both are of it and not the same, and both ranges are inside, so that they fit 31
            // bits.
            unsafe {
                from.bound(gl, glow::COPY_READ_BUFFER, || {
                    self.bound(gl, glow::COPY_WRITE_BUFFER, || {
                        let targets = (glow::COPY_READ_BUFFER, glow::COPY_WRITE_BUFFER);
                        gl.copy_buffer_sub_data(targets.0, targets.1, read, write, range.len() as i32);
                    });
                });
            }
        })
    }
}
