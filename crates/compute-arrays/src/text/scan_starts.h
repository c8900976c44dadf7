/* Second, one group: totals become what comes before each tile. */
PF_KERNEL_256 void pf_tile_starts(PF_BUFFER(PF_T, out), pf_u64 tiles) {
  PF_LOCAL PF_T totals[PF_WIDTH];
  const pf_u32 lane = PF_LANE;
  PF_T carry = pf_identity();
  for (pf_u64 base = 0; base < tiles; base += PF_WIDTH) {
    const pf_u64 i = base + lane;
    PF_T mine = pf_identity();
    if (i < tiles) mine = PF_ITEM(out, i);
    const PF_T before = pf_before(totals, lane, mine);
    if (i < tiles) PF_ITEM(out, i) = pf_combine(carry, before);
    carry = pf_combine(carry, totals[PF_WIDTH - 1]);
    PF_BARRIER;
  }
}
