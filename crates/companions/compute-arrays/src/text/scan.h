/* What a group of work items does with one value of each, in OpenCL C. */
#define PF_WIDTH 256

/* What comes before this lane in the group; totals[255] is the group's. */
static PF_T pf_before(PF_LOCAL PF_T *totals, const pf_u32 lane, const PF_T mine) {
  totals[lane] = mine;
  PF_BARRIER;
  for (pf_u32 reach = 1; reach < PF_WIDTH; reach *= 2) {
    PF_T v = totals[lane];
    if (lane >= reach) v = pf_combine(totals[lane - reach], v);
    PF_BARRIER;
    totals[lane] = v;
    PF_BARRIER;
  }
  return lane > 0 ? totals[lane - 1] : pf_identity();
}
