//! Failed calls as the framework's errors.

use ash::vk;
use interop_core::{DriverError, Error};

/// Maps the code of a failed call on `device` to an error.
pub fn failure(operation: &'static str, device: &str) -> impl FnOnce(vk::Result) -> Error + use<> {
    let device = device.to_owned();
    move |code| {
        let hint = match code {
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
                "Use a smaller surface or fewer slots, or close other programs that use the GPU."
            }
            vk::Result::ERROR_INCOMPATIBLE_DRIVER | vk::Result::ERROR_INITIALIZATION_FAILED => {
                "Install or update the GPU's Vulkan driver, or use another path."
            }
            vk::Result::ERROR_INVALID_EXTERNAL_HANDLE => {
                "The handle must be of memory that this GPU can import; use another path otherwise."
            }
            vk::Result::ERROR_DEVICE_LOST => "The driver was reset; create a new device, display and links.",
            _ => "",
        };
        let (code, code_name) = (i64::from(code.as_raw()), format!("VK_{code:?}"));
        DriverError::new(operation, device, code, code_name).with_hint(hint).into()
    }
}
