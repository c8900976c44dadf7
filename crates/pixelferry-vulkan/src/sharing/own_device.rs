//! CUDA's kernels in a queue of Vulkan's: `VK_NVX_binary_import`.

use crate::sharing::failure;
use ash::{nvx, vk};
use interop_core::describe::threads::SignalsBlocked;
use interop_core::{Error, Result};
use std::ffi::{CStr, CString, c_void};
use std::ptr;
use std::sync::{Arc, Mutex, PoisonError};

/// The extension.
pub const CU_EXTENSION: &CStr = nvx::binary_import::NAME;

/// By which kernels address memory (`VK_KHR_buffer_device_address`, with its feature).
pub const ADDRESS_EXTENSION: &CStr = ash::khr::buffer_device_address::NAME;

/// Held while a module or a device is made or goes: NVIDIA's driver (580.159) takes a lock of Vulkan's and one of CUDA's then, not
/// always in the same order, so that two threads waited for each other for good.
static MODULES: Mutex<()> = Mutex::new(());

/// Functions of the extension for a device, which belongs to somebody else.
#[derive(Clone)]
pub struct CuDevice {
    device: ash::Device,
    functions: nvx::binary_import::Device,
    name: Arc<str>,
}

/// A device of one's own. Destroyed when dropped, while no thread makes a module.
pub struct OwnDevice(ash::Device);

impl OwnDevice {
    /// Makes it (`vkCreateDevice`), while no thread makes a module.
    ///
    /// # Safety
    /// The physical device is of this instance and offers what `info` asks for. Nothing of the device is left when this is
    /// dropped, and the instance still lives.
    pub unsafe fn create(
        instance: &ash::Instance,
        physical: vk::PhysicalDevice,
        info: &vk::DeviceCreateInfo<'_>,
    ) -> std::result::Result<Self, vk::Result> {
        let _alone = MODULES.lock().unwrap_or_else(PoisonError::into_inner);
        let _blocked = SignalsBlocked::new();
        // SAFETY: the caller's promise.
        unsafe { instance.create_device(physical, info, None) }.map(Self)
    }

    /// Its functions.
    pub fn device(&self) -> &ash::Device {
        &self.0
    }
}

impl Drop for OwnDevice {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        let _alone = MODULES.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: the promise of whoever made this.
        unsafe { self.0.destroy_device(None) };
    }
}

/// A function of a module, which is its own. Destroyed when dropped.
pub struct CuFunction {
    device: CuDevice,
    module: vk::CuModuleNVX,
    function: vk::CuFunctionNVX,
}

/// Blocks of a launch, and threads of each, across and down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CuGrid {
    /// Blocks.
    pub grid: [u32; 2],
    /// Threads.
    pub block: [u32; 2],
}

impl CuDevice {
    /// Errors are of the device `name`. `None` where the driver has no such functions.
    ///
    /// # Safety
    /// The device is of this instance, was made with [`CU_EXTENSION`], [`ADDRESS_EXTENSION`] and the feature
    /// `bufferDeviceAddress`, and is of Vulkan 1.2 or later. It outlives this and all that it makes.
    pub unsafe fn new(instance: &ash::Instance, device: ash::Device, name: &str) -> Option<Self> {
        let all = [
            c"vkCreateCuModuleNVX",
            c"vkCreateCuFunctionNVX",
            c"vkDestroyCuModuleNVX",
            c"vkDestroyCuFunctionNVX",
            c"vkCmdCuLaunchKernelNVX",
            c"vkGetBufferDeviceAddress",
        ];
        // ash calls a function that panics instead of one that the driver lacks.
        // SAFETY: the device is of this instance.
        let has = |name: &CStr| unsafe { instance.get_device_proc_addr(device.handle(), name.as_ptr()) }.is_some();
        if !all.into_iter().all(has) {
            return None;
        }
        let functions = nvx::binary_import::Device::new(instance, &device);
        Some(Self { device, functions, name: name.into() })
    }

    /// True where a device can be made whose queues take such kernels: with both extensions, and the feature `bufferDeviceAddress`.
    ///
    /// # Safety
    /// The physical device is of this instance, which was made for Vulkan 1.1 or later.
    pub unsafe fn offered(instance: &ash::Instance, physical: vk::PhysicalDevice) -> bool {
        // SAFETY: the physical device is of this instance.
        let (listed, about) = unsafe {
            (
                instance.enumerate_device_extension_properties(physical),
                instance.get_physical_device_properties(physical),
            )
        };
        let listed = listed.unwrap_or_default();
        let lists = |name| listed.iter().any(|e| e.extension_name_as_c_str() == Ok(name));
        if ![CU_EXTENSION, ADDRESS_EXTENSION].into_iter().all(lists) || about.api_version < vk::API_VERSION_1_2 {
            return false;
        }
        let mut addresses = vk::PhysicalDeviceBufferDeviceAddressFeatures::default();
        let mut features = vk::PhysicalDeviceFeatures2::default().push_next(&mut addresses);
        // SAFETY: as above, and the device is of Vulkan 1.2; the structures live through the call.
        unsafe { instance.get_physical_device_features2(physical, &mut features) };
        addresses.buffer_device_address == vk::TRUE
    }

    /// The address of a buffer as kernels see it.
    ///
    /// # Safety
    /// The buffer is of this device and was made by [`crate::sharing::Sharing::addressed_buffer`].
    pub unsafe fn address(&self, buffer: vk::Buffer) -> u64 {
        let info = vk::BufferDeviceAddressInfo::default().buffer(buffer);
        // SAFETY: the caller's promise; the feature is on.
        unsafe { self.device.get_buffer_device_address(&info) }
    }

