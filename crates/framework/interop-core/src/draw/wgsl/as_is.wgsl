
fn stored(color: vec4<f32>) -> vec4<f32> {
  return color;
}

fn loaded(color: vec4<f32>) -> vec4<f32> {
  return color;
}
