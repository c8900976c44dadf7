// Each group leaves one value. Values are combined in an order that depends on their number only, and is that of the C texts.
var<workgroup> pf_shared: array<PfAcc, 256>;
@compute @workgroup_size(256)
fn pf_reduce(@builtin(workgroup_id) id: vec3<u32>, @builtin(local_invocation_index) lane: u32) {
  let n = pf_arg_u32(0u);
  let group = pf_group(id);
  let tile = 256u * PF_UNROLL;
  let stride = pf_items() / 256u * tile;
  var a = pf_identity();
  var b = pf_identity();
  var c = pf_identity();
  var d = pf_identity();
  var base = group * tile;
  for (; base + tile <= n; base += stride) {
    for (var k = 0u; k < PF_UNROLL; k += 4u) {
      let i = base + lane + k * 256u;
      a = pf_combine(a, pf_value(i));
      b = pf_combine(b, pf_value(i + 256u));
      c = pf_combine(c, pf_value(i + 512u));
      d = pf_combine(d, pf_value(i + 768u));
    }
  }
  for (var i = base + lane; i < min(n, base + tile); i += 256u) {
    a = pf_combine(a, pf_value(i));
  }
  pf_shared[lane] = pf_combine(pf_combine(a, b), pf_combine(c, d));
  workgroupBarrier();
  for (var reach = 128u; reach > 0u; reach >>= 1u) {
    if (lane < reach) {
      pf_shared[lane] = pf_combine(pf_shared[lane], pf_shared[lane + reach]);
    }
    workgroupBarrier();
  }
  if (lane == 0u) {
    pf_leave(group, pf_shared[0]);
  }
}
