//! The shaders of the programs written by hand. Their width is a constant, and they support one format.

use pixelferry::Manner;

/// The kernel `ramp`. `number` declares the source of the frame's number.
pub fn kernel(number: &str, width: u32, height: u32) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> memory: array<u32>;
         struct Frame {{ n: u32, }}
         {number} frame: Frame;
         @compute @workgroup_size(16, 16)
         fn ramp(@builtin(global_invocation_id) id: vec3<u32>) {{
           if (id.x >= {width}u || id.y >= {height}u) {{ return; }}
           memory[id.y * {width}u + id.x] =
             ((id.x + frame.n) & 255u) | ((id.y & 255u) << 8u) | ((frame.n & 255u) << 16u) | 0xff000000u;
         }}"
    )
}

/// The kernel `ramp` that stores directly to the target.
pub fn straight(number: &str, width: u32, height: u32) -> String {
    format!(
        "@group(0) @binding(0) var canvas: texture_storage_2d<rgba8unorm, write>;
         struct Frame {{ n: u32, }}
         {number} frame: Frame;
         @compute @workgroup_size(16, 16)
         fn ramp(@builtin(global_invocation_id) id: vec3<u32>) {{
           if (id.x >= {width}u || id.y >= {height}u) {{ return; }}
           let word = ((id.x + frame.n) & 255u) | ((id.y & 255u) << 8u) | ((frame.n & 255u) << 16u) | 0xff000000u;
           textureStore(canvas, id.xy, unpack4x8unorm(word));
         }}"
    )
}

/// Either `draw`, a compute shader that stores, or `cover` and `draw`, a triangle.
pub fn draw(manner: Manner, width: u32, height: u32) -> String {
    let memory = "@group(0) @binding(0) var<storage, read> memory: array<u32>;";
    match manner {
        Manner::Compute => format!(
            "{memory}
             @group(0) @binding(1) var canvas: texture_storage_2d<rgba8unorm, write>;
             @compute @workgroup_size(16, 16)
             fn draw(@builtin(global_invocation_id) id: vec3<u32>) {{
               if (id.x >= {width}u || id.y >= {height}u) {{ return; }}
               textureStore(canvas, id.xy, unpack4x8unorm(memory[id.y * {width}u + id.x]));
             }}"
        ),
        Manner::Triangle => format!(
            "{memory}
             @vertex fn cover(@builtin(vertex_index) i: u32) -> @builtin(position) vec4<f32> {{
               return vec4<f32>(f32(i & 1u) * 4.0 - 1.0, f32(i >> 1u) * 4.0 - 1.0, 0.0, 1.0);
             }}
             @fragment fn draw(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {{
               let p = vec2<u32>(at.xy);
               return unpack4x8unorm(memory[p.y * {width}u + p.x]);
             }}"
        ),
    }
}

/// Returns the number of workgroups of 16 that cover this many pixels.
pub fn groups(pixels: u32) -> u32 {
    pixels.div_ceil(16)
}
