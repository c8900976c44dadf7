// All that the lane owns.
fn pf_own_total(lane: u32) -> PfT {
  var total = pf_own(lane, 0u);
  for (var k = 1u; k < PF_ITEMS; k++) {
    total = pf_combine(total, pf_own(lane, k));
  }
  return total;
}
