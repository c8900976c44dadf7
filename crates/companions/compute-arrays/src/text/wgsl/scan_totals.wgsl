// First of three: each tile's total.
@compute @workgroup_size(256)
fn pf_tile_totals(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let group = pf_group(id);
  pf_load(lane, group * 256u * PF_ITEMS, pf_arg_u32(0u));
  let before = pf_before(lane, pf_own_total(lane));
  if (lane == 0u) {
    pf_put(group, pf_bits(pf_totals[255]));
  }
}
