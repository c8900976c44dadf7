//! Steps of a draw's shaders, in either manner.

use crate::draw::picture::{Picture, Source};
use interop_core::PixelFormat;
use interop_core::draw::{Plan, Variant};

/// Steps that are fixed when a pipeline is made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Steps {
    /// The format, where pixels lie in linear memory.
    pub memory: Option<PixelFormat>,
    pub one_to_one: bool,
    pub bars: bool,
    /// Work on colours; plain draws have a module of their own with nothing of it.
    pub colors: Option<Variant>,
}

impl Steps {
    pub(crate) fn of(plan: &Plan, picture: &Picture) -> Self {
        let memory = match picture.source() {
            Source::Texture(..) => None,
            Source::Memory(..) => Some(picture.format()),
        };
        Self { memory, one_to_one: plan.one_to_one, bars: plan.bars, colors: Variant::of(plan) }
    }

    /// The constants by the names that the shaders give them.
    pub(crate) fn constants(self) -> Vec<(&'static str, f64)> {
        let switches =
            [("one_to_one", self.one_to_one), ("bars", self.bars)].map(|(n, on)| (n, f64::from(u8::from(on))));
        let colors = self.colors.map(Variant::constants).into_iter().flatten().map(|(n, value)| (n, f64::from(value)));
        let format = self.memory.map(|format| ("kind", f64::from(format.info().shader_id)));
        switches.into_iter().chain(colors).chain(format).collect()
    }
}

/// Curves of numbers.
pub(crate) const CURVES: &str = include_str!("shaders/curves.wgsl");

/// Shader text and layout for one kind of source.
pub(crate) struct Half {
    text: &'static str,
    pub layout: wgpu::BindGroupLayout,
}

/// Both kinds.
pub(crate) struct Halves {
    texture: Half,
    /// Not where fragments cannot read storage buffers; then nothing is shown in place.
    memory: Half,
}

impl Half {
    fn new(device: &wgpu::Device, text: &'static str, image: wgpu::BindingType) -> Self {
        let entry = |binding, ty| wgpu::BindGroupLayoutEntry {
            binding,
            visibility: wgpu::ShaderStages::FRAGMENT | wgpu::ShaderStages::COMPUTE,
            ty,
            count: None,
        };
        let layout = device.create_bind_group_layout(&wgpu::BindGroupLayoutDescriptor {
            label: Some("pixelferry image"),
            entries: &[entry(0, crate::draw::splice::buffer(wgpu::BufferBindingType::Uniform)), entry(1, image)],
        });
        Self { text, layout }
    }

    /// A module that shows, plainly or with work on colours, by what `writes`.
    pub(crate) fn module(&self, device: &wgpu::Device, colors: bool, writes: &str) -> wgpu::ShaderModule {
        let steps = if colors { include_str!("shaders/color.wgsl") } else { include_str!("shaders/plain.wgsl") };
        let curves = if colors { CURVES } else { "" };
        let text = format!("{}{steps}{curves}{}{writes}", include_str!("shaders/common.wgsl"), self.text);
        crate::draw::shader::trusted(device, text)
    }
}

impl Halves {
    pub(crate) fn new(device: &wgpu::Device) -> Self {
        let sampled = wgpu::BindingType::Texture {
            // Texels are loaded, never sampled: 32-bit floats need no feature then.
            sample_type: wgpu::TextureSampleType::Float { filterable: false },
            view_dimension: wgpu::TextureViewDimension::D2,
            multisampled: false,
        };
        let stored = crate::draw::splice::buffer(wgpu::BufferBindingType::Storage { read_only: true });
        // A layout with storage is refused where fragments read none; that half is then never used.
        let readable = device.limits().max_storage_buffers_per_shader_stage > 0;
        let memory = if readable { stored } else { sampled };
        Self {
            texture: Half::new(device, include_str!("shaders/texture.wgsl"), sampled),
            memory: Half::new(device, include_str!("shaders/memory.wgsl"), memory),
        }
    }

    pub(crate) fn get(&self, steps: Steps) -> &Half {
        if steps.memory.is_some() { &self.memory } else { &self.texture }
    }
}
