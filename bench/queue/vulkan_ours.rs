//! pixelferry on an engine's own Vulkan device: kernels in its queue, and frames in its image.

use crate::ours::KERNEL;
use crate::vulkan_by_hand::{ByHand, LAYOUT, Vulkan, whole};
use crate::{End, Subject, Work};
use ash::vk;
use pixelferry::{
    Arg, ComputeBackend, Display, Filter, ImageAccess, ImageDesc, Kernel, KernelSource, Link, LinkOptions, Manner,
    PathId, PixelFormat, Policy, Region, Result, SurfaceDesc, Unwritten,
};
use pixelferry_vulkan::{BlitTarget, VulkanBackend, VulkanDisplay, VulkanOptions};
use std::sync::Arc;

/// Frames of a link, in an image of the engine or, with "straight", of the display.
struct Ours {
    name: String,
    end: End,
    link: Link,
    kernel: Arc<dyn Kernel>,
    display: Arc<VulkanDisplay>,
    engine: ByHand,
    region: Region,
}

/// Returns every row of this size.
pub fn subjects(width: u32, height: u32) -> Vec<Box<dyn Subject>> {
    let rows = || {
        let display = VulkanDisplay::headless(&VulkanOptions::default())?;
        println!("pixelferry on {}, {}", Display::device(display.as_ref()), Display::device(display.as_ref()).driver);
        let inside: Arc<dyn ComputeBackend> = Arc::new(VulkanBackend::on(&display)?);
        let beside: Arc<dyn ComputeBackend> = Arc::new(VulkanBackend::open(&VulkanOptions::default())?);
        let row = |backend, path, end| Ours::open(backend, &display, path, end, (width, height));
        Ok::<_, pixelferry::Error>(vec![
            row(&inside, PathId::IN_QUEUE_TEXTURE, End::Straight)?,
            row(&inside, PathId::IN_QUEUE_IN_PLACE, End::Copy)?,
            row(&beside, PathId::PBO_PERSISTENT, End::Copy)?,
            row(&beside, PathId::HOST_ROUND_TRIP, End::Copy)?,
        ])
    };
    rows().unwrap_or_else(|error| {
        println!("SKIPPED pixelferry on Vulkan: {error}");
        Vec::new()
    })
}

impl Ours {
    fn open(
        backend: &Arc<dyn ComputeBackend>,
        display: &Arc<VulkanDisplay>,
        path: PathId,
        end: End,
        (width, height): (u32, u32),
    ) -> Result<Box<dyn Subject>> {
        let access = if path == PathId::IN_QUEUE_IN_PLACE { ImageAccess::Any } else { ImageAccess::Texture };
        let image = ImageDesc::new(width, height, PixelFormat::Rgba8).with_access(access);
        let desc = SurfaceDesc::Image(image.with_unwritten(Unwritten::Overwrite));
        let options = LinkOptions::new(Policy::default().with_force(path));
        let mut row = Self {
            name: format!("pixelferry on Vulkan, {path}, {}", end.name()),
            end,
            link: Link::open(Arc::clone(backend), display.clone(), desc, options)?,
            kernel: backend.build(&KernelSource::new("ramp").wgsl(KERNEL))?,
            display: Arc::clone(display),
            engine: ByHand::new(
                &Arc::new(Vulkan::of(display)),
                (Work::Both(Manner::Compute), End::Copy),
                width,
                height,
            ),
            region: Region::new(0, 0, width, height),
        };
        row.frame(12);
        Ok(Box::new(row))
    }
}

impl Subject for Ours {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn frame(&mut self, n: u32) {
        let Self { end, link, kernel, display, engine, region, .. } = self;
        link.frame(|frame| frame.launch(kernel.as_ref(), &[Arg::U32(n)])).expect("a frame");
        if *end == End::Straight {
            return;
        }
        let shown = link.shown().expect("a frame");
        let (image, device) = (engine.image, display.device_functions());
        let target = BlitTarget { image, format: vk::Format::R8G8B8A8_UNORM, region: *region };
        engine.submit(|_, commands| {
            let (all, access) = (vk::PipelineStageFlags::ALL_COMMANDS, vk::AccessFlags::MEMORY_WRITE);
            let change = |from, to| {
                let barrier = vk::ImageMemoryBarrier::default().old_layout(from).new_layout(to).image(image);
                let barrier = barrier.src_access_mask(access).dst_access_mask(access | vk::AccessFlags::MEMORY_READ);
                let barrier = [barrier.subresource_range(whole())];
                // SAFETY: commands of the display's device that are being recorded, and an image of it.
                unsafe {
                    let none = vk::DependencyFlags::empty();
                    device.cmd_pipeline_barrier(commands, all, all, none, &[], &[], &barrier);
                }
            };
            change(LAYOUT, vk::ImageLayout::TRANSFER_DST_OPTIMAL);
            // SAFETY: as above; the image may be copied to, and the commands go to the display's own queue before the next frame.
            let copied = unsafe { display.record_blit(shown.surface(), commands, &target, Filter::Nearest) };
            copied.expect("a copy");
            change(vk::ImageLayout::TRANSFER_DST_OPTIMAL, LAYOUT);
        });
    }

    fn finish(&mut self) {
        match self.end {
            End::Straight => Display::finish(self.display.as_ref()).expect("the device finishes"),
            _ => self.engine.finish(),
        }
    }

    fn pixels(&mut self) -> Option<Vec<u8>> {
        match self.end {
            End::Straight => Some(self.link.read_back().expect("pixels")),
            _ => self.engine.pixels(),
        }
    }
}
