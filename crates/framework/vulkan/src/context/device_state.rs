//! State shared by the display and all its objects.

use crate::context::stores::Stores;
use crate::queue::pool::{Pool, Target};
use crate::queue::submissions::Submissions;
use crate::sharing::SharingDevice;
use ash::vk;
use interop_core::devices::maker_object::Maker;
use interop_core::{
    DeviceIdentity, DisplayCaps, Error, HandleType, MemoryCap, MemoryShape, PixelFormat, QueueId, RowOrder, Support,
};
use std::any::Any;
use std::sync::Arc;

const IMAGE_FEATURES: vk::FormatFeatureFlags = vk::FormatFeatureFlags::from_raw(
    vk::FormatFeatureFlags::SAMPLED_IMAGE.as_raw()
        | vk::FormatFeatureFlags::TRANSFER_SRC.as_raw()
        | vk::FormatFeatureFlags::TRANSFER_DST.as_raw(),
);

/// Usage of buffers, including those that an engine may need.
pub(crate) const BUFFER_USAGE: vk::BufferUsageFlags = vk::BufferUsageFlags::from_raw(
    vk::BufferUsageFlags::STORAGE_BUFFER.as_raw()
        | vk::BufferUsageFlags::VERTEX_BUFFER.as_raw()
        | vk::BufferUsageFlags::INDEX_BUFFER.as_raw()
        | vk::BufferUsageFlags::TRANSFER_SRC.as_raw()
        | vk::BufferUsageFlags::TRANSFER_DST.as_raw(),
);

/// Bytes of the largest pixel. All others divide it.
const LARGEST_PIXEL: u32 = 16;

/// State of one device.
pub(crate) struct DeviceState {
    pub identity: DeviceIdentity,
    pub caps: DisplayCaps,
    // These are dropped before the device.
    // The queue comes first, because it waits for the work of the others.
    pub submissions: Submissions,
    pub pool: Pool,
    pub target: Target,
    pub sharing: SharingDevice,
    /// Images that kernels store to.
    pub stores: Stores,
    pub handles: Handles,
    /// Its address identifies the queue.
    mark: Arc<()>,
    /// Owner that keeps the device alive, if the display received one.
    _owner: Option<Box<dyn Any + Send + Sync>>,
}

/// The Vulkan objects that the display was made from.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Handles {
    pub instance: vk::Instance,
    pub physical: vk::PhysicalDevice,
    pub queue: vk::Queue,
    pub family: u32,
    /// Abilities of the queues in the family.
    pub abilities: vk::QueueFlags,
}

impl Handles {
    /// True where the queue supports draws and blits (`vkCmdBlitImage`).
    pub(crate) fn draws(&self) -> bool {
        self.abilities.contains(vk::QueueFlags::GRAPHICS)
    }
}

impl DeviceState {
    pub(crate) fn new(
        identity: DeviceIdentity,
        caps: DisplayCaps,
        (sharing, stores): (SharingDevice, Stores),
        submissions: Submissions,
        (handles, mark): (Handles, Arc<()>),
        owner: Option<Box<dyn Any + Send + Sync>>,
    ) -> Self {
        Self {
            identity,
            caps,
            submissions,
            pool: Pool::default(),
            target: Target::default(),
            sharing,
            stores,
            handles,
            mark,
            _owner: owner,
        }
    }

    /// Returns the identity of the display's queue.
    pub(crate) fn queue_id(&self) -> QueueId {
        QueueId::of(&self.mark)
    }

    /// Returns an error for something that the device does not support.
    pub(crate) fn unsupported(&self, reason: impl Into<String>) -> Error {
        Error::unsupported(&self.identity, reason)
    }
}

impl Maker for DeviceState {
    fn name(&self) -> String {
        self.identity.to_string()
    }
}

/// Returns the memory and semaphores that a device can export and import, as data.
///
/// # Safety
/// The physical device is of this instance; both are of Vulkan 1.1 or later.
pub(crate) unsafe fn caps(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    sharing: &SharingDevice,
    ((family, abilities), queue, extended): ((u32, vk::QueueFlags), QueueId, bool),
) -> (DisplayCaps, Stores) {
    let mut allocations = vk::PhysicalDeviceMaintenance3Properties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut allocations);
    // SAFETY: the caller's promise; the structures live through the call.
    unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
    let computes = abilities.contains(vk::QueueFlags::COMPUTE);
    let stores = Stores::of(sharing, computes, extended);
    let computes = Support::when(computes, format!("queues of its family {family} do not compute"));
    let lent = |shape| MemoryCap::new(HandleType::QueueBuffer(queue), shape, computes.clone());
    let (linear, image) = (lent(MemoryShape::Linear), lent(MemoryShape::Image).without(&stores.refused()));
    let limits = properties.properties.limits;
    let pitch = u32::try_from(limits.optimal_buffer_copy_row_pitch_alignment).unwrap_or(LARGEST_PIXEL);
    let formats: Vec<PixelFormat> = sharing.image_formats(IMAGE_FEATURES);
    let caps = DisplayCaps::new(
        limits.max_image_dimension2_d,
        allocations.max_memory_allocation_size / 4 * 4,
        RowOrder::TopDown,
    )
    .with_imports(sharing.imports().into_iter().chain([linear.clone()]).collect())
    .with_exports(sharing.exports().into_iter().chain([linear, image]).collect())
    .with_semaphores(sharing.semaphores())
    .with_orphaned_staging(Support::Yes)
    .with_persistent_staging(Support::Yes)
    .with_image_formats(formats)
    .with_in_place_images(Support::Yes)
    .with_in_place_buffers(Support::Yes)
    .with_max_in_place_pixels(u64::from(limits.max_storage_buffer_range / LARGEST_PIXEL))
    // Both are powers of two, the alignment by the specification.
    .with_row_pitch_alignment(pitch.max(LARGEST_PIXEL) as usize);
    (caps, stores)
}
