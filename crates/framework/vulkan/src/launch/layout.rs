//! Layouts of kernels, and the descriptor sets in which launches find their memory and their numbers.

use crate::context::device_state::DeviceState;
use crate::launch::deferred_drop::DeferredDrop;
use crate::queue::commands::{CopyImage, READ};
use crate::staging::queue_buffer::QueueBuffer;
use ash::vk;
use interop_core::describe::PlainMutex;
use interop_core::devices::borrows::Holder;
use interop_core::{HostBlock, Result};
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use wgsl_kernel::NUMBERS;
use wgsl_kernel::shader::Writes;

/// Number of descriptor sets that are allocated at once.
const CHUNK: u32 = 16;
/// Layout of an image during the stores of kernels.
pub const STORED: vk::ImageLayout = vk::ImageLayout::GENERAL;
/// Maximum number of views whose descriptor sets are kept: those of a swapchain, and a few more.
const MOST_KEPT: usize = 8;
/// Maximum number of launches at a time; the next one waits for the oldest.
const MOST_PLACES: usize = 256;

/// Bindings of the target and the numbers in set 0. Set 1 has the memories among the arguments.
const TARGET: u32 = 0;
const NUMBERS_BINDING: u32 = 1;

/// Bytes of push constants that every device supports (`maxPushConstantsSize`, Vulkan 1.0, table of required limits).
pub const MOST_PUSHED: usize = 128;

/// All properties that distinguish layouts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// Target that the kernels write.
    pub writes: Writes,
    pub reads: ReadKind,
    /// Bytes of the numbers, if they are push constants. For a uniform block the device would have to read host memory.
    pub pushed: Option<usize>,
}

/// Objects that kernels read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReadKind {
    /// This number of memories.
    Memories(usize),
    /// An image that is sampled.
    Image,
}

impl ReadKind {
    const fn descriptors(self) -> (usize, vk::DescriptorType) {
        match self {
            Self::Memories(count) => (count, vk::DescriptorType::STORAGE_BUFFER),
            Self::Image => (1, vk::DescriptorType::SAMPLED_IMAGE),
        }
    }
}

const fn target_descriptor(writes: Writes) -> vk::DescriptorType {
    match writes {
        Writes::Memory => vk::DescriptorType::STORAGE_BUFFER,
        Writes::Texture => vk::DescriptorType::STORAGE_IMAGE,
    }
}

/// Target of a launch, as it is bound.
pub enum LaunchTarget<'a> {
    Memory(&'a QueueBuffer),
    /// A view for stores, of an image that then has the layout [`STORED`], and the view's number, which no other view
    /// ever has.
    Texture(vk::ImageView, u64),
}

/// An object that a launch reads.
pub enum LaunchInput {
    /// Bytes of a buffer. The range starts at a multiple of 256, the largest alignment that a device may require.
    Memory(vk::Buffer, Range<u64>),
    /// A view for sampling, of an image that then has the layout [`READ`].
    Image(vk::ImageView),
}

impl LaunchInput {
    /// The whole buffer.
    pub fn whole(memory: &QueueBuffer) -> Self {
        Self::Memory(memory.raw(), 0..memory.len() as u64)
    }
}

/// One launch of a pipeline.
pub struct Work<'a> {
    pub target: LaunchTarget<'a>,
    pub reads: &'a [LaunchInput],
    /// Number of groups, horizontally and vertically.
    pub groups: [u32; 2],
    pub numbers: &'a [u8],
}

impl LaunchTarget<'_> {
    /// Returns the number of the bound view if nothing else is bound.
    fn number(&self, reads: &[LaunchInput]) -> Option<u64> {
        match self {
            Self::Texture(_, number) if reads.is_empty() => Some(*number),
            _ => None,
        }
    }
}

/// Layout of the kernels of one shape.
pub struct Layout {
    objects: DeferredDrop<Objects>,
    shape: Shape,
    /// Locked while a launch is queued.
    rooms: PlainMutex<LayoutRooms>,
}

#[derive(Default)]
struct LayoutRooms {
    /// Descriptor sets that no launch is being recorded for, in the order of the submissions that used them last.
    places: VecDeque<(u64, Room)>,
    /// Descriptor sets of the views that were used last: number of the view, the submission that used it last, and the
    /// set. Launches in flight share them, because push constants are part of the commands and the device has read the
    /// sets before.
    kept: VecDeque<(u64, u64, Room)>,
    /// Descriptor pools with the memory of their numbers.
    chunks: Vec<DeferredDrop<Chunk>>,
}

