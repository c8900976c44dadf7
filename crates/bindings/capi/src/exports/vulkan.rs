//! Vulkan handles: an engine's own instance, device and queue.

use crate::abi::*;
use crate::boundary::{fill, out, structure};
use crate::call::call;
use crate::exports::results::{give, say};
use crate::handles::Handle as _;
use std::ffi::c_char;
use std::sync::Arc;

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_vulkan_needs(
    device: *const pf_vulkan_device,
    extensions: *mut *mut c_char,
    timeline_semaphores: *mut u32,
) -> pf_status {
    // SAFETY: the header's promise for pointers, and for the handles.
    call("pf_vulkan_needs", || unsafe {
        say(extensions, "extensions", || {
            out(timeline_semaphores, 0, "timeline_semaphores")?;
            let (names, timeline) = engine::needs(&structure(device)?)?;
            timeline_semaphores.write(u32::from(timeline));
            Ok(names)
        })
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_display_from_vulkan(
    device: *const pf_vulkan_device,
    display: *mut *mut pf_display,
) -> pf_status {
    // SAFETY: the header's promise for pointers, and for the handles.
    call("pf_display_from_vulkan", || unsafe { give(display, "display", || engine::display(&structure(device)?)) })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shown_vulkan(shown: *mut pf_shown, frame: *mut pf_vulkan_frame) -> pf_status {
    // SAFETY: the header's promise for pointers.
    call("pf_shown_vulkan", || unsafe {
        fill(frame, || pf_shown::get(shown)?.with(|shown, link| engine::frame(link.display(), shown.surface()))?)
    })
}

#[unsafe(no_mangle)]
pub unsafe extern "C" fn pf_shown_vulkan_read_until(shown: *mut pf_shown, semaphore: u64, value: u64) -> pf_status {
    call("pf_shown_vulkan_read_until", || {
        // SAFETY: the header's promise for the semaphore.
        pf_shown::get(shown)?.with(|_, link| unsafe { engine::read_until(link, semaphore, value) })?
    })
}

/// An engine's device, and its own objects there.
#[cfg(feature = "vulkan")]
pub mod engine {
    use super::*;
    use crate::boundary::array;
    use crate::convert::format_code;
    use crate::failure::{Failure, Result};
    use interop_core::ShowTarget;
    use pixelferry::api::vulkan::ash::vk::{self, Handle as _};
    use pixelferry::api::vulkan::{
        CLock, EngineBuffer, EngineImage, QueueLock, RawVulkan, TimelinePoint, VulkanDisplay, VulkanEngine,
        VulkanObject, device_extensions_raw,
    };
    use pixelferry::{Display, Extent, HeadlessDisplay, LinkCore, Region, Surface, SurfaceDesc};
    use std::ffi::{CStr, c_void};
    use std::ptr;

    fn raw(given: &pf_vulkan_device) -> RawVulkan {
        RawVulkan {
            get_instance_proc_addr: given.get_instance_proc_addr.map_or(ptr::null(), |f| f as *const c_void),
            instance: given.instance,
            physical_device: given.physical_device,
            device: given.device,
            queue: given.queue,
            family: given.queue_family,
        }
    }

    /// # Safety
    /// The promises of [`device_extensions_raw`].
    pub unsafe fn needs(given: &pf_vulkan_device) -> Result<(String, bool)> {
        // SAFETY: the caller's promise.
        let needs = unsafe { device_extensions_raw(&raw(given)) }?;
        let names: Vec<_> = needs.names().iter().map(|name| name.to_string_lossy()).collect();
        Ok((names.join(" "), needs.timeline_semaphore))
    }

    /// # Safety
    /// The header's promises for `pf_vulkan_device` and `pf_display_from_vulkan`.
    pub unsafe fn display(given: &pf_vulkan_device) -> Result<HeadlessDisplay> {
        // SAFETY: the caller's promise, here and below.
        unsafe {
            let engine = match (given.lock, given.unlock) {
                (Some(lock), Some(unlock)) => engine(given, CLock::new(lock, unlock, given.lock_user)),
                (None, None) => engine(given, ()),
                _ => {
                    return Err(Failure::argument(
                        "pf_vulkan_device has only one of lock and unlock; give both or none",
                    ));
                }
            }?;
            let extensions = array(given.extensions, given.extension_count, "pf_vulkan_device.extensions")?;
            if extensions.iter().any(|name| name.is_null()) {
                return Err(Failure::argument("one of pf_vulkan_device.extensions is NULL"));
            }
            let engine = engine.with_extensions(extensions.iter().map(|name| CStr::from_ptr(*name)));
            let families = array(given.reader_families, given.reader_family_count, "pf_vulkan_device.reader_families")?;
            let engine = engine.read_by(families.iter().copied());
            let engine = if given.timeline_semaphores == 0 { engine } else { engine.with_timeline_semaphores() };
            let engine = match given.extended_storage_formats {
                0 => engine,
                _ => engine.with_extended_storage_formats(),
            };
            Ok(VulkanDisplay::from_engine(engine)?.into())
        }
    }

    /// # Safety
    /// The promises of [`VulkanEngine::from_raw`].
    unsafe fn engine(given: &pf_vulkan_device, lock: impl QueueLock + 'static) -> Result<VulkanEngine> {
        // SAFETY: the caller's promise.
        let engine = unsafe { VulkanEngine::from_raw(&raw(given), lock) };
        engine.ok_or_else(|| Failure::argument("pf_vulkan_device.get_instance_proc_addr is NULL"))
    }

    /// True for a Vulkan display.
    pub fn is_there(display: &Arc<dyn Display>) -> bool {
        of(display).is_ok()
    }

    fn of(display: &Arc<dyn Display>) -> Result<&VulkanDisplay> {
        display.downcast_ref::<VulkanDisplay>().ok_or_else(|| {
            let device = display.device();
            Failure::argument(format!("{device} is not a Vulkan display; read the frame with pf_link_read_back"))
        })
    }

    /// A shown frame.
    pub fn frame(display: &Arc<dyn Display>, surface: &Surface) -> Result<pf_vulkan_frame> {
        let found = of(display)?.surface_frame(surface)?;
        let none = pf_vulkan_frame {
            ready_semaphore: found.ready.map_or(0, |point| point.semaphore.as_raw()),
            ready_value: found.ready.map_or(0, |point| point.value),
            ..pf_vulkan_frame::blank()
        };
        Ok(match found.object {
            VulkanObject::Image { image, format, extent, layout } => pf_vulkan_frame {
                object: image.as_raw(),
                kind: PIXELFERRY_VULKAN_IMAGE,
                vk_format: format.as_raw(),
                vk_layout: layout.as_raw(),
                width: extent.width,
                height: extent.height,
                format: match surface.desc() {
                    SurfaceDesc::Image(image) => format_code(image.format),
                    SurfaceDesc::Buffer(_) => 0,
                },
                ..none
            },
            VulkanObject::Rows { buffer, format, view } => pf_vulkan_frame {
                object: buffer.as_raw(),
                kind: PIXELFERRY_VULKAN_ROWS,
                vk_format: format.as_raw(),
                offset: view.offset as u64,
                row_pitch: view.row_pitch,
                width: view.extent.width,
                height: view.extent.height,
                format: format_code(view.format),
                ..none
            },
            VulkanObject::Bytes { buffer, offset, len } => {
                pf_vulkan_frame { object: buffer.as_raw(), kind: PIXELFERRY_VULKAN_BYTES, offset, bytes: len, ..none }
            }
            _ => return Err(Failure::argument("this library does not know the kind of memory that holds the frame")),
        })
    }

    /// # Safety
    /// The promises of [`VulkanDisplay::read_until`].
    pub unsafe fn read_until(link: &LinkCore, semaphore: u64, value: u64) -> Result<()> {
        let display = of(link.display())?;
        if semaphore == 0 {
            return Err(Failure::argument("the semaphore is VK_NULL_HANDLE"));
        }
        // SAFETY: the caller's promise.
        Ok(unsafe { display.read_until(TimelinePoint { semaphore: vk::Semaphore::from_raw(semaphore), value }) }?)
    }

    fn engine_image(object: &pf_object) -> EngineImage {
        EngineImage {
            image: vk::Image::from_raw(object.handle),
            format: vk::Format::from_raw(object.vk_format),
            extent: Extent::new(object.width, object.height),
            usage: vk::ImageUsageFlags::from_raw(object.vk_usage),
            layout: vk::ImageLayout::from_raw(object.vk_layout),
        }
    }

    /// # Safety
    /// The promises of [`VulkanDisplay::engine_image`].
    pub unsafe fn image_object(display: &Arc<dyn Display>, object: &pf_object) -> Result<Surface> {
        // SAFETY: the caller's promise.
        Ok(unsafe { of(display)?.engine_image(&engine_image(object)) }?)
    }

    /// # Safety
    /// The promises of [`VulkanDisplay::image_target`].
    pub unsafe fn target(
        display: &Arc<dyn Display>,
        object: &pf_object,
        region: Region,
    ) -> Result<Box<dyn ShowTarget>> {
        // SAFETY: the caller's promise.
        Ok(Box::new(unsafe { of(display)?.image_target(&engine_image(object), region) }?))
    }

    /// # Safety
    /// The promises of [`VulkanDisplay::engine_buffer`].
    pub unsafe fn buffer_object(display: &Arc<dyn Display>, object: &pf_object) -> Result<Surface> {
        let usage = vk::BufferUsageFlags::from_raw(object.vk_usage);
        let buffer = EngineBuffer { buffer: vk::Buffer::from_raw(object.handle), bytes: object.bytes, usage };
        // SAFETY: the caller's promise.
        Ok(unsafe { of(display)?.engine_buffer(&buffer) }?)
    }
}

#[cfg(not(feature = "vulkan"))]
pub mod engine {
    use super::*;
    use crate::failure::{Failure, Result, absent};
    use interop_core::ShowTarget;
    use pixelferry::{Display, HeadlessDisplay, LinkCore, Region, Surface};

    pub fn is_there(_: &Arc<dyn Display>) -> bool {
        false
    }

    absent! {
        Failure::not_built_in("vulkan");
        [unsafe] image_object(&Arc<dyn Display>, &pf_object) -> Surface;
        [unsafe] target(&Arc<dyn Display>, &pf_object, Region) -> Box<dyn ShowTarget>;
        [unsafe] buffer_object(&Arc<dyn Display>, &pf_object) -> Surface;
        [unsafe] needs(&pf_vulkan_device) -> (String, bool);
        [unsafe] display(&pf_vulkan_device) -> HeadlessDisplay;
        [] frame(&Arc<dyn Display>, &Surface) -> pf_vulkan_frame;
        [unsafe] read_until(&LinkCore, u64, u64) -> ();
    }
}
