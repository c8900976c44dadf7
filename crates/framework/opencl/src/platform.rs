//! [`Platform`].

use crate::ffi::PlatformId;
use cl3::platform as p;
use interop_core::Result;
use interop_core::describe::process::enter;

/// A driver that the loader knows (OpenCL 3.0 API, 4.1; `clGetPlatformIDs`). Cheap to copy; any thread may use it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Platform(pub(crate) PlatformId);

impl Platform {
    /// Returns all platforms, in the loader's order (`clGetPlatformIDs`).
    ///
    /// # Errors
    /// [`interop_core::Error::Unavailable`] where there is no libOpenCL or no driver.
    pub fn all() -> Result<Vec<Self>> {
        let _entered = enter("OpenCL")?;
        Ok(PlatformId::all().map_err(|f| f.on("the OpenCL loader"))?.into_iter().map(Self).collect())
    }

    fn text(self, param: u32) -> Result<String> {
        self.0.text(param).map_err(|f| f.on("an OpenCL platform"))
    }

    /// Returns its name, `CL_PLATFORM_NAME`.
    pub fn name(self) -> Result<String> {
        self.text(p::CL_PLATFORM_NAME)
    }

    /// Returns true for Mesa's driver.
    pub(super) fn is_rusticl(self) -> Result<bool> {
        self.0.is_rusticl().map_err(|f| f.on("an OpenCL platform"))
    }

    /// Returns true for the Portable Computing Language, PoCL.
    pub(super) fn is_pocl(self) -> Result<bool> {
        self.0.is_pocl().map_err(|f| f.on("an OpenCL platform"))
    }

    /// Returns its vendor, `CL_PLATFORM_VENDOR`.
    pub fn vendor(self) -> Result<String> {
        self.text(p::CL_PLATFORM_VENDOR)
    }

    /// Returns its version, `CL_PLATFORM_VERSION`, e.g. `OpenCL 3.0 CUDA 12.8`.
    pub fn version(self) -> Result<String> {
        self.text(p::CL_PLATFORM_VERSION)
    }

    /// Returns its profile, `CL_PLATFORM_PROFILE`: `FULL_PROFILE` or `EMBEDDED_PROFILE`.
    pub fn profile(self) -> Result<String> {
        self.text(p::CL_PLATFORM_PROFILE)
    }

    /// Returns its extensions, `CL_PLATFORM_EXTENSIONS`, separated by spaces. Devices may have others.
    pub fn extensions(self) -> Result<String> {
        self.text(p::CL_PLATFORM_EXTENSIONS)
    }
}
