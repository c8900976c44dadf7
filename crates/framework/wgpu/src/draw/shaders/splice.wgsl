// Copies bytes to any place: a word of the target keeps the bytes that are not asked for.

struct Job {
  // First byte in `target`, first byte in `source`, number of bytes.
  to: u32,
  start: u32,
  count: u32,
  // Bytes of a row, and from row to row in `source`.
  row: u32,
  pitch: u32,
}

@group(0) @binding(0) var<uniform> job: Job;
@group(0) @binding(1) var<storage, read> source: array<u32>;
@group(0) @binding(2) var<storage, read_write> words: array<u32>;

@compute @workgroup_size(64)
fn splice(@builtin(global_invocation_id) id: vec3<u32>) {
  let word = (job.to >> 2u) + id.x;
  let end = job.to + job.count;
  if word * 4u >= end {
    return;
  }
  var value = words[word];
  for (var i = 0u; i < 4u; i++) {
    let at = word * 4u + i;
    if at >= job.to && at < end {
      let inside = at - job.to;
      let found = job.start + inside / job.row * job.pitch + inside % job.row;
      let byte = (source[found >> 2u] >> ((found & 3u) * 8u)) & 0xffu;
      value = (value & ~(0xffu << (i * 8u))) | (byte << (i * 8u));
    }
  }
  words[word] = value;
}
