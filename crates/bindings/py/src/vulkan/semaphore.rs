//! `pixelferry.vulkan.Semaphore`.

use crate::engine::cuda_alone;
use crate::failure::Failure;
use crate::job::guarded;
use crate::raw::descriptor::taken;
use crate::raw::vulkan;
use crate::vulkan::Uuid;
use pixelferry::SyncKind;
use pixelferry::api::cuda::CudaBackend;
use pixelferry::driver::ComputeSemaphore;
use pixelferry::driver::describe::process::ForkGuard;
use pyo3::prelude::*;
use pyo3::types::PyTuple;
use std::sync::{Mutex, PoisonError};

/// A semaphore that Vulkan exported, on its CUDA device.
#[pyclass(module = "pixelferry.vulkan", name = "Semaphore", frozen)]
pub struct VulkanSemaphore {
    /// `None` after closing. A forked process does not have the driver.
    opened: Mutex<Option<ForkGuard<ImportedSemaphore>>>,
    kind: SyncKind,
}

struct ImportedSemaphore {
    semaphore: Box<dyn ComputeSemaphore + Send>,
    backend: CudaBackend,
}

impl Drop for VulkanSemaphore {
    fn drop(&mut self) {
        let opened = self.opened.get_mut().unwrap_or_else(PoisonError::into_inner);
        if let Some(opened) = opened.take() {
            // Dropping waits for its stream, which may need another Python thread to continue.
            Python::attach(|py| py.detach(|| drop(opened)));
        }
    }
}

impl VulkanSemaphore {
    /// Calls a function with a stream of the program, in the driver's terms.
    fn with(
        &self,
        py: Python<'_>,
        stream: i64,
        work: impl FnOnce(&mut ImportedSemaphore, usize) -> Result<(), Failure> + Send,
    ) -> PyResult<()> {
        let stream = usize::try_from(stream).map_err(|_| Failure::Shape(format!("invalid stream={stream}")))?;
        // PyTorch uses 0 for the legacy default stream, CUDA itself uses 1.
        let stream = stream.max(1);
        let closed = || Failure::Closed("the semaphore is closed, or belongs to another process".into());
        let work = || {
            let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
            let opened = opened.as_mut().filter(|opened| opened.mark().is_here());
            work(opened.ok_or_else(closed)?, stream)
        };
        Ok(py.detach(|| guarded(work))?)
    }
}

#[pymethods]
impl VulkanSemaphore {
    #[new]
    #[pyo3(signature = (fd, *, uuid, timeline=false))]
    fn new(py: Python<'_>, fd: i64, uuid: Uuid, timeline: bool) -> PyResult<Self> {
        let kind = if timeline { SyncKind::TimelineSemaphore } else { SyncKind::BinarySemaphore };
        let open = || {
            let backend = cuda_alone(uuid.0)?.ok_or_else(|| {
                Failure::Device(format!(
                    "{} is not a CUDA device. For other devices pixelferry uses host memory, so wait for a Vulkan fence \
                     instead of a semaphore",
                    uuid.0
                ))
            })?;
            taken(fd, |copy| {
                let semaphore = backend.open_semaphore(vulkan::semaphore(copy, kind))?;
                Ok(ForkGuard::new(ImportedSemaphore { semaphore, backend }))
            })
        };
        let opened = py.detach(|| guarded(open))?;
        Ok(Self { opened: Mutex::new(Some(opened)), kind })
    }

    /// Makes later work on a CUDA stream wait for Vulkan's signal.
    #[pyo3(signature = (value=0, stream=0))]
    fn wait(&self, py: Python<'_>, value: u64, stream: i64) -> PyResult<()> {
        self.with(py, stream, |opened, stream| {
            opened.semaphore.wait(value)?;
            vulkan::lead(&opened.backend, stream)
        })
    }

    /// Signals Vulkan when the earlier work on a CUDA stream is done.
    #[pyo3(signature = (value=0, stream=0))]
    fn signal(&self, py: Python<'_>, value: u64, stream: i64) -> PyResult<()> {
        self.with(py, stream, |opened, stream| {
            vulkan::follow(&opened.backend, stream)?;
            Ok(opened.semaphore.signal(value)?)
        })
    }

    /// Whether it is a timeline semaphore.
    #[getter]
    fn timeline(&self) -> bool {
        self.kind == SyncKind::TimelineSemaphore
    }

    /// Releases the semaphore. May be called again, and on any thread.
    fn close(&self, py: Python<'_>) {
        py.detach(|| {
            let mut opened = self.opened.lock().unwrap_or_else(PoisonError::into_inner);
            *opened = None;
        });
    }

    fn __enter__(slf: PyRef<'_, Self>) -> PyRef<'_, Self> {
        slf
    }

    #[pyo3(signature = (*_exception))]
    fn __exit__(&self, py: Python<'_>, _exception: &Bound<'_, PyTuple>) {
        self.close(py);
    }
}
