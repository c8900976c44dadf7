// How often each word of a buffer is a value. Work items take values a launch's width apart.
@compute @workgroup_size(256)
fn pf_histogram(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let n = pf_arg_u32(0u);
  for (var i = pf_group(id) * 256u + lane; i < n; i += pf_items()) {
    pf_add(pf_map(i), 1u);
  }
}
