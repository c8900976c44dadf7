// A positive number as 2^exponent and the rest, from 1 to 2.
struct PfParts {
  mantissa: u32,
  exponent: i32,
}
// The mantissa has 24 bits, the first of them set.
fn pf_parts(x: f32) -> PfParts {
  let bits = bitcast<u32>(x) & 0x7fffffffu;
  if (bits < 0x00800000u) {
    let shift = countLeadingZeros(bits) - 8u;
    return PfParts(bits << (shift & 31u), -126 - i32(shift));
  }
  return PfParts((bits & 0x007fffffu) | 0x00800000u, i32(bits >> 23u) - 127);
}
