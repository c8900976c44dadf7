//! Compute pipelines.

use crate::launch::deferred_drop::DeferredDrop;
use crate::launch::layout::{Layout, Work};
use crate::queue::commands::CopyImage;
use ash::vk;
use interop_core::Result;
use interop_core::describe::words::c_text;
use std::sync::Arc;

/// A kernel that the driver compiled.
pub struct Pipeline {
    made: DeferredDrop<RawPipeline>,
    layout: Arc<Layout>,
}

/// Handle of a pipeline, destroyed when dropped.
struct RawPipeline {
    device: ash::Device,
    raw: vk::Pipeline,
}

impl Drop for RawPipeline {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // SAFETY: it was made of this device, which is alive, and no work is left that uses it.
        unsafe { self.device.destroy_pipeline(self.raw, None) };
    }
}

impl Pipeline {
    /// Compiles an entry point of SPIR-V.
    ///
    /// # Safety
    /// The words are valid for Vulkan 1.1 without optional features of the device, and bind what the layout has.
    pub unsafe fn build(layout: &Arc<Layout>, words: &[u32], entry: &str) -> Result<Self> {
        let sharing = &layout.shared().sharing;
        let device = sharing.device();
        let entry = c_text(entry)?;
        let info = vk::ShaderModuleCreateInfo::default().code(words);
        // SAFETY: the caller's promise.
        let module = unsafe { device.create_shader_module(&info, None) };
        let module = module.map_err(sharing.failed("vkCreateShaderModule"))?;
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(&entry);
        let info = vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout.pipelines());
        // SAFETY: module and layout are of this device and fit each other; a pipeline does not need its module.
        let made = unsafe {
            let made = device.create_compute_pipelines(vk::PipelineCache::null(), &[info], None);
            device.destroy_shader_module(module, None);
            made
        };
        let made = made.map_err(|(_, code)| sharing.failed("vkCreateComputePipelines")(code))?;
        let raw = made.first().copied().unwrap_or_default();
        let made = DeferredDrop::new(layout.shared(), RawPipeline { device: device.clone(), raw });
        Ok(Self { made, layout: Arc::clone(layout) })
    }

    /// Queues a launch of a kernel. During it, the images have other layouts.
    ///
    /// # Safety
    /// The promises of [`Layout::launch`].
    pub unsafe fn launch(&self, work: &Work<'_>, images: &[(CopyImage, vk::ImageLayout)]) -> Result<()> {
        // SAFETY: the caller's promise.
        unsafe { self.launch_with(work, images, |_, _, launch| launch()) }.map(drop)
    }

    /// [`Layout::launch`] of this pipeline.
    ///
    /// # Safety
    /// The promises of [`Layout::launch`].
    pub unsafe fn launch_with(
        &self,
        work: &Work<'_>,
        images: &[(CopyImage, vk::ImageLayout)],
        record: impl FnOnce(&ash::Device, vk::CommandBuffer, &dyn Fn()),
    ) -> Result<u64> {
        // SAFETY: the caller's promise; the pipeline was made for the layout.
        unsafe { self.layout.launch(self.made.raw, work, images, record) }
    }
}
