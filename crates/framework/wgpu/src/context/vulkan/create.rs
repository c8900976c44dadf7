//! Staging blocks.

use super::{ExportedMemory, Vulkan};
use crate::context::device_state::DeviceState;
use crate::context::kept_memory::{KeptMemory, Object};
use interop_core::{Result, SharedHandle, StagingKind};

impl Vulkan {
    /// Creates a block of at least this many bytes, in whole words.
    pub(crate) fn create(
        &self,
        shared: &DeviceState,
        kind: StagingKind,
        bytes: usize,
    ) -> Result<KeptMemory<ExportedMemory>> {
        let (object, host, exported) = match kind {
            StagingKind::Persistent => {
                let (buffer, host) = self.mapped(shared, bytes)?;
                (Object::Buffer(buffer), Some(host), None)
            }
            StagingKind::Imported(host) => {
                let buffer = self.imported_host(shared, &host, bytes)?;
                (Object::Buffer(buffer), Some(host), None)
            }
            StagingKind::External(SharedHandle::Memory(memory)) => {
                (Object::Buffer(self.imported(shared, memory, bytes)?), None, None)
            }
            StagingKind::Exported => {
                let (buffer, exported) = self.exported_buffer(shared, bytes)?;
                (Object::Buffer(buffer), None, Some(exported))
            }
            StagingKind::ExportedImage(image) => {
                let (texture, exported) = self.exported_image(shared, &image)?;
                (Object::Texture(texture, image), None, Some(exported))
            }
            other => return Err(shared.unsupported(format!("it does not support staging blocks of {other:?}"))),
        };
        Ok(KeptMemory { object, host, keeper: exported })
    }
}