    /// Compiles PTX (`vkCreateCuModuleNVX`) and takes its entry of that name.
    ///
    /// # Errors
    /// [`Error::KernelBuild`] with the driver's code, as it gives no log; [`Error::InvalidInput`] for a zero byte.
    ///
    /// # Safety
    /// No launch of the function is left on the device when it is dropped.
    pub unsafe fn function(&self, ptx: &str, entry: &str) -> Result<CuFunction> {
        let text = |text: &str| CString::new(text).map_err(|_| Error::refused("the text or name holds a zero byte"));
        let (ptx, name) = (text(ptx)?, text(entry)?);
        // SAFETY: the caller's promise.
        unsafe { self.load(&ptx, &name) }.map_err(|error| Error::KernelBuild {
            kernel: entry.to_owned(),
            device: self.name.to_string(),
            log: error.to_string(),
        })
    }

    /// # Safety
    /// The promise of [`CuDevice::function`].
    unsafe fn load(&self, ptx: &CStr, entry: &CStr) -> Result<CuFunction> {
        let (handle, text) = (self.device.handle(), ptx.to_bytes_with_nul());
        let info =
            vk::CuModuleCreateInfoNVX { data_size: text.len(), p_data: text.as_ptr().cast(), ..Default::default() };
        let mut made =
            CuFunction { device: self.clone(), module: vk::CuModuleNVX::null(), function: vk::CuFunctionNVX::null() };
        let _alone = MODULES.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: text and structure live through the call, which writes one handle.
        let code = unsafe {
            (self.functions.fp().create_cu_module_nvx)(handle, &raw const info, ptr::null(), &raw mut made.module)
        };
        code.result().map_err(failure("vkCreateCuModuleNVX", &self.name))?;
        let info = vk::CuFunctionCreateInfoNVX { module: made.module, p_name: entry.as_ptr(), ..Default::default() };
        // SAFETY: as above; the module is live.
        let code = unsafe {
            (self.functions.fp().create_cu_function_nvx)(handle, &raw const info, ptr::null(), &raw mut made.function)
        };
        code.result().map_err(failure("vkCreateCuFunctionNVX", &self.name))?;
        if made.module == vk::CuModuleNVX::null() || made.function == vk::CuFunctionNVX::null() {
            return Err(failure("vkCreateCuFunctionNVX", &self.name)(vk::Result::ERROR_UNKNOWN));
        }
        Ok(made)
    }

    /// Records a launch between two barriers: after all that comes before in the queue, before all that follows. Each parameter
    /// is where its value is, in 64-bit words, as `cuLaunchKernel` takes it; values are read before this returns.
    ///
    /// # Errors
    /// [`Error::Foreign`] where the function is of another device.
    ///
    /// # Safety
    /// `commands` is of this device and records, outside any render pass. There are as many values as the entry has
    /// parameters, each at least as long as its own. What their addresses name, and the function, stay until the device has passed the
    /// launch. The author of the text vouches for what it does there.
    pub unsafe fn launch(
        &self,
        commands: vk::CommandBuffer,
        function: &CuFunction,
        at: CuGrid,
        values: &[&[u64]],
    ) -> Result<()> {
        if function.device.device.handle() != self.device.handle() {
            return Err(Error::Foreign { operation: "", object: "kernel", device: self.name.to_string() });
        }
        let ([grid_dim_x, grid_dim_y], [block_dim_x, block_dim_y]) = (at.grid, at.block);
        let values: Vec<*const c_void> = values.iter().map(|value| value.as_ptr().cast()).collect();
        let info = vk::CuLaunchInfoNVX {
            function: function.function,
            grid_dim_x,
            grid_dim_y,
            grid_dim_z: 1,
            block_dim_x,
            block_dim_y,
            block_dim_z: 1,
            param_count: values.len(),
            p_params: values.as_ptr(),
            ..Default::default()
        };
        // SAFETY: the caller's promise; the structure lives through the call.
        unsafe {
            self.barrier(commands);
            (self.functions.fp().cmd_cu_launch_kernel_nvx)(commands, &raw const info);
            self.barrier(commands);
        }
        Ok(())
    }

    /// The specification names no stage for these launches, so that all wait for all.
    ///
    /// # Safety
    /// The condition of [`CuDevice::launch`] on `commands` holds.
    unsafe fn barrier(&self, commands: vk::CommandBuffer) {
        let all = vk::PipelineStageFlags::ALL_COMMANDS;
        let memory = [vk::MemoryBarrier::default()
            .src_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)
            .dst_access_mask(vk::AccessFlags::MEMORY_READ | vk::AccessFlags::MEMORY_WRITE)];
        // SAFETY: the caller's promise.
        unsafe {
            self.device.cmd_pipeline_barrier(commands, all, all, vk::DependencyFlags::empty(), &memory, &[], &[]);
        }
    }
}

impl Drop for CuFunction {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        let (handle, functions) = (self.device.device.handle(), self.device.functions.fp());
        let _alone = MODULES.lock().unwrap_or_else(PoisonError::into_inner);
        // SAFETY: both were made once of this device, and no launch is left (the promise of whoever made this). Null is ignored.
        unsafe {
            if self.function != vk::CuFunctionNVX::null() {
                (functions.destroy_cu_function_nvx)(handle, self.function, ptr::null());
            }
            if self.module != vk::CuModuleNVX::null() {
                (functions.destroy_cu_module_nvx)(handle, self.module, ptr::null());
            }
        }
    }
}
