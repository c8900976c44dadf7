//! The loader, and this process's own instance.

use crate::sharing::{Ids, failure};
use ash::vk;
use interop_core::describe::PlainMutex;
use interop_core::describe::process::enter;
use interop_core::devices::library::with_sources;
use interop_core::{DeviceLuid, DeviceUuid, Error, Result, Support};
use std::ffi::CStr;
use std::sync::OnceLock;

/// Opens the loader library, once for the lifetime of the process.
///
/// # Errors
/// The message of the system's loader.
pub fn loader() -> std::result::Result<&'static ash::Entry, &'static str> {
    static LOADER: OnceLock<std::result::Result<ash::Entry, String>> = OnceLock::new();
    // SAFETY: the loader runs no unexpected code when it is loaded, and is never closed.
    let loader = LOADER.get_or_init(|| unsafe { ash::Entry::load() }.map_err(|e| with_sources(&e)));
    loader.as_ref().map_err(String::as_str)
}

/// Reports whether the Vulkan loader is installed. Creates no instance.
pub fn loader_support() -> Support {
    match loader() {
        Ok(_) => Support::Yes,
        Err(reason) => Support::No(format!(
            "no Vulkan loader ({reason}); install it (libvulkan1; Windows: with the driver) and the GPU's Vulkan driver"
        )),
    }
}

/// One instance for the whole process, created once and never destroyed: with its last instance, NVIDIA's driver
/// terminates all EGL displays of the process (seen with 580.159).
pub struct Instance(ash::Instance);

/// Properties of a physical device, before one is chosen.
pub struct Candidate {
    /// The physical device.
    pub physical: vk::PhysicalDevice,
    /// The name that the driver gives the device.
    pub name: String,
    /// The identifiers by which other APIs know it.
    pub ids: Ids,
    /// Version of Vulkan that the driver implements for it.
    pub version: u32,
    /// Type of the device: discrete, integrated, CPU or other.
    pub kind: vk::PhysicalDeviceType,
}

impl Instance {
    /// Returns the instance, for Vulkan 1.2, created at the first call. Errors name `device`.
    ///
    /// # Errors
    /// `Unsupported` where the loader is missing or older than 1.1; errors of the driver.
    pub fn get(device: &str) -> Result<&'static Self> {
        let _entered = enter("Vulkan")?;
        static INSTANCE: PlainMutex<Option<&Instance>> = PlainMutex::new(None);
        let mut kept = INSTANCE.lock();
        if let Some(instance) = *kept {
            return Ok(instance);
        }
        // A failed attempt is repeated at the next call.
        Ok(kept.insert(Box::leak(Box::new(Self::new(device)?))))
    }

    /// Creates an instance without layers or extensions.
    fn new(device: &str) -> Result<Self> {
        let unsupported = |reason: String| Error::unsupported(device, reason);
        let entry = loader().map_err(|reason| unsupported(format!("no Vulkan loader: {reason}")))?;
        // SAFETY: the structures live through the calls. Since Vulkan 1.1, a driver that is older than the requested
        // version still creates an instance.
        unsafe {
            let version =
                entry.try_enumerate_instance_version().map_err(failure("vkEnumerateInstanceVersion", device))?;
            if version.is_none_or(|v| v < vk::API_VERSION_1_1) {
                return Err(unsupported("the Vulkan loader is older than 1.1; update it (libvulkan1)".into()));
            }
            let app = vk::ApplicationInfo::default().application_name(c"pixelferry").api_version(vk::API_VERSION_1_2);
            let info = vk::InstanceCreateInfo::default().application_info(&app);
            let instance = entry.create_instance(&info, None).map_err(failure("vkCreateInstance", device))?;
            Ok(Self(instance))
        }
    }

    /// Returns the instance as ash's type.
    pub fn raw(&self) -> &ash::Instance {
        &self.0
    }

    /// Returns every device of Vulkan 1.1 or later. Errors name `device`.
    ///
    /// # Errors
    /// Errors of the driver.
    pub fn candidates(&self, device: &str) -> Result<Vec<Candidate>> {
        let describe = |physical| {
            // SAFETY: the device is of this instance, and has the second call by its version.
            let (properties, ids) = unsafe {
                let properties = self.0.get_physical_device_properties(physical);
                if properties.api_version < vk::API_VERSION_1_1 {
                    return None;
                }
                (properties, Ids::of(&self.0, physical))
            };
            let name = properties.device_name_as_c_str().map_or("unnamed".into(), CStr::to_string_lossy).into_owned();
            let (version, kind) = (properties.api_version, properties.device_type);
            Some(Candidate { physical, name, ids, version, kind })
        };
        // SAFETY: the instance is alive.
        let listed = unsafe { self.0.enumerate_physical_devices() };
        let listed = listed.map_err(failure("vkEnumeratePhysicalDevices", device))?;
        Ok(listed.into_iter().filter_map(describe).collect())
    }

    /// Returns the device that another API knows by its UUID, otherwise by its LUID. Errors name `device`.
    ///
    /// # Errors
    /// `Unsupported` where no device has them; errors of the driver.
    pub fn device_of(&self, device: &str, uuid: Option<DeviceUuid>, luid: Option<DeviceLuid>) -> Result<Candidate> {
        let mut candidates = self.candidates(device)?;
        let by_uuid = candidates.iter().position(|c| uuid == Some(c.ids.uuid));
        let by_luid = || candidates.iter().position(|c| luid.is_some() && luid == c.ids.luid);
        if let Some(found) = by_uuid.or_else(by_luid) {
            return Ok(candidates.swap_remove(found));
        }
        let ids = [uuid.map(|id| id.to_string()), luid.map(|id| id.to_string())];
        let ids = ids.into_iter().flatten().collect::<Vec<_>>().join(", ");
        let listed: Vec<_> = candidates.iter().map(|c| format!("{} ({})", c.name, c.ids.uuid)).collect();
        let listed = if listed.is_empty() { "no device at all".to_owned() } else { listed.join(", ") };
        let reason = format!(
            "no Vulkan device matches {device} ({ids}); Vulkan lists {listed}. Install the Vulkan driver of that GPU"
        );
        Err(Error::unsupported(device, reason))
    }
}
