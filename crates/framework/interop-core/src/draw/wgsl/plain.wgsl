// Numbers go through as they are.

fn tap(p: vec2<u32>) -> vec4<f32> {
  return texel(p);
}

fn finished(own: vec4<f32>) -> vec4<f32> {
  if draw_params.grey != 0u {
    return vec4<f32>(own.rrr, 1.0);
  }
  return own;
}

fn encode(v: vec3<f32>) -> vec3<f32> {
  return v;
}
