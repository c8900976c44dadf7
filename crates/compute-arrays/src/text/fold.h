/* One group: what the groups before left. */
PF_KERNEL_256 void pf_fold(PF_BUFFER(PF_ACC, out), PF_GLOBAL const PF_ACC *restrict partials, pf_u32 count) {
  PF_LOCAL PF_ACC shared[PF_WIDTH];
  const pf_u32 lane = PF_LANE;
  PF_ACC acc = pf_identity();
  for (pf_u32 i = lane; i < count; i += PF_WIDTH) acc = pf_combine(acc, partials[i]);
  const PF_ACC all = pf_tree(shared, lane, acc);
  if (lane == 0) PF_ITEM(out, 0) = all;
}
