fn pf_min_f32(a: f32, b: f32) -> f32 {
  if (pf_is_nan(a)) { return b; }
  if (pf_is_nan(b)) { return a; }
  return select(a, b, b < a);
}
fn pf_max_f32(a: f32, b: f32) -> f32 {
  if (pf_is_nan(a)) { return b; }
  if (pf_is_nan(b)) { return a; }
  return select(a, b, b > a);
}
fn pf_less(a: f32, b: f32) -> bool {
  return !(pf_is_nan(a) || pf_is_nan(b)) && a < b;
}
fn pf_less_equal(a: f32, b: f32) -> bool {
  return !(pf_is_nan(a) || pf_is_nan(b)) && a <= b;
}
fn pf_equal(a: f32, b: f32) -> bool {
  return !(pf_is_nan(a) || pf_is_nan(b)) && a == b;
}
// WGSL promises nothing of divisors above 2^126.
fn pf_div_f32(a: f32, b: f32) -> f32 {
  let scale = select(1.0, 0.25, abs(b) > 8.5070592e37);
  return (a * scale) / (b * scale);
}
fn pf_i32_of(x: f32) -> i32 {
  if (pf_is_nan(x)) { return 0; }
  if (x <= -2147483648.0) { return bitcast<i32>(0x80000000u); }
  if (x >= 2147483648.0) { return 2147483647; }
  return i32(x);
}
fn pf_u32_of(x: f32) -> u32 {
  if (pf_is_nan(x) || x <= 0.0) { return 0u; }
  if (x >= 4294967296.0) { return 0xffffffffu; }
  return u32(x);
}
