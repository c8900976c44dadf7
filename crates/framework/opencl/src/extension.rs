//! Functions of extensions, by name.

use super::{Device, Platform};
use crate::ffi;
use interop_core::{Error, Result};
use std::ffi::{CString, c_void};
use std::ptr::NonNull;

const OP: &str = "clGetExtensionFunctionAddressForPlatform";

impl Platform {
    /// Returns the address of a function of the platform's driver, or otherwise of the loader
    /// (`clGetExtensionFunctionAddressForPlatform`); `None` where neither has it.
    ///
    /// **An address does not mean that the function works**: loaders return one for functions that the driver lacks,
    /// and a call then ends the process. [`Device::extension_function`] checks first. To call it, convert it to a
    /// function pointer of the type that the extension defines, which is `unsafe`. The driver stays loaded for the
    /// lifetime of the process.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a name with a NUL.
    pub fn extension_function(self, name: &str) -> Result<Option<NonNull<c_void>>> {
        let c_name = CString::new(name).map_err(|_| Error::invalid(OP, format!("{name:?} contains a NUL")))?;
        Ok(ffi::extension_function(self.0, &c_name))
    }
}

impl Device {
    /// Returns the address of a function of an extension that the device or its platform lists (`CL_DEVICE_EXTENSIONS`,
    /// `CL_PLATFORM_EXTENSIONS`, `clGetExtensionFunctionAddressForPlatform`). The methods `raw()` return the objects
    /// for such functions.
    ///
    /// ```no_run
    /// use pixelferry_opencl::Device;
    /// use std::ffi::c_void;
    ///
    /// # fn main() -> interop_core::Result<()> {
    /// type Clone = unsafe extern "C" fn(kernel: *mut c_void, code: *mut i32) -> *mut c_void;
    /// let device = &Device::all()?[0];
    /// let address = device.extension_function("cl_example_clone", "clCloneKernelEXAMPLE")?;
    /// // SAFETY: the extension defines the function with this type.
    /// let clone = unsafe { std::mem::transmute::<*mut c_void, Clone>(address.as_ptr()) };
    /// # let _ = clone;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Unsupported`] where neither lists the extension, or the driver lacks the function;
    /// [`Error::InvalidInput`] for a name that contains NUL.
    pub fn extension_function(&self, extension: &str, function: &str) -> Result<NonNull<c_void>> {
        let listed = self.has_extension(extension)
            || self.platform().extensions()?.split_ascii_whitespace().any(|listed| listed == extension);
        if !listed {
            let reason = format!("neither CL_DEVICE_EXTENSIONS nor CL_PLATFORM_EXTENSIONS lists {extension}");
            return Err(self.unsupported(OP, reason));
        }
        let found = self.platform().extension_function(function)?;
        found.ok_or_else(|| self.unsupported(OP, format!("the driver lists {extension}, but has no {function}")))
    }
}
