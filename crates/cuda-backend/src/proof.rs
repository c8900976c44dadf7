//! [`PtxProof`].

use crate::plan::{Geometry, Params};
use crate::ptx_kernel::{OLDEST, PtxKernel};
use interop_core::{Arg, BufferView, KernelSource, Result, View};

/// A kernel that tells whether another driver runs such texts: that a driver lists an extension proves nothing.
#[derive(Debug, Clone)]
pub struct PtxProof(PtxKernel);

impl PtxProof {
    /// Bytes that it writes: more than one block, and not all of the last.
    pub const BYTES: usize = 4 * 1000;

    const SEED: u32 = 0x5eed_1234;

    /// Makes it; needs no compiler.
    ///
    /// # Errors
    /// None that is known.
    pub fn new() -> Result<Self> {
        // SAFETY: it writes words below the length that it is given, in the buffer that it is given.
        let source = unsafe { KernelSource::new("pf_proof").ptx(include_str!("proof.ptx")) };
        PtxKernel::of(&source, OLDEST).map(Self)
    }

    /// The kernel, to be loaded.
    pub fn kernel(&self) -> &PtxKernel {
        &self.0
    }

    /// Plans its launch into memory at this address.
    ///
    /// # Errors
    /// None that is known.
    pub fn plan(&self, memory: u64) -> Result<(Geometry, Params)> {
        let view = View::Buffer(BufferView { offset: 0, len: Self::BYTES });
        self.0.plan(memory, &view, None, &[Arg::U32(Self::SEED)], &|_| Ok(0))
    }

    /// Compares what it wrote; `Err` says what is wrong.
    ///
    /// # Errors
    /// The first word that is.
    pub fn check(&self, found: &[u8]) -> Result<(), String> {
        let wanted = (0..Self::BYTES as u32 / 4).map(|index| index.wrapping_mul(0x9e37_79b1).wrapping_add(Self::SEED));
        let found = found.as_chunks::<4>().0.iter().map(|word| u32::from_ne_bytes(*word));
        match found.zip(wanted).position(|(found, wanted)| found != wanted) {
            None => Ok(()),
            Some(at) => Err(format!("word {at} of a kernel's was wrong")),
        }
    }
}
