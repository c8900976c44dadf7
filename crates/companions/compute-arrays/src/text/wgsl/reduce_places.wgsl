// A value's bits, and where it is. Nothing has the place of all ones, and a NaN loses against a number.
alias PfAcc = vec2<u32>;
fn pf_identity() -> PfAcc {
  return vec2<u32>(0u, 0xffffffffu);
}
fn pf_combine(a: PfAcc, b: PfAcc) -> PfAcc {
  if (b.y == 0xffffffffu) { return a; }
  if (a.y == 0xffffffffu) { return b; }
  let v = pf_of_bits(a.x);
  let w = pf_of_bits(b.x);
  if (pf_same(v, w)) { return select(a, b, b.y < a.y); }
  return select(a, b, pf_better(w, v));
}
// As the host reads it: two numbers of 64 bits.
fn pf_leave(at: u32, value: PfAcc) {
  pf_put(4u * at, value.x);
  pf_put(4u * at + 1u, 0u);
  pf_put(4u * at + 2u, value.y);
  pf_put(4u * at + 3u, 0u);
}
