// Second, of one group: tiles' totals become what comes before each tile.
@compute @workgroup_size(256)
fn pf_scan_totals(@builtin(local_invocation_index) lane: u32) {
  let tiles = pf_arg_u32(0u);
  var carry = pf_identity();
  for (var base = 0u; base < tiles; base += 256u * PF_NEIGHBOURS) {
    let first = base + lane * PF_NEIGHBOURS;
    let end = min(first + PF_NEIGHBOURS, tiles);
    var mine = pf_identity();
    for (var i = first; i < end; i++) {
      mine = pf_combine(mine, pf_of_bits(pf_get(i)));
    }
    var running = pf_combine(carry, pf_before(lane, mine));
    for (var i = first; i < end; i++) {
      let next = pf_combine(running, pf_of_bits(pf_get(i)));
      pf_put(i, pf_bits(running));
      running = next;
    }
    carry = pf_combine(carry, pf_totals[255]);
    workgroupBarrier();
  }
}
