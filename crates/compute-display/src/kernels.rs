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
    const fn name(self) -> &'static str {
        ["pf_draw", "pf_copy", "pf_clear"][self as usize]
    }
}

/// Those of one backend.
#[derive(Default)]
pub struct Kernels {
    built: [OnceCell<Arc<dyn Kernel>>; 3],
}

impl Kernels {
    /// Refuses a backend that speaks neither language.
    pub fn check(device: &str, caps: &ComputeCaps) -> Result<()> {
        let source = source(Work::Draw);
        if source.suits(caps) {
            return Ok(());
        }
        Err(Error::Unsupported {
            operation: "ComputeDisplay::on",
            device: device.to_owned(),
            reason: format!("it takes kernels in {:?}, this draws in {}", caps.languages, source.languages()),
        })
    }

    /// The kernel of a work.
    pub fn get(&self, backend: &dyn ComputeBackend, work: Work) -> Result<&dyn Kernel> {
        let slot = &self.built[work as usize];
        if let Some(kernel) = slot.get() {
            return Ok(kernel.as_ref());
        }
        let built = backend.build(&source(work))?;
        Ok(slot.get_or_init(|| built).as_ref())
    }
}

fn source(work: Work) -> KernelSource {
    let name = work.name();
    // A compiler of OpenCL C takes its time for each kernel: it gets one.
    let text = format!("#define PF_ONLY {}\n{TEXT}", work as usize);
    // SAFETY: each item writes its own pixel below the target's width and height. `draw.rs` makes all launches: it checks
    // that the views of what is read and of what is written lie inside their memory, and a kernel reads pixels of that view
    // only (its columns and rows are cut to the view's, or are those of a target of the same size). Parameters keep the types
    // of the language.
    unsafe { KernelSource::new(name).opencl_c(text).ptx(module(name)) }
}

const ENTRY: &str = ".visible .entry ";

/// The PTX of this kernel alone: the driver compiles all that it is given.
fn module(name: &str) -> String {
    let mut parts = PTX.split(ENTRY);
    let header = parts.next().unwrap_or_default();
    let own = parts.find(|part| part.split('(').next() == Some(name)).unwrap_or_default();
    format!("{header}{ENTRY}{own}")
}
