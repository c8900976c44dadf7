//! Frames in an image of the engine's, by commands of the engine's.

use crate::context::device_state::DeviceState;
use crate::display::contract::VulkanDisplay;
use crate::queue::commands::{self, Place, Rows};
use crate::sharing::vk_format;
use crate::staging::transfer::{check_blit, part_of, rows};
use crate::surface::frame::TimelinePoint;
use crate::surface::shown::{Shown, shown};
use ash::vk;
use interop_core::describe::error::call;
use interop_core::{Error, Extent, Filter, Region, Result, Surface};

/// An image of the engine's, into which a frame is copied.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BlitTarget {
    /// The image. When the commands run, its first level has the layout `TRANSFER_DST_OPTIMAL`, which stays.
    pub image: vk::Image,
    /// Its format.
    pub format: vk::Format,
    /// Region of its first layer that is written; the frame is stretched to it. Row 0 is the first row of the image.
    pub region: Region,
}

impl VulkanDisplay {
    /// Records a copy of an image surface into an image of the engine's: stretched, and converted to the other format number by
    /// number (`vkCmdBlitImage`). A surface that is rows in a buffer is neither stretched nor converted.
    ///
    /// Returns what the submission waits for, as [`crate::VulkanFrame::ready`], at the stage `TRANSFER`.
    ///
    /// # Errors
    /// Those of [`VulkanDisplay::surface_frame`]; [`Error::InvalidInput`] for a buffer and for an empty region;
    /// [`Error::Unsupported`] where the device blits no such formats, and where rows are to be stretched or converted.
    ///
    /// # Safety
    /// - `commands` are being recorded on this thread, outside a render pass, for a queue that draws and that may read frames.
    /// - The target's image is alive and of this device, of that format, which is neither of integers nor of depth, has one sample
    ///   and the usage `TRANSFER_DST`; the region lies inside.
    /// - They are submitted as [`VulkanDisplay::surface_frame`] says.
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
            let way = Way::of(&self.shared, surface, None, target, filter)?;
            // SAFETY: the caller's promise; what the surface shows lives until the next frame.
            unsafe { way.record(self.shared.sharing.device(), commands, target) };
            Ok(self.surface_frame(surface)?.ready)
        })
    }
}

/// A copy of what a surface shows into an image, which was checked. Nothing was recorded yet.
pub(crate) enum Way {
    /// Number by number, at its own size.
    Copy(Place, Region),
    Blit(Place, Region, vk::Filter),
    Rows(Rows),
}

impl Way {
    /// `part`: what is copied of it; `None`: all.
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
            Shown::Image(place, desc) => {
                surface.check_download()?;
                let part = part.unwrap_or(desc.extent.full());
                if place.format == target.format && part.extent() == target.region.extent() {
                    return Ok(Self::Copy(place, part));
                }
                check_blit(shared, place.format, target.format, filter)?;
                let filter = if filter == Filter::Linear { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
                Ok(Self::Blit(place, part, filter))
            }
            Shown::Rows(buffer, view) => {
                let part = part_of(&view, part.unwrap_or(view.extent.full()));
                if target.format != vk_format(view.format) || target.region.extent() != part.extent {
                    return Err(shared.unsupported(as_rows(part.extent, target.region.extent())));
                }
                rows(buffer, &part).map(Self::Rows)
            }
            Shown::Bytes(..) => Err(match surface.desc().pixels() {
                Err(error) => error,
                Ok(_) => Error::NothingShown,
            }),
        }
    }

    /// Records it.
    ///
    /// # Safety
    /// Commands are being recorded, outside a render pass, for a queue that draws where this is a blit. What the surface shows lives
    /// until they are done, and so does the image, which is of this device and has the layout `TRANSFER_DST_OPTIMAL` then and
    /// that usage; the region lies inside.
    pub(crate) unsafe fn record(&self, device: &ash::Device, commands: vk::CommandBuffer, target: &BlitTarget) {
        let to = (target.image, target.region);
        // SAFETY: the caller's promise; the formats, sizes and rows were checked.
        unsafe {
            match self {
                Self::Copy(place, part) => commands::copy(device, commands, (*place, *part), to),
                Self::Blit(place, part, filter) => commands::blit(device, commands, (*place, *part), to, *filter),
                Self::Rows(from) => commands::rows_to(device, commands, *from, to),
            }
        }
    }
}

fn as_rows(from: Extent, to: Extent) -> String {
    format!(
        "the frame is {from} pixels in rows of a buffer, which are neither stretched to {to} nor converted; open its link with \
         ImageAccess::Texture"
    )
}
