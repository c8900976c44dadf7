//! Copies of frames into an engine's image, in the engine's command buffer.

use crate::context::device_state::DeviceState;
use crate::display::contract::VulkanDisplay;
use crate::queue::commands::{self, CopyImage, Rows, WRITTEN};
use crate::sharing::vk_format;
use crate::staging::transfer::{check_blit, part_of, rows};
use crate::surface::frame::TimelinePoint;
use crate::surface::surface_content::{SurfaceContent, shown};
use ash::vk;
use interop_core::describe::error::call;
use interop_core::{Error, Extent, Filter, Region, Result, Surface};

/// An image of the engine, into which a frame is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlitTarget {
    /// The image. When the commands run, its first level must have the layout `TRANSFER_DST_OPTIMAL`, which it keeps.
    pub image: vk::Image,
    /// Format of the image.
    pub format: vk::Format,
    /// Region of its first layer that is written; the frame is scaled to it. Row 0 is the first row of the image.
    pub region: Region,
}

impl VulkanDisplay {
    /// Records a copy of an image surface into an image of the engine. The frame is scaled, and its numbers are
    /// converted to the other format (`vkCmdBlitImage`). A surface that consists of rows in a buffer is neither scaled
    /// nor converted.
    ///
    /// Returns the semaphore value that the submission must wait for at the stage `TRANSFER`, as
    /// [`crate::VulkanFrame::ready`].
    ///
    /// # Errors
    /// Those of [`VulkanDisplay::surface_frame`]; [`Error::InvalidInput`] for a buffer and for an empty region;
    /// [`Error::Unsupported`] where the device cannot blit these formats, and where rows would need to be scaled or
    /// converted.
    ///
    /// # Safety
    /// - `commands` is being recorded on this thread, outside a render pass, for a queue that draws and that may read
    ///   frames.
    /// - The target's image is alive, belongs to this device and has the format given, which is neither an integer nor
    ///   a depth format. It has one sample and the usage `TRANSFER_DST`; the region lies inside.
    /// - The commands are submitted as [`VulkanDisplay::surface_frame`] requires.
    pub unsafe fn record_blit(
        &self,
        surface: &Surface,
        commands: vk::CommandBuffer,
        target: &BlitTarget,
        filter: Filter,
    ) -> Result<Option<TimelinePoint>> {
        call("VulkanDisplay::record_blit", || {
            let region = target.region;
            let ends = [(region.x, region.width), (region.y, region.height)].map(|(at, len)| at.checked_add(len));
            if region.extent().pixels() == 0 || ends.iter().any(|end| end.is_none_or(|end| i32::try_from(end).is_err()))
            {
                return Err(Error::refused(format!("the region {region} is empty or reaches outside every image")));
            }
            let way = BlitPlan::of(&self.shared, surface, None, target, filter)?;
            // SAFETY: the caller's promise; what the surface shows lives until the next frame.
            unsafe { way.record(self.shared.sharing.device(), commands, target) };
            Ok(self.surface_frame(surface)?.ready)
        })
    }
}

/// A checked copy of a surface's content into an image. Nothing has been recorded yet.
pub(crate) enum BlitPlan {
    /// Copies the numbers unchanged, at the same size.
    Copy(CopyImage, Region),
    Blit(CopyImage, Region, vk::Filter),
    Rows(Rows),
}

impl BlitPlan {
    /// `part`: the region that is copied; `None`: all of it.
    ///
    /// # Errors
    /// Those of [`VulkanDisplay::record_blit`].
    pub(crate) fn of(
        shared: &DeviceState,
        surface: &Surface,
        part: Option<Region>,
        target: &BlitTarget,
        filter: Filter,
    ) -> Result<Self> {
        match shown(shared, surface)? {
            SurfaceContent::Image(place, desc) => {
                surface.check_download()?;
                let part = part.unwrap_or(desc.extent.full());
                if place.format == target.format && part.extent() == target.region.extent() {
                    return Ok(Self::Copy(place, part));
                }
                check_blit(shared, place.format, target.format, filter)?;
                let filter = if filter == Filter::Linear { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
                Ok(Self::Blit(place, part, filter))
            }
            SurfaceContent::Rows(buffer, view) => {
                let part = part_of(&view, part.unwrap_or(view.extent.full()));
                if target.format != vk_format(view.format) || target.region.extent() != part.extent {
                    return Err(shared.unsupported(as_rows(part.extent, target.region.extent())));
                }
                rows(buffer, &part).map(Self::Rows)
            }
            SurfaceContent::Bytes(..) => Err(match surface.desc().pixels() {
                Err(error) => error,
                Ok(_) => Error::NothingShown,
            }),
        }
    }

    /// Records the copy.
    ///
    /// # Safety
    /// `commands` is being recorded, outside a render pass, and for a blit in a queue that draws. The surface's content
    /// lives until the commands have completed, and so does the image, which belongs to this device and then has the
    /// layout `TRANSFER_DST_OPTIMAL` and that usage; the region lies inside.
    pub(crate) unsafe fn record(&self, device: &ash::Device, commands: vk::CommandBuffer, target: &BlitTarget) {
        let to = (target.image, target.region);
        // SAFETY: the caller's promise; the formats, sizes and rows were checked.
        unsafe {
            match self {
                Self::Copy(place, part) => commands::copy(device, commands, (*place, *part), to),
                Self::Blit(place, part, filter) => commands::blit(device, commands, (*place, *part), to, *filter),
                Self::Rows(from) => {
                    let copy = from.copy(target.region);
                    device.cmd_copy_buffer_to_image(commands, from.buffer, target.image, WRITTEN, &[copy]);
                }
            }
        }
    }
}

fn as_rows(from: Extent, to: Extent) -> String {
    format!(
        "the frame is {from} pixels in rows of a buffer, which are neither scaled to {to} nor converted; open its link \
         with ImageAccess::Texture"
    )
}
