// 64 bits are a low word and a high one. WGSL's own fma may round twice.
fn pf_shift_left(a: vec2<u32>, by: u32) -> vec2<u32> {
  if (by == 0u) { return a; }
  if (by >= 32u) { return vec2<u32>(0u, a.x << (by & 31u)); }
  return vec2<u32>(a.x << by, a.y << by | a.x >> (32u - by));
}
// What is shifted out leaves the last bit set.
fn pf_shift_right(a: vec2<u32>, by: u32) -> vec2<u32> {
  if (by == 0u) { return a; }
  if (by >= 64u) { return vec2<u32>(select(0u, 1u, (a.x | a.y) != 0u), 0u); }
  if (by >= 32u) {
    let rest = by & 31u;
    let lost = (a.x | (a.y & ((1u << rest) - 1u))) != 0u;
    return vec2<u32>((a.y >> rest) | select(0u, 1u, lost), 0u);
  }
  let lost = (a.x & ((1u << by) - 1u)) != 0u;
  return vec2<u32>(a.x >> by | a.y << (32u - by) | select(0u, 1u, lost), a.y >> by);
}
fn pf_fma(a: f32, b: f32, c: f32) -> f32 {
  let of_a = bitcast<u32>(a) & 0x7fffffffu;
  let of_b = bitcast<u32>(b) & 0x7fffffffu;
  let of_c = bitcast<u32>(c) & 0x7fffffffu;
  if (of_a >= 0x7f800000u || of_b >= 0x7f800000u) { return pf_exact(a * b) + c; }
  if (of_c >= 0x7f800000u) { return c; }
  if (of_a == 0u || of_b == 0u) { return pf_exact(a * b) + c; }
  if (of_c == 0u) { return a * b; }
  let pa = pf_parts(a);
  let pb = pf_parts(b);
  let pc = pf_parts(c);
  let sign = (bitcast<u32>(a) ^ bitcast<u32>(b)) & 0x80000000u;
  let sign_c = bitcast<u32>(c) & 0x80000000u;
  // Both with their first bit at 62, which has the weight 2^exponent.
  var product = pf_shift_left(pf_wide(pa.mantissa, pb.mantissa), 15u);
  var exponent = pa.exponent + pb.exponent + 1;
  if ((product.y & 0x40000000u) == 0u) {
    product = pf_shift_left(product, 1u);
    exponent -= 1;
  }
  var big = product;
  var big_exponent = exponent;
  var big_sign = sign;
  var small = vec2<u32>(0u, pc.mantissa << 7u);
  var small_exponent = pc.exponent;
  var small_sign = sign_c;
  let swapped = small_exponent > big_exponent
    || (small_exponent == big_exponent && (small.y > big.y || (small.y == big.y && small.x > big.x)));
  if (swapped) {
    big = small;
    small = product;
    big_exponent = pc.exponent;
    small_exponent = exponent;
    big_sign = sign_c;
    small_sign = sign;
  }
  small = pf_shift_right(small, u32(min(big_exponent - small_exponent, 64)));
  var sum: vec2<u32>;
  if (big_sign == small_sign) {
    let low = big.x + small.x;
    sum = vec2<u32>(low, big.y + small.y + select(0u, 1u, low < big.x));
  } else {
    sum = vec2<u32>(big.x - small.x, big.y - small.y - select(0u, 1u, big.x < small.x));
    if ((sum.x | sum.y) == 0u) { return 0.0; }
  }
  let zeros = select(countLeadingZeros(sum.y), 32u + countLeadingZeros(sum.x), sum.y == 0u);
  sum = pf_shift_left(sum, zeros);
  let biased = big_exponent + 1 - i32(zeros) + 127;
  var field = 0u;
  if (biased <= 0) {
    sum = pf_shift_right(sum, u32(min(1 - biased, 64)));
  } else if (biased >= 255) {
    return pf_float(big_sign | 0x7f800000u);
  } else {
    field = u32(biased - 1) << 23u;
  }
  let kept = sum.y >> 8u;
  let rest = sum.y & 0xffu;
  let up = rest > 0x80u || (rest == 0x80u && (sum.x != 0u || (kept & 1u) == 1u));
  return pf_float(big_sign | (field + kept + select(0u, 1u, up)));
}
