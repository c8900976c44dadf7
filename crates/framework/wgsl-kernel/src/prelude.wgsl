
// Width and height of the target in pixels.
fn pf_size() -> vec2<u32> {
  return pf_launch[0].zw;
}
// Whether the target has such a pixel.
fn pf_inside(at: vec2<u32>) -> bool {
  return all(at < pf_size());
}
// The work item's number, of a kernel for buffers.
fn pf_index(id: vec3<u32>) -> u32 {
  return id.x + id.y * pf_launch[1].x;
}
// How many work items there are, of a kernel for buffers.
fn pf_items() -> u32 {
  return pf_launch[0].z;
}
// Numbers among the arguments, counted from 0.
fn pf_arg_u32(index: u32) -> u32 {
  return pf_launch[2u + index / 4u][index % 4u];
}
fn pf_arg_i32(index: u32) -> i32 {
  return bitcast<i32>(pf_arg_u32(index));
}
fn pf_arg_f32(index: u32) -> f32 {
  return bitcast<f32>(pf_arg_u32(index));
}
// The same number, kept apart from what is computed with it: compilers may fuse a product with a sum, say.
fn pf_exact(x: f32) -> f32 {
  return bitcast<f32>(bitcast<u32>(x) ^ pf_zero());
}
// 0, of which no compiler knows.
fn pf_zero() -> u32 {
  return pf_launch[1].w;
}
