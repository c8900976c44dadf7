struct Rows {
  // Byte of the row that is lowest in memory.
  first: u32,
  pitch: u32,
  // Bytes of a row.
  row: u32,
  // Bytes from the first row to the end of the last.
  len: u32,
  // The row that is lowest in memory, and what the next adds: 1 or -1.
  lowest: u32,
  step: u32,
  and_mask: u32,
  or_mask: u32,
  nonce: u32,
  // Work items in one row of the grid.
  stride: u32,
}
@group(0) @binding(0) var<storage, read_write> memory: array<u32>;
var<private> rows: Rows;

fn take_rows() {
  // The words of `Rows`.
  let a = pf_launch[0];
  let b = pf_launch[1];
  let c = pf_launch[2];
  rows = Rows(a.x, a.y, a.z, a.w, b.x, b.y, b.z, b.w, c.x, c.y);
}

fn word(x: u32, y: u32) -> u32 {
  var h = (x * 0x9E3779B1u) ^ (y * 0x85EBCA77u + rows.nonce * 0xC2B2AE3Du);
  h ^= h >> 15u;
  h *= 0x2C1B3C6Du;
  h ^= h >> 12u;
  h *= 0x297A2D39u;
  h ^= h >> 15u;
  return (h & rows.and_mask) | rows.or_mask;
}

// Rows that are whole words: one work item for each word, one row of the grid for each row.
@compute @workgroup_size(64, 4)
fn words(@builtin(global_invocation_id) id: vec3<u32>) {
  take_rows();
  let x = id.x * 4u;
  if (x < rows.row && id.y * rows.pitch + x < rows.len) {
    memory[(rows.first + id.y * rows.pitch + x) / 4u] = word(id.x, rows.lowest + id.y * rows.step);
  }
}

// The same for one word all over: four words for each work item. Paths are timed with it, so it does no more than a plain kernel.
@compute @workgroup_size(64, 4)
fn flat_words(@builtin(global_invocation_id) id: vec3<u32>) {
  take_rows();
  let x = id.x * 16u;
  let start = id.y * rows.pitch + x;
  let at = (rows.first + start) / 4u;
  for (var i = 0u; i < 4u; i++) {
    if (x + i * 4u < rows.row && start + i * 4u < rows.len) {
      memory[at + i] = rows.or_mask;
    }
  }
}

// Any rows: one work item for each word of memory that they touch. It writes the bytes that are theirs, and keeps the others.
@compute @workgroup_size(64)
fn bytes(@builtin(global_invocation_id) id: vec3<u32>) {
  take_rows();
  let at = rows.first / 4u + id.x + id.y * rows.stride;
  let start = at * 4u;
  if (id.x >= rows.stride || start >= rows.first + rows.len) {
    return;
  }
  var value = memory[at];
  for (var i = 0u; i < 4u; i++) {
    let byte = start + i;
    if (byte < rows.first || byte >= rows.first + rows.len) {
      continue;
    }
    let down = (byte - rows.first) / rows.pitch;
    let x = (byte - rows.first) % rows.pitch;
    if (x < rows.row) {
      let bits = word(x / 4u, rows.lowest + down * rows.step) >> (x % 4u * 8u) & 0xffu;
      value = (value & ~(0xffu << (i * 8u))) | bits << (i * 8u);
    }
  }
  memory[at] = value;
}
