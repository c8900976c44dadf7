/* All in one pass over memory. Each group takes a tile, adds it up, and waits for what comes before (after Merrill and
   Garland, "Single-pass Parallel Prefix Scan with Decoupled Look-back", 2016). Groups begin in the order of their numbers,
   and those that began go on while others wait: so it is on NVIDIA's GPUs, in CUDA and OpenCL alike, and CUB's scan depends
   on it too.

   Unlike there, who waits for what is fixed, so that floats are added in the same order in every run: tiles are counted off
   in blocks of PF_WIDTH, and a tile waits for the totals of those before it in its block and for that of everything before
   the block.

   What limits the speed is the memory that is on its way while groups wait. So tiles are large, half of one in registers
   and half in shared memory. */
#define PF_WIDTH 256
#define PF_WARPS (PF_WIDTH / 32)
/* A lane has 16 bytes of each row of a warp. */
#define PF_NEAR (16 / (int)sizeof(PF_T))
#define PF_ROW (32 * PF_NEAR)
#define PF_TILE (2 * PF_HALF * PF_ROW * PF_WARPS)

typedef struct PF_ALIGNED pf_near { PF_T v[PF_NEAR]; } pf_near;

/* Values are told in words of 32 bits, each with a tag beside it. The two are written and read as one, so no order among
   the words matters: a value is there when the tags are. Tags of other scans are other numbers. */
static void pf_tell(PF_GLOBAL pf_u64 *state, const pf_index at, const pf_u32 tag, const PF_T value) {
  const pf_u64 words = PF_WORD_OF(value);
#pragma unroll
  for (int k = 0; k < PF_WORDS; ++k)
    ((PF_GLOBAL volatile pf_u64 *)state)[at * PF_WORDS + k] = (pf_u64)tag << 32 | (pf_u32)(words >> (32 * k));
}

static PF_T pf_await(PF_GLOBAL const pf_u64 *state, const pf_index at, const pf_u32 tag) {
  pf_u64 words;
  int there;
  do {
    words = 0;
    there = 1;
#pragma unroll
    for (int k = 0; k < PF_WORDS; ++k) {
      const pf_u64 word = ((PF_GLOBAL const volatile pf_u64 *)state)[at * PF_WORDS + k];
      words |= (pf_u64)(pf_u32)word << (32 * k);
      there = there && (pf_u32)(word >> 32) == tag;
    }
  } while (!there);
  return PF_OF_WORD(words);
}

/* Where groups exchange what they have. */
typedef struct pf_shared {
  PF_T warps[PF_WARPS], parts[PF_WARPS], spare[PF_SPARE];
} pf_shared;

/* What comes before tile `number`, for all lanes. In `state` each block has what comes before it, then its tiles' totals:
   a lane for each. */
static PF_T pf_before(PF_LOCAL_OF(pf_shared) * shared, PF_GLOBAL pf_u64 *state, const pf_index number, const pf_u32 tag,
                      const pf_u32 lane, const PF_T total) {
  const pf_u32 in_block = (pf_u32)(number % PF_WIDTH);
  const int last = in_block == PF_WIDTH - 1;
  if (lane == 0 && !last) pf_tell(state, number + 1, tag, total);
  PF_T v = pf_identity();
  if (lane <= in_block && (lane > 0 || number >= PF_WIDTH)) v = pf_await(state, number - in_block + lane, tag);
  PF_WARP_BARRIER;
#pragma unroll
  for (int reach = 1; reach < 32; reach *= 2) {
    const PF_T right = pf_from_right(shared->spare, lane, v, reach);
    if (lane % 32 + reach < 32) v = pf_combine(v, right);
  }
  if (lane % 32 == 0) shared->parts[lane / 32] = v;
  PF_BARRIER;
  v = shared->parts[0];
#pragma unroll
  for (int w = 1; w < PF_WARPS; ++w) v = pf_combine(v, shared->parts[w]);
  if (lane == 0 && last) pf_tell(state, number + 1, tag, pf_combine(v, total));
  return v;
}

