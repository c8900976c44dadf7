// The product of two numbers less what is rounded off it (Dekker, 1971).
fn pf_rounded_off(a: f32, b: f32, product: f32) -> f32 {
  let ah = bitcast<f32>(bitcast<u32>(a) & 0xfffff000u);
  let bh = bitcast<f32>(bitcast<u32>(b) & 0xfffff000u);
  let al = pf_exact(a - ah);
  let bl = pf_exact(b - bh);
  let first = pf_exact(pf_exact(ah * bh) - product);
  let second = pf_exact(first + pf_exact(ah * bl));
  return pf_exact(second + pf_exact(al * bh)) + al * bl;
}
// Of a positive number: its logarithm to 30 bits, as a number and what is missing, times `y`, as exponent.
fn pf_pow_of(x: f32, y: f32) -> f32 {
  let parts = pf_parts(x);
  var m = bitcast<f32>((parts.mantissa & 0x007fffffu) | 0x3f800000u);
  var e = f32(parts.exponent);
  if (m > 1.41421356) {
    m *= 0.5;
    e += 1.0;
  }
  // s = (m - 1) / (m + 1), and ln(m) = 2 s + 2/3 s^3 + ...
  let over = m - 1.0;
  let under = pf_exact(m + 1.0);
  let under_rest = m - pf_exact(under - 1.0);
  let s = pf_exact(over / under);
  let product = pf_exact(s * under);
  let left = pf_exact(pf_exact(over - product) - pf_rounded_off(s, under, product));
  let s_rest = pf_exact(left - s * under_rest) / under;
  let z = s * s;
  let tail = (((2.2222222e-1 * z + 2.85714286e-1) * z + 4.0e-1) * z + 6.6666667e-1) * z * s;
  let a = e * 0.693359375;
  let b = 2.0 * s;
  let sum = pf_exact(a + b);
  let of_b = pf_exact(sum - a);
  let missing = pf_exact(pf_exact(a - pf_exact(sum - of_b)) + pf_exact(b - of_b));
  let rest = missing + (2.0 * s_rest + (tail - 2.12194440e-4 * e));
  let limited = clamp(y, -1.0e30, 1.0e30);
  let exponent = pf_exact(limited * sum);
  if (exponent > 120.0) { return pf_float(0x7f800000u); }
  if (exponent < -120.0) { return 0.0; }
  let missed = pf_rounded_off(limited, sum, exponent) + limited * rest;
  let whole = pf_exact(exponent + missed);
  let value = pf_exp(whole);
  if (value == 0.0 || bitcast<u32>(value) == 0x7f800000u) { return value; }
  return value + value * (pf_exact(exponent - whole) + missed);
}
// As C's pow for special cases.
fn pf_pow(x: f32, y: f32) -> f32 {
  let of_x = bitcast<u32>(x) & 0x7fffffffu;
  let of_y = bitcast<u32>(y) & 0x7fffffffu;
  if (of_y == 0u || bitcast<u32>(x) == 0x3f800000u) { return 1.0; }
  if (of_x > 0x7f800000u || of_y > 0x7f800000u) { return pf_float(0x7fc00000u); }
  let up = bitcast<u32>(y) < 0x80000000u;
  if (of_y == 0x7f800000u) {
    if (of_x == 0x3f800000u) { return 1.0; }
    return pf_float(select(0u, 0x7f800000u, (of_x > 0x3f800000u) == up));
  }
  // Above 2^24 all are whole and even.
  let whole = abs(y) >= 16777216.0 || trunc(y) == y;
  let odd = whole && abs(y) < 16777216.0 && (i32(y) & 1) != 0;
  let sign = select(0u, 0x80000000u, odd && bitcast<u32>(x) >= 0x80000000u);
  if (of_x == 0u || of_x == 0x7f800000u) {
    return pf_float(sign | select(0u, 0x7f800000u, (of_x != 0u) == up));
  }
  if (bitcast<u32>(x) >= 0x80000000u && !whole) { return pf_float(0x7fc00000u); }
  let value = pf_pow_of(bitcast<f32>(of_x), y);
  return bitcast<f32>(bitcast<u32>(value) | sign);
}
