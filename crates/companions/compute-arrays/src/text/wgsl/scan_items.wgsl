// A tile in its work items' own memory, for devices that are CPUs: OpenGL's clear the group's memory first, which takes them longer
// than the scan.
var<private> pf_items_own: array<PfT, PF_ITEMS>;
fn pf_load(lane: u32, base: u32, n: u32) {
  for (var k = 0u; k < PF_ITEMS; k++) {
    let i = base + lane * PF_ITEMS + k;
    var v = pf_identity();
    if (i < n) {
      v = pf_map(i);
    }
    pf_items_own[k] = v;
  }
}
fn pf_own(lane: u32, k: u32) -> PfT {
  return pf_items_own[k];
}
fn pf_set_own(lane: u32, k: u32, value: PfT) {
  pf_items_own[k] = value;
}
fn pf_store_tile(lane: u32, base: u32) {
  for (var k = 0u; k < PF_ITEMS; k++) {
    pf_put(base + lane * PF_ITEMS + k, pf_bits(pf_items_own[k]));
  }
}
