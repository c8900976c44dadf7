//! [`QueueImage`].

use crate::context::device_state::DeviceState;
use crate::queue::commands::CopyImage;
use crate::staging::memory::Image;
use ash::vk;
use interop_core::{Error, ImageDesc, Result, SharedHandle};
use std::sync::{Arc, Weak};

/// An image of the display's device that kernels in its queue store to.
#[derive(Clone)]
pub(crate) struct QueueImage {
    place: CopyImage,
    pub desc: ImageDesc,
    /// Format of a view for stores.
    pub view: vk::Format,
    /// Keeps the image alive: the display's own image is kept here, an engine's image by the engine while its surface
    /// or target lives.
    keeper: Keeper,
}

/// Keeper of an image.
#[derive(Clone)]
enum Keeper {
    Ours { _image: Arc<Image> },
    Engine(Weak<()>),
}

/// A [`QueueImage`] inside a handle.
struct LentImage(QueueImage);

impl QueueImage {
    pub(crate) fn of(shared: &DeviceState, image: &Arc<Image>) -> Option<Self> {
        let desc = *image.desc();
        let view = shared.stores.view(desc.format)?;
        Some(Self { place: image.place(), desc, view, keeper: Keeper::Ours { _image: Arc::clone(image) } })
    }

    /// Wraps an engine's image; `None` where kernels cannot store to it in its own format. The engine keeps the image
    /// only while `owner` lives, but safe code may keep handles of it longer.
    pub(crate) fn of_engine(
        shared: &DeviceState,
        (place, owner): (CopyImage, &Arc<()>),
        desc: ImageDesc,
        usage: vk::ImageUsageFlags,
    ) -> Option<Self> {
        let view = shared.stores.view(desc.format).filter(|view| *view == place.format)?;
        usage.contains(vk::ImageUsageFlags::STORAGE).then(|| Self {
            place,
            desc,
            view,
            keeper: Keeper::Engine(Arc::downgrade(owner)),
        })
    }

    /// Returns the image for commands.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] where the engine need not keep it any more.
    pub(crate) fn place(&self) -> Result<CopyImage> {
        match &self.keeper {
            Keeper::Engine(owner) if owner.strong_count() == 0 => {
                Err(Error::refused("the surface or target of the engine's image was dropped"))
            }
            _ => Ok(self.place),
        }
    }

    pub(crate) fn into_handle(self, shared: &DeviceState) -> Result<SharedHandle> {
        Ok(SharedHandle::QueueBuffer { queue: shared.queue_id(), buffer: Box::new(LentImage(self)) })
    }

    /// Returns the image of this size behind a handle of this display's queue.
    #[cfg(feature = "compute")]
    pub(crate) fn open(handle: &SharedHandle, desc: &ImageDesc) -> Result<Self> {
        let LentImage(lent) = handle.in_queue("image")?;
        if (lent.desc.extent, lent.desc.format) != (desc.extent, desc.format) {
            let (is, said) = (lent.desc, desc);
            let problem = format!(
                "the image is {} {}, but its description says {} {}",
                is.extent, is.format, said.extent, said.format
            );
            return Err(Error::refused(problem));
        }
        Ok(lent.clone())
    }
}
