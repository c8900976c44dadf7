fn pf_ln(x: f32) -> f32 {
  let bits = bitcast<u32>(x);
  if ((bits & 0x7fffffffu) == 0u) { return pf_float(0xff800000u); }
  if (bits > 0x7f800000u) { return pf_float(0x7fc00000u); }
  if (bits == 0x7f800000u) { return x; }
  let parts = pf_parts(x);
  var m = bitcast<f32>((parts.mantissa & 0x007fffffu) | 0x3f800000u);
  var e = f32(parts.exponent);
  if (m > 1.41421356) {
    m *= 0.5;
    e += 1.0;
  }
  let f = m - 1.0;
  let z = f * f;
  var y = 7.0376836292e-2;
  y = y * f - 1.1514610310e-1;
  y = y * f + 1.1676998740e-1;
  y = y * f - 1.2420140846e-1;
  y = y * f + 1.4249322787e-1;
  y = y * f - 1.6668057665e-1;
  y = y * f + 2.0000714765e-1;
  y = y * f - 2.4999993993e-1;
  y = y * f + 3.3333331174e-1;
  y = pf_exact(y * f * z) - 2.12194440e-4 * e;
  y = pf_exact(y - 0.5 * z);
  return pf_exact(f + y) + 0.693359375 * e;
}
