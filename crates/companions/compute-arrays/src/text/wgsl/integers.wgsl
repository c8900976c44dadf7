fn pf_div_i32(a: i32, b: i32) -> i32 {
  if (b == 0) { return 0; }
  if (b == -1) { return 0 - a; }
  return a / b;
}
fn pf_rem_i32(a: i32, b: i32) -> i32 {
  if (b == 0) { return 0; }
  // Without signs: drivers fail at the smallest number.
  let rest = bitcast<i32>(bitcast<u32>(abs(a)) % bitcast<u32>(abs(b)));
  return select(rest, 0 - rest, a < 0);
}
fn pf_div_u32(a: u32, b: u32) -> u32 {
  if (b == 0u) { return 0u; }
  return a / b;
}
fn pf_rem_u32(a: u32, b: u32) -> u32 {
  if (b == 0u) { return 0u; }
  return a % b;
}
