//! The numbers of launches, in memory that shaders read.

use crate::WgpuDevice;
use std::num::NonZeroU64;
use wgsl_kernel::NUMBERS;

/// Launches whose numbers lie side by side: more than are recorded without being submitted.
const PLACES: u64 = 16;

/// Resources bound in group 0 of every launch: the target's memory, and its own place in a buffer of numbers.
pub struct Numbers {
    buffer: wgpu::Buffer,
    next: u64,
}

impl Numbers {
    pub fn new(device: &wgpu::Device) -> Self {
        let buffer = device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("pixelferry launch"),
            size: PLACES * NUMBERS as u64,
            usage: wgpu::BufferUsages::UNIFORM | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        Self { buffer, next: 0 }
    }

    /// Queues numbers to the next place, which is returned: in bytes, for the binding.
    pub fn write(&mut self, queue: &wgpu::Queue, numbers: &[u8]) -> u32 {
        let place = self.next * NUMBERS as u64;
        self.next = (self.next + 1) % PLACES;
        queue.write_buffer(&self.buffer, place, numbers);
        // Below PLACES * NUMBERS.
        place as u32
    }

    /// Group 0 for a target.
    pub fn bind(
        &self,
        device: &WgpuDevice,
        layout: &wgpu::BindGroupLayout,
        target: wgpu::BindingResource<'_>,
    ) -> wgpu::BindGroup {
        let numbers = wgpu::BufferBinding { buffer: &self.buffer, offset: 0, size: NonZeroU64::new(NUMBERS as u64) };
        device.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("pixelferry target"),
            layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: target },
                wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::Buffer(numbers) },
            ],
        })
    }
}

/// The layout of group 0 for targets in linear memory.
pub fn layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let ty = wgpu::BufferBindingType::Storage { read_only: false };
    layout_of(device, wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None })
}

/// The layout of group 0 for targets that are textures of this format.
pub fn texture_layout(device: &wgpu::Device, format: wgpu::TextureFormat) -> wgpu::BindGroupLayout {
    let (access, view_dimension) = (wgpu::StorageTextureAccess::WriteOnly, wgpu::TextureViewDimension::D2);
    layout_of(device, wgpu::BindingType::StorageTexture { access, format, view_dimension })
}

fn layout_of(device: &wgpu::Device, target: wgpu::BindingType) -> wgpu::BindGroupLayout {
    let entry =
        |binding, ty| wgpu::BindGroupLayoutEntry { binding, visibility: wgpu::ShaderStages::COMPUTE, ty, count: None };
    let ty = wgpu::BufferBindingType::Uniform;
    let numbers = wgpu::BindingType::Buffer { ty, has_dynamic_offset: true, min_binding_size: None };
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("pixelferry target"),
        entries: &[entry(0, target), entry(1, numbers)],
    })
}
