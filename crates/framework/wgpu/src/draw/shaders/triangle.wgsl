// By the rasteriser.

// One triangle that covers the viewport; no vertex data.
@vertex
fn cover(@builtin(vertex_index) i: u32) -> @builtin(position) vec4<f32> {
  return vec4<f32>(vec2<f32>(vec2<u32>(i & 1u, i >> 1u)) * 4.0 - 1.0, 0.0, 1.0);
}

@fragment
fn show(@builtin(position) at: vec4<f32>) -> @location(0) vec4<f32> {
  return shown(at.xy);
}

// For 32-bit floats that are not drawn to.
@fragment
fn show_bits(@builtin(position) at: vec4<f32>) -> @location(0) vec4<u32> {
  return bitcast<vec4<u32>>(shown(at.xy));
}
