//! The kernels: one text for OpenCL C and CUDA, built when they are first used.
//!
//! Halves and powers are plain arithmetic in it, so that an OpenCL on the CPU tests what CUDA runs. A number, the same for all
//! pixels, holds the steps and formats of a draw, so that the first draw of a kind compiles nothing. Kernels compiled for one kind
//! alone were tried with PoCL: each took the compiler a third of a second, and they were up to twice as fast.

use interop_core::{ComputeBackend, ComputeCaps, Error, Kernel, KernelSource, Result};
use std::cell::OnceCell;
use std::sync::Arc;

/// Source for OpenCL's compilers; the PTX was compiled from it, too.
const TEXT: &str = include_str!("../kernels/draw.cu");
/// By `cargo xtask ptx`, so that CUDA needs no compiler.
const PTX: &str = include_str!("ptx/draw.ptx");

/// Bytes of the pixels that a kernel writes, as powers of two.
const SIZES: usize = 5;

/// Work of a kernel on each pixel.
#[derive(Debug, Clone, Copy)]
pub enum Work {
    /// All that a [`interop_core::draw::Plan`] says.
    Draw,
    /// Copies it as it is.
    Copy,
    /// Writes a given one.
    Clear,
}

impl Work {
    const ALL: [Self; 3] = [Self::Draw, Self::Copy, Self::Clear];

    const fn name(self) -> &'static str {
        match self {
            Self::Draw => "draw",
            Self::Copy => "copy",
            Self::Clear => "clear",
        }
    }
}

/// Those of one backend.
#[derive(Default)]
pub struct Kernels {
    built: [[OnceCell<Arc<dyn Kernel>>; SIZES]; Work::ALL.len()],
}

impl Kernels {
    /// Refuses a backend that speaks neither language.
    pub fn check(device: &str, caps: &ComputeCaps) -> Result<()> {
        let source = source(Work::Draw, 4);
        if source.suits(caps) {
            return Ok(());
        }
        Err(Error::Unsupported {
            operation: "ComputeDisplay::on",
            device: device.to_owned(),
            reason: format!("it takes kernels in {:?}, this draws in {}", caps.languages, source.languages()),
        })
    }

    /// The kernel for pixels of 1, 2, 4, 8 or 16 bytes.
    pub fn get(&self, backend: &dyn ComputeBackend, work: Work, bytes: usize) -> Result<&dyn Kernel> {
        let size = (bytes.trailing_zeros() as usize).min(SIZES - 1);
        let place = &self.built[work as usize][size];
        if let Some(kernel) = place.get() {
            return Ok(kernel.as_ref());
        }
        let built = backend.build(&source(work, 1 << size))?;
        Ok(place.get_or_init(|| built).as_ref())
    }
}

fn source(work: Work, bytes: usize) -> KernelSource {
    let text = format!("#define PF_BYTES {bytes}\n{TEXT}");
    let name = format!("pf_{}_{bytes}", work.name());
    // SAFETY: each item writes its own pixel below the target's width and height. `draw.rs` makes all launches: it checks
    // that the view of the memory that is read lies inside it, and a kernel reads pixels of that view only (its columns and
    // rows are cut to the view's, or are those of a target of the same size). Parameters keep the types of the language.
    unsafe { KernelSource::new(name.clone()).opencl_c(text).ptx(module(&name)) }
}

const ENTRY: &str = ".visible .entry ";

/// The PTX of this kernel alone: the driver compiles all that it is given.
fn module(name: &str) -> String {
    let mut parts = PTX.split(ENTRY);
    let header = parts.next().unwrap_or_default();
    let own = parts.find(|part| part.split('(').next() == Some(name)).unwrap_or_default();
    format!("{header}{ENTRY}{own}")
}
