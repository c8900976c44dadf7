/* For devices that are CPUs, which run a group's items one after the other: no barriers. A tile is one work item's. Leaves
   wait for each other at their ends only, so that processors do several at once. */
#ifdef PF_PARAMS
#define PF_LEAF 8
#else
#define PF_LEAF 32
#define PF_MAP(i) PF_ITEM(out, i)
#endif
#define PF_TILE 128

/* The running values after `before` of the elements from `at` to `end`, each `shift` places further in `out`. */
#define PF_RUN(at, end, before, shift)                                                                          \
  for (; at + PF_LEAF <= end; at += PF_LEAF) {                                                                  \
    PF_T v[PF_LEAF];                                                                                            \
    v[0] = PF_MAP(at);                                                                                          \
    _Pragma("unroll") for (int k = 1; k < PF_LEAF; ++k) v[k] = pf_combine(v[k - 1], PF_MAP(at + k));            \
    _Pragma("unroll") for (int k = 0; k < PF_LEAF; ++k) PF_ITEM(out, at + shift + k) = pf_combine(before, v[k]); \
    before = pf_combine(before, v[PF_LEAF - 1]);                                                                \
  }                                                                                                             \
  PF_T rest = pf_identity();                                                                                    \
  for (; at < end; ++at) {                                                                                      \
    rest = pf_combine(rest, PF_MAP(at));                                                                        \
    PF_ITEM(out, at + shift) = pf_combine(before, rest);                                                        \
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
    PF_T leaf = PF_MAP(at);
#pragma unroll
    for (int k = 1; k < PF_LEAF; ++k) leaf = pf_combine(leaf, PF_MAP(at + k));
    total = pf_combine(total, leaf);
  }
  for (; at < end; ++at) total = pf_combine(total, PF_MAP(at));
  PF_ITEM(out, number) = total;
}

/* Third: each tile after the end of the one before. */
PF_KERNEL_8 void pf_scan_tiles(PF_BUFFER(PF_T, out), PF_GLOBAL const PF_T *restrict ends, int exclusive PF_PARAMS) {
  const pf_index shift = (pf_index)exclusive, n = (pf_index)PF_LEN(out) - shift, number = PF_NUMBER;
  pf_index at = number * PF_TILE;
  if (at > n) return;
  const pf_index end = at + PF_TILE < n ? at + PF_TILE : n;
  PF_T before = number > 0 ? ends[number - 1] : pf_identity();
  if (exclusive && number == 0) PF_ITEM(out, 0) = before;
  PF_RUN(at, end, before, shift)
}
#else
/* Second: tiles' totals become running ones. */
PF_KERNEL_8 void pf_scan_totals(PF_BUFFER(PF_T, out), pf_u64 tiles) {
  if (PF_NUMBER > 0) return;
  pf_index at = 0;
  const pf_index end = (pf_index)tiles;
  PF_T before = pf_identity();
  PF_RUN(at, end, before, 0)
}
#endif
