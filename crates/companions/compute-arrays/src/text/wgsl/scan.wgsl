// What a group of work items does with one value of each.
var<workgroup> pf_totals: array<PfT, 256>;
// What comes before this lane in the group; pf_totals[255] is the group's.
fn pf_before(lane: u32, mine: PfT) -> PfT {
  pf_totals[lane] = mine;
  workgroupBarrier();
  for (var reach = 1u; reach < 256u; reach <<= 1u) {
    var v = pf_totals[lane];
    if (lane >= reach) {
      v = pf_combine(pf_totals[lane - reach], v);
    }
    workgroupBarrier();
    pf_totals[lane] = v;
    workgroupBarrier();
  }
  if (lane == 0u) { return pf_identity(); }
  return pf_totals[lane - 1u];
}
