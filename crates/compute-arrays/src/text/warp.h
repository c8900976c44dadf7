/* Values that the lanes of a warp give each other. NVIDIA's OpenCL C and CUDA C++ both take PTX. Elsewhere local memory
   does it, for whole groups at a time: that is how the texts that use this are tested without a GPU. */
#define PF_WARPS (PF_WIDTH / 32)
#define PF_WORDS ((int)sizeof(PF_T) / 4)
#if !defined(__OPENCL_VERSION__) || defined(__NV_CL_C_VERSION)
#define PF_SPARE 1
#define PF_MOVE(name, instruction)                                                                    \
  static PF_T name(PF_LOCAL_OF(PF_T) * spare, const pf_u32 lane, const PF_T v, const int by) {         \
    const pf_u64 from = PF_WORD_OF(v);                                                                 \
    pf_u64 to = 0;                                                                                     \
    for (int k = 0; k < PF_WORDS; ++k) {                                                               \
      pf_u32 word;                                                                                     \
      asm volatile(instruction : "=r"(word) : "r"((pf_u32)(from >> (32 * k))), "r"(by));               \
      to |= (pf_u64)word << (32 * k);                                                                  \
    }                                                                                                  \
    return PF_OF_WORD(to);                                                                             \
  }
PF_MOVE(pf_from_left, "shfl.sync.up.b32 %0, %1, %2, 0, 0xffffffff;")
PF_MOVE(pf_from_right, "shfl.sync.down.b32 %0, %1, %2, 31, 0xffffffff;")
PF_MOVE(pf_from_lane, "shfl.sync.idx.b32 %0, %1, %2, 31, 0xffffffff;")
#define PF_WARP_BARRIER asm volatile("bar.warp.sync 0xffffffff;")
#else
#define PF_SPARE PF_WIDTH
#define PF_MOVE(name, there)                                                                          \
  static PF_T name(PF_LOCAL_OF(PF_T) * spare, const pf_u32 lane, const PF_T v, const int by) {         \
    spare[lane] = v;                                                                                   \
    PF_BARRIER;                                                                                        \
    const PF_T moved = spare[(there) < 32 ? lane / 32 * 32 + (there) : lane];                          \
    PF_BARRIER;                                                                                        \
    return moved;                                                                                      \
  }
PF_MOVE(pf_from_left, lane % 32 - (pf_u32)by)
PF_MOVE(pf_from_right, lane % 32 + (pf_u32)by)
PF_MOVE(pf_from_lane, (pf_u32)by)
#define PF_WARP_BARRIER
#endif
