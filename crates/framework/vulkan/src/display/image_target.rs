//! An engine's image as the target of [`Link::show`](interop_core::LinkCore::show).

use crate::context::device_state::DeviceState;
use crate::display::blit::{BlitPlan, BlitTarget};
use crate::display::contract::VulkanDisplay;
use crate::display::engine_surfaces::EngineImage;
use crate::draw::painter::{Canvas, OwnView, Painter, Ready};
use crate::queue::commands::WRITTEN;
use crate::sharing::vk_format;
use crate::staging::queue_image::QueueImage;
use crate::staging::transfer::read_image;
use crate::surface::frame::TimelinePoint;
use crate::surface::surface_content::{SurfaceContent, check_sampled, shown};
use ash::vk;
use interop_core::describe::error::call;
use interop_core::display::checks::made_with;
use interop_core::draw::{Obstacle, Plan};
use interop_core::{
    DrawOptions, Error, Extent, Filter, ImageDesc, Manner, Region, Result, SharedHandle, ShowTarget, Surface,
    SurfaceDesc, TargetEncoding, TargetPixels,
};
use std::any::Any;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// An engine's image in which frames are shown, for [`Link::show`](interop_core::LinkCore::show). [`VulkanDisplay::image_target`] makes
/// it, once for each image; keep it as long as the image.
pub struct ImageTarget {
    shared: Arc<DeviceState>,
    image: EngineImage,
    desc: ImageDesc,
    region: Region,
    /// No other target has this number, even if the handle of its image is equal.
    number: u64,
    /// Dropped with the target; after that the engine need not keep the image.
    alive: Arc<()>,
    painter: Arc<Painter>,
    view: OwnView,
}

interop_core::debug_as!(ImageTarget, |this| image = &this.image, region = &this.region);

impl VulkanDisplay {
    /// Makes an engine's image a target for [`Link::show`](interop_core::LinkCore::show): frames are fitted into this region of it. Row
    /// 0 is the first row. Keep the target for as long as the image, because a new target is measured again.
    ///
    /// Kernels store into the image directly if it was created with the usages `STORAGE` and `TRANSFER_SRC`, in a
    /// format that does not encode and that kernels of this display can store to. Otherwise each draw uses the first of
    /// these methods that can do it:
    /// - A copy, if the pixels stay unchanged, at their own size.
    /// - A compute shader that stores into the image, if it has the usage `STORAGE` and such a format.
    /// - `vkCmdBlitImage`, in a queue that draws, which samples the nearest texels and converts numbers.
    /// - A compute shader that stores into an image of the display, which is copied into this one. If the draw blends,
    ///   this image needs the usage `TRANSFER_SRC`. This method serves `B8G8R8A8_UNORM` and formats that encode
    ///   (`_SRGB`), which are drawn into as with [`TargetEncoding::SrgbFormat`].
    ///
    /// [`DrawOptions::manner`] may request a compute shader where a copy or a blit would do; there is no triangle here.
    /// Shaders need the feature `compute` of this crate and a queue that computes. Without them, blits scale and
    /// convert, and the other draws return an error with the reason.
    ///
    /// All work goes to the display's queue in submissions of its own. Later submissions of the engine to that queue
    /// see the frame; those to another queue must wait for [`ImageTarget::ready`].
    ///
    /// # Errors
    /// [`Error::InvalidInput`] for a null handle, a format that frames cannot have, a usage without `TRANSFER_DST`, a
    /// layout in which an image cannot stay (`UNDEFINED`, `PREINITIALIZED`), and a region that is empty or reaches
    /// outside; [`Error::Unsupported`] for a size that the display itself does not support.
    ///
    /// # Safety
    /// - The image belongs to this device, has two dimensions, one sample and the tiling `OPTIMAL`, and matches the
    ///   description. It lives until the target is dropped and the display has completed its work
    ///   ([`Display::finish`](interop_core::Display::finish)).
    /// - The display's queue family owns it, or it was created for several families (`VK_SHARING_MODE_CONCURRENT`),
    ///   including that one.
    /// - Its first level and layer has the layout whenever the target is used, and no other code uses it until that has
    ///   completed. An image of a swapchain has been acquired by then, and an earlier submission to the same queue
    ///   waits for its semaphore.
    pub unsafe fn image_target(&self, image: &EngineImage, region: Region) -> Result<ImageTarget> {
        static NEXT: AtomicU64 = AtomicU64::new(0);
        call("VulkanDisplay::image_target", || {
            let desc = image.check()?;
            let needed = vk::ImageUsageFlags::TRANSFER_DST;
            made_with(image.usage.contains(needed), "TRANSFER_DST", &image.usage)?;
            SurfaceDesc::Image(desc).check(&self.shared.identity.name, &self.shared.caps)?;
            region.check_inside(desc.extent)?;
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            let (shared, painter) = (Arc::clone(&self.shared), Arc::clone(&self.painter));
            let (alive, view) = (Arc::default(), OwnView::default());
            Ok(ImageTarget { shared, image: *image, desc, region, number, alive, painter, view })
        })
    }
}

