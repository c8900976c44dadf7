// Box and Muller's transform of two words. The angle is cut in quarters before it is rounded.
fn pf_pair(a: u32, b: u32) -> vec2<f32> {
  let radius = sqrt(-2.0 * pf_ln(f32((a >> 8u) + 1u) * 5.9604644775390625e-8));
  let part = b >> 8u;
  let quarter = (part + 0x200000u) >> 22u;
  let angle = f32(bitcast<i32>(part) - bitcast<i32>(quarter << 22u)) * 3.74507366e-7;
  let turn = PfTurn(quarter, angle);
  return vec2<f32>(radius * pf_cos_of(turn), radius * pf_sin_of(turn));
}
fn pf_distribute(w: vec4<u32>) -> vec4<u32> {
  return bitcast<vec4<u32>>(vec4<f32>(pf_pair(w.x, w.y), pf_pair(w.z, w.w)));
}
