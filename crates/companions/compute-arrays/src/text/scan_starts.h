/* One group: tiles' totals become what comes before each tile. */
#define PF_NEIGHBOURS 8
PF_KERNEL_256 void pf_scan_totals(PF_BUFFER(PF_T, out), pf_u64 tiles) {
  PF_LOCAL PF_T totals[PF_WIDTH];
  const pf_u32 lane = PF_LANE;
  PF_T carry = pf_identity();
  for (pf_u64 base = 0; base < tiles; base += PF_WIDTH * PF_NEIGHBOURS) {
    const pf_u64 first = base + lane * PF_NEIGHBOURS;
    PF_T mine = pf_identity();
    for (int k = 0; k < PF_NEIGHBOURS; ++k)
      if (first + k < tiles) mine = pf_combine(mine, PF_ITEM(out, first + k));
    PF_T running = pf_combine(carry, pf_before(totals, lane, mine));
    for (int k = 0; k < PF_NEIGHBOURS; ++k) {
      if (first + k < tiles) {
        const PF_T next = pf_combine(running, PF_ITEM(out, first + k));
        PF_ITEM(out, first + k) = running;
        running = next;
      }
    }
    carry = pf_combine(carry, totals[PF_WIDTH - 1]);
    PF_BARRIER;
  }
}