/// Destroyed when dropped.
struct Objects {
    device: ash::Device,
    sets: Vec<vk::DescriptorSetLayout>,
    pipelines: vk::PipelineLayout,
}

/// Destroyed when dropped, with its sets.
struct Chunk {
    device: ash::Device,
    pool: vk::DescriptorPool,
    /// Numbers of every set, if they are not push constants.
    _numbers: Option<HostBlock>,
}

/// The descriptor sets of one launch.
struct Room {
    sets: [vk::DescriptorSet; 2],
    /// Block of the numbers and their first byte, if they are not push constants.
    numbers: Option<(HostBlock, usize)>,
}

impl Drop for Objects {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // SAFETY: all were created by this device, which is alive, and no work that uses them is left. Null is ignored.
        unsafe {
            self.device.destroy_pipeline_layout(self.pipelines, None);
            self.sets.iter().for_each(|set| self.device.destroy_descriptor_set_layout(*set, None));
        }
    }
}

impl Drop for Chunk {
    fn drop(&mut self) {
        interop_core::leak_if_forked!();
        // SAFETY: as above.
        unsafe { self.device.destroy_descriptor_pool(self.pool, None) };
    }
}

impl Layout {
    pub fn new(shared: &Arc<DeviceState>, shape: Shape) -> Result<Self> {
        let sharing = &shared.sharing;
        let device = sharing.device();
        let mut made = Objects { device: device.clone(), sets: Vec::new(), pipelines: vk::PipelineLayout::null() };
        let binding = |number, kind| {
            vk::DescriptorSetLayoutBinding::default()
                .binding(number)
                .descriptor_type(kind)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)
        };
        let own = [
            binding(TARGET, target_descriptor(shape.writes)),
            binding(NUMBERS_BINDING, vk::DescriptorType::UNIFORM_BUFFER),
        ];
        let own = if shape.pushed.is_some() { &own[..1] } else { &own };
        let (count, kind) = shape.reads.descriptors();
        let args: Vec<_> = (0..count as u32).map(|n| binding(n, kind)).collect();
        for bindings in [own, &args] {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(bindings);
            // SAFETY: the structures live through the call.
            let set = unsafe { device.create_descriptor_set_layout(&info, None) };
            made.sets.push(set.map_err(sharing.failed("vkCreateDescriptorSetLayout"))?);
        }
        let pushed = shape.pushed.map(|bytes| vk::PushConstantRange {
            stage_flags: vk::ShaderStageFlags::COMPUTE,
            offset: 0,
            size: bytes as u32,
        });
        let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&made.sets);
        let info = info.push_constant_ranges(pushed.as_slice());
        // SAFETY: as above.
        let pipelines = unsafe { device.create_pipeline_layout(&info, None) };
        made.pipelines = pipelines.map_err(sharing.failed("vkCreatePipelineLayout"))?;
        let objects = DeferredDrop::new(shared, made);
        Ok(Self { objects, shape, rooms: PlainMutex::default() })
    }

    pub fn is(&self, shape: Shape) -> bool {
        shape == self.shape
    }

    pub fn shared(&self) -> &Arc<DeviceState> {
        self.objects.shared()
    }

    pub fn pipelines(&self) -> vk::PipelineLayout {
        self.objects.pipelines
    }

    /// Allocates more descriptor sets.
    fn grow(&self, rooms: &mut LayoutRooms) -> Result<()> {
        let shared = self.shared();
        let sharing = &shared.sharing;
        let device = sharing.device();
        let size = |kind, count| vk::DescriptorPoolSize { ty: kind, descriptor_count: count };
        let (count, kind) = self.shape.reads.descriptors();
        let sizes = [
            size(target_descriptor(self.shape.writes), CHUNK),
            size(kind, CHUNK * (count as u32).max(1)),
            size(vk::DescriptorType::UNIFORM_BUFFER, CHUNK),
        ];
        let block = match self.shape.pushed {
            Some(_) => None,
            None => Some(numbers_of_a_chunk(shared)?),
        };
        let info = vk::DescriptorPoolCreateInfo::default().max_sets(2 * CHUNK).pool_sizes(&sizes);
        // SAFETY: the structures live through the call.
        let pool = unsafe { device.create_descriptor_pool(&info, None) };
        let pool = pool.map_err(sharing.failed("vkCreateDescriptorPool"))?;
        let chunk = Chunk { device: device.clone(), pool, _numbers: block.as_ref().map(|(block, _)| block.clone()) };
        let mut made = VecDeque::new();
        for n in 0..CHUNK as usize {
            let info = vk::DescriptorSetAllocateInfo::default().descriptor_pool(pool).set_layouts(&self.objects.sets);
            // SAFETY: the pool has room for so many sets of these layouts.
            let sets = unsafe { device.allocate_descriptor_sets(&info) };
            let sets = sets.map_err(sharing.failed("vkAllocateDescriptorSets"))?;
            let [Some(own), Some(args)] = [sets.first(), sets.get(1)] else { continue };
            let numbers = block.as_ref().map(|(block, buffer)| {
                let at = n * NUMBERS;
                let place = [vk::DescriptorBufferInfo { buffer: *buffer, offset: at as u64, range: NUMBERS as u64 }];
                let write = vk::WriteDescriptorSet::default()
                    .dst_set(*own)
                    .dst_binding(NUMBERS_BINDING)
                    .descriptor_type(vk::DescriptorType::UNIFORM_BUFFER)
                    .buffer_info(&place);
                // SAFETY: set and buffer are of this device, and nothing uses the set yet. Offsets are multiples of 256, which is
                // the most that a device asks for.
                unsafe { device.update_descriptor_sets(&[write], &[]) };
                (block.clone(), at)
            });
            made.push_back((0, Room { sets: [*own, *args], numbers }));
        }
        rooms.chunks.push(DeferredDrop::new(shared, chunk));
        rooms.places.append(&mut made);
        Ok(())
    }

    /// Takes descriptor sets that no launch uses any more.
    fn take(&self, rooms: &mut LayoutRooms) -> Result<Room> {
        let submissions = &self.shared().submissions;
        let first = rooms.places.front().map(|(number, _)| *number);
        match first {
            Some(number) if number <= submissions.done() => {}
            Some(number) if rooms.places.len() >= MOST_PLACES => submissions.wait(number)?,
            _ => {
                self.grow(rooms)?;
                rooms.places.rotate_right(CHUNK as usize);
            }
        }
        let room = rooms.places.pop_front();
        room.map(|(_, room)| room).ok_or_else(|| self.shared().unsupported("it has no descriptors left"))
    }

    /// Queues a launch of a pipeline of this layout. During it, these images have other layouts. `record` must call its
    /// argument once, which records the launch; its own commands go into the same submission. Returns the number of the
    /// submission.
    ///
    /// # Safety
    /// The pipeline's kernel reads and writes only inside its arguments, and ends. Target and reads match the layout,
    /// and the images of views have the layouts that these require. Views live until the launch has completed, and so
    /// do the images, which have their own layouts before. The commands of `record` keep the conditions of
    /// [`Submissions::record`].
    ///
    /// [`Submissions::record`]: crate::queue::submissions::Submissions::record
    pub unsafe fn launch(
        &self,
        pipeline: vk::Pipeline,
        work: &Work<'_>,
        images: &[(CopyImage, vk::ImageLayout)],
        record: impl FnOnce(&ash::Device, vk::CommandBuffer, &dyn Fn()),
    ) -> Result<u64> {
        let view = work.target.number(work.reads).filter(|_| self.shape.pushed.is_some());
        self.shared().submissions.check_turn()?;
        let rooms = &mut *self.rooms.lock();
        let kept = view.and_then(|view| rooms.kept.iter().position(|(other, ..)| *other == view));
        let found = kept.and_then(|at| rooms.kept.remove(at));
        let (used, room) = match found {
            Some((_, used, room)) => (used, room),
            None => {
                let room = self.take(rooms)?;
                room.bind(self.shared(), &work.target, work.reads);
                (0, room)
            }
        };
        let queued = room.fill(work.numbers).and_then(|()| self.record(pipeline, work, images, record, &room));
        let used = *queued.as_ref().unwrap_or(&used);
        match view {
            Some(view) => rooms.keep(view, used, room),
            // In order, because the last submission is the newest; what was not queued is free at once.
            None if queued.is_ok() => rooms.places.push_back((used, room)),
            None => rooms.places.push_front((0, room)),
        }
        queued
    }

    fn record(
        &self,
        pipeline: vk::Pipeline,
        work: &Work<'_>,
        images: &[(CopyImage, vk::ImageLayout)],
        record: impl FnOnce(&ash::Device, vk::CommandBuffer, &dyn Fn()),
        room: &Room,
    ) -> Result<u64> {
        let ([across, down], layout) = (work.groups, self.pipelines());
        // Bytes beyond those that the text reads have no space.
        let pushed = self.shape.pushed.map(|bytes| work.numbers.get(..bytes).unwrap_or(work.numbers));
        // SAFETY: pipeline, sets and memory belong to this device, the sets fit the layout, and all of them are retired
        // when they are dropped, or belong to an engine, which keeps them; the caller of `launch` vouches for the
        // kernel and the rest.
        unsafe {
            self.shared().submissions.record_with(images, |device, commands| {
                let point = vk::PipelineBindPoint::COMPUTE;
                record(device, commands, &|| {
                    device.cmd_bind_pipeline(commands, point, pipeline);
                    device.cmd_bind_descriptor_sets(commands, point, layout, 0, &room.sets, &[]);
                    if let Some(numbers) = pushed {
                        device.cmd_push_constants(commands, layout, vk::ShaderStageFlags::COMPUTE, 0, numbers);
                    }
                    device.cmd_dispatch(commands, across, down, 1);
                });
            })
        }
    }
}

