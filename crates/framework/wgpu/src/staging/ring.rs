//! Buffers that wgpu maps for each frame: while the device reads one, the host fills the next.

use crate::context::device_state::DeviceState;
use crate::context::format::whole_words;
use interop_core::Result;
use interop_core::display::checks::not_filled;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};

/// Maximum number of buffers in a ring: one that the device reads, one that waits for it, one to fill.
const MOST: usize = 3;

const MAPPING: u8 = 0;
const MAPPED: u8 = 1;
const FAILED: u8 = 2;

/// A buffer that is mapped, or is being mapped.
struct Piece {
    buffer: wgpu::Buffer,
    state: Arc<AtomicU8>,
}

pub(super) struct Ring {
    len: usize,
    /// Buffer that was filled last, unmapped.
    filled: Option<wgpu::Buffer>,
    /// The oldest one comes first.
    free: VecDeque<Piece>,
}

impl Ring {
    pub(super) fn new(shared: &DeviceState, len: usize) -> Result<Self> {
        let mut ring = Self { len, filled: None, free: VecDeque::new() };
        // The first buffer is created here, so that a lack of memory is reported early.
        let piece = ring.make(shared)?;
        ring.free.push_back(piece);
        Ok(ring)
    }

    pub(super) fn filled(&self) -> Result<&wgpu::Buffer> {
        self.filled.as_ref().ok_or_else(not_filled)
    }

    fn make(&self, shared: &DeviceState) -> Result<Piece> {
        let buffer = shared.scoped(|| {
            shared.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some("pixelferry staging"),
                size: whole_words(self.len as u64),
                usage: wgpu::BufferUsages::MAP_WRITE | wgpu::BufferUsages::COPY_SRC,
                mapped_at_creation: true,
            })
        })?;
        Ok(Piece { buffer, state: Arc::new(AtomicU8::new(MAPPED)) })
    }

    /// Requests that the last filled buffer is mapped once the device has read it.
    fn recycle(&mut self, shared: &DeviceState) -> Result<()> {
        let Some(buffer) = self.filled.take() else { return Ok(()) };
        let state = Arc::new(AtomicU8::new(MAPPING));
        let told = Arc::clone(&state);
        shared.scoped(|| {
            buffer.map_async(wgpu::MapMode::Write, .., move |result| {
                told.store(if result.is_ok() { MAPPED } else { FAILED }, Ordering::Release);
            });
        })?;
        self.free.push_back(Piece { buffer, state });
        Ok(())
    }

    /// Returns a mapped buffer: an existing one, otherwise a new one, otherwise the first that becomes mapped.
    fn mapped(&mut self, shared: &DeviceState) -> Result<wgpu::Buffer> {
        shared.poll(wgpu::PollType::Poll)?;
        if let Some(buffer) = self.take_mapped() {
            return Ok(buffer);
        }
        if self.free.len() < MOST {
            return Ok(self.make(shared)?.buffer);
        }
        shared.wait(None)?;
        self.take_mapped().ok_or_else(|| shared.failure("no staging buffer could be mapped".into(), ""))
    }

    fn take_mapped(&mut self) -> Option<wgpu::Buffer> {
        let state = |piece: &Piece| piece.state.load(Ordering::Acquire);
        self.free.retain(|piece| state(piece) != FAILED);
        let at = self.free.iter().position(|piece| state(piece) == MAPPED)?;
        self.free.remove(at).map(|piece| piece.buffer)
    }

    pub(super) fn map_write(&mut self, shared: &DeviceState, f: &mut dyn FnMut(&mut [u8]) -> Result<()>) -> Result<()> {
        self.recycle(shared)?;
        let buffer = self.mapped(shared)?;
        let done = match buffer.get_mapped_range_mut(..) {
            Ok(mut range) => f(bytes(&mut range, self.len)),
            Err(error) => Err(shared.failure(error.to_string(), "")),
        };
        if let Err(error) = done {
            // It is still mapped, for the next use.
            self.free.push_front(Piece { buffer, state: Arc::new(AtomicU8::new(MAPPED)) });
            return Err(error);
        }
        shared.scoped(|| buffer.unmap())?;
        self.filled = Some(buffer);
        Ok(())
    }
}

/// Returns the first bytes of a mapped range, which has at least as many.
fn bytes(range: &mut wgpu::BufferViewMut, len: usize) -> &mut [u8] {
    let mut all = range.slice(..len);
    let address = all.as_raw_ptr();
    // SAFETY: the pointer is to `len` bytes that stay mapped while `range` is borrowed, which nothing else views: wgpu
    // refuses views that overlap. wgpu zeroes what it maps first, so they are initialised. Memory that the device maps
    // uncached is slow to read, not unsound: no atomics are made of it.
    unsafe { &mut *address.as_ptr() }
}
