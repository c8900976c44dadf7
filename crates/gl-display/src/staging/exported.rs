//! Images of the display's that others open: memory made by Vulkan on the same device, since OpenGL makes none that can
//! be shared.

use super::{ImageBlock, external};
use crate::shared::Shared;
use crate::vulkan::Image;
use interop_core::{HandleType, ImageDesc, MemoryShape, Result, Support, SurfaceDesc};
use std::rc::Rc;

/// The texture over a new image.
pub(super) fn texture(shared: &Rc<Shared>, image: &ImageDesc) -> Result<Rc<ImageBlock>> {
    const OP: &str = "create_staging";
    if let Support::No(reason) = shared.caps.can_export(HandleType::OpaqueFd, MemoryShape::Image) {
        return Err(shared.unsupported(OP, reason));
    }
    SurfaceDesc::Image(*image).check(&shared.device.name, &shared.caps, OP)?;
    let made = Rc::new(Image::new(&shared.vulkan, &shared.device, image)?);
    external::texture(shared, made.export()?, made.bytes(), image, Some(made))
}
