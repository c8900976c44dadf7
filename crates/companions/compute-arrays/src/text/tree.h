/* Values are combined in an order that depends on their number only. */
#define PF_WIDTH 256

/* The group's values as one, for lane 0. */
static PF_ACC pf_tree(PF_LOCAL_OF(PF_ACC) * shared, const pf_u32 lane, const PF_ACC mine) {
  shared[lane] = mine;
  PF_BARRIER;
  for (pf_u32 reach = PF_WIDTH / 2; reach > 0; reach /= 2) {
    if (lane < reach) shared[lane] = pf_combine(shared[lane], shared[lane + reach]);
    PF_BARRIER;
  }
  return shared[0];
}
