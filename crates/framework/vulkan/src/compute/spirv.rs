//! SPIR-V modules supplied by the user.

use interop_core::{Error, KernelSource, Language, Result};
use std::borrow::Cow;
use std::sync::Arc;

/// The language of [`SpirV`] sources.
pub const SPIR_V: Language = Language::Other("SPIR-V");

/// First word of every module.
const MAGIC: u32 = 0x0723_0203;

/// A compute shader in SPIR-V, for [`KernelSource::with_native`]. [`SpirV::source`] makes the source.
///
/// Bindings and numbers are those of WGSL (see [`wgsl_kernel`]): in set 0, the target is a storage buffer at binding 0,
/// and the numbers are a uniform block at binding 1; in set 1, memory n of the arguments has binding n. One module
/// serves targets of every format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpirV {
    pub(crate) words: Vec<u32>,
    pub(crate) group: [u32; 3],
    pub(crate) memories: Vec<u64>,
}

impl SpirV {
    /// Describes a module: `group` is the number of work items in a group, `memories` the minimum size in bytes of each
    /// memory among the arguments.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for words that are not SPIR-V.
    ///
    /// # Safety
    /// The module is valid for Vulkan 1.1, needs no capability that is an optional feature of the device, and matches
    /// the description. Its kernel keeps the conditions of [`KernelSource::with_text`].
    pub unsafe fn new(words: Vec<u32>, group: [u32; 3], memories: Vec<u64>) -> Result<Self> {
        match words.first() {
            Some(&MAGIC) => Ok(Self { words, group, memories }),
            first => Err(Error::refused(format!("SPIR-V begins with {MAGIC:#x}, but these words with {first:x?}"))),
        }
    }

    /// Makes the source of a kernel from the name of its entry point.
    pub fn source(self, entry: impl Into<Cow<'static, str>>) -> KernelSource {
        KernelSource::new(entry).with_native(SPIR_V, Arc::new(self))
    }
}
