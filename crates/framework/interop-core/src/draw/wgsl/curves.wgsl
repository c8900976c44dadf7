
// Odd about 0; the power of 0 would be undefined.
fn power(m: vec3<f32>, p: f32) -> vec3<f32> {
  return pow(max(m, vec3<f32>(1e-30)), vec3<f32>(p));
}

fn srgb_to_light(v: vec3<f32>) -> vec3<f32> {
  let m = abs(v);
  return sign(v) * select(power((m + 0.055) / 1.055, 2.4), m / 12.92, m <= vec3<f32>(0.04045));
}

fn light_to_srgb(v: vec3<f32>) -> vec3<f32> {
  let m = abs(v);
  return sign(v) * select(1.055 * power(m, 1.0 / 2.4) - 0.055, m * 12.92, m <= vec3<f32>(0.0031308));
}
