fn pf_distribute(w: vec4<u32>) -> vec4<u32> {
  return bitcast<vec4<u32>>(vec4<f32>(w >> vec4<u32>(8u)) * 5.9604644775390625e-8);
}
