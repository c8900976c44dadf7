//! Host memory that an operation owns while it runs.

use std::fmt;
use std::ops::{Deref, DerefMut};

/// Storage of a [`HostBuffer`] that a backend makes, e.g. pinned pages.
///
/// # Safety
/// Both calls must give the same bytes at the same address, valid and initialised, for as long as the value lives,
/// wherever it is moved, and whichever thread drops it.
pub unsafe trait HostStorage: Send + Sync {
    /// All bytes.
    fn bytes(&self) -> &[u8];

    /// All bytes.
    fn bytes_mut(&mut self) -> &mut [u8];
}

enum Bytes {
    Plain(Vec<u8>),
    Storage(Box<dyn HostStorage>),
}

/// Bytes of the host, given to a queue to be written and got back from one that has read. It is the operation's own while
/// the device works on it, so that nothing can be freed or changed under the device.
///
/// Made from a `Vec<u8>`, or by [`super::ComputeQueue::host_buffer`] in memory that the device copies from and to while
/// it computes.
///
/// ```
/// use interop_core::HostBuffer;
///
/// let mut bytes = HostBuffer::from(vec![1, 2, 3]);
/// bytes[0] = 9;
/// assert_eq!(bytes.into_vec(), [9, 2, 3]);
/// ```
pub struct HostBuffer(Bytes);

impl HostBuffer {
    /// With storage of a backend's own.
    pub fn with_storage(storage: Box<dyn HostStorage>) -> Self {
        Self(Bytes::Storage(storage))
    }

    /// The bytes as a vector; a copy where they lie in memory of a backend.
    pub fn into_vec(self) -> Vec<u8> {
        match self.0 {
            Bytes::Plain(bytes) => bytes,
            Bytes::Storage(storage) => storage.bytes().to_vec(),
        }
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

impl fmt::Debug for HostBuffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HostBuffer").field("len", &self.len()).finish()
    }
}
