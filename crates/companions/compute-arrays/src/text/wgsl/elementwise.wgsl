// PF_PER_ITEM elements for each work item, a group's width apart.
@compute @workgroup_size(256)
fn pf_elementwise(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let first = pf_group(id) * (256u * PF_PER_ITEM) + lane;
  for (var k = 0u; k < PF_PER_ITEM; k++) {
    let i = first + k * 256u;
    if (i < pf_words()) {
      pf_put(i, pf_bits(pf_map(i)));
    }
  }
}
