//! Host memory that an operation owns while it runs.

use std::ops::{Deref, DerefMut};

/// Storage of a [`HostBuffer`] that a backend provides, e.g. pinned pages.
///
/// # Safety
/// Both calls must return the same bytes at the same address, valid and initialised, for as long as the value lives,
/// wherever it is moved and whichever thread drops it.
pub unsafe trait HostStorage: Send + Sync {
    /// All bytes, for reading.
    fn bytes(&self) -> &[u8];

    /// All bytes, for writing.
    fn bytes_mut(&mut self) -> &mut [u8];
}

enum Bytes {
    Plain(Vec<u8>),
    Storage(Box<dyn HostStorage>),
}

/// Host bytes that a queue owns during an operation: the source of a write, or the result of a read. While the device
/// works on them the program cannot free or change them.
///
/// Create one from a `Vec<u8>`, or with [`super::ComputeQueue::host_buffer`] in memory from and to which the device
/// copies while it computes.
///
/// ```
/// use interop_core::HostBuffer;
///
/// let mut bytes = HostBuffer::from(vec![1, 2, 3]);
/// bytes[0] = 9;
/// assert_eq!(bytes[..], [9, 2, 3]);
/// ```
pub struct HostBuffer(Bytes);

impl HostBuffer {
    /// Creates a buffer in storage of a backend.
    pub fn with_storage(storage: Box<dyn HostStorage>) -> Self {
        Self(Bytes::Storage(storage))
    }
}

impl From<Vec<u8>> for HostBuffer {
    fn from(bytes: Vec<u8>) -> Self {
        Self(Bytes::Plain(bytes))
    }
}

impl Deref for HostBuffer {
    type Target = [u8];

    fn deref(&self) -> &[u8] {
        match &self.0 {
            Bytes::Plain(bytes) => bytes,
            Bytes::Storage(storage) => storage.bytes(),
        }
    }
}

impl DerefMut for HostBuffer {
    fn deref_mut(&mut self) -> &mut [u8] {
        match &mut self.0 {
            Bytes::Plain(bytes) => bytes,
            Bytes::Storage(storage) => storage.bytes_mut(),
        }
    }
}

crate::debug_as!(HostBuffer, |this| len = &this.len());
