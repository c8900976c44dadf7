// Polynomials here and below are those of Cephes (Moshier, 1989).
fn pf_power_of_two(n: i32) -> f32 {
  return bitcast<f32>(u32(n + 127) << 23u);
}
fn pf_exp(x: f32) -> f32 {
  if (pf_is_nan(x)) { return x; }
  if (x > 88.8) { return pf_float(0x7f800000u); }
  if (x < -104.0) { return 0.0; }
  let n = round(x * 1.44269504);
  let r = pf_exact(x - pf_exact(n * 0.693359375)) + n * 2.12194440e-4;
  var y = 1.9875691500e-4;
  y = y * r + 1.3981999507e-3;
  y = y * r + 8.3334519073e-3;
  y = y * r + 4.1665795894e-2;
  y = y * r + 1.6666665459e-1;
  y = y * r + 5.0000001201e-1;
  y = y * r * r + r + 1.0;
  // In two steps, as the whole power may be no number of its own.
  let half = i32(n) >> 1u;
  return y * pf_power_of_two(half) * pf_power_of_two(i32(n) - half);
}