impl LayoutRooms {
    /// Keeps the descriptor set of a view; it becomes the last one.
    fn keep(&mut self, view: u64, used: u64, room: Room) {
        self.kept.push_back((view, used, room));
        if self.kept.len() > MOST_KEPT
            && let Some((_, used, room)) = self.kept.pop_front()
        {
            let at = self.places.partition_point(|(number, _)| *number <= used);
            self.places.insert(at, (used, room));
        }
    }
}

/// Allocates zeroed memory for the numbers of a chunk's sets, and its buffer.
fn numbers_of_a_chunk(shared: &Arc<DeviceState>) -> Result<(HostBlock, vk::Buffer)> {
    let bytes = CHUNK as usize * NUMBERS;
    let (memory, address) = shared.sharing.mapped_buffer(bytes as u64, vk::BufferUsageFlags::UNIFORM_BUFFER)?;
    let buffer = memory.buffer()?;
    // SAFETY: the allocation, which stays mapped and was zeroed, goes with the block; nobody else maps it.
    Ok((unsafe { HostBlock::from_raw(address, bytes, Arc::new(memory)) }, buffer))
}

impl Room {
    fn fill(&self, numbers: &[u8]) -> Result<()> {
        if let Some((block, at)) = &self.numbers {
            block.write(*at..at + numbers.len(), Holder::Staging)?.copy_from_slice(numbers);
        }
        Ok(())
    }

