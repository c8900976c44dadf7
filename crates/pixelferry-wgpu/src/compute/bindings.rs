//! Bindings of launches: group 0 has the target and the numbers, group 1 the memories among the arguments.

use crate::WgpuDevice;
use interop_core::Result;
use std::num::NonZeroU64;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use wgsl_kernel::NUMBERS;

/// Launches whose numbers lie side by side: more than are recorded without being submitted.
const PLACES: u64 = 16;

/// The numbers of launches, in memory that shaders read.
pub struct Numbers {
    buffer: wgpu::Buffer,
    next: AtomicU64,
    /// Layout of group 0 of every kernel that writes linear memory.
    pub layout: wgpu::BindGroupLayout,
}

/// A target with its group 0, from the first launch that writes it on.
pub struct Bindable<T> {
    pub object: T,
    group: OnceLock<wgpu::BindGroup>,
}

impl<T> Bindable<T> {
    pub fn new(object: T) -> Self {
        Self { object, group: OnceLock::new() }
    }

    pub fn group(&self, device: &WgpuDevice, make: impl FnOnce(&T) -> wgpu::BindGroup) -> Result<&wgpu::BindGroup> {
        if let Some(group) = self.group.get() {
            return Ok(group);
        }
        let group = device.scoped(|| make(&self.object))?;
        Ok(self.group.get_or_init(|| group))
    }
}

impl Numbers {
    pub fn new(device: &wgpu::Device) -> Self {
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("pixelferry launch"),
            size: PLACES * NUMBERS as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let ty = wgpu::BufferBindingType::Storage { read_only: false };
        let memory = wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None };
        Self { buffer, next: AtomicU64::new(0), layout: target_layout(device, memory) }
    }

    /// Queues numbers to the next place, which is returned: in bytes, for the binding. The launch is recorded before another one's
    /// numbers are written ([`WgpuDevice::record`]).
    pub fn write(&self, queue: &wgpu::Queue, numbers: &[u8]) -> u32 {
        let place = self.next.fetch_add(1, Ordering::Relaxed) % PLACES * NUMBERS as u64;
        queue.write_buffer(&self.buffer, place, numbers);
        // Below PLACES * NUMBERS.
        place as u32
    }

    /// Group 0 for a target.
    pub fn bind(
        &self,
        device: &wgpu::Device,
        layout: &wgpu::BindGroupLayout,
        target: wgpu::BindingResource<'_>,
    ) -> wgpu::BindGroup {
        let numbers = wgpu::BufferBinding { buffer: &self.buffer, offset: 0, size: NonZeroU64::new(NUMBERS as u64) };
        device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("pixelferry target"),
            layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: target },
                wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::Buffer(numbers) },
            ],
        })
    }
}

/// The layout of group 0 for targets that are textures of this format.
pub fn texture_layout(device: &wgpu::Device, format: wgpu::TextureFormat) -> wgpu::BindGroupLayout {
    let (access, view_dimension) = (wgpu::StorageTextureAccess::WriteOnly, wgpu::TextureViewDimension::D2);
    target_layout(device, wgpu::BindingType::StorageTexture { access, format, view_dimension })
}

fn entry(binding: u32, ty: wgpu::BindingType) -> wgpu::BindGroupLayoutEntry {
    wgpu::BindGroupLayoutEntry { binding, visibility: wgpu::ShaderStages::COMPUTE, ty, count: None }
}

fn target_layout(device: &wgpu::Device, target: wgpu::BindingType) -> wgpu::BindGroupLayout {
    let ty = wgpu::BufferBindingType::Uniform;
    let numbers = wgpu::BindingType::Buffer { ty, has_dynamic_offset: true, min_binding_size: None };
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("pixelferry target"),
        entries: &[entry(0, target), entry(1, numbers)],
    })
}

/// Group 1 of one kernel's launches.
pub struct Arguments {
    pub layout: wgpu::BindGroupLayout,
    /// The empty group of a kernel without arguments.
    none: Option<wgpu::BindGroup>,
    /// Bytes of numbers in a launch's own commands; `None` where they come from a buffer.
    pub immediates: Option<usize>,
}

impl Arguments {
    /// Of a kernel that reads so many memories.
    pub fn new(device: &wgpu::Device, memories: usize, immediates: Option<usize>) -> Self {
        let ty = wgpu::BufferBindingType::Storage { read_only: true };
        let memory = wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None };
        let entries: Vec<_> = (0..memories as u32).map(|binding| entry(binding, memory)).collect();
        let label = Some("pixelferry arguments");
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
        let none = (memories == 0).then(|| bind_whole(device, &layout, [].into_iter()));
        Self { layout, none, immediates }
    }

    /// Its memories, bound from 0 on.
    pub fn bind<'b>(
        &self,
        device: &WgpuDevice,
        buffers: impl Iterator<Item = &'b wgpu::Buffer>,
    ) -> Result<wgpu::BindGroup> {
        match &self.none {
            Some(none) => Ok(none.clone()),
            None => device.scoped(|| bind_whole(&device.device, &self.layout, buffers)),
        }
    }
}

fn bind_whole<'b>(
    device: &wgpu::Device,
    layout: &wgpu::BindGroupLayout,
    buffers: impl Iterator<Item = &'b wgpu::Buffer>,
) -> wgpu::BindGroup {
    let entries: Vec<_> = (0..)
        .zip(buffers)
        .map(|(binding, buffer)| wgpu::BindGroupEntry { binding, resource: buffer.as_entire_binding() })
        .collect();
    let label = Some("pixelferry arguments");
    device.create_bind_group(&wgpu::BindGroupDescriptor { label, layout, entries: &entries })
}
