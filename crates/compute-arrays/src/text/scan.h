/* What a group of work items does with one value of each. */
#define PF_WIDTH 256
#ifndef __OPENCL_VERSION__
#define PF_LOCAL_OF(T) T
#else
#define PF_LOCAL_OF(T) __local T
#endif

/* What comes before this lane in the group; totals[255] is the group's. */
static PF_T pf_before(PF_LOCAL_OF(PF_T) * totals, const pf_u32 lane, const PF_T mine) {
#ifdef __OPENCL_VERSION__
  totals[lane] = mine;
  PF_BARRIER;
  for (pf_u32 reach = 1; reach < PF_WIDTH; reach *= 2) {
    PF_T v = totals[lane];
    if (lane >= reach) v = pf_combine(totals[lane - reach], v);
    PF_BARRIER;
    totals[lane] = v;
    PF_BARRIER;
  }
  return lane > 0 ? totals[lane - 1] : pf_identity();
#else
  __shared__ PF_T warps[PF_WIDTH / 32];
  PF_T v = mine;
#pragma unroll
  for (int reach = 1; reach < 32; reach *= 2) {
    const PF_T left = __shfl_up_sync(0xffffffffu, v, reach);
    if (lane % 32 >= reach) v = pf_combine(left, v);
  }
  PF_T before = __shfl_up_sync(0xffffffffu, v, 1);
  if (lane % 32 == 0) before = pf_identity();
  if (lane % 32 == 31) warps[lane / 32] = v;
  __syncthreads();
  PF_T front = pf_identity();
#pragma unroll
  for (int w = 0; w < PF_WIDTH / 32; ++w) {
    if (w < lane / 32) front = w ? pf_combine(front, warps[w]) : warps[0];
  }
  if (lane == PF_WIDTH - 1) totals[lane] = pf_combine(front, v);
  __syncthreads();
  return lane >= 32 ? pf_combine(front, before) : before;
#endif
}
