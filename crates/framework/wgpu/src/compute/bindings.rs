//! Bindings of launches: group 0 holds the target and the numbers, group 1 the memories among the arguments.

use crate::WgpuDevice;
use interop_core::Result;
use std::num::NonZeroU64;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use wgsl_kernel::NUMBERS;

/// Number of launches whose numbers are stored side by side: more than are recorded before a submission.
const PLACES: u64 = 16;

/// The buffer of the numbers of launches.
pub struct Numbers {
    buffer: wgpu::Buffer,
    next: AtomicU64,
    /// Layout of group 0 for every kernel that writes linear memory.
    pub layout: wgpu::BindGroupLayout,
}

/// A target with its group 0, which is created at the first launch that writes it.
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

    /// Queues a write of the numbers to the next place, and returns the place in bytes for the binding. The launch must
    /// be recorded before another launch's numbers are written ([`WgpuDevice::record`]).
    pub fn write(&self, queue: &wgpu::Queue, numbers: &[u8]) -> u32 {
        let place = self.next.fetch_add(1, Ordering::Relaxed) % PLACES * NUMBERS as u64;
        queue.write_buffer(&self.buffer, place, numbers);
        // The value is below PLACES * NUMBERS.
        place as u32
    }

    /// Returns group 0 for a target.
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

/// Returns the layout of group 0 for textures of this format.
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

/// Group 1 of a kernel's launches.
pub struct Arguments {
    pub layout: wgpu::BindGroupLayout,
    /// The empty group of a kernel without memory arguments.
    none: Option<wgpu::BindGroup>,
    /// Size in bytes of the numbers in a launch's own commands; `None` where a buffer holds them.
    pub immediates: Option<usize>,
}

impl Arguments {
    /// Creates the layout for this number of memories.
    pub fn new(device: &wgpu::Device, memories: usize, immediates: Option<usize>) -> Self {
        let ty = wgpu::BufferBindingType::Storage { read_only: true };
        let memory = wgpu::BindingType::Buffer { ty, has_dynamic_offset: false, min_binding_size: None };
        let entries: Vec<_> = (0..memories as u32).map(|binding| entry(binding, memory)).collect();
        let label = Some("pixelferry arguments");
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor { label, entries: &entries });
        let none = (memories == 0).then(|| bind_whole(device, &layout, [].into_iter()));
        Self { layout, none, immediates }
    }

    /// Returns the group that binds the memories, from binding 0.
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
