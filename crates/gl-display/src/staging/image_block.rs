//! A texture in memory that is shared with a compute device.
// Descriptors are of POSIX systems only.
#![cfg_attr(not(unix), allow(dead_code))]

use crate::memory_object::MemoryObject;
use crate::names::Owned;
use crate::quad::ImageSource;
use crate::shared::Shared;
use interop_core::{ImageDesc, Result, SurfaceDesc};
use std::rc::Rc;

/// Shared by the staging block and by the surfaces that show it.
pub(crate) struct ImageBlock {
    texture: Owned<glow::Texture>,
    /// What the texture lies in; goes after it.
    _memory: Owned<MemoryObject>,
    /// Whose memory that is, where it was made to be shared.
    #[cfg(unix)]
    made: Option<Rc<crate::vulkan::Image>>,
    shared: Rc<Shared>,
    image: ImageDesc,
    /// Bytes of tight rows.
    len: usize,
}

impl ImageBlock {
    /// `made` goes after `memory`, also where the context is not current then.
    #[cfg(unix)]
    pub(crate) fn new(
        shared: &Rc<Shared>,
        texture: Owned<glow::Texture>,
        mut memory: Owned<MemoryObject>,
        image: ImageDesc,
        made: Option<Rc<crate::vulkan::Image>>,
    ) -> Result<Rc<Self>> {
        let len = SurfaceDesc::Image(image).byte_len("create_staging")?;
        if let Some(made) = &made {
            memory.keep(crate::names::Kept::Foreign(Rc::<crate::vulkan::Image>::clone(made)));
        }
        Ok(Rc::new(Self { texture, _memory: memory, made, shared: Rc::clone(shared), image, len }))
    }

    /// A new descriptor of the memory, where it was made to be shared.
    #[cfg(unix)]
    pub(crate) fn export(&self) -> Result<interop_core::SharedHandle> {
        let Some(made) = &self.made else {
            let reason = "the memory is the compute device's already".into();
            return Err(self.shared.unsupported("export", reason));
        };
        let (fd, bytes) = (made.export()?, made.bytes());
        Ok(interop_core::SharedHandle::OpaqueFd { fd, bytes, dedicated: true })
    }

    pub(crate) fn shared(&self) -> &Rc<Shared> {
        &self.shared
    }

    pub(crate) fn image(&self) -> &ImageDesc {
        &self.image
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    pub(crate) fn source(&self) -> ImageSource {
        ImageSource { target: glow::TEXTURE_2D, texture: self.texture.get(), base: 0, pitch: 0 }
    }
}
