/* A tile in local memory. */
static void pf_load(PF_LOCAL_OF(PF_T) * tile, const pf_u32 lane, const pf_index base, const pf_index n PF_PARAMS) {
  if (base + PF_TILE <= n) {
#pragma unroll
    for (int k = 0; k < PF_ITEMS; ++k) tile[PF_PAD(lane + k * PF_WIDTH)] = pf_map(base + lane + k * PF_WIDTH PF_ARGS);
  } else {
    for (int k = 0; k < PF_ITEMS; ++k) {
      const pf_index i = base + lane + k * PF_WIDTH;
      PF_T v = pf_identity();
      if (i < n) v = pf_map(i PF_ARGS);
      tile[PF_PAD(lane + k * PF_WIDTH)] = v;
    }
  }
  PF_BARRIER;
}

static PF_T pf_own_total(PF_LOCAL_OF(PF_T) * tile, const pf_u32 lane) {
  PF_T total = tile[lane * (PF_ITEMS + 1)];
#pragma unroll
  for (int k = 1; k < PF_ITEMS; ++k) total = pf_combine(total, tile[lane * (PF_ITEMS + 1) + k]);
  return total;
}

/* Replaces the lane's own elements by the running values after `before`. */
static void pf_run(PF_LOCAL_OF(PF_T) * tile, const pf_u32 lane, const PF_T before, const int exclusive) {
  PF_T running = before;
#pragma unroll
  for (int k = 0; k < PF_ITEMS; ++k) {
    const pf_u32 at = lane * (PF_ITEMS + 1) + k;
    const PF_T next = pf_combine(running, tile[at]);
    tile[at] = exclusive ? running : next;
    running = next;
  }
  PF_BARRIER;
}

#define PF_STORE_TILE(out, base, n, tile, lane)                                                   \
  if ((base) + PF_TILE <= (n)) {                                                                  \
    for (int k = 0; k < PF_ITEMS; ++k)                                                            \
      PF_ITEM(out, (base) + (lane) + k * PF_WIDTH) = (tile)[PF_PAD((lane) + k * PF_WIDTH)];       \
  } else {                                                                                        \
    for (int k = 0; k < PF_ITEMS; ++k) {                                                          \
      const pf_index i = (base) + (lane) + k * PF_WIDTH;                                          \
      if (i < (n)) PF_ITEM(out, i) = (tile)[PF_PAD((lane) + k * PF_WIDTH)];                       \
    }                                                                                             \
  }
