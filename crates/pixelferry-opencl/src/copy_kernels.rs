//! [`CopyKernels`]: what a context keeps for copies between views.

use super::kernel_facts::Facts;
use crate::ffi;
use interop_core::Result;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

/// A kernel without its context, which would keep the context that keeps it.
#[derive(Clone)]
pub struct Apart {
    pub raw: Arc<ffi::Kernel>,
    pub program: ffi::Program,
    pub name: String,
    pub facts: Arc<Facts>,
}

/// The copying kernels of a context, by the unit they copy.
#[derive(Default)]
pub struct CopyKernels(Mutex<HashMap<&'static str, Apart>>);

impl CopyKernels {
    /// That of a unit, made where it is not there yet.
    pub fn get(&self, unit: &'static str, make: impl FnOnce() -> Result<Apart>) -> Result<Apart> {
        let mut kernels = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kernel) = kernels.get(unit) {
            return Ok(kernel.clone());
        }
        let kernel = make()?;
        kernels.insert(unit, kernel.clone());
        Ok(kernel)
    }
}
