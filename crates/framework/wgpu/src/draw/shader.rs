//! Shaders of this crate, compiled without the checks that wgpu adds to unknown shaders: a query and a comparison for
//! each texel.

/// Creates a module from a text of the core's draw.
pub(crate) fn trusted(device: &wgpu::Device, text: String) -> wgpu::ShaderModule {
    let descriptor =
        wgpu::ShaderModuleDescriptor { label: Some("pixelferry image"), source: wgpu::ShaderSource::Wgsl(text.into()) };
    // SAFETY: the shaders read only what lies inside. At 1:1 a fragment that reads lies in the picture (no others are
    // drawn, or they are told apart first), which has the size of the region, which lies in the image; else positions are
    // clamped to the region. The rows of an image in memory lie inside the part of the buffer that is bound. Work items
    // outside the target end before they store. There are no loops, and no division of integers.
    unsafe { device.create_shader_module_trusted(descriptor, wgpu::ShaderRuntimeChecks::unchecked()) }
}
