fn pf_tanh(x: f32) -> f32 {
  if (pf_is_nan(x)) { return x; }
  let size = abs(x);
  if (size < 0.625) {
    let z = x * x;
    var y = -5.70498872745e-3;
    y = y * z + 2.06390887954e-2;
    y = y * z - 5.37397155531e-2;
    y = y * z + 1.33314422036e-1;
    y = y * z - 3.33332819422e-1;
    return y * z * x + x;
  }
  let value = 1.0 - 2.0 / (pf_exp(2.0 * min(size, 20.0)) + 1.0);
  return select(value, -value, x < 0.0);
}
