/* How often each word of a buffer is a value. Work items take values a launch's width apart. */
#ifdef __OPENCL_VERSION__
#define PF_COUNT(word) atomic_inc(&(word))
#else
#define PF_COUNT(word) atomicAdd(&(word), 1u)
#endif
PF_KERNEL void pf_histogram(PF_BUFFER(pf_u32, out), pf_u64 len PF_PARAMS) {
  const pf_index n = (pf_index)len, items = (pf_index)PF_GROUPS * (pf_index)PF_GROUP_SIZE;
  for (pf_index i = PF_NUMBER; i < n; i += items) PF_COUNT(PF_ITEM(out, PF_MAP(i)));
}
