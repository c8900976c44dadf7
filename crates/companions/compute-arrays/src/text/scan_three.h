/* First of three: each tile's total. */
PF_KERNEL_256 void pf_tile_totals(PF_BUFFER(PF_T, out), pf_u64 len PF_PARAMS) {
  PF_LOCAL PF_T tile[PF_PADDED];
  PF_LOCAL PF_T totals[PF_WIDTH];
  const pf_u32 lane = PF_LANE;
  pf_load(tile, lane, (pf_index)PF_GROUP * PF_TILE, (pf_index)len PF_ARGS);
  pf_before(totals, lane, pf_own_total(tile, lane));
  if (lane == 0) PF_ITEM(out, PF_GROUP) = totals[PF_WIDTH - 1];
}

/* Third: each tile from its start. */
PF_KERNEL_256 void pf_scan_tiles(PF_BUFFER(PF_T, out), PF_GLOBAL const PF_T *restrict starts, int exclusive PF_PARAMS) {
  PF_LOCAL PF_T tile[PF_PADDED];
  PF_LOCAL PF_T totals[PF_WIDTH];
  const pf_u32 lane = PF_LANE;
  const pf_index n = (pf_index)PF_LEN(out), base = (pf_index)PF_GROUP * PF_TILE;
  pf_load(tile, lane, base, n PF_ARGS);
  const PF_T before = pf_before(totals, lane, pf_own_total(tile, lane));
  pf_run(tile, lane, pf_combine(starts[PF_GROUP], before), exclusive);
  PF_STORE_TILE(out, base, n, tile, lane)
}
