//! The Vulkan device of a GPU that another API named by its UUID or LUID.

use ash::vk;
use interop_core::devices::loading::with_sources;
use interop_core::{DeviceIdentity, Error, Result, Support};
use std::ffi::CStr;
use std::rc::Rc;
use std::sync::{Mutex, OnceLock, PoisonError};
use vulkan_sharing::{Ids, MEMORY_EXTENSION, SEMAPHORE_EXTENSION, Sharing};

/// The loader library, opened once and for as long as the process runs.
fn loader() -> Result<&'static ash::Entry, &'static str> {
    static LOADER: OnceLock<Result<ash::Entry, String>> = OnceLock::new();
    // SAFETY: the loader is a library without surprises at loading, and is never closed.
    let loader = LOADER.get_or_init(|| unsafe { ash::Entry::load() }.map_err(|e| with_sources(&e)));
    loader.as_ref().map_err(String::as_str)
}

/// Whether the Vulkan loader is there. Makes no instance.
pub(crate) fn vulkan_support() -> Support {
    match loader() {
        Ok(_) => Support::Yes,
        Err(reason) => Support::No(format!(
            "no Vulkan loader ({reason}); install it (libvulkan1; Windows: with the driver) and the GPU's Vulkan driver"
        )),
    }
}

/// One for all, made once and kept for as long as the process runs: with the last one NVIDIA's driver takes down the EGL
/// displays of everybody in the process (seen with 580.159).
struct Instance(ash::Instance);

/// One logical device. Kept by the images and semaphores that are made of it.
pub(crate) struct VulkanDevice {
    pub(super) sharing: Sharing,
}

/// What is asked of a physical device before one is chosen.
struct Candidate {
    physical: vk::PhysicalDevice,
    name: String,
    ids: Ids,
    version: u32,
}

impl VulkanDevice {
    /// Opens the device whose `deviceUUID`, else whose `deviceLUID`, is that of `gl`.
    pub(super) fn open(gl: &DeviceIdentity, operation: &'static str) -> Result<Rc<Self>> {
        let unsupported = |reason: String| Error::Unsupported { operation, device: gl.to_string(), reason };
        let ids: Vec<_> =
            [gl.uuid.map(|id| id.to_string()), gl.luid.map(|id| id.to_string())].into_iter().flatten().collect();
        if ids.is_empty() {
            let reason = "the GL driver gives no device UUID, so its Vulkan device cannot be told from others";
            return Err(unsupported(reason.into()));
        }
        let instance = Instance::get(&gl.name, operation)?;
        let candidates = instance.candidates(&gl.name)?;
        let by_uuid = candidates.iter().find(|c| gl.uuid == Some(c.ids.uuid));
        let by_luid = || candidates.iter().find(|c| gl.luid.is_some() && gl.luid == c.ids.luid);
        let Some(found) = by_uuid.or_else(by_luid) else {
            let listed: Vec<_> = candidates.iter().map(|c| format!("{} ({})", c.name, c.ids.uuid)).collect();
            let listed = if listed.is_empty() { "no device at all".to_owned() } else { listed.join(", ") };
            return Err(unsupported(format!(
                "no Vulkan device is {} ({}); Vulkan lists {listed}. Install the Vulkan driver of that GPU",
                gl.name,
                ids.join(", ")
            )));
        };
        Self::new(instance, found, operation).map(Rc::new)
    }

    fn new(instance: &'static Instance, chosen: &Candidate, operation: &'static str) -> Result<Self> {
        let (physical, name) = (chosen.physical, &chosen.name);
        // SAFETY: the physical device is of this instance; the structures live through the calls, and every function is
        // of Vulkan 1.1 or gated by the device's version.
        unsafe {
            let extensions = instance
                .0
                .enumerate_device_extension_properties(physical)
                .map_err(failure("vkEnumerateDeviceExtensionProperties", name))?;
            let has = |wanted: &CStr| extensions.iter().any(|e| e.extension_name_as_c_str() == Ok(wanted));
            if !has(MEMORY_EXTENSION) {
                let reason = format!("its Vulkan driver does not list {}", MEMORY_EXTENSION.to_string_lossy());
                return Err(Error::Unsupported { operation, device: name.clone(), reason });
            }
            let wanted: Vec<_> = [MEMORY_EXTENSION, SEMAPHORE_EXTENSION].into_iter().filter(|name| has(name)).collect();
            let names: Vec<_> = wanted.iter().map(|name| name.as_ptr()).collect();
            let mut counters = vk::PhysicalDeviceTimelineSemaphoreFeatures::default();
            if chosen.version >= vk::API_VERSION_1_2 {
                let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut counters);
                instance.0.get_physical_device_features2(physical, &mut features);
            }
            let timeline = counters.timeline_semaphore == vk::TRUE;
            // A device needs a queue, though nothing is submitted to it.
            let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
            let mut info = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&names);
            if timeline {
                info = info.push_next(&mut counters);
            }
            let device = instance.0.create_device(physical, &info, None).map_err(failure("vkCreateDevice", name))?;
            let (instance, made_with) = (instance.0.clone(), |name: &CStr| wanted.contains(&name));
            let name = label(name);
            Ok(Self { sharing: Sharing::new(instance, physical, device, made_with, timeline, name) })
        }
    }
}

impl Drop for VulkanDevice {
    fn drop(&mut self) {
        // SAFETY: images and semaphores keep the device, so none is left; nothing was ever submitted.
        unsafe { self.sharing.device().destroy_device(None) }
    }
}

impl Instance {
    fn get(device: &str, operation: &'static str) -> Result<&'static Self> {
        static INSTANCE: Mutex<Option<&Instance>> = Mutex::new(None);
        let mut kept = INSTANCE.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(instance) = *kept {
            return Ok(instance);
        }
        // What fails is tried again the next time.
        Ok(kept.insert(Box::leak(Box::new(Self::new(device, operation)?))))
    }

    /// Without layers or extensions.
    fn new(device: &str, operation: &'static str) -> Result<Self> {
        let unsupported = |reason: String| Error::Unsupported { operation, device: device.to_owned(), reason };
        let entry = loader().map_err(|reason| unsupported(format!("no Vulkan loader: {reason}")))?;
        // SAFETY: the structures live through the calls. Since Vulkan 1.1 a driver that is older than the version asked
        // for makes an instance all the same.
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

    /// Every device of Vulkan 1.1 or later.
    fn candidates(&self, device: &str) -> Result<Vec<Candidate>> {
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
            Some(Candidate { physical, name, ids, version: properties.api_version })
        };
        // SAFETY: the instance is alive.
        let listed = unsafe { self.0.enumerate_physical_devices() };
        let listed = listed.map_err(failure("vkEnumeratePhysicalDevices", device))?;
        Ok(listed.into_iter().filter_map(describe).collect())
    }
}

fn failure(operation: &'static str, device: &str) -> impl FnOnce(vk::Result) -> Error {
    vulkan_sharing::failure(operation, &label(device))
}

/// How errors call a device.
fn label(name: &str) -> String {
    format!("Vulkan {name}")
}
