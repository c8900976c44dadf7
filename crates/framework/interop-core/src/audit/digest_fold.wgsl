@group(1) @binding(0) var<storage, read> digest_lanes: array<u32>;

@compute @workgroup_size(64)
fn pf_digest_fold(@builtin(global_invocation_id) id: vec3<u32>) {
  let band = pf_index(id);
  if (band >= pf_words()) {
    return;
  }
  var sum = 0u;
  for (var lane = 0u; lane < pf_arg_u32(0); lane++) {
    sum += digest_lanes[band * pf_arg_u32(0) + lane];
  }
  pf_put(band, sum);
}
