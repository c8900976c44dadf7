//! The kernels: one text for OpenCL C and CUDA, built at first use.
//!
//! The text computes half floats and powers with plain arithmetic, so that OpenCL on the CPU tests the same code that
//! CUDA runs. The steps and formats of a draw are a number that is equal for all pixels, so the first draw of a kind
//! compiles nothing. Kernels that are compiled for a single kind were tried with PoCL: each took the compiler a third
//! of a second, and they were up to twice as fast.

use interop_core::{ComputeBackend, ComputeCaps, Error, Kernel, KernelSource, Result};
use std::sync::{Arc, OnceLock};

/// Source text for OpenCL compilers; the PTX was compiled from it as well.
const TEXT: &str = include_str!("../kernels/draw.cu");
/// Compiled by `cargo xtask ptx`, so that CUDA needs no compiler.
const PTX: &str = include_str!("ptx/draw.ptx");

/// The work of a kernel on each pixel.
#[derive(Debug, Clone, Copy)]
pub enum Work {
    /// Draws it by an [`interop_core::draw::Plan`].
    Draw,
    /// Copies it unchanged.
    Copy,
    /// Writes a given pixel.
    Clear,
}

impl Work {
    const fn name(self) -> &'static str {
        ["pf_draw", "pf_copy", "pf_clear"][self as usize]
    }
}

/// The kernels of one backend.
#[derive(Default)]
pub struct Kernels {
    built: [OnceLock<Arc<dyn Kernel>>; 3],
}

impl Kernels {
    /// Checks that a backend supports one of the two languages.
    pub fn check(device: &str, caps: &ComputeCaps) -> Result<()> {
        let source = source(Work::Draw);
        if source.suits(caps) {
            return Ok(());
        }
        Err(Error::Unsupported {
            operation: "ComputeDisplay::on",
            device: device.to_owned(),
            reason: format!("it supports kernels in {:?}, but the display uses {}", caps.languages, source.languages()),
        })
    }

    /// Returns the kernel for this work.
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
    // An OpenCL C compiler needs time for each kernel, so the text contains only one.
    let text = format!("#define PF_ONLY {}\n{TEXT}", work as usize);
    // SAFETY: each item writes its own pixel below the target's width and height. `draw.rs` makes all launches: it checks
    // that the views of what is read and of what is written lie inside their memory, and a kernel reads pixels of that view
    // only (its columns and rows are cut to the view's, or are those of a target of the same size). Parameters keep the types
    // of the language.
    unsafe { KernelSource::new(name).opencl_c(text).ptx(module(name)) }
}

const ENTRY: &str = ".visible .entry ";

/// Returns the PTX of this kernel only, because the driver compiles everything that it is given.
fn module(name: &str) -> String {
    let mut parts = PTX.split(ENTRY);
    let header = parts.next().unwrap_or_default();
    let own = parts.find(|part| part.split('(').next() == Some(name)).unwrap_or_default();
    format!("{header}{ENTRY}{own}")
}
