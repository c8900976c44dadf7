//! Kernels of the tests of backends that share a queue with a display. Their suites have this file.

/// A picture of its coordinates, and of a level in blue.
pub const PAINT: &str = "@compute @workgroup_size(8, 8)
fn paint(@builtin(global_invocation_id) id: vec3<u32>) {
  pf_store(id.xy, vec4<f32>(f32(id.x) / 255.0, f32(id.y) / 255.0, pf_arg_f32(0), 1.0));
}";

/// The same, but it names words, so that it needs linear memory.
pub const WORDS: &str = "@compute @workgroup_size(8, 8)
fn paint(@builtin(global_invocation_id) id: vec3<u32>) {
  if (id.x == 0u && id.y > 1000000u) { pf_put(0u, pf_get(0u)); }
  pf_store(id.xy, vec4<f32>(f32(id.x) / 255.0, f32(id.y) / 255.0, pf_arg_f32(0), 1.0));
}";

/// One number in every word.
pub const FILL: &str = "@compute @workgroup_size(64)
fn fill(@builtin(global_invocation_id) id: vec3<u32>) {
  if (pf_index(id) < pf_items()) { pf_put(pf_index(id), pf_arg_u32(0)); }
}";
