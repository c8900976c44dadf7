// A tile in the group's memory: read and written with neighbouring work items at neighbouring elements, while in between each
// owns PF_ITEMS neighbours. One element of padding after each 32 keeps the banks apart.
var<workgroup> pf_tile: array<PfT, 256u * PF_ITEMS + 8u * PF_ITEMS>;
fn pf_padded(at: u32) -> u32 {
  return at + at / 32u;
}
fn pf_load(lane: u32, base: u32, n: u32) {
  for (var k = 0u; k < PF_ITEMS; k++) {
    let at = k * 256u + lane;
    var v = pf_identity();
    if (base + at < n) {
      v = pf_map(base + at);
    }
    pf_tile[pf_padded(at)] = v;
  }
  workgroupBarrier();
}
fn pf_own(lane: u32, k: u32) -> PfT {
  return pf_tile[pf_padded(lane * PF_ITEMS + k)];
}
fn pf_set_own(lane: u32, k: u32, value: PfT) {
  pf_tile[pf_padded(lane * PF_ITEMS + k)] = value;
}
fn pf_store_tile(lane: u32, base: u32) {
  workgroupBarrier();
  for (var k = 0u; k < PF_ITEMS; k++) {
    let at = k * 256u + lane;
    pf_put(base + at, pf_bits(pf_tile[pf_padded(at)]));
  }
}
