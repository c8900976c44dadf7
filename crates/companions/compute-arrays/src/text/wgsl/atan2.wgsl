fn pf_atan2(y: f32, x: f32) -> f32 {
  if (pf_is_nan(x) || pf_is_nan(y)) { return pf_float(0x7fc00000u); }
  let of_x = bitcast<u32>(x) & 0x7fffffffu;
  let of_y = bitcast<u32>(y) & 0x7fffffffu;
  // Positive numbers are ordered as their bits are. Halves, so that their sum is a number.
  let least = bitcast<f32>(min(of_x, of_y)) * 0.5;
  let most = bitcast<f32>(max(of_x, of_y)) * 0.5;
  var ratio = 0.0;
  var before = 0.0;
  if (of_x == of_y) {
    before = select(0.785398163, 0.0, of_x == 0u);
  } else if (max(of_x, of_y) < 0x7f800000u) {
    ratio = pf_div_f32(least, most);
    if (ratio > 0.414213562) {
      ratio = pf_div_f32(least - most, least + most);
      before = 0.785398163;
    }
  }
  let z = ratio * ratio;
  let near = (((8.05374449538e-2 * z - 1.38776856032e-1) * z + 1.99777106478e-1) * z - 3.33329491539e-1) * z * ratio + ratio;
  var angle = before + near;
  if (of_y > of_x) { angle = 1.57079637 - (angle + 4.37113883e-8); }
  if (bitcast<u32>(x) >= 0x80000000u) { angle = 3.14159274 - (angle + 8.74227766e-8); }
  return select(angle, -angle, bitcast<u32>(y) >= 0x80000000u);
}
