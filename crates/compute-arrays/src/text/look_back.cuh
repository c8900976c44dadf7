/* All in one pass (Merrill and Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016): a tile makes
   its total known, then adds up those of the tiles before until one knows its own start. Tiles are numbered in the order
   in which groups begin, so those before always run.

   `state`: word 0 counts tiles taken, ever. From word 16, for each tile, a tag and values: 2 * epoch where the tile's
   total is known, 2 * epoch + 1 where the total of all up to its end is. Tags of other scans are none. */

#ifdef PF_PACKED /* 4-byte values: tag and value in one word */

static void pf_tell(pf_u64 *state, const pf_index at, const pf_u32 tag, const PF_T value) {
  union { PF_T value; pf_u32 bits; } word;
  word.value = value;
  *(volatile pf_u64 *)(state + 16 + at) = (pf_u64)tag << 32 | word.bits;
}
static pf_u32 pf_ask(pf_u64 *state, const pf_index at, const pf_u32 total, PF_T *value) {
  const pf_u64 found = *(volatile pf_u64 *)(state + 16 + at);
  union { PF_T value; pf_u32 bits; } word;
  word.bits = (pf_u32)found;
  *value = word.value;
  return (pf_u32)(found >> 32);
}

#else /* 8-byte values: a tag, then two values that are there when the tag says so */

static void pf_tell(pf_u64 *state, const pf_index at, const pf_u32 tag, const PF_T value) {
  union { PF_T value; pf_u64 bits; } word;
  word.value = value;
  volatile pf_u64 *entry = state + 16 + 3 * at;
  entry[1 + (tag & 1)] = word.bits;
  __threadfence();
  entry[0] = tag;
}
static pf_u32 pf_ask(pf_u64 *state, const pf_index at, const pf_u32 total, PF_T *value) {
  volatile pf_u64 *entry = state + 16 + 3 * at;
  const pf_u32 tag = (pf_u32)entry[0];
  __threadfence();
  union { PF_T value; pf_u64 bits; } word;
  word.bits = entry[1 + (tag & 1)];
  *value = word.value;
  return tag;
}

#endif

/* What comes before `number`, by the first warp. */
static PF_T pf_look_back(pf_u64 *state, const pf_index number, const pf_u32 total, const pf_u32 lane) {
  PF_T before = pf_identity();
  for (pf_index end = number; end > 0; end -= 32) {
    const pf_index at = end - 1 - (pf_index)lane;
    PF_T value = pf_identity();
    pf_u32 tag = total + 1;
    if (at >= 0) {
      tag = pf_ask(state, at, total, &value);
      while (tag != total && tag != total + 1) {
        PF_REST;
        tag = pf_ask(state, at, total, &value);
      }
    }
    const unsigned known = __ballot_sync(0xffffffffu, tag == total + 1);
    /* The nearest tile that knows all before it; what lies further does not count. */
    const int nearest = known ? __ffs(known) - 1 : 31;
    if ((int)lane > nearest || at < 0) value = pf_identity();
#pragma unroll
    for (int reach = 1; reach < 32; reach *= 2) {
      const PF_T further = __shfl_down_sync(0xffffffffu, value, reach);
      if (lane + reach < 32) value = pf_combine(further, value);
    }
    before = pf_combine(__shfl_sync(0xffffffffu, value, 0), before);
    if (known) break;
  }
  return before;
}

PF_KERNEL_256 void pf_scan(PF_BUFFER(PF_T, out), pf_u64 *state, pf_u32 taken, pf_u32 epoch, int exclusive PF_PARAMS) {
  __shared__ PF_T tile[PF_PADDED];
  __shared__ PF_T totals[PF_WIDTH];
  __shared__ pf_u32 mine;
  __shared__ PF_T start;
  const pf_u32 lane = PF_LANE;
  if (lane == 0) mine = atomicAdd((unsigned int *)state, 1u) - taken;
  __syncthreads();
  const pf_index number = (pf_index)mine, n = (pf_index)PF_LEN(out), base = number * PF_TILE;
  PF_T v[PF_ITEMS];
  pf_load(tile, lane, base, n, v PF_ARGS);
  const PF_T before = pf_before(totals, lane, pf_own_total(v));
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
  pf_run(tile, lane, pf_combine(start, before), exclusive, v);
  PF_STORE_TILE(out, base, n, tile, lane)
}