impl ImageTarget {
    /// Returns the semaphore value that a submission to another queue than the display's must wait for, as
    /// [`crate::VulkanFrame::ready`].
    ///
    /// # Errors
    /// [`Error::Driver`] for errors of the driver.
    pub fn ready(&self) -> Result<Option<TimelinePoint>> {
        let ready = self.shared.submissions.ready()?;
        Ok(ready.map(|(semaphore, value)| TimelinePoint { semaphore, value }))
    }

    /// Returns the image as kernels store to it; `None` where they cannot.
    fn lent(&self) -> Option<QueueImage> {
        QueueImage::of_engine(&self.shared, (self.image.place(), &self.alive), self.desc, self.image.usage)
    }

    fn encodes(&self) -> bool {
        vk_format(self.desc.format) != self.image.format
    }

    /// Plans a draw.
    fn plan(&self, surface: &Surface, options: DrawOptions) -> Result<Plan> {
        let options = match (self.encodes(), options.target) {
            (true, _) => options.with_target(TargetEncoding::SrgbFormat),
            (false, TargetEncoding::SrgbFormat) => {
                let problem =
                    format!("{:?} does not encode; draw with TargetEncoding::Srgb or Linear", self.image.format);
                return Err(Error::refused(problem));
            }
            (false, _) => options,
        };
        if let SurfaceContent::Image(place, _) = shown(&self.shared, surface)?
            && place.image == self.image.image
        {
            return Err(Error::refused("the surface is the target's own image"));
        }
        Plan::of(surface.desc(), self.area(), &self.shared.caps, &options)
    }

    /// Returns the copy or blit that does a draw, and its region.
    fn copy(&self, surface: &Surface, plan: &Plan, filter: Filter) -> Result<(BlitPlan, BlitTarget)> {
        let image = surface.desc().pixels()?;
        let cut = plan.drawn.extent() != Extent::new(plan.picture.width, plan.picture.height);
        let beyond = match plan {
            _ if plan.bars => Some("cannot fill the bars around the picture"),
            _ if plan.blends => Some("cannot blend"),
            _ if plan.grey => Some("cannot show one channel as grey"),
            _ if plan.shading.is_some() => Some("cannot change colours"),
            _ if cut && !plan.one_to_one => Some("cannot crop and scale at once"),
            _ => None,
        };
        if let Some(beyond) = beyond {
            return Err(self.shared.unsupported(format!("a copy {beyond}")));
        }
        let from = |picture: i32, drawn: u32| u32::try_from(i64::from(drawn) - i64::from(picture)).unwrap_or(0);
        let part = if cut {
            let (x, y) = (from(plan.picture.x, plan.drawn.x), from(plan.picture.y, plan.drawn.y));
            Region { x, y, ..plan.drawn }
        } else {
            image.extent.full()
        };
        let region = Region { x: self.region.x + plan.drawn.x, y: self.region.y + plan.drawn.y, ..plan.drawn };
        let target = BlitTarget { image: self.image.image, format: self.image.format, region };
        let way = BlitPlan::of(&self.shared, surface, Some(part), &target, filter)?;
        if matches!(way, BlitPlan::Blit(..)) && !self.shared.handles.draws() {
            let reason = "its queue only computes: it can copy frames of the image's own format and size, but not blit";
            return Err(self.shared.unsupported(reason));
        }
        Ok((way, target))
    }

