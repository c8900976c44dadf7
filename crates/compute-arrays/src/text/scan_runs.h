/* For devices that are CPUs, which run a group's items one after the other: no barriers. A tile is one work item's. Leaves
   wait for each other at their ends only, so that processors do several at once. */
#define PF_LEAF 16
#define PF_TILE 256
#ifndef PF_MAP
#define PF_MAP(i) PF_ITEM(out, i)
#endif

/* A leaf's values become running ones after `before`; what comes before the next leaf. */
static PF_T pf_run_leaf(PF_T *v, const PF_T before, const int exclusive) {
#pragma unroll
  for (int k = 1; k < PF_LEAF; ++k) v[k] = pf_combine(v[k - 1], v[k]);
  const PF_T next = pf_combine(before, v[PF_LEAF - 1]);
#pragma unroll
  for (int k = PF_LEAF - 1; k > 0; --k) v[k] = pf_combine(before, exclusive ? v[k - 1] : v[k]);
  v[0] = exclusive ? before : pf_combine(before, v[0]);
  return next;
}

/* `out` from `at` to `end` becomes the running values after `before`. */
#define PF_RUN(at, end, before, exclusive)                                               \
  for (; at + PF_LEAF <= end; at += PF_LEAF) {                                           \
    PF_T v[PF_LEAF];                                                                     \
    _Pragma("unroll") for (int k = 0; k < PF_LEAF; ++k) v[k] = PF_MAP(at + k);           \
    before = pf_run_leaf(v, before, exclusive);                                          \
    _Pragma("unroll") for (int k = 0; k < PF_LEAF; ++k) PF_ITEM(out, at + k) = v[k];     \
  }                                                                                      \
  for (; at < end; ++at) {                                                               \
    const PF_T next = pf_combine(before, PF_MAP(at));                                    \
    PF_ITEM(out, at) = exclusive ? before : next;                                        \
    before = next;                                                                       \
  }

#ifdef PF_PARAMS
/* First of three: each tile's total. */
PF_KERNEL_8 void pf_tile_totals(PF_BUFFER(PF_T, out), pf_u64 len PF_PARAMS) {
  const pf_index n = (pf_index)len, number = PF_NUMBER;
  if (number >= (pf_index)PF_LEN(out)) return;
  pf_index at = number * PF_TILE;
  const pf_index end = at + PF_TILE < n ? at + PF_TILE : n;
  PF_T total = pf_identity();
  for (; at + PF_LEAF <= end; at += PF_LEAF) {
    PF_T leaf = pf_map(at PF_ARGS);
#pragma unroll
    for (int k = 1; k < PF_LEAF; ++k) leaf = pf_combine(leaf, pf_map(at + k PF_ARGS));
    total = pf_combine(total, leaf);
  }
  for (; at < end; ++at) total = pf_combine(total, pf_map(at PF_ARGS));
  PF_ITEM(out, number) = total;
}

/* Third: each tile from its start. */
PF_KERNEL_8 void pf_scan_tiles(PF_BUFFER(PF_T, out), PF_GLOBAL const PF_T *restrict starts, int exclusive PF_PARAMS) {
  const pf_index n = (pf_index)PF_LEN(out), number = PF_NUMBER;
  pf_index at = number * PF_TILE;
  if (at >= n) return;
  const pf_index end = at + PF_TILE < n ? at + PF_TILE : n;
  PF_T before = starts[number];
  PF_RUN(at, end, before, exclusive)
}
#else
/* Second: tiles' totals become what comes before each tile. */
PF_KERNEL_8 void pf_tile_starts(PF_BUFFER(PF_T, out), pf_u64 tiles) {
  if (PF_NUMBER > 0) return;
  pf_index at = 0;
  const pf_index end = (pf_index)tiles;
  PF_T before = pf_identity();
  PF_RUN(at, end, before, 1)
}
#endif
