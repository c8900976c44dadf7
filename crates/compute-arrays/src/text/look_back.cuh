/* All in one pass (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016): a tile makes
   its total known, then adds up those of the tiles before until one knows its own start. Groups begin in the order of
   their numbers, so those before always run: every device does so, and CUB's scan depends on it too.

   `state`: for each tile, a tag and values: 2 * epoch where the tile's total is known, 2 * epoch + 1 where the total of
   all up to its end is. Tags of other scans are none. */

#ifdef PF_PACKED /* 4-byte values: tag and value in one word */

static void pf_tell(pf_u64 *state, const pf_index at, const pf_u32 tag, const PF_T value) {
  union { PF_T value; pf_u32 bits; } word;
  word.value = value;
  *(volatile pf_u64 *)(state + at) = (pf_u64)tag << 32 | word.bits;
}
static pf_u32 pf_ask(pf_u64 *state, const pf_index at, PF_T *value) {
  const pf_u64 found = *(volatile pf_u64 *)(state + at);
  union { PF_T value; pf_u32 bits; } word;
  word.bits = (pf_u32)found;
  *value = word.value;
  return (pf_u32)(found >> 32);
}

#else /* 8-byte values: a tag, then two values that are there when the tag says so */

static void pf_tell(pf_u64 *state, const pf_index at, const pf_u32 tag, const PF_T value) {
  union { PF_T value; pf_u64 bits; } word;
  word.value = value;
  volatile pf_u64 *entry = state + 3 * at;
  entry[1 + (tag & 1)] = word.bits;
  __threadfence();
  entry[0] = tag;
}
static pf_u32 pf_ask(pf_u64 *state, const pf_index at, PF_T *value) {
  volatile pf_u64 *entry = state + 3 * at;
  const pf_u32 tag = (pf_u32)entry[0];
  __threadfence();
  union { PF_T value; pf_u64 bits; } word;
  word.bits = entry[1 + (tag & 1)];
  *value = word.value;
  return tag;
}

#endif

#define PF_ASK 4

/* What comes before `number`, by the first warp; each lane asks PF_ASK neighbours at a time. */
static PF_T pf_look_back(pf_u64 *state, const pf_index number, const pf_u32 total, const pf_u32 lane) {
  PF_T before = pf_identity();
  for (pf_index end = number; end > 0; end -= 32 * PF_ASK) {
    const pf_index nearest = end - 1 - (pf_index)lane * PF_ASK;
    PF_T found[PF_ASK];
    pf_u32 tags[PF_ASK];
#pragma unroll
    for (int k = 0; k < PF_ASK; ++k) {
      /* Before the first tile there is nothing, which is known. */
      tags[k] = total + 1;
      found[k] = pf_identity();
      if (nearest - k >= 0) tags[k] = pf_ask(state, nearest - k, &found[k]);
    }
    PF_T value = pf_identity();
    bool known = false;
#pragma unroll
    for (int k = 0; k < PF_ASK; ++k) {
      while (!known && tags[k] != total && tags[k] != total + 1) tags[k] = pf_ask(state, nearest - k, &found[k]);
      /* What lies further than a tile that knows all before it does not count. */
      if (!known) value = pf_combine(found[k], value);
      known = known || tags[k] == total + 1;
    }
    const unsigned all_known = __ballot_sync(0xffffffffu, known);
    if (all_known && (int)lane > __ffs(all_known) - 1) value = pf_identity();
#pragma unroll
    for (int reach = 1; reach < 32; reach *= 2) {
      const PF_T further = __shfl_down_sync(0xffffffffu, value, reach);
      if (lane + reach < 32) value = pf_combine(further, value);
    }
    before = pf_combine(__shfl_sync(0xffffffffu, value, 0), before);
    if (all_known) break;
  }
  return before;
}

extern "C" __global__ __launch_bounds__(256, 5) void pf_scan(PF_BUFFER(PF_T, out), pf_u64 *state, pf_u32 epoch, int exclusive PF_PARAMS) {
  __shared__ PF_T tile[PF_PADDED];
  __shared__ PF_T totals[PF_WIDTH];
  __shared__ PF_T start;
  const pf_u32 lane = PF_LANE;
  const pf_index number = (pf_index)PF_GROUP, n = (pf_index)PF_LEN(out), base = number * PF_TILE;
  pf_load(tile, lane, base, n PF_ARGS);
  const PF_T before = pf_before(totals, lane, pf_own_total(tile, lane));
  if (lane < 32) {
    const PF_T total = totals[PF_WIDTH - 1];
    if (lane == 0) pf_tell(state, number, 2 * epoch + (number == 0 ? 1 : 0), total);
    const PF_T found = pf_look_back(state, number, 2 * epoch, lane);
    if (lane == 0) {
      if (number > 0) pf_tell(state, number, 2 * epoch + 1, pf_combine(found, total));
      start = found;
    }
  }
  __syncthreads();
  pf_run(tile, lane, pf_combine(start, before), exclusive);
  PF_STORE_TILE(out, base, n, tile, lane)
}
