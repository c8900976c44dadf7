/* A tile in local memory. Memory is read and written with neighbouring work items at neighbouring elements; in between
   each work item owns PF_ITEMS neighbours. Each 32 work items have a part of local memory that is theirs alone. Nothing is
   kept in registers while a group waits: more groups fit. */
#define PF_TILE (PF_WIDTH * PF_ITEMS)
/* One element of padding after each 128 bytes, a whole number of times PF_ITEMS: no bank conflicts either way. */
#define PF_ROW (128 / (int)sizeof(PF_T))
#define PF_PADDED (PF_TILE + PF_TILE / PF_ROW)
#define PF_OWN(lane) ((lane) * PF_ITEMS + (lane) * PF_ITEMS / PF_ROW)
#define PF_ACROSS(lane, k) ((lane) / 32 * (32 * PF_ITEMS) + (k) * 32 + (lane) % 32)
/* The same element in local memory, spelled out so that the compiler sees the same step from each k to the next. */
#define PF_ACROSS_LOCAL(lane, k)                                                                             \
  ((lane) / 32 * (32 * PF_ITEMS + 32 * PF_ITEMS / PF_ROW) + (lane) % 32 + (lane) % 32 / PF_ROW + (k) * (32 + 32 / PF_ROW))

static void pf_load(PF_LOCAL PF_T *tile, const pf_u32 lane, const pf_index base, const pf_index n PF_PARAMS) {
  if (base + PF_TILE <= n) {
#pragma unroll
    for (int k = 0; k < PF_ITEMS; ++k) tile[PF_ACROSS_LOCAL(lane, k)] = pf_map(base + PF_ACROSS(lane, k) PF_ARGS);
  } else {
    for (int k = 0; k < PF_ITEMS; ++k) {
      const pf_index i = base + PF_ACROSS(lane, k);
      PF_T v = pf_identity();
      if (i < n) v = pf_map(i PF_ARGS);
      tile[PF_ACROSS_LOCAL(lane, k)] = v;
    }
  }
  PF_BARRIER;
}

static PF_T pf_own_total(PF_LOCAL PF_T *tile, const pf_u32 lane) {
  PF_T total = tile[PF_OWN(lane)];
#pragma unroll
  for (int k = 1; k < PF_ITEMS; ++k) total = pf_combine(total, tile[PF_OWN(lane) + k]);
  return total;
}

/* Replaces the lane's own elements by the running values after `before`. */
static void pf_run(PF_LOCAL PF_T *tile, const pf_u32 lane, const PF_T before, const int exclusive) {
  PF_T running = before;
#pragma unroll
  for (int k = 0; k < PF_ITEMS; ++k) {
    const PF_T next = pf_combine(running, tile[PF_OWN(lane) + k]);
    tile[PF_OWN(lane) + k] = exclusive ? running : next;
    running = next;
  }
  PF_BARRIER;
}

#define PF_STORE_TILE(out, base, n, tile, lane)                                                                  \
  if ((base) + PF_TILE <= (n)) {                                                                                 \
    for (int k = 0; k < PF_ITEMS; ++k) PF_ITEM(out, (base) + PF_ACROSS(lane, k)) = (tile)[PF_ACROSS_LOCAL(lane, k)]; \
  } else {                                                                                                       \
    for (int k = 0; k < PF_ITEMS; ++k) {                                                                         \
      const pf_index i = (base) + PF_ACROSS(lane, k);                                                            \
      if (i < (n)) PF_ITEM(out, i) = (tile)[PF_ACROSS_LOCAL(lane, k)];                                           \
    }                                                                                                            \
  }
