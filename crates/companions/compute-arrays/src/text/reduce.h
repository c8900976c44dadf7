/* Each group leaves one value. */
PF_KERNEL_256 void pf_reduce(PF_BUFFER(PF_ACC, out), pf_u64 len PF_PARAMS) {
  PF_LOCAL PF_ACC shared[PF_WIDTH];
  const pf_u32 lane = PF_LANE;
  const pf_index n = (pf_index)len, tile = PF_WIDTH * PF_UNROLL, stride = (pf_index)PF_GROUPS * tile;
  PF_ACC acc[4] = {pf_identity(), pf_identity(), pf_identity(), pf_identity()};
  pf_index base = (pf_index)PF_GROUP * tile;
  for (; base + tile <= n; base += stride) {
#pragma unroll
    for (int k = 0; k < PF_UNROLL; ++k) acc[k % 4] = pf_combine(acc[k % 4], pf_value(base + lane + k * PF_WIDTH PF_ARGS));
  }
  for (pf_index i = base + lane; i < n; i += PF_WIDTH) {
    if (i < base + tile) acc[0] = pf_combine(acc[0], pf_value(i PF_ARGS));
  }
  const PF_ACC all =
      pf_tree(shared, lane, pf_combine(pf_combine(acc[0], acc[1]), pf_combine(acc[2], acc[3])));
  if (lane == 0) PF_ITEM(out, PF_GROUP) = all;
}
