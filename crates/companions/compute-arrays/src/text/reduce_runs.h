/* For devices that are CPUs, which run a group's items one after the other: no barriers. Each work item takes a run of
   neighbours, in as many sums as there are lanes; compilers make vectors of the inner loops. */
#define PF_LANES 512
PF_KERNEL_8 void pf_reduce(PF_BUFFER(PF_ACC, out), pf_u64 len PF_PARAMS) {
  const pf_index runs = (pf_index)PF_LEN(out), n = (pf_index)len, number = PF_NUMBER;
  if (number >= runs) return;
  const pf_index run = ((n + runs - 1) / runs + PF_LANES - 1) / PF_LANES * PF_LANES;
  pf_index at = number * run;
  const pf_index end = at + run < n ? at + run : n;
  PF_ACC acc[PF_LANES];
  for (int k = 0; k < PF_LANES; ++k) acc[k] = pf_identity();
  for (; at + PF_LANES <= end; at += PF_LANES) {
    for (int k = 0; k < PF_LANES; ++k) acc[k] = pf_combine(acc[k], pf_value(at + k PF_ARGS));
  }
  for (int k = 0; k < end - at; ++k) acc[k] = pf_combine(acc[k], pf_value(at + k PF_ARGS));
  for (int reach = PF_LANES / 2; reach > 0; reach /= 2) {
    for (int k = 0; k < reach; ++k) acc[k] = pf_combine(acc[k], acc[k + reach]);
  }
  PF_ITEM(out, number) = acc[0];
}
