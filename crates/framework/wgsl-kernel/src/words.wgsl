// Words of a target that is a buffer.
fn pf_words() -> u32 {
  return pf_launch[0].y / 4u;
}
// A word of a target that is a buffer, as it was before or as this work item wrote it; 0 beyond its end.
fn pf_get(index: u32) -> u32 {
  if (index < pf_words()) {
    return pf_word(pf_launch[0].x / 4u + index);
  }
  return 0u;
}
fn pf_get_f32(index: u32) -> f32 {
  return bitcast<f32>(pf_get(index));
}
// Writes a word of a target that is a buffer; nothing beyond its end.
fn pf_put(index: u32, word: u32) {
  if (index < pf_words()) {
    pf_set(pf_launch[0].x / 4u + index, word);
  }
}
fn pf_put_f32(index: u32, value: f32) {
  pf_put(index, bitcast<u32>(value));
}
