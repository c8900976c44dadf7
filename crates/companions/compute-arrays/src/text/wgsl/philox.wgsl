// Philox4x32-10 (Salmon, Moraes, Dror and Shaw, "Parallel random numbers: as easy as 1, 2, 3", 2011). One work item makes one
// block: four elements. The arguments are key, stream and first block, each as its low word and its high one.
fn pf_cipher(block: u32) -> vec4<u32> {
  let low = pf_arg_u32(4u) + block;
  var w = vec4<u32>(low, pf_arg_u32(5u) + select(0u, 1u, low < block), pf_arg_u32(2u), pf_arg_u32(3u));
  var key = vec2<u32>(pf_arg_u32(0u), pf_arg_u32(1u));
  for (var round = 0u; round < 10u; round++) {
    let p = pf_wide(0xd2511f53u, w.x);
    let q = pf_wide(0xcd9e8d57u, w.z);
    w = vec4<u32>(q.y ^ w.y ^ key.x, q.x, p.y ^ w.w ^ key.y, p.x);
    key += vec2<u32>(0x9e3779b9u, 0xbb67ae85u);
  }
  return w;
}
@compute @workgroup_size(256)
fn pf_philox(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let block = pf_group(id) * 256u + lane;
  let v = pf_distribute(pf_cipher(block));
  for (var k = 0u; k < 4u; k++) {
    pf_put(4u * block + k, v[k]);
  }
}
