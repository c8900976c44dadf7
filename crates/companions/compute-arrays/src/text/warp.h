/* Values that the lanes of a warp give each other; all lanes of the group come here. NVIDIA's OpenCL C takes PTX for what it
   has no functions for. Elsewhere local memory does it: that is how the texts that use this are tested without a GPU. */
#define PF_WORDS ((int)sizeof(PF_T) / 4)
#ifndef __OPENCL_VERSION__
#define PF_SPARE 1
#define pf_from_left(spare, lane, v, by) __shfl_up_sync(0xffffffffu, v, by)
#define pf_from_right(spare, lane, v, by) __shfl_down_sync(0xffffffffu, v, by)
#define pf_from_lane(spare, lane, v, which) __shfl_sync(0xffffffffu, v, which)
#define PF_WARP_BARRIER __syncwarp()
#elif defined(__NV_CL_C_VERSION)
#define PF_SPARE 1
#define PF_MOVE(name, instruction)                                                              \
  static PF_T name(__local PF_T *spare, const pf_u32 lane, const PF_T v, const int by) {        \
    const pf_u64 from = PF_WORD_OF(v);                                                          \
    pf_u64 to = 0;                                                                              \
    for (int k = 0; k < PF_WORDS; ++k) {                                                        \
      pf_u32 word;                                                                              \
      asm volatile(instruction : "=r"(word) : "r"((pf_u32)(from >> (32 * k))), "r"(by));        \
      to |= (pf_u64)word << (32 * k);                                                           \
    }                                                                                           \
    return PF_OF_WORD(to);                                                                      \
  }
PF_MOVE(pf_from_left, "shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;")
PF_MOVE(pf_from_right, "shfl.sync.down.b32 %0, %1, %2, 31, 0xffffffff;")
PF_MOVE(pf_from_lane, "shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;")
#define PF_WARP_BARRIER asm volatile("bar.warp.sync 0xffffffff;")
#else
#define PF_SPARE PF_WIDTH
#define PF_MOVE(name, place)                                                                    \
  static PF_T name(__local PF_T *spare, const pf_u32 lane, const PF_T v, const pf_u32 by) {     \
    const pf_u32 from = (place);                                                                \
    spare[lane] = v;                                                                            \
    PF_BARRIER;                                                                                 \
    const PF_T moved = spare[from < 32 ? lane / 32 * 32 + from : lane];                         \
    PF_BARRIER;                                                                                 \
    return moved;                                                                               \
  }
PF_MOVE(pf_from_left, lane % 32 - by)
PF_MOVE(pf_from_right, lane % 32 + by)
PF_MOVE(pf_from_lane, by)
#define PF_WARP_BARRIER
#endif
