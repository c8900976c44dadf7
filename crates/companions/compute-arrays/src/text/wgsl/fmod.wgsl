// Exact: as by hand, a bit at a time.
fn pf_rem_f32(a: f32, b: f32) -> f32 {
  let of_a = bitcast<u32>(a) & 0x7fffffffu;
  let of_b = bitcast<u32>(b) & 0x7fffffffu;
  if (of_a >= 0x7f800000u || of_b == 0u || of_b > 0x7f800000u) { return pf_float(0x7fc00000u); }
  if (of_a < of_b) { return a; }
  let pa = pf_parts(a);
  let pb = pf_parts(b);
  var rest = pa.mantissa;
  for (var exponent = pa.exponent; exponent > pb.exponent; exponent--) {
    if (rest >= pb.mantissa) { rest -= pb.mantissa; }
    rest <<= 1u;
  }
  if (rest >= pb.mantissa) { rest -= pb.mantissa; }
  if (rest == 0u) { return 0.0; }
  let shift = countLeadingZeros(rest) - 8u;
  let biased = pb.exponent + 127 - i32(shift);
  var bits: u32;
  if (biased > 0) {
    bits = ((rest << shift) & 0x007fffffu) | u32(biased) << 23u;
  } else {
    bits = (rest << shift) >> u32(1 - biased);
  }
  return pf_float(bits | (bitcast<u32>(a) & 0x80000000u));
}
