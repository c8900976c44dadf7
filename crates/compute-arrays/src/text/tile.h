/* A tile in registers: each work item holds PF_ITEMS neighbours. Memory is read and written with neighbouring work items
   at neighbouring elements; each 32 work items change places by way of a part of local memory that is theirs alone. */
#define PF_TILE (PF_WIDTH * PF_ITEMS)
/* Free of bank conflicts both ways: a bank's width of padding for each two work items. */
#define PF_PAD(i) ((i) + (i) / (2 * PF_ITEMS))
#define PF_PADDED (PF_TILE + PF_WIDTH / 2)
#define PF_OWN(lane) ((lane) * PF_ITEMS + (lane) / 2)
#define PF_ACROSS(lane, k) ((lane) / 32 * (32 * PF_ITEMS) + (k) * 32 + (lane) % 32)
#ifdef __OPENCL_VERSION__
#define PF_BARRIER_32 PF_BARRIER
#else
#define PF_BARRIER_32 __syncwarp()
#endif

static void pf_load(PF_LOCAL_OF(PF_T) * local_tile, const pf_u32 lane, const pf_index base, const pf_index n, PF_T *v PF_PARAMS) {
  if (base + PF_TILE <= n) {
#pragma unroll
    for (int k = 0; k < PF_ITEMS; ++k) v[k] = pf_map(base + PF_ACROSS(lane, k) PF_ARGS);
  } else {
#pragma unroll
    for (int k = 0; k < PF_ITEMS; ++k) {
      const pf_index i = base + PF_ACROSS(lane, k);
      v[k] = pf_identity();
      if (i < n) v[k] = pf_map(i PF_ARGS);
    }
  }
#pragma unroll
  for (int k = 0; k < PF_ITEMS; ++k) local_tile[PF_PAD(PF_ACROSS(lane, k))] = v[k];
  PF_BARRIER_32;
#pragma unroll
  for (int k = 0; k < PF_ITEMS; ++k) v[k] = local_tile[PF_OWN(lane) + k];
  PF_BARRIER_32;
}

static PF_T pf_own_total(const PF_T *v) {
  PF_T total = v[0];
#pragma unroll
  for (int k = 1; k < PF_ITEMS; ++k) total = pf_combine(total, v[k]);
  return total;
}

/* Leaves the running values after `before` in local memory. */
static void pf_run(PF_LOCAL_OF(PF_T) * local_tile, const pf_u32 lane, const PF_T before, const int exclusive, const PF_T *v) {
  PF_T running = before;
#pragma unroll
  for (int k = 0; k < PF_ITEMS; ++k) {
    const PF_T next = pf_combine(running, v[k]);
    local_tile[PF_OWN(lane) + k] = exclusive ? running : next;
    running = next;
  }
  PF_BARRIER_32;
}

#define PF_STORE_TILE(out, base, n, tile, lane)                                        \
  for (int k = 0; k < PF_ITEMS; ++k) {                                                 \
    const pf_index i = (base) + PF_ACROSS(lane, k);                                    \
    if (i < (n)) PF_ITEM(out, i) = (tile)[PF_PAD(PF_ACROSS(lane, k))];                 \
  }
