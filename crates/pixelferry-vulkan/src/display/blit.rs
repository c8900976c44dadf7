//! Frames in an image of the engine's, by commands of the engine's.

use crate::display::contract::VulkanDisplay;
use crate::queue::commands::{self, Rows};
use crate::sharing::vk_format;
use crate::staging::transfer::rows;
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
            let device = self.shared.sharing.device();
            match shown(&self.shared, surface)? {
                Shown::Image(place, desc) => {
                    surface.check_download()?;
                    self.check_blit(place.format, target.format, filter)?;
                    let filter = if filter == Filter::Linear { vk::Filter::LINEAR } else { vk::Filter::NEAREST };
                    let from = (place, desc.extent.full());
                    // SAFETY: the caller's promise; the image lives until the next frame, and has that layout.
                    unsafe { commands::blit(device, commands, from, (target.image, region), filter) };
                }
                Shown::Rows(buffer, view) => {
                    if target.format != vk_format(view.format) || region.extent() != view.extent {
                        let (from, to) = (view.extent, region.extent());
                        return Err(self.shared.unsupported(as_rows(from, to)));
                    }
                    let from: Rows = rows(buffer, &view)?;
                    // SAFETY: as above; the rows lie in the buffer.
                    unsafe { commands::rows_to(device, commands, from, (target.image, region)) };
                }
                Shown::Bytes(..) => {
                    surface.desc().pixels()?;
                }
            }
            Ok(self.surface_frame(surface)?.ready)
        })
    }

    fn check_blit(&self, from: vk::Format, to: vk::Format, filter: Filter) -> Result<()> {
        use vk::FormatFeatureFlags as Features;
        let linear = match filter {
            Filter::Linear => Features::SAMPLED_IMAGE_FILTER_LINEAR,
            _ => Features::empty(),
        };
        for (format, needed) in [(from, Features::BLIT_SRC | linear), (to, Features::BLIT_DST)] {
            let lacks = needed & !self.shared.sharing.format_features(format);
            if !lacks.is_empty() {
                let reason =
                    format!("its images of {format:?} lack {lacks:?}, which a blit from {from:?} to {to:?} needs");
                return Err(self.shared.unsupported(reason));
            }
        }
        Ok(())
    }
}

fn as_rows(from: Extent, to: Extent) -> String {
    format!(
        "the frame is {from} pixels in rows of a buffer, which are neither stretched to {to} nor converted; open its link with \
         ImageAccess::Texture"
    )
}
