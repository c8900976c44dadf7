//! Semaphores that other devices can open, and semaphores of other devices.

use crate::sharing::SharingDevice;
use crate::sharing::device::{enabled, missing};
use crate::sharing::os::{self, SEMAPHORE_EXTENSION, SEMAPHORE_HANDLE};
use ash::vk;
use interop_core::devices::os_handle::{self, ImportedHandle};
use interop_core::{Result, SemaphoreHandle, Support, SyncKind};

/// A semaphore, initially unsignalled or with its counter at 0. It is destroyed when dropped; its device must still
/// exist. Holders of a handle share its state.
pub struct Semaphore {
    device: ash::Device,
    raw: vk::Semaphore,
    kind: SyncKind,
}

impl SharingDevice {
    /// Reports whether semaphores of this kind can be exported, or the reason why not.
    pub fn exports_semaphores(&self, kind: SyncKind) -> Support {
        self.shares_semaphores(kind, vk::ExternalSemaphoreFeatureFlags::EXPORTABLE, "export")
    }

    /// Reports whether semaphores of this kind can be imported, or the reason why not.
    pub fn imports_semaphores(&self, kind: SyncKind) -> Support {
        self.shares_semaphores(kind, vk::ExternalSemaphoreFeatureFlags::IMPORTABLE, "import")
    }

    fn shares_semaphores(&self, kind: SyncKind, feature: vk::ExternalSemaphoreFeatureFlags, verb: &str) -> Support {
        let timeline = kind == SyncKind::TimelineSemaphore;
        enabled(self.semaphore.is_some(), SEMAPHORE_EXTENSION)
            .and(|| Support::when(self.timeline || !timeline, "the driver has no timeline semaphores (Vulkan 1.2)"))
            .and(|| {
                let driver_can = self.semaphore_features(kind).contains(feature);
                Support::when(driver_can, format!("the driver cannot {verb} a {kind} by handle"))
            })
    }

    fn semaphore_features(&self, kind: SyncKind) -> vk::ExternalSemaphoreFeatureFlags {
        let mut typed = semaphore_type(kind);
        let mut question = vk::PhysicalDeviceExternalSemaphoreInfo::default().handle_type(SEMAPHORE_HANDLE);
        // Older devices do not support the structure.
        if kind == SyncKind::TimelineSemaphore {
            question = question.push_next(&mut typed);
        }
        let mut answer = vk::ExternalSemaphoreProperties::default();
        // SAFETY: the physical device is of this instance and of Vulkan 1.1; the structures live through the call.
        unsafe {
            self.instance.get_physical_device_external_semaphore_properties(self.physical, &question, &mut answer);
        }
        answer.external_semaphore_features
    }

    /// Creates an exportable semaphore: a timeline semaphore or a binary one, by `kind`.
    ///
    /// # Errors
    /// `Unsupported` where the driver cannot export this kind.
    pub fn exported_semaphore(&self, kind: SyncKind) -> Result<Semaphore> {
        self.exports_semaphores(kind).ok_or_else(|reason| self.unsupported(reason))?;
        let mut export = vk::ExportSemaphoreCreateInfo::default().handle_types(SEMAPHORE_HANDLE);
        self.new_semaphore(kind, vk::SemaphoreCreateInfo::default().push_next(&mut export))
    }

    /// Imports a semaphore of another device or API of the same driver, and shares its state.
    ///
    /// # Errors
    /// `Unsupported` where the driver cannot import this kind; the driver's error where the handle is not of a
    /// semaphore.
    pub fn imported_semaphore(&self, handle: SemaphoreHandle) -> Result<Semaphore> {
        let kind = handle.kind();
        self.imports_semaphores(kind).ok_or_else(|reason| self.unsupported(reason))?;
        let functions = self.semaphore.as_ref().ok_or_else(|| self.unsupported(missing(SEMAPHORE_EXTENSION)))?;
        let made = self.new_semaphore(kind, vk::SemaphoreCreateInfo::default())?;
        let to_driver = ImportedHandle::new(handle.into_handle());
        // SAFETY: the semaphore is new and of this device; the handle is open, and of one of that kind
        // ([`SemaphoreHandle::new`]).
        if let Err(code) = unsafe { os::import_semaphore(functions, made.raw, to_driver.number()) } {
            to_driver.close_if_left();
            return Err(self.failed(os::IMPORT_SEMAPHORE)(code));
        }
        Ok(made)
    }

    fn new_semaphore(&self, kind: SyncKind, info: vk::SemaphoreCreateInfo<'_>) -> Result<Semaphore> {
        let mut typed = semaphore_type(kind);
        let info = if kind == SyncKind::TimelineSemaphore { info.push_next(&mut typed) } else { info };
        // SAFETY: the driver was asked whether it has such semaphores; the structures live through the call.
        let raw = unsafe { self.device.create_semaphore(&info, None) }.map_err(self.failed("vkCreateSemaphore"))?;
        Ok(Semaphore { device: self.device.clone(), raw, kind })
    }
}

fn semaphore_type(kind: SyncKind) -> vk::SemaphoreTypeCreateInfo<'static> {
    let counter = match kind {
        SyncKind::TimelineSemaphore => vk::SemaphoreType::TIMELINE,
        _ => vk::SemaphoreType::BINARY,
    };
    vk::SemaphoreTypeCreateInfo::default().semaphore_type(counter).initial_value(0)
}

impl Semaphore {
    /// Returns the semaphore.
    pub fn raw(&self) -> vk::Semaphore {
        self.raw
    }

    /// Returns a new handle of the semaphore.
    ///
    /// # Errors
    /// `Unsupported` where the device was made without the extension.
    pub fn export(&self, sharing: &SharingDevice) -> Result<SemaphoreHandle> {
        sharing.check_own(&self.device, "semaphore")?;
        let functions = sharing.semaphore.as_ref().ok_or_else(|| sharing.unsupported(missing(SEMAPHORE_EXTENSION)))?;
        // SAFETY: the semaphore is of this device and was made to be exported.
        let raw = unsafe { os::semaphore_handle(functions, self.raw) }.map_err(sharing.failed(os::GET_SEMAPHORE))?;
        // SAFETY: the handle is new and ours.
        let handle = unsafe { os_handle::own(raw) };
        let handle = handle.ok_or_else(|| sharing.failed(os::GET_SEMAPHORE)(vk::Result::ERROR_UNKNOWN))?;
        // SAFETY: Vulkan made it of this semaphore, which is of that kind.
        Ok(unsafe { SemaphoreHandle::new(handle, self.kind) })
    }
}

impl Drop for Semaphore {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // SAFETY: it was created once by this device, which is alive; all work that uses it has completed.
        unsafe { self.device.destroy_semaphore(self.raw, None) }
    }
}