/* Values become running ones of the warp; `running` is those before, then with this row. */
static void pf_scan_row(PF_LOCAL_OF(pf_shared) * shared, pf_near *row, PF_T *running, const pf_u32 lane, const int exclusive) {
#pragma unroll
  for (int k = 1; k < PF_NEAR; ++k) row->v[k] = pf_combine(row->v[k - 1], row->v[k]);
  PF_T all = row->v[PF_NEAR - 1];
#pragma unroll
  for (int reach = 1; reach < 32; reach *= 2) {
    const PF_T left = pf_from_left(shared->spare, lane, all, reach);
    if (lane % 32 >= reach) all = pf_combine(left, all);
  }
  PF_T before = pf_from_left(shared->spare, lane, all, 1);
  before = lane % 32 > 0 ? pf_combine(*running, before) : *running;
#pragma unroll
  for (int k = PF_NEAR - 1; k > 0; --k) row->v[k] = pf_combine(before, exclusive ? row->v[k - 1] : row->v[k]);
  row->v[0] = exclusive ? before : pf_combine(before, row->v[0]);
  *running = pf_combine(*running, pf_from_lane(shared->spare, lane, all, 31));
}

static void pf_store_row(PF_GLOBAL PF_T *to, const pf_near row, const PF_T front, const pf_index left) {
  pf_near value;
#pragma unroll
  for (int k = 0; k < PF_NEAR; ++k) value.v[k] = pf_combine(front, row.v[k]);
  if (left >= PF_NEAR) {
    /* Arrays begin at multiples of 16 bytes. */
    *(PF_GLOBAL pf_near *)to = value;
  } else {
#pragma unroll
    for (int k = 0; k < PF_NEAR; ++k)
      if (k < left) to[k] = value.v[k];
  }
}

PF_KERNEL_256_BY_4 void pf_scan(PF_BUFFER(PF_T, out), PF_GLOBAL pf_u64 *state, pf_u32 tag, int exclusive PF_PARAMS) {
  PF_LOCAL pf_near held[PF_HALF][PF_WIDTH];
  PF_LOCAL pf_shared shared;
  const pf_u32 lane = PF_LANE, warp = lane / 32;
  const pf_index number = (pf_index)PF_GROUP, n = (pf_index)PF_LEN(out);
  const pf_index first = number * PF_TILE + (pf_index)(warp * (2 * PF_HALF * PF_ROW) + lane % 32 * PF_NEAR);
  const int whole = (number + 1) * PF_TILE <= n;
  pf_near rows[PF_HALF];
  PF_T running = pf_identity();
#pragma unroll 1
  for (int part = 0; part < 2; ++part) {
    const pf_index at = first + part * (PF_HALF * PF_ROW);
    if (whole) {
#pragma unroll
      for (int k = 0; k < PF_HALF; ++k) {
#pragma unroll
        for (int j = 0; j < PF_NEAR; ++j) rows[k].v[j] = pf_map(at + k * PF_ROW + j PF_ARGS);
      }
    } else {
      /* The last tile, by a short text: on the way each lane's values are in its own elements of `out`. */
#pragma unroll 1
      for (int k = 0; k < PF_HALF * PF_NEAR; ++k) {
        const pf_index i = at + k / PF_NEAR * PF_ROW + k % PF_NEAR;
        if (i < n) PF_ITEM(out, i) = pf_map(i PF_ARGS);
      }
#pragma unroll
      for (int k = 0; k < PF_HALF * PF_NEAR; ++k) {
        const pf_index i = at + k / PF_NEAR * PF_ROW + k % PF_NEAR;
        rows[k / PF_NEAR].v[k % PF_NEAR] = i < n ? PF_ITEM(out, i) : pf_identity();
      }
    }
#pragma unroll
    for (int k = 0; k < PF_HALF; ++k) {
      pf_scan_row(&shared, &rows[k], &running, lane, exclusive);
      if (part == 0) held[k][lane] = rows[k];
    }
  }
  if (lane % 32 == 0) shared.warps[warp] = running;
  PF_BARRIER;
  PF_T front = pf_identity(), total = pf_identity();
#pragma unroll
  for (int w = 0; w < PF_WARPS; ++w) {
    if (w == warp) front = total;
    total = pf_combine(total, shared.warps[w]);
  }
  front = pf_combine(pf_before(&shared, state, number, tag, lane, total), front);
#pragma unroll
  for (int k = 0; k < PF_HALF; ++k) {
    const pf_index at = first + k * PF_ROW;
    pf_store_row(&PF_ITEM(out, at), held[k][lane], front, n - at);
  }
#pragma unroll
  for (int k = 0; k < PF_HALF; ++k) {
    const pf_index at = first + (PF_HALF + k) * PF_ROW;
    pf_store_row(&PF_ITEM(out, at), rows[k], front, n - at);
  }
}
