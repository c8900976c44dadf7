// Sine and cosine of a part of a turn, and the turn's quarter.
struct PfTurn {
  quarter: u32,
  angle: f32,
}
fn pf_sin_near(x: f32) -> f32 {
  let z = x * x;
  return ((-1.9515295891e-4 * z + 8.3321608736e-3) * z - 1.6666654611e-1) * z * x + x;
}
fn pf_cos_near(x: f32) -> f32 {
  let z = x * x;
  return pf_exact(((2.443315711809948e-5 * z - 1.388731625493765e-3) * z + 4.166664568298827e-2) * z * z - 0.5 * z) + 1.0;
}
fn pf_sin_of(turn: PfTurn) -> f32 {
  let value = select(pf_sin_near(turn.angle), pf_cos_near(turn.angle), (turn.quarter & 1u) == 1u);
  return select(value, -value, (turn.quarter & 2u) == 2u);
}
fn pf_cos_of(turn: PfTurn) -> f32 {
  return pf_sin_of(PfTurn(turn.quarter + 1u, turn.angle));
}
