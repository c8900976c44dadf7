// 2 / pi, 32 bits at a time, with zeros before.
fn pf_two_over_pi(word: u32) -> u32 {
  switch word {
    case 0u: { return 0u; }
    case 1u: { return 0xa2f9836eu; }
    case 2u: { return 0x4e441529u; }
    case 3u: { return 0xfc2757d1u; }
    case 4u: { return 0xf534ddc0u; }
    case 5u: { return 0xdb629599u; }
    case 6u: { return 0x3c439041u; }
    case 7u: { return 0xfe5163abu; }
    default: { return 0xdebbc561u; }
  }
}
fn pf_window(word: u32, shift: u32) -> u32 {
  let first = pf_two_over_pi(word) << shift;
  return select(first, first | pf_two_over_pi(word + 1u) >> ((32u - shift) & 31u), shift > 0u);
}
// Exact for every angle (Payne and Hanek, 1983): the product with those 96 bits of 2 / pi that do not make whole turns.
fn pf_turn(x: f32) -> PfTurn {
  let size = abs(x);
  if (size <= 0.785398) { return PfTurn(0u, x); }
  let parts = pf_parts(x);
  // Bit 0 of the window has the weight of half a turn: 2, of quarters.
  let first = u32(parts.exponent - 23 + 30);
  let word = first >> 5u;
  let shift = first & 31u;
  let low = pf_wide(parts.mantissa, pf_window(word + 2u, shift));
  let middle = pf_wide(parts.mantissa, pf_window(word + 1u, shift));
  let high = parts.mantissa * pf_window(word, shift);
  let second = middle.x + low.y;
  let top = high + middle.y + select(0u, 1u, second < middle.x);
  var quarter = top >> 30u;
  // The part of a quarter, of 62 bits; above a half it counts down from the next.
  var part = vec2<u32>(second << 2u | low.x >> 30u, top << 2u | second >> 30u);
  let down = (part.y & 0x80000000u) != 0u;
  if (down) {
    quarter += 1u;
    part = vec2<u32>(0u - part.x, ~part.y + select(0u, 1u, part.x == 0u));
  }
  let zeros = min(select(countLeadingZeros(part.y), 32u + countLeadingZeros(part.x), part.y == 0u), 63u);
  var mantissa = part.y << (zeros & 31u);
  if (zeros >= 32u) {
    mantissa = part.x << (zeros & 31u);
  } else if (zeros > 0u) {
    mantissa |= part.x >> (32u - zeros);
  }
  // 24 bits and 8 more, so that nothing is rounded before the product.
  let head = f32(mantissa >> 8u) * pf_power_of_two(-24 - i32(zeros));
  let tail = f32(mantissa & 0xffu) * pf_power_of_two(-32 - i32(zeros));
  var angle = head * 1.57079637 + pf_exact(tail * 1.57079637 - head * 4.37113883e-8);
  angle = select(angle, -angle, down);
  if (x < 0.0) {
    return PfTurn(0u - quarter, -angle);
  }
  return PfTurn(quarter, angle);
}
fn pf_sin(x: f32) -> f32 {
  if ((bitcast<u32>(x) & 0x7fffffffu) >= 0x7f800000u) { return pf_float(0x7fc00000u); }
  return pf_sin_of(pf_turn(x));
}
fn pf_cos(x: f32) -> f32 {
  if ((bitcast<u32>(x) & 0x7fffffffu) >= 0x7f800000u) { return pf_float(0x7fc00000u); }
  return pf_cos_of(pf_turn(x));
}
fn pf_tan(x: f32) -> f32 {
  if ((bitcast<u32>(x) & 0x7fffffffu) >= 0x7f800000u) { return pf_float(0x7fc00000u); }
  let turn = pf_turn(x);
  let z = turn.angle * turn.angle;
  var y = 9.38540185543e-3;
  y = y * z + 3.11992232697e-3;
  y = y * z + 2.44301354525e-2;
  y = y * z + 5.34112807005e-2;
  y = y * z + 1.33387994085e-1;
  y = y * z + 3.33331568548e-1;
  y = y * z * turn.angle + turn.angle;
  if ((turn.quarter & 1u) == 1u) { return -1.0 / y; }
  return y;
}
