alias PfAcc = PfT;
fn pf_leave(at: u32, value: PfAcc) {
  pf_put(at, pf_bits(value));
}
