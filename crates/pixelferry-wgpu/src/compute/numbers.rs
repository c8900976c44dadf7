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

    /// Group 0 for a target in `memory`.
    pub fn bind(&self, device: &WgpuDevice, layout: &wgpu::BindGroupLayout, memory: &wgpu::Buffer) -> wgpu::BindGroup {
        let numbers = wgpu::BufferBinding { buffer: &self.buffer, offset: 0, size: NonZeroU64::new(NUMBERS as u64) };
        device.device.create_bind_group(&wgpu::BindGroupDescriptor {
            label: Some("pixelferry target"),
            layout,
            entries: &[
                wgpu::BindGroupEntry { binding: 0, resource: memory.as_entire_binding() },
                wgpu::BindGroupEntry { binding: 1, resource: wgpu::BindingResource::Buffer(numbers) },
            ],
        })
    }
}

/// The layout of group 0.
pub fn layout(device: &wgpu::Device) -> wgpu::BindGroupLayout {
    let entry = |binding, ty, has_dynamic_offset| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::COMPUTE,
        ty: wgpu::BindingType::Buffer { ty, has_dynamic_offset, min_binding_size: None },
        count: None,
    };
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("pixelferry target"),
        entries: &[
            entry(0, wgpu::BufferBindingType::Storage { read_only: false }, false),
            entry(1, wgpu::BufferBindingType::Uniform, true),
        ],
    })
}
