//! Bindings and steps of a draw's shaders, for both manners.

use crate::draw::picture::{Picture, Source};
use interop_core::draw::Plan;
use interop_core::draw::wgsl::{Places, Steps};

/// The bindings in the shaders' texts.
pub(crate) const PLACES: Places = Places {
    params: "@group(0) @binding(0) var<uniform>",
    image: "@group(0) @binding(1)",
    canvas: "@group(1) @binding(0)",
};

/// Returns the steps of a draw of this picture.
pub(crate) fn steps(plan: &Plan, picture: &Picture) -> Steps {
    let memory = match picture.source() {
        Source::Texture(..) => None,
        Source::Memory(..) => Some(picture.format()),
    };
    Steps::new(plan, memory)
}

/// Layouts of the bindings for both kinds of source.
pub(crate) struct Layouts {
    texture: wgpu::BindGroupLayout,
    /// Unused where fragment shaders cannot read storage buffers; then nothing is shown in place.
    memory: wgpu::BindGroupLayout,
}

fn layout(device: &wgpu::Device, image: wgpu::BindingType) -> wgpu::BindGroupLayout {
    let entry = |binding, ty| wgpu::BindGroupLayoutEntry {
        binding,
        visibility: wgpu::ShaderStages::FRAGMENT | wgpu::ShaderStages::COMPUTE,
        ty,
        count: None,
    };
    device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
        label: Some("pixelferry image"),
        entries: &[entry(0, crate::draw::splice::buffer(wgpu::BufferBindingType::Uniform)), entry(1, image)],
    })
}

impl Layouts {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let sampled = wgpu::BindingType::Texture {
            // Texels are loaded, never sampled, so that 32-bit floats need no feature.
            sample_type: wgpu::TextureSampleType::Float { filterable: false },
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        };
        let stored = crate::draw::splice::buffer(wgpu::BufferBindingType::Storage { read_only: true });
        // A layout with storage is rejected where fragment shaders cannot read it; this layout is then never used.
        let readable = device.limits().max_storage_buffers_per_shader_stage > 0;
        let memory = if readable { stored } else { sampled };
        Self { texture: layout(device, sampled), memory: layout(device, memory) }
    }

    pub(crate) fn get(&self, steps: Steps) -> &wgpu::BindGroupLayout {
        if steps.memory.is_some() { &self.memory } else { &self.texture }
    }
}
