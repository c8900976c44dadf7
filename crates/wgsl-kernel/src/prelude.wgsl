// Of 16 bytes each, so that OpenGL can take them as one uniform array:
// 0: byte of pixel (0, 0), or of the buffer's first word; bytes from one row to the next, in two's complement, of a buffer its
//    bytes; width and height in pixels, of a buffer the work items and 1.
// 1: work items in one row of the grid; three zeros.
// 2 to 9: the numbers among the arguments.
@group(0) @binding(1) var<uniform> pf_launch: array<vec4<u32>, 10>;

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
