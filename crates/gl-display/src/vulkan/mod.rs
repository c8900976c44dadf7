//! What OpenGL cannot make itself, made by Vulkan on the same device to be shared: memory of images, and semaphores.
//! No frame is drawn by Vulkan.

mod device;
mod image;
mod semaphore;

pub(crate) use image::Image;
pub(crate) use semaphore::Semaphore;

use ash::vk;
use device::Device;
use interop_core::{DeviceIdentity, DriverError, Error, Result, Support};
use std::cell::OnceCell;
use std::rc::Rc;

/// The loader, and the device once somebody needs it.
pub(crate) struct Vulkan {
    // Goes before the library that its functions are in.
    device: OnceCell<Rc<Device>>,
    entry: Result<ash::Entry, String>,
}

impl Vulkan {
    /// Opens the loader, and asks it nothing.
    pub(crate) fn open() -> Self {
        // SAFETY: the Vulkan loader's own library, which does nothing but exist until an instance is made.
        Self::with(unsafe { ash::Entry::load() })
    }

    /// Where nothing here could be used.
    pub(crate) fn none(reason: &str) -> Self {
        Self { device: OnceCell::new(), entry: Err(reason.to_owned()) }
    }

    fn with(entry: Result<ash::Entry, ash::LoadingError>) -> Self {
        let reason =
            |e| format!("the Vulkan loader cannot be opened ({e}); install it (Debian and Ubuntu: libvulkan1)");
        Self { device: OnceCell::new(), entry: entry.map_err(reason) }
    }

    /// Whether the loader is there. Whether it knows the device shows at the first use: making an instance is slow.
    pub(crate) fn support(&self) -> Support {
        self.entry.as_ref().map_or_else(|reason| Support::No(reason.clone()), |_| Support::Yes)
    }

    /// Vulkan on the device that is `gl`; made once.
    pub(crate) fn device(&self, gl: &DeviceIdentity, operation: &'static str) -> Result<Rc<Device>> {
        if let Some(device) = self.device.get() {
            return Ok(Rc::clone(device));
        }
        let unsupported =
            |reason: &String| Error::Unsupported { operation, device: gl.name.clone(), reason: reason.clone() };
        let entry = self.entry.as_ref().map_err(unsupported)?;
        let device = Rc::new(Device::open(entry, gl, operation)?);
        Ok(Rc::clone(self.device.get_or_init(|| device)))
    }
}

/// A failed Vulkan call.
fn failed(operation: &'static str, device: &str) -> impl FnOnce(vk::Result) -> Error {
    move |result| {
        let hint = match result {
            vk::Result::ERROR_OUT_OF_DEVICE_MEMORY | vk::Result::ERROR_OUT_OF_HOST_MEMORY => {
                "Use a smaller surface or fewer slots, or close other programs that use the GPU."
            }
            vk::Result::ERROR_DEVICE_LOST => "The driver was reset; make a new display and new links.",
            _ => "Another path does without Vulkan.",
        };
        DriverError {
            operation,
            device: device.to_owned(),
            code: i64::from(result.as_raw()),
            code_name: format!("VK_{result:?}"),
            hint: hint.to_owned(),
        }
        .into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use interop_core::{Api, DeviceUuid, MemoryKind};

    fn somebody(uuid: Option<[u8; 16]>) -> DeviceIdentity {
        DeviceIdentity {
            api: Api::OpenGl,
            name: "a GL device".into(),
            vendor: String::new(),
            driver: String::new(),
            uuid: uuid.map(DeviceUuid),
            ordinal: None,
            pci: None,
            memory: MemoryKind::Unknown,
            software: false,
        }
    }

    fn refusal(vulkan: &Vulkan, gl: &DeviceIdentity) -> String {
        match vulkan.device(gl, "test").map(|_| ()) {
            Err(Error::Unsupported { device, reason, .. }) if device == "a GL device" => reason,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn a_missing_loader_is_named() {
        // SAFETY: there is no such library.
        let vulkan = Vulkan::with(unsafe { ash::Entry::load_from("libvulkan-that-is-not-there.so.1") });
        let Support::No(reason) = vulkan.support() else { panic!("it was opened") };
        assert!(reason.contains("libvulkan1") && reason.contains("not-there"), "{reason}");
        assert_eq!(refusal(&vulkan, &somebody(None)), reason);
    }

    #[test]
    fn a_library_that_is_no_loader_is_named() {
        // SAFETY: the C library is loaded already.
        let vulkan = Vulkan::with(unsafe { ash::Entry::load_from("libc.so.6") });
        assert!(!vulkan.support().is_yes());
    }

    #[test]
    fn a_device_that_vulkan_does_not_know_is_refused() {
        let vulkan = Vulkan::open();
        if let Support::No(reason) = vulkan.support() {
            assert!(std::env::var("CI").is_err(), "{reason}");
            return println!("SKIPPED: {reason}");
        }
        let reason = refusal(&vulkan, &somebody(Some([0xEE; 16])));
        assert!(reason.contains("eeeeeeee-eeee-eeee-eeee-eeeeeeeeeeee"), "{reason}");
        let reason = refusal(&vulkan, &somebody(None));
        assert!(reason.contains("UUID"), "{reason}");
    }
}
