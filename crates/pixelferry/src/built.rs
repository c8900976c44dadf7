//! Opening the backends that the crate's features switch on; where one is off, the call says so.

#[cfg(feature = "cuda")]
pub(crate) mod cuda {
    use crate::listed::{Listed, Opened, listed};
    use cuda_backend::{CudaBackend, devices};
    use interop_core::{DeviceIdentity, Result};
    use std::sync::Arc;

    pub(crate) fn best(display: Option<&DeviceIdentity>) -> Opened {
        Ok(Arc::new(display.map_or_else(CudaBackend::open_best, CudaBackend::open_best_for)?))
    }

    pub(crate) fn list() -> Result<Vec<Listed>> {
        listed(devices()?, |d| d.identity().clone(), |d| Ok(Arc::new(CudaBackend::open(d)?)))
    }
}

#[cfg(feature = "opencl")]
pub(crate) mod opencl {
    use crate::listed::{Listed, Opened, listed};
    use interop_core::{DeviceIdentity, Result};
    use opencl_backend::{OpenClBackend, devices};
    use std::sync::Arc;

    pub(crate) fn best(display: Option<&DeviceIdentity>) -> Opened {
        Ok(Arc::new(display.map_or_else(OpenClBackend::open_best, OpenClBackend::open_best_for)?))
    }

    pub(crate) fn list() -> Result<Vec<Listed>> {
        listed(devices()?, |d| d.identity().clone(), |d| Ok(Arc::new(OpenClBackend::open(d)?)))
    }
}

#[cfg(feature = "gl-compute")]
pub(crate) mod gl_compute {
    use crate::listed::{Listed, Opened, listed};
    use interop_core::{DeviceIdentity, Result};
    use pixelferry_gl::{GlBackend, HeadlessOptions};
    use std::sync::Arc;

    pub(crate) fn best(display: Option<&DeviceIdentity>) -> Opened {
        let options = HeadlessOptions::default().with_same_device_as(display.cloned());
        Ok(Arc::new(GlBackend::open(&options)?))
    }

    pub(crate) fn list() -> Result<Vec<Listed>> {
        listed(vec![best(None)?], |d| d.device().clone(), |d| Ok(Arc::clone(d)))
    }
}

#[cfg(feature = "wgpu")]
pub(crate) mod wgpu_compute {
    use crate::listed::{Listed, Opened, listed};
    use interop_core::{DeviceIdentity, Result};
    use pixelferry_wgpu::{WgpuBackend, WgpuOptions};
    use std::sync::Arc;

    pub(crate) fn best(display: Option<&DeviceIdentity>) -> Opened {
        let options = WgpuOptions::default().with_same_device_as(display.cloned());
        Ok(Arc::new(WgpuBackend::open(&options)?))
    }

    pub(crate) fn list() -> Result<Vec<Listed>> {
        listed(vec![best(None)?], |d| d.device().clone(), |d| Ok(Arc::clone(d)))
    }
}

/// A backend's module where its feature is off.
macro_rules! absent {
    ($feature:literal, $module:ident, $what:literal) => {
        #[cfg(not(feature = $feature))]
        pub(crate) mod $module {
            use crate::availability::not_built_in;
            use crate::listed::{Listed, Opened};
            use interop_core::{DeviceIdentity, Result};

            pub(crate) fn best(_: Option<&DeviceIdentity>) -> Opened {
                not_built_in($what, $feature)
            }

            pub(crate) fn list() -> Result<Vec<Listed>> {
                not_built_in($what, $feature)
            }
        }
    };
}

absent!("cuda", cuda, "CUDA");
absent!("opencl", opencl, "OpenCL");
absent!("gl-compute", gl_compute, "OpenGL's compute shaders");
absent!("wgpu", wgpu_compute, "wgpu");
