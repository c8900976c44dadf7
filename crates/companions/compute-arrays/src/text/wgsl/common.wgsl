// A number of these bits, which no compiler knows before: infinity and NaN are refused where it does.
fn pf_float(bits: u32) -> f32 {
  return bitcast<f32>(bits ^ pf_zero());
}
// By its bits: compilers may take for granted that no number is a NaN.
fn pf_is_nan(x: f32) -> bool {
  return (bitcast<u32>(x) & 0x7fffffffu) > 0x7f800000u;
}
// The group's number in the grid, which has rows where one would be too long.
fn pf_group(id: vec3<u32>) -> u32 {
  return id.x + pf_index(vec3<u32>(0u, id.y, 0u)) / 256u;
}
