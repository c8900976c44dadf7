/* Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011). One work item
   makes one block of 128 bits: four elements of 32 bits, or two of 64. */
#if !defined(__OPENCL_VERSION__)
#define PF_HIGH(a, b) __umulhi(a, b)
#elif defined(__NV_CL_C_VERSION)
#define PF_HIGH(a, b) mul_hi((uint)(a), (uint)(b))
#else
#define PF_HIGH(a, b) ((pf_u32)((pf_u64)(a) * (pf_u64)(b) >> 32))
#endif
#if !defined(__OPENCL_VERSION__) || defined(__NV_CL_C_VERSION)
/* Arrays begin at multiples of 16 bytes. */
#define PF_STORE_ALL(to, v) (*(PF_GLOBAL uint4 *)(to) = *(const uint4 *)(v))
#else
#define PF_STORE_ALL(to, v) \
  for (int k = 0; k < PF_LANES; ++k) (to)[k] = (v)[k]
#endif

PF_KERNEL void pf_philox(PF_BUFFER(PF_T, out), pf_u64 key, pf_u64 stream, pf_u64 first) {
  const pf_index n = (pf_index)PF_LEN(out), block = PF_NUMBER, at = block * PF_LANES;
  const pf_u64 number = first + (pf_u64)block;
  pf_u32 w0 = (pf_u32)number, w1 = (pf_u32)(number >> 32), w2 = (pf_u32)stream, w3 = (pf_u32)(stream >> 32);
  pf_u32 k0 = (pf_u32)key, k1 = (pf_u32)(key >> 32);
#pragma unroll
  for (int round = 0; round < 10; ++round) {
    const pf_u32 h0 = PF_HIGH(0xd2511f53u, w0), l0 = 0xd2511f53u * w0;
    const pf_u32 h1 = PF_HIGH(0xcd9e8d57u, w2), l1 = 0xcd9e8d57u * w2;
    w0 = h1 ^ w1 ^ k0;
    w1 = l1;
    w2 = h0 ^ w3 ^ k1;
    w3 = l0;
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  PF_ALIGNED PF_T v[PF_LANES];
#if PF_LANES == 4
  const pf_u32 w[4] = {w0, w1, w2, w3};
#else
  const pf_u64 w[2] = {w0 | (pf_u64)w1 << 32, w2 | (pf_u64)w3 << 32};
#endif
  PF_DISTRIBUTE
  /* The same for the whole group, so that compilers for CPUs make vectors of its items. */
  if (((pf_index)PF_GROUP + 1) * (pf_index)PF_GROUP_SIZE * PF_LANES <= n) {
    PF_STORE_ALL(&PF_ITEM(out, at), v);
  } else {
    for (int k = 0; k < PF_LANES; ++k)
      if (at + k < n) PF_ITEM(out, at + k) = v[k];
  }
}