    /// Returns the image as the painter's target.
    fn canvas(&self) -> Canvas<'_> {
        let Self { image, desc, region, alive, view, .. } = self;
        Canvas { place: image.place(), desc: *desc, usage: image.usage, region: *region, alive, view }
    }

    /// Checks whether a compute shader can do a draw.
    fn drawable(&self, surface: &Surface, plan: &Plan) -> Result<Ready, Obstacle> {
        let sampled = check_sampled(&self.shared, surface).and_then(|()| shown(&self.shared, surface));
        let shown = sampled.map_err(|error| Obstacle::NoShader(error.to_string().into()))?;
        self.painter.ready(&self.canvas(), plan, shown)
    }

    /// Draws by the first usable method of [`VulkanDisplay::image_target`].
    fn draw_by(&self, surface: &Surface, options: DrawOptions) -> Result<()> {
        let plan = self.plan(surface, options)?;
        let copy = self.copy(surface, &plan, options.filter);
        let exact = matches!(copy, Ok((BlitPlan::Copy(..) | BlitPlan::Rows(_), _)));
        let asked = options.manner == Some(Manner::Compute);
        if !exact || asked {
            let ready = self.drawable(surface, &plan);
            match (ready, &copy) {
                (Ok(ready), Ok(_)) if !asked && !ready.is_straight() && !plan.weighs => {}
                // SAFETY: the image is as the engine promised, and differs from the surface's, which is retired when it
                // is dropped.
                (Ok(ready), _) => return unsafe { self.painter.draw(&self.canvas(), &plan, ready) },
                (Err(_), Ok(_)) => {}
                (Err(obstacle), Err(beyond)) => {
                    let beyond = match beyond {
                        Error::Unsupported { reason, .. } => reason.clone(),
                        other => other.to_string(),
                    };
                    let reason = format!("{obstacle}, and {beyond}; draw the frame of VulkanDisplay::surface_frame");
                    return Err(self.shared.unsupported(reason));
                }
            }
        }
        let (way, target) = copy?;
        // SAFETY: as above; the region lies inside, and the queue blits where this does.
        let recorded = unsafe {
            self.shared.submissions.record_with(&[(self.image.place(), WRITTEN)], |device, commands| {
                way.record(device, commands, &target);
            })
        };
        recorded.map(drop)
    }
}

impl ShowTarget for ImageTarget {
    fn area(&self) -> Extent {
        self.region.extent()
    }

    fn draw(&mut self, surface: &Surface, options: DrawOptions) -> Result<()> {
        call("ImageTarget::draw", || self.draw_by(surface, options))
    }

    fn pixels(&mut self) -> Result<TargetPixels, Obstacle> {
        use vk::ImageUsageFlags as Usages;
        if self.encodes() {
            return Err(Obstacle::Encodes(format!("{:?}", self.image.format)));
        }
        if !self.image.usage.contains(Usages::STORAGE | Usages::TRANSFER_SRC) {
            return Err(Obstacle::Texture("its usage lacks STORAGE or TRANSFER_SRC"));
        }
        if self.lent().is_none() {
            return Err(Obstacle::Format(format!("{:?}", self.image.format)));
        }
        Ok(TargetPixels {
            key: [self.number, 0, 0],
            alike: false,
            extent: self.desc.extent,
            format: self.desc.format,
            first: (self.region.x as i32, self.region.y as i32),
        })
    }

    fn handle(&mut self) -> Result<(SharedHandle, Box<dyn Any + Send + Sync>)> {
        call("ImageTarget::handle", || {
            let lent = self.lent().ok_or_else(|| self.shared.unsupported("kernels cannot store to the image"))?;
            // The engine keeps the image while the target lives, which the handle requires.
            Ok((lent.into_handle(&self.shared)?, Box::new(()) as Box<dyn Any + Send + Sync>))
        })
    }

    fn read_back(&mut self) -> Result<Vec<u8>> {
        call("ImageTarget::read_back", || {
            let has = self.image.usage.contains(vk::ImageUsageFlags::TRANSFER_SRC);
            made_with(has, "TRANSFER_SRC", &self.image.usage)?;
            let (pixel, all) = (self.desc.format.bytes_per_pixel(), self.desc.extent.full());
            read_image(&self.shared, self.image.place(), pixel, all)
        })
    }
}
