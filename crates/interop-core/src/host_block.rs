//! Host memory that two APIs share. The `unsafe` of raw addresses is kept in this file.

use crate::error::{Error, Result};
use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::any::Any;
use std::ptr::NonNull;
use std::rc::Rc;

/// A block of host memory that both sides of a path address.
///
/// The block is kept alive by its owner (`Rc`), whoever drops first. It hands out addresses, never references: who
/// may touch the bytes, and when, is decided by the path's ring and fences.
#[derive(Clone)]
pub struct HostBlock {
    address: NonNull<u8>,
    len: usize,
    _owner: Rc<dyn Any>,
}

impl std::fmt::Debug for HostBlock {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HostBlock").field("address", &self.address).field("len", &self.len).finish()
    }
}

/// Memory from the global allocator, freed when the last block that refers to it goes.
struct Pages {
    address: NonNull<u8>,
    layout: Layout,
}

impl Drop for Pages {
    fn drop(&mut self) {
        // SAFETY: `address` came from `alloc_zeroed` with this very layout and is freed once, here.
        unsafe { dealloc(self.address.as_ptr(), self.layout) }
    }
}

impl HostBlock {
    /// Alignment and size granularity of [`HostBlock::allocate`], bytes: what `GL_AMD_pinned_memory` and
    /// `VK_EXT_external_memory_host` want on the usual systems.
    pub const PAGE: usize = 4096;

    /// Describes memory that somebody else owns.
    ///
    /// # Safety
    /// `address` must stay valid for reads and writes of `len` bytes for as long as `owner` or a clone of it lives,
    /// and nobody may form a Rust reference to those bytes outside the times in which the path lets them.
    pub unsafe fn from_raw(address: NonNull<u8>, len: usize, owner: Rc<dyn Any>) -> Self {
        Self { address, len, _owner: owner }
    }

    /// Allocates zeroed pages that neither side owns; `len` is rounded up to whole pages.
    pub fn allocate(len: usize) -> Result<Self> {
        const OP: &str = "HostBlock::allocate";
        if len == 0 {
            return Err(Error::invalid(OP, "0 bytes asked for; give at least 1"));
        }
        let layout = len
            .checked_next_multiple_of(Self::PAGE)
            .and_then(|n| Layout::from_size_align(n, Self::PAGE).ok())
            .ok_or_else(|| Error::invalid(OP, format!("{len} bytes are more than can be addressed")))?;
        // SAFETY: the layout's size is not zero.
        let address = unsafe { alloc_zeroed(layout) };
        let address = NonNull::new(address).ok_or_else(|| Error::Unavailable {
            what: format!("host memory of {} bytes", layout.size()),
            reason: "the allocator returned null".into(),
            hint: "Use a smaller surface or free memory.".into(),
        })?;
        Ok(Self { address, len: layout.size(), _owner: Rc::new(Pages { address, layout }) })
    }

    /// First byte.
    pub fn address(&self) -> NonNull<u8> {
        self.address
    }

    /// Number of bytes.
    #[allow(clippy::len_without_is_empty)] // never empty
    pub fn len(&self) -> usize {
        self.len
    }
}
