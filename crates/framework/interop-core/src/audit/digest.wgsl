// `kernels/digest.cu` in WGSL.
@group(1) @binding(0) var<storage, read> digest_from: array<u32>;

@compute @workgroup_size(64)
fn pf_digest(@builtin(global_invocation_id) id: vec3<u32>) {
  let item = pf_index(id);
  if (item >= pf_words()) {
    return;
  }
  let first = pf_arg_u32(0);
  let pitch = pf_arg_u32(1);
  let row = pf_arg_u32(2);
  let payload = pf_arg_u32(4);
  let lanes = pf_arg_u32(6);
  let band = item / lanes;
  let top = band * pf_arg_u32(5);
  let bottom = min(top + pf_arg_u32(5), pf_arg_u32(3));
  var sum = 0u;
  for (var y = top; y < bottom; y++) {
    let len = min(payload - min(y * row, payload), row);
    for (var x = item - band * lanes; 4u * x < len; x += lanes) {
      let byte = first + y * pitch + 4u * x;
      let shift = byte % 4u * 8u;
      let left = len - 4u * x;
      var h = digest_from[byte / 4u] >> shift;
      if (shift != 0u && left * 8u > 32u - shift) {
        h |= digest_from[byte / 4u + 1u] << (32u - shift);
      }
      if (left < 4u) {
        h &= (1u << (left * 8u)) - 1u;
      }
      h = (h + x * 0x9E3779B1u) ^ (y * 0x85EBCA77u);
      h ^= h >> 15u;
      h *= 0x2C1B3C6Du;
      h ^= h >> 12u;
      h *= 0x297A2D39u;
      h ^= h >> 15u;
      sum += h;
    }
  }
  pf_put(item, sum);
}
