//! SPIR-V of the user's own.

use interop_core::{Error, KernelSource, Language, Result};
use std::borrow::Cow;
use std::sync::Arc;

/// The language of [`SpirV`].
pub const SPIR_V: Language = Language::Other("SPIR-V");

/// First word of every module.
const MAGIC: u32 = 0x0723_0203;

/// A compute shader of the user's own, in SPIR-V, for [`KernelSource::with_native`]: [`SpirV::source`] makes the source.
///
/// Bindings and numbers are those of WGSL (see [`wgsl_kernel`]): set 0 has the target at 0, a storage buffer, and the numbers at 1, a
/// uniform block; set 1 has the n-th memory among the arguments at n. The same module serves every format of target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpirV {
    pub(crate) words: Vec<u32>,
    pub(crate) group: [u32; 3],
    pub(crate) memories: Vec<u64>,
}

impl SpirV {
    /// Describes a module: work items of a group, and bytes that each memory among the arguments has at least.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for words that are no SPIR-V.
    ///
    /// # Safety
    /// The module is valid for Vulkan 1.1, asks for no capability that is a feature of the device, and is as described. What its
    /// kernel does is what [`KernelSource::with_text`] asks for.
    pub unsafe fn new(words: Vec<u32>, group: [u32; 3], memories: Vec<u64>) -> Result<Self> {
        match words.first() {
            Some(&MAGIC) => Ok(Self { words, group, memories }),
            first => Err(Error::refused(format!("SPIR-V begins with the word {MAGIC:#x}, this with {first:x?}"))),
        }
    }

    /// The source of a kernel by the name of its entry point.
    pub fn source(self, entry: impl Into<Cow<'static, str>>) -> KernelSource {
        KernelSource::new(entry).with_native(SPIR_V, Arc::new(self))
    }
}