    fn bind(&self, shared: &DeviceState, target: &LaunchTarget<'_>, reads: &[LaunchInput]) {
        let bytes = |buffer, range: &Range<u64>| {
            [vk::DescriptorBufferInfo { buffer, offset: range.start, range: range.end - range.start }]
        };
        let seen = |view, layout| [vk::DescriptorImageInfo::default().image_view(view).image_layout(layout)];
        let [own, args] = self.sets;
        let at = |set, binding| vk::WriteDescriptorSet::default().dst_set(set).dst_binding(binding);
        let (buffer, image);
        let written = match target {
            LaunchTarget::Memory(memory) => {
                buffer = bytes(memory.raw(), &(0..memory.len() as u64));
                at(own, TARGET).descriptor_type(target_descriptor(Writes::Memory)).buffer_info(&buffer)
            }
            LaunchTarget::Texture(view, _) => {
                image = seen(*view, STORED);
                at(own, TARGET).descriptor_type(target_descriptor(Writes::Texture)).image_info(&image)
            }
        };
        // Of each pair, only the entry for its kind of descriptor is read.
        let infos: Vec<_> = reads
            .iter()
            .map(|read| match read {
                LaunchInput::Memory(buffer, range) => {
                    (ReadKind::Memories(1), bytes(*buffer, range), Default::default())
                }
                LaunchInput::Image(view) => (ReadKind::Image, Default::default(), seen(*view, READ)),
            })
            .collect();
        let read = (0..).zip(&infos).map(|(binding, (reads, buffer, image))| {
            let (_, kind) = reads.descriptors();
            at(args, binding).descriptor_type(kind).buffer_info(buffer).image_info(image)
        });
        let writes: Vec<_> = [written].into_iter().chain(read).collect();
        // SAFETY: sets, buffers and views are of this device, and no launch uses the sets.
        unsafe { shared.sharing.device().update_descriptor_sets(&writes, &[]) };
    }
}
