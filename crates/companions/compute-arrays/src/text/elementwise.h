/* PF_PER_ITEM elements for each work item, a group's width apart. */
PF_KERNEL void pf_elementwise(PF_BUFFER(PF_T, out) PF_PARAMS) {
  const pf_index n = (pf_index)PF_LEN(out), width = (pf_index)PF_GROUP_SIZE;
  const pf_index base = (pf_index)PF_GROUP * PF_PER_ITEM * width, first = base + PF_LANE;
  if (base + PF_PER_ITEM * width <= n) {
    PF_T v[PF_PER_ITEM];
#pragma unroll
    for (int k = 0; k < PF_PER_ITEM; ++k) v[k] = PF_MAP(first + k * width);
#pragma unroll
    for (int k = 0; k < PF_PER_ITEM; ++k) PF_ITEM(out, first + k * width) = v[k];
  } else {
    for (int k = 0; k < PF_PER_ITEM; ++k) {
      const pf_index i = first + k * width;
      if (i < n) PF_ITEM(out, i) = PF_MAP(i);
    }
  }
}
