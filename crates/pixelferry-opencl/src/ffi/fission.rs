//! Parts of a device as devices (`clCreateSubDevices`).

use super::handle::{Handle, SubDeviceKind};
use super::{Device, Failure};
use cl3::error_codes::{CL_INVALID_VALUE, CL_SUCCESS, DLOPEN_FUNCTION_NOT_AVAILABLE, DLOPEN_RUNTIME_LOAD_FAILED};
use std::ptr;

impl Device {
    /// `properties` is a list that ends with 0.
    pub fn partition(&self, properties: &[isize]) -> Result<Vec<Self>, Failure> {
        const CALL: &str = "clCreateSubDevices";
        let failure = |code| Failure { operation: CALL, code };
        if properties.last() != Some(&0) {
            return Err(failure(CL_INVALID_VALUE));
        }
        // Called directly: cl3's function gives the driver a list length of eight times the list.
        let runtime = cl3::load_library().as_ref().map_err(|_| failure(DLOPEN_RUNTIME_LOAD_FAILED))?;
        let call = |capacity, list, count: &mut u32| match runtime.clCreateSubDevices(
            self.id.0,
            properties.as_ptr(),
            capacity,
            list,
            count,
        ) {
            Some(CL_SUCCESS) => Ok(()),
            code => Err(failure(code.unwrap_or(DLOPEN_FUNCTION_NOT_AVAILABLE))),
        };
        let mut count = 0;
        call(0, ptr::null_mut(), &mut count)?;
        let mut list = vec![ptr::null_mut(); count as usize];
        call(count, list.as_mut_ptr(), &mut count)?;
        list.truncate(count as usize);
        let part = |raw| {
            // SAFETY: a device that was just created, whose one reference is ours.
            unsafe { Handle::<SubDeviceKind>::own(CALL, Ok(raw)) }.map(|owner| Self::part(self.platform, owner))
        };
        list.into_iter().map(part).collect()
    }
}
