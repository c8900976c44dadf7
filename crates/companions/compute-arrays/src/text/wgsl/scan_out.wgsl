// Third: each tile from its start.
@compute @workgroup_size(256)
fn pf_scan_tiles(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let group = pf_group(id);
  let base = group * 256u * PF_ITEMS;
  let exclusive = pf_arg_i32(0u) != 0;
  pf_load(lane, base, pf_words());
  let before = pf_before(lane, pf_own_total(lane));
  var running = pf_combine(pf_of_bits(pf_start_bits[group]), before);
  for (var k = 0u; k < PF_ITEMS; k++) {
    let next = pf_combine(running, pf_own(lane, k));
    if (exclusive) {
      pf_set_own(lane, k, running);
    } else {
      pf_set_own(lane, k, next);
    }
    running = next;
  }
  pf_store_tile(lane, base);
}
