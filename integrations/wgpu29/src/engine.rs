//! wgpu 29's device and queue, a display of pixelferry on them, and copies from the one to the other.

use crate::error::GuestError;
use pixelferry::api::vulkan::ash::vk;
use pixelferry::api::vulkan::{BlitTarget, VulkanDisplay, VulkanEngine, device_extensions};
use pixelferry::{Filter, Region, ShownFrame};
use std::rc::Rc;
use wgpu::hal::api::Vulkan;
use wgpu::hal::vulkan::CreateDeviceCallbackArgs;

/// An engine on wgpu 29. Everything stays on one thread, so nobody needs to lock the queue.
pub struct Engine {
    display: Rc<VulkanDisplay>,
    queue: wgpu::Queue,
    device: wgpu::Device,
}

impl std::fmt::Debug for Engine {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Engine").field("device", &self.device).finish_non_exhaustive()
    }
}

impl Engine {
    /// Takes the first Vulkan adapter whose name contains `name`, makes wgpu's device with the extensions that sharing needs, and
    /// a display on it.
    ///
    /// # Errors
    /// [`GuestError::NoAdapter`], [`GuestError::NoDevice`], and those of [`VulkanDisplay::from_engine`].
    pub async fn open(name: &str) -> Result<Self, GuestError> {
        let backends = wgpu::Backends::VULKAN;
        let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
            backends,
            ..wgpu::InstanceDescriptor::new_without_display_handle()
        });
        let adapters = instance.enumerate_adapters(backends).await;
        let adapter = match adapters.into_iter().find(|adapter| adapter.get_info().name.contains(name)) {
            Some(adapter) => adapter,
            None => instance.request_adapter(&wgpu::RequestAdapterOptions::default()).await?,
        };
        let about = adapter.get_info().name;
        let no_device = |reason: String| GuestError::NoDevice { device: about.clone(), reason };
        let (open, needs) = {
            // SAFETY: the adapter outlives the guard, and nothing of it is destroyed.
            let hal = unsafe { adapter.as_hal::<Vulkan>() }.ok_or(GuestError::NotVulkan("the adapter"))?;
            let (vulkan, physical) = (hal.shared_instance().raw_instance(), hal.raw_physical_device());
            // SAFETY: the physical device is of this instance, which wgpu makes for Vulkan 1.1 or later.
            let needs = unsafe { device_extensions(vulkan, physical) }?;
            let names = needs.names();
            let add = Box::new(move |args: CreateDeviceCallbackArgs<'_, '_, '_>| {
                for name in names {
                    if !args.extensions.contains(&name) {
                        args.extensions.push(name);
                    }
                }
            });
            // SAFETY: the callback adds extensions that the driver lists, and takes nothing away. wgpu itself switches on timeline
            // semaphores where they are.
            let open = unsafe {
                let (limits, hints) = (wgpu::Limits::default(), wgpu::MemoryHints::default());
                hal.open_with_callback(wgpu::Features::empty(), &limits, &hints, Some(add))
            };
            (open.map_err(|error| no_device(error.to_string()))?, needs)
        };
        // SAFETY: the device was made by this adapter, with these features and limits.
        let made = unsafe { adapter.create_device_from_hal(open, &wgpu::DeviceDescriptor::default()) };
        let (device, queue) = made.map_err(|error| no_device(error.to_string()))?;
        let engine = {
            // SAFETY: the device outlives the guard, and nothing of it is destroyed.
            let hal = unsafe { device.as_hal::<Vulkan>() }.ok_or(GuestError::NotVulkan("the device"))?;
            let shared = hal.shared_instance();
            let at = (hal.raw_queue(), hal.queue_family_index());
            VulkanEngine::new(
                shared.entry(),
                shared.raw_instance(),
                hal.raw_physical_device(),
                hal.raw_device(),
                at,
                (),
            )
        };
        let engine = engine.with_extensions(needs.names()).keeping(device.clone());
        let engine = if needs.timeline_semaphore { engine.with_timeline_semaphores() } else { engine };
        // SAFETY: the handles are of one device, which `keeping` holds; it was made with these extensions; queue and display are
        // used on this thread only.
        let display = unsafe { VulkanDisplay::from_engine(engine) }?;
        Ok(Self { display, queue, device })
    }

    /// The display, for links.
    pub fn display(&self) -> Rc<VulkanDisplay> {
        Rc::clone(&self.display)
    }

    /// wgpu's device.
    pub fn device(&self) -> &wgpu::Device {
        &self.device
    }

    /// wgpu's queue.
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// A texture of wgpu's for frames of `width` x `height` pixels of RGBA8: to be sampled, and read back.
    pub fn texture(&self, width: u32, height: u32) -> wgpu::Texture {
        use wgpu::TextureUsages as Usages;
        let texture = self.device.create_texture(&wgpu::TextureDescriptor {
            label: Some("frames of pixelferry"),
            size: wgpu::Extent3d { width, height, depth_or_array_layers: 1 },
            mip_level_count: 1,
            sample_count: 1,
            dimension: wgpu::TextureDimension::D2,
            format: wgpu::TextureFormat::Rgba8Unorm,
            usage: Usages::TEXTURE_BINDING | Usages::COPY_DST | Usages::COPY_SRC,
            view_formats: &[],
        });
        // wgpu clears what it thinks was never written: now, and not after the first copy.
        let layout = wgpu::TexelCopyBufferLayout { offset: 0, bytes_per_row: Some(4 * width), rows_per_image: None };
        self.queue.write_texture(
            texture.as_image_copy(),
            &vec![0; 4 * width as usize * height as usize],
            layout,
            texture.size(),
        );
        texture
    }

    /// Copies the frame on show into a texture of [`Engine::texture`], stretched to it. Submissions of wgpu's after this one read
    /// the new pixels. Call it before the link finishes its next frame.
    ///
    /// # Errors
    /// Those of [`VulkanDisplay::record_blit`]. Nothing is submitted then.
    pub fn copy(&self, frame: &ShownFrame<'_>, texture: &wgpu::Texture) -> Result<(), GuestError> {
        // wgpu mixes no commands of its own with raw ones in one encoder, so the transition has an encoder for itself.
        let mut before = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        let state = wgpu::TextureUses::COPY_DST;
        before.transition_resources(
            std::iter::empty(),
            [wgpu::wgt::TextureTransition { texture, selector: None, state }].into_iter(),
        );
        let mut raw = self.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
        // SAFETY: the texture outlives the guard, and its image is not destroyed.
        let image = unsafe { texture.as_hal::<Vulkan>().ok_or(GuestError::NotVulkan("the texture"))?.raw_handle() };
        let region = Region::new(0, 0, texture.width(), texture.height());
        let target = BlitTarget { image, format: vk::Format::R8G8B8A8_UNORM, region };
        // SAFETY: the encoder records outside of passes for the display's own queue. The image is of that format and alive, may be
        // copied to, and has the layout of copies once `before` ran. Both are submitted here, before the link's next frame.
        let recorded = unsafe {
            raw.as_hal_mut::<Vulkan, _, _>(|commands| {
                let commands = commands.ok_or(GuestError::NotVulkan("the encoder"))?.raw_handle();
                Ok::<_, GuestError>(self.display.record_blit(frame.surface(), commands, &target, Filter::Nearest)?)
            })
        };
        recorded?;
        self.queue.submit([before.finish(), raw.finish()]);
        Ok(())
    }
}
