
// As a format with sRGB encoding does, through a view or a texture that has none.
fn stored(color: vec4<f32>) -> vec4<f32> {
  return vec4<f32>(light_to_srgb(clamp(color.rgb, vec3<f32>(0.0), vec3<f32>(1.0))), color.a);
}

fn loaded(color: vec4<f32>) -> vec4<f32> {
  return vec4<f32>(srgb_to_light(color.rgb), color.a);
}
